# Two commands do everything: `make demo` and `make test`. Each makes .venv if it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt

# One thread per process: small matrices gain nothing from more, and the workers would fight for cores.
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test chaos fuzz audit lint format docs bench clean

demo: $(VENV)/.runtime  ## search for two minutes on the Klein-Gordon equation, beside a network made by hand
	$(BIN)/python examples/search_and_compare.py klein-gordon 2m

test: $(VENV)/.dev  ## run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

chaos: $(VENV)/.dev  ## half an hour of faults drawn at random; SEED=123 begins with those of a seed
	EVOPINN_CHAOS_SEED=$(or $(SEED),$(EVOPINN_CHAOS_SEED)) $(BIN)/python tests/faults/chaos.py

fuzz: $(VENV)/.dev  ## a hundred thousand bad inputs; minutes
	EVOPINN_FUZZ=long $(BIN)/python -m pytest tests/fuzz

audit: | $(BIN)/python  ## ask for known vulnerabilities of the pinned versions; needs the network
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --disable-pip-version-check -q pip-audit
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --no-deps -r constraints.txt

lint: $(VENV)/.dev  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## mend what can be mended automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.bench  ## time the engines beside peers in one run, on one core
	$(BIN)/evopinn bench

clean:  ## remove everything that can be made again
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
