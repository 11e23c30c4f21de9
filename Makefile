# Two commands do everything: `make demo` and `make test`. Each creates .venv if it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt

# One thread per process: small matrices gain nothing from more, and the workers would compete for cores.
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test golden chaos fuzz audit lint format docs bench clean

demo: $(VENV)/.runtime  ## search on the Klein-Gordon equation for two minutes, and compare with a hand-made network
	$(BIN)/python examples/search_and_compare.py klein-gordon 2m

test: $(VENV)/.dev  ## run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

golden: $(VENV)/.dev  ## compare the working tree with the commit BASE, bit for bit; five minutes
	$(BIN)/python tests/golden/compare.py $(or $(BASE),HEAD)

chaos: $(VENV)/.dev  ## inject random faults for half an hour; SEED=123 begins with those of a seed
	EVOPINN_CHAOS_SEED=$(or $(SEED),$(EVOPINN_CHAOS_SEED)) $(BIN)/python tests/faults/chaos.py

fuzz: $(VENV)/.dev  ## try a hundred thousand bad inputs; takes minutes
	EVOPINN_FUZZ=long $(BIN)/python -m pytest tests/fuzz

audit: | $(BIN)/python  ## check the pinned versions for known vulnerabilities; needs the network
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --disable-pip-version-check -q pip-audit
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --no-deps -r constraints.txt

lint: $(VENV)/.dev  ## check format, style, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## fix what can be fixed automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.bench  ## time the engines against peers in one run, on one core
	$(BIN)/evopinn bench

clean:  ## remove everything that can be rebuilt
	rm -rf $(VENV) site build dist .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[dev]"
	touch $@ $(VENV)/.runtime

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[bench]"
	touch $@ $(VENV)/.runtime
