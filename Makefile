# `make check` and `make test` each work from nothing; `make help` lists the rest.
# A stamp in .venv records what was installed, so a second call installs nothing until pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One process more than usable CPUs, since tests also wait. A process takes tests from the others when it has run its
# own, in the order of the files: so tests of one file mostly share a process, and with it module fixtures and what was
# compiled.
PYTEST_PARALLEL := $(BIN)/python -m pytest -n auto --dist worksteal
# Tests start hundreds of processes that import kmc. Containers often set this, and then each would compile it anew.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

CANARY := build/canary
OLDEST := build/oldest-spark
# What compiled code is compared with: the compiler's own tests, both engines on every construct, golden counts.
CANARY_TESTS := tests/compiler tests/differential/test_native_edges.py tests/differential/test_golden_counts.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help check check-spark test test-fast test-layer test-cluster test-cluster-oldest test-browser test-wheel browser chromium lint golden results docs reports mechanisms gallery picture site canary fuzz attack clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

check: $(VENV)/.installed ## from nothing: install kmc and check KRaft exhaustively
	$(BIN)/kmc check kraft standard

check-spark: $(VENV)/.installed-spark ## from nothing: install kmc, Spark and Java if it is missing, and check KIP-996 on Spark
	$(BIN)/kmc check kip_996 standard --spark 'local[2]'

test: lint ## from nothing: lint, types, then every test but the large golden cases, and those on a cluster, in a browser or on a wheel
	$(PYTEST_PARALLEL)

test-fast: $(VENV)/.installed-test ## the tests that take little, of every part: some two minutes on two cores
	$(PYTEST_PARALLEL) -m 'not slow and not golden_large and not cluster and not browser and not wheel' --durations 10 --durations-min 2

# LAYER=shards, as in tests/support/layers.py. Layers above use the layers below, so their tests run too.
LAYER ?=
test-layer: $(VENV)/.installed-test ## the tests of a layer and of all above it, for a change of that layer: make test-layer LAYER=shards
	@files=$$(PYTHONPATH=tests $(BIN)/python -m support.layers $(LAYER)) && $(PYTEST_PARALLEL) $$files

test-cluster: $(VENV)/.installed-test ## the tests on a Spark cluster whose processes are killed
	$(BIN)/python -m kmc_spark.train_archive
	$(BIN)/python -m pytest -n 2 --dist worksteal -m cluster tests/spark

# The lower bound of pyproject.toml, in an environment of its own. It needs Java 8, 11 or 17. PySpark 3.5 leaves sockets to
# the garbage collector, which pytest calls an error.
test-cluster-oldest: ## the same with the oldest PySpark that kmc runs on
	rm -rf $(OLDEST)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' 'pyspark==3.5.*'
	$(OLDEST)/bin/python -m pytest -m cluster -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning tests/spark

test-browser: $(VENV)/.installed-test browser ## the tests of pages in a browser: Chromium, or the one that KMC_BROWSER names
	$(PYTEST_PARALLEL) -m browser tests/browser

test-wheel: $(VENV)/.installed-test ## every command of README, docs and help on an installed wheel: some four minutes on two cores
	$(PYTEST_PARALLEL) -m wheel tests/wheel

# The programs that the tests look for too (tests/support/views/browsing.py).
FIND_BROWSER := for name in "$${KMC_BROWSER:-chromium}" chromium-browser google-chrome; do command -v "$$name" >/dev/null && exit; done

# Tests install nothing on the machine: they say what is missing.
browser:
	@$(FIND_BROWSER); \
	echo "error: the browser tests need Chromium: run 'sudo make chromium' on Debian, or name another browser: KMC_BROWSER=/path/to/chromium" >&2; exit 1

# Without recommendations the package brings no fonts, and text would have no width.
chromium: ## install Chromium and its fonts on Debian, as root, if there is no browser
	@$(FIND_BROWSER); \
	command -v apt-get >/dev/null || { echo "error: there is no apt-get here: install Chromium in the way of this system" >&2; exit 1; }; \
	test "$$(id -u)" = 0 || { echo "error: only root installs packages: run 'sudo make chromium'" >&2; exit 1; }; \
	apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium fonts-dejavu-core

lint: $(VENV)/.installed-test ## ruff (rules and format), and strict mypy for kmc and its tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPY_NUM_WORKERS=auto $(BIN)/mypy

golden: $(VENV)/.installed-test ## the golden cases above 50,000 states; takes long
	KMC_KERNELS=optimised $(BIN)/python -m pytest -m golden_large

results: $(VENV)/.installed ## run the models that have no result yet, and write results/; takes long
	$(BIN)/kmc report

docs: $(VENV)/.installed-test ## write the pages that are generated: error codes, words of the language, its reference card, findings, gallery, mechanisms
	PYTHONPATH=tests $(BIN)/python -m support.pages.words
	PYTHONPATH=tests $(BIN)/python -m support.pages.card
	PYTHONPATH=tests $(BIN)/python -m support.pages.errors
	PYTHONPATH=tests $(BIN)/python -m support.pages.findings

reports: $(VENV)/.installed-test ## write the page of reports for upstream, with their traces
	PYTHONPATH=tests $(BIN)/python -m support.pages.reports

mechanisms: $(VENV)/.installed-test ## ask every mutant for every promise, and write results/mechanisms.json; half an hour
	PYTHONPATH=tests $(BIN)/python -m support.pages.mechanisms

gallery: $(VENV)/.installed-test ## build a page for every counterexample into build/gallery; the first time a quarter of an hour
	PYTHONPATH=tests $(BIN)/python -m support.pages.gallery

picture: $(VENV)/.installed-test browser ## photograph a trace page for the README, docs/images/trace_page.png
	PYTHONPATH=tests $(BIN)/python -m support.pages.picture

site: $(VENV)/.installed-docs gallery ## build the site of docs/ and the gallery into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Outside of the bounds of pyproject.toml on purpose, in an environment and with a cache of its own.
canary: ## a short set of tests with the newest numba and llvmlite, pre-releases too
	rm -rf $(CANARY)
	$(PYTHON) -m venv $(CANARY)
	$(CANARY)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(CANARY)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --pre numba llvmlite
	$(CANARY)/bin/python -m pip list --disable-pip-version-check | grep -iE '^(numba|llvmlite|numpy) '
	KMC_CACHE_DIR=$(CANARY)/cache KMC_KERNELS=optimised $(CANARY)/bin/python -m pytest -q $(CANARY_TESTS) -m 'not slow and not golden_large'
	KMC_CACHE_DIR=$(CANARY)/cache $(CANARY)/bin/kmc check kraft smoke --no-run-dir

fuzz: $(VENV)/.installed-test ## the tests that draw examples, with other and more examples every time
	$(BIN)/python -m pytest --hypothesis-profile=fuzz -m hypothesis

# MINUTES=15 make attack; what fails is kept in build/attack.
MINUTES ?= 60
JOBS ?= 1
attack: $(VENV)/.installed-test ## look for defects for an hour: drawn specs beside a brute force, kills, damage, hostile inputs
	PYTHONPATH=tests $(BIN)/python -m attack --minutes $(MINUTES) --jobs $(JOBS)

clean: ## remove the environment and the caches
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The install is editable: the sources of the checkout stay live, specs included.
$(VENV)/.installed: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) --editable '.[explore]'
	@touch $@

$(VENV)/.installed-spark: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) --editable '.[spark]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) --editable '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-test: pyproject.toml | $(BIN)/pip
	$(PIP_INSTALL) --editable '.[test]'
	@touch $@ $(VENV)/.installed

# pip is what `venv` puts in last: where it exists, the environment is whole.
$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || { echo "error: kmc needs Python 3.11 or newer, but there is no $(PYTHON); name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: kmc needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) -V 2>&1); name a newer one: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
