# Everything runs from a virtual environment beside this file that holds what requirements.lock says, byte for byte.
# Needs Python 3.11 or newer with venv; `make PYTHON=python3.12 setup` chooses another.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test lint setup lock clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LOCK   := requirements.lock

# The system's certificates, so that a proxy or a mirror trusted by the machine is trusted here. Bytecode once, at
# set-up: without it Great Expectations takes 7 s to import instead of 3, every time.
export UV_SYSTEM_CERTS := 1
unexport PYTHONDONTWRITEBYTECODE VIRTUAL_ENV

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16

run: $(READY) ## the bundled sample, start to end, in its own data folder
	$(BIN)/emancipa run --sample

test: $(READY) ## the tests, a process per core (at most 4); ARGS="tests/test_layers.py -q" for some of them
	$(BIN)/pytest $(or $(ARGS),--numprocesses auto --maxprocesses 4 --dist worksteal)

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: $(READY) ## the virtual environment, if it is missing or older than the lock

# pip stands in where uv cannot: no wheel of uv for this machine, or an index that only pip is configured for.
# The build is not isolated: its backend comes from the lock too, so nothing is fetched unpinned.
$(READY): pyproject.toml $(LOCK) | $(BIN)/python
	@echo "Installing what $(LOCK) lists into $(VENV)" >&2
	@{ $(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes --compile-bytecode $(LOCK) \
	  && $(BIN)/uv pip install --quiet --python $(BIN)/python --offline --no-deps --no-build-isolation --editable .; } \
	|| { $(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK) \
	  && $(BIN)/python -m pip install --quiet --no-index --no-deps --no-build-isolation --editable .; }
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("needs Python 3.11 or newer: make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "needs venv: apt-get install python3-venv" >&2; exit 1; }
	@sed -n '/^uv==/,/[^\\]$$/p' $(LOCK) > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement $(VENV)/uv.txt || true

lock: | $(BIN)/python ## requirements.lock anew from pyproject.toml; UPGRADE=--upgrade takes newer versions
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --all-extras --generate-hashes \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(UPGRADE) --output-file $(LOCK)
	@! grep -nE '://|^-|file:' $(LOCK)    # hashes bind the files: an address or a path would bind the machine

clean: ## removes the virtual environment and the tools' caches, never the data
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
