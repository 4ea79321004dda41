# Two commands set everything up on a machine with Python 3.11+ and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help viewer page-if-npm browser demo test test-slow kernel-coverage check format bench peers choosing campaign docs clean

help:
	@echo "make demo       solve a stack and a fluid problem with every method; writes demo/report.html"
	@echo "make test       run the test suite"
	@echo "make test-slow  run the tests marked slow"
	@echo "make kernel-coverage  run the tests of the kernels in plain Python and print which lines they reach"
	@echo "make check      formatting, lint, types, layers"
	@echo "make bench      ours beside a C++ twin compiled on the spot and the peers that are installed"
	@echo "make choosing   measure which method is best on which family of problems; writes docs/choosing"
	@echo "make campaign   10,000 random problems through plain perp.solve; prints what went wrong"
	@echo "make viewer     build the page of 'perp view' (needs npm; 'make demo' and 'make test' do it where npm is)"
	@echo "make browser    install Chromium for the tests of that page, where apt-get can"
	@echo "make docs       build the documentation: docs/_build/html/index.html"
	@echo "make peers      install the peers: PIQP, Clarabel, ProxQP, OSQP, QuantEcon, Drake, DAQP"
	@echo "make format     apply the formatter and the safe lint fixes"
	@echo "make clean      remove .venv, caches and compiled kernels"

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "perp needs Python 3.11 or newer; call 'make PYTHON=python3.12 ...' to choose one"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

# The page of the viewer. Without npm everything else works, and `perp view` says what is missing.
PAGE := src/perp/viewer/page/viewer.js

$(PAGE): viewer/package-lock.json viewer/index.html viewer/build.mjs $(wildcard viewer/src/*.ts viewer/src/*/*.ts viewer/src/*/*.css)
	cd viewer && npm ci --no-audit --no-fund --loglevel=error && npm run --silent check && npm run --silent build

viewer: $(PAGE)

page-if-npm:
	@if ! command -v npm > /dev/null; then \
	    echo "npm is not here: 'perp view' has no page, and its browser tests are skipped"; \
	  elif ! $(MAKE) --no-print-directory viewer; then \
	    echo "the page of 'perp view' could not be built (offline?): 'make viewer' tries again"; test -z "$$CI"; fi

# Tests of the page look for a browser (Chromium or Chrome), and are skipped without one.
browser:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	    if command -v $$name > /dev/null; then echo "$$name is here"; exit 0; fi; done; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    apt-get update -qq && apt-get install -y -qq chromium > /dev/null \
	      || echo "Chromium could not be installed: the browser tests are skipped"; \
	  else echo "no browser, and no way to install one: the browser tests are skipped"; fi

demo: $(STAMP) page-if-npm
	$(BIN)/perp demo --out demo

test: $(STAMP) page-if-npm
	@if command -v npm > /dev/null && [ -d viewer/node_modules ]; then cd viewer && npm test --silent; fi
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

kernel-coverage: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run --branch --source=src/perp/kernels -m pytest -q -p no:xdist tests/kernels
	$(BIN)/python -m coverage report --skip-covered --show-missing

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(BENCH)

peers: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"

choosing: $(STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks choosing

campaign: $(STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks campaign

docs: $(STAMP)
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) demo viewer/node_modules viewer/build src/perp/viewer/page docs/_build docs/auto_examples .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
