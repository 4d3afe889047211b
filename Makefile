PYTHON ?= python3
OUT ?= out
INSTALLED := .venv/.installed

.PHONY: paper test browser fuzz faults mutants lint bench clean

paper: $(INSTALLED)
	.venv/bin/farpoint paper --out $(OUT)

test: lint browser
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 --dist loadgroup -q

# The Studio's tests need Chromium; where it cannot be installed they are skipped, and say how to install it.
browser:
	@command -v chromedriver > /dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		(apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium chromium-driver) > /dev/null 2>&1 \
		|| echo "chromium could not be installed; the Studio's tests will be skipped"; fi

# Attacks everything public for an hour or two; the failures are written to $(OUT)/fuzz.txt.
fuzz: $(INSTALLED)
	.venv/bin/python -m tests.fuzz --calls 20000 --commands 2000 --files 5000 --seed 0 --failures $(OUT)/fuzz.txt

lint: $(INSTALLED)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench: $(INSTALLED)
	.venv/bin/farpoint bench --out $(OUT)
	.venv/bin/python -m benchmarks.learning
	.venv/bin/python -m benchmarks.wrapper
	.venv/bin/python -m benchmarks.rivals
	.venv/bin/python -m benchmarks.extension
	.venv/bin/python -m benchmarks.exploring
	.venv/bin/python -m benchmarks.choices
	.venv/bin/python -m benchmarks.studio

# Fifty kills of every long command; an hour or more.
faults: $(INSTALLED)
	.venv/bin/python -m pytest -q tests/faults
	.venv/bin/python -m tests.faults.kills 50

# Small changes of the source: do the tests notice them? Interrupted, it goes on where it stopped.
mutants: $(INSTALLED)
	.venv/bin/python -m tests.mutation --sample 300 --seed 0

# Made anew whenever what is to be installed changes.
$(INSTALLED): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,envs,robotics,data,video,deep,dask,ray,scale,samples,graphs,bench,studio]"
	touch $@

clean:
	rm -rf .venv $(OUT) .pytest_cache .mypy_cache .ruff_cache .hypothesis
