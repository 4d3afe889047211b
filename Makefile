PYTHON ?= python3
OUT ?= out
CORE := .venv/.core
TEST := .venv/.test
ALL := .venv/.all
TOOLS := .venv/.tools
CORE_VENV ?= .venv-core
CORE_TESTS := tests/paper tests/properties tests/numbers $(addprefix tests/unit/,agents diffusion envs exploration measures options report simulation)
PIP = .venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e
# One thread of linear algebra per worker; groups of tests that share a server or a cluster stay together.
PYTEST = OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 --dist loadgroup -q

.PHONY: paper test test-all lint ruff types warm docs pages package core-test coverage fuzz faults mutants clean

paper: $(CORE)
	.venv/bin/farpoint paper --out $(OUT)

# The fast tier: lint, types, and every test that is not slow. Types are checked while kernels are compiled.
test: $(TEST)
	$(MAKE) --no-print-directory -j2 lint warm
	$(PYTEST) -m "not slow"

# Everything else: browser, site, package, torch, Dask, Ray, faults, fuzz, notebook, examples, the whole paper page.
test-all: $(ALL)
	@command -v chromedriver > /dev/null || echo "The Studio's tests are skipped: they need Chromium. Run: apt-get install chromium chromium-driver"
	$(PYTEST) -m slow

lint: ruff types

ruff: $(TEST)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: $(TEST)
	.venv/bin/mypy

# Every kernel once, in one process, so that two workers do not compile the same ones.
warm: $(TEST)
	.venv/bin/python -m tools.warm

coverage: $(TEST)
	$(PYTEST) -m "not slow" --cov=farpoint --cov-report=term-missing:skip-covered

# Numbers, tables and figures of README and docs, from research/results; Sphinx does the same when the site is built.
pages: $(ALL)
	.venv/bin/python -m research.pages

# The site, out of the sources alone: no network, and every warning is an error.
docs: $(ALL)
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@.venv/bin/python -m research.status
	@echo docs/_build/html/index.html

# The wheel in an environment of its own, with another PYTHON or other CONSTRAINTS, and the tests that need neither torch nor a cluster.
core-test:
	rm -rf $(CORE_VENV) && $(PYTHON) -m venv $(CORE_VENV)
	$(CORE_VENV)/bin/pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS)) '.[envs,samples,scale,graphs]' pyarrow pytest hypothesis networkx rustworkx psutil
	OPENBLAS_NUM_THREADS=1 $(CORE_VENV)/bin/python -m pytest -q $(CORE_TESTS)

# Wheel and source distribution; the date of the last commit makes them the same bytes wherever they are built.
package: $(ALL)
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) .venv/bin/python -m build --outdir dist

# Attacks everything public for minutes; the failures are written to $(OUT)/fuzz.txt.
fuzz: $(ALL)
	.venv/bin/python -m tools.fuzz --calls 20000 --commands 2000 --files 5000 --seed 0 --failures $(OUT)/fuzz.txt

# Fifty kills of every long command; an hour or more.
faults: $(ALL)
	.venv/bin/python -m pytest -q tests/faults
	.venv/bin/python -m tools.kills 50

# Small changes of the source: do the tests notice them? Interrupted, it goes on where it stopped.
mutants: $(TOOLS)
	.venv/bin/python -m tools.mutation --sample 300 --seed 0

# Each is installed again whenever what is to be installed changes. The paper needs no extras.
$(CORE): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(PIP) .
	touch $@

$(TEST): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(PIP) ".[test]"
	touch $(CORE) $@

$(ALL): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(PIP) ".[all]"
	touch $(CORE) $(TEST) $@

$(TOOLS): pyproject.toml constraints.txt
	test -d .venv || $(PYTHON) -m venv .venv
	$(PIP) ".[tools]"
	touch $(CORE) $(TEST) $(ALL) $@

clean:
	rm -rf .venv $(CORE_VENV) $(OUT) dist docs/_build docs/auto_gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
