# levelcap: `make` alone lists the commands.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup up test test-trust check js soak bench bench-peers lock clean

# System packages beyond Python itself; scripts/setup.sh installs the missing ones as root.
export APT_PACKAGES :=
test: export APT_PACKAGES := chromium  # browser tests
test-trust: export APT_PACKAGES := strace
BIN := .venv/bin

help:  ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## create or repair .venv (the second time in seconds)
	@scripts/setup.sh main

up: setup  ## set up, then start the realm: services, a hero that trains by itself (Ctrl-C stops)
	@$(BIN)/levelcap up

test: setup  ## set up, then the tests a newcomer runs
	@$(BIN)/python -m pytest -n 2 --dist loadfile

test-trust: setup  ## kills, power cuts, corruption, hostile input: the promises with their figures
	@$(BIN)/python -m pytest -m trust tests/trust tests --timeout 1500 \
		-n 2 --dist loadfile --no-loadscope-reorder

check: setup  ## ruff (rules and format), mypy, import contracts, rules of the house
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MAKE) -s js
	@$(BIN)/python -m pytest tests/house

# `npm ci` wants every platform's binary in the lock; `install` takes ours and checks its hash.
js:  ## format and lint rules of the browser's code (Biome, pinned in package-lock.json)
	@if ! command -v npm >/dev/null; then echo "js: npm is not installed, nothing was checked"; else \
	  [ node_modules/.package-lock.json -nt package-lock.json ] || npm install --silent --no-save --no-audit --no-fund; \
	  node_modules/.bin/biome check; fi

soak: setup  ## the long tests
	@$(BIN)/python -m pytest -m "soak or slow" --timeout 3600

bench: setup  ## every benchmark, quick form, one after the other
	@set -e; for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python "$$file" --quick; done

bench-peers:  ## create .venv-peers, .venv-sample-factory, .venv-open-spiel: the programs we compare with
	@scripts/setup.sh peers
	@scripts/setup.sh sample-factory
	@scripts/setup.sh open-spiel

lock:  ## resolve requirements/run-test.in again (needs pip-compile on the PATH)
	@pip-compile -q --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --no-header --no-annotate --strip-extras --allow-unsafe \
		-o requirements/run-test.lock.txt requirements/run-test.in
	@python3 scripts/lock_tidy.py requirements/run-test.lock.txt

clean:  ## remove environments, caches and build products (never the realm)
	@rm -rf .venv .venv-peers .venv-sample-factory .venv-open-spiel .venv.lock .venv-peers.lock \
		.venv-sample-factory.lock .venv-open-spiel.lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache \
		.hypothesis build dist
	@find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
