PYTHON ?= python3
OUT ?= out
CORE := .venv/.core
CORE_VENV ?= .venv-core
CORE_TESTS := tests/paper tests/properties tests/numbers $(addprefix tests/unit/,agents diffusion measures options simulation)
INSTALLED := .venv/.installed

.PHONY: paper test browser core-test docs package fuzz faults mutants lint bench clean

paper: $(CORE)
	.venv/bin/farpoint paper --out $(OUT)

test: lint browser
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 --dist loadgroup -q

# The Studio's tests need Chromium; where it cannot be installed they are skipped, and say how to install it.
browser:
	@command -v chromedriver > /dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		(apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium chromium-driver) > /dev/null 2>&1 \
		|| echo "chromium could not be installed; the Studio's tests will be skipped"; fi

# The site, out of the sources alone: no network, and every warning is an error.
docs: $(INSTALLED)
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

# The wheel in an environment of its own, with another PYTHON or other CONSTRAINTS, and the tests that need neither torch nor a cluster.
core-test:
	rm -rf $(CORE_VENV) && $(PYTHON) -m venv $(CORE_VENV)
	$(CORE_VENV)/bin/pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS)) '.[envs,samples,scale,graphs]' pyarrow pytest hypothesis networkx rustworkx psutil
	OPENBLAS_NUM_THREADS=1 $(CORE_VENV)/bin/python -m pytest -q $(CORE_TESTS)

# Wheel and source distribution; the date of the last commit makes them the same bytes wherever they are built.
package: $(INSTALLED)
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) .venv/bin/python -m build --outdir dist

# Attacks everything public for minutes; the failures are written to $(OUT)/fuzz.txt.
fuzz: $(INSTALLED)
	.venv/bin/python -m tools.fuzz --calls 20000 --commands 2000 --files 5000 --seed 0 --failures $(OUT)/fuzz.txt

lint: $(INSTALLED)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench: $(INSTALLED)
	.venv/bin/farpoint bench --out $(OUT)
	.venv/bin/python -m research.learning
	.venv/bin/python -m research.wrapper
	.venv/bin/python -m research.steps
	.venv/bin/python -m research.rivals
	.venv/bin/python -m research.extension
	.venv/bin/python -m research.exploring
	.venv/bin/python -m research.choices
	.venv/bin/python -m research.studio

# Fifty kills of every long command; an hour or more.
faults: $(INSTALLED)
	.venv/bin/python -m pytest -q tests/faults
	.venv/bin/python -m tools.kills 50

# Small changes of the source: do the tests notice them? Interrupted, it goes on where it stopped.
mutants: $(INSTALLED)
	.venv/bin/python -m tools.mutation --sample 300 --seed 0

# Made anew whenever what is to be installed changes. The paper needs no extras.
$(CORE): pyproject.toml
	test -d .venv || $(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(INSTALLED): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,envs,robotics,data,deep,dask,ray,scale,samples,graphs,bench,studio,docs]"
	touch $(CORE) $@

clean:
	rm -rf .venv $(CORE_VENV) $(OUT) dist docs/_build docs/auto_gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
