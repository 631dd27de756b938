# `make demo` and `make test` set up what they need in .venv; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OTHERS := .venv-bench

.PHONY: demo test nojit lint types layers bench quality docs clean

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "newsdedup needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(READY)
	mkdir -p demo-out
	$(BIN)/newsdedup run sample_data/news.parquet -o demo-out/unique.parquet --overwrite

test: $(READY)
	$(BIN)/python -m pytest -q -n 2

# The kernels as plain Python: what the compiler might hide.
nojit: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

# The other tools have an environment of their own: where pandas is installed, pyarrow imports it in every program.
$(OTHERS)/.ready: pyproject.toml
	test -x $(OTHERS)/bin/python || $(PYTHON) -m venv $(OTHERS)
	$(OTHERS)/bin/python -m pip install --quiet --editable '.[bench]'
	touch $@

bench: $(READY) $(OTHERS)/.ready
	$(BIN)/python tests/bench/bench.py --others $(OTHERS)/bin/python

quality: $(READY)
	$(BIN)/python tests/quality/gate.py

docs: $(READY)
	$(BIN)/python tests/make_docs.py

clean:
	rm -rf $(VENV) $(OTHERS) build dist *.egg-info demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
