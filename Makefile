# Two commands do all the set-up on a machine with Python 3.11+ and make: `make quickstart` and `make test`.
# The first that runs and is new enough: a name on the PATH may be a shim without a Python behind it.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
    $$p -c '$(NEW_ENOUGH)' 2> /dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
HEADLESS ?=
# Most tests wait for processes, so more of them than CPUs run at a time. WORKERS=0 runs one after the other.
WORKERS ?= 4
AT_ONCE := -n $(WORKERS) --dist worksteal

.PHONY: help quickstart test long rehearsals docker check lint types imports runbooks coverage bench screenshots snapshots clean
.DEFAULT_GOAL := help

help:
	@echo "make quickstart             install, then open the app on the quickstart benchmark"
	@echo "make quickstart HEADLESS=1  the same without a screen"
	@echo "make test                   install and run the tests"
	@echo "make check                  all that CI runs before its long part: lint, types, imports, tests"
	@echo "make coverage               what the unit and screen tests reach"
	@echo "make long                   CI's long part: slow tests and the quickstart benchmark"
	@echo "make rehearsals             every runbook against stand-ins, and every fault; needs bubblewrap"
	@echo "make docker                 runs in real containers; needs root, docker.io and debootstrap"
	@echo "make bench                  speed and memory, as ratios within one run"
	@echo "make screenshots            the pictures in screenshots/, from the real app"

$(BIN)/python:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c '$(NEW_ENOUGH)' || \
	    { echo "OmniTUI needs Python 3.11 or newer, and found none. Set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	    { echo "The module venv is not complete; on Debian and Ubuntu: apt install python3-venv"; rm -rf $(VENV); exit 1; }
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.quickstart: pyproject.toml | $(BIN)/python
	@echo "Installing OmniTUI into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable ".[quickstart]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing OmniTUI and its tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable ".[quickstart]" --group dev
	@touch $@ $(VENV)/.quickstart

quickstart: $(VENV)/.quickstart
	@$(BIN)/omnitui $(if $(HEADLESS),run quickstart --headless --yes,open quickstart)

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(AT_ONCE) -m "not long and not rehearsal and not docker"

long: $(VENV)/.dev
	$(BIN)/python -m pytest -m "long and not rehearsal"
	$(MAKE) quickstart HEADLESS=1

rehearsals: $(VENV)/.dev
	$(BIN)/python -m pytest $(AT_ONCE) -m rehearsal tests/rehearsals

docker: $(VENV)/.dev
	$(BIN)/python -m pytest -m docker tests/docker

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

runbooks: $(VENV)/.dev
	$(BIN)/omnitui check runbooks/*/

check: lint types imports runbooks test

coverage: $(VENV)/.dev
	$(BIN)/python -m pytest $(AT_ONCE) tests/unit tests/screens --cov --cov-report=term:skip-covered -q

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench

screenshots: $(VENV)/.dev
	$(BIN)/python -m tests.screenshots

snapshots: $(VENV)/.dev
	$(BIN)/python -m pytest tests/screens --snapshot-update

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
