# One command for everything; each makes the environment first where it is missing or out of date.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint docs scan-patterns coverage fuzz fuzz-http torture bench-speed bench-index bench-memory bench-embed bench-quality bench-tasks bench-scale bench-outcome clean

demo: $(VENV)/installed
	@$(BIN)/python scripts/demo.py

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses=4 --dist=worksteal --random-order-seed=$$(date +%s)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive pastchats_memory scripts
	$(BIN)/python scripts/check_word_lists.py
	$(BIN)/python scripts/audit.py

# Writes the generated parts of the pages, then builds the site into build/docs and checks every link.
docs: $(VENV)/installed-dev
	$(BIN)/python scripts/generate_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Every regular expression against texts made to hold it up, of up to LONGEST characters; ONLY='redact' for a room alone.
LONGEST ?= 12000
scan-patterns: $(VENV)/installed-dev
	$(BIN)/python tests/attacks/scan_patterns.py --longest $(LONGEST) --only "$(ONLY)"

# Every branch of every reader, by its fixtures alone: neither chance nor files from elsewhere may be needed.
coverage: $(VENV)/installed-dev
	PASTCHATS_SHARED=/nowhere $(BIN)/coverage run -m pytest tests/formats -m 'not hypothesis'
	$(BIN)/coverage report

# Every place of a fixture changed once, then MINUTES a format by chance, and for those of the first release; FORMATS='codex cline' for some only.
MINUTES ?= 2
FIRST_FIVE ?= 10
fuzz: $(VENV)/installed-dev
	$(BIN)/python tests/formats/fuzz_readers.py --minutes $(MINUTES) --first-five $(FIRST_FIVE) $(FORMATS)

# The server against its own description: boundaries of every parameter, then EXAMPLES drawn at random.
EXAMPLES ?= 200
fuzz-http: $(VENV)/installed-dev
	FUZZ_HTTP_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest --timeout=3600 tests/http_server/test_description.py

# KILLS processes are killed while they write, calls of the system fail or are the last (some of each kind, or every EVERYth in
# small scenes; JOBS side by side), DAMAGES databases are damaged, and what is left is looked at; seven processes use one database for SECONDS.
KILLS ?= 1000
DAMAGES ?= 300
SECONDS ?= 600
JOBS ?= 2
torture: $(VENV)/installed-dev
	$(BIN)/python tests/torture/kill_loop.py --kills $(KILLS)
	$(BIN)/python tests/torture/fault_loop.py --jobs $(JOBS) $(if $(EVERY),--every $(EVERY))
	$(BIN)/python tests/torture/damage_loop.py --damages $(DAMAGES)
	$(BIN)/python tests/torture/crowd.py --seconds $(SECONDS)

bench-speed: $(VENV)/installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/nearest.py
	$(BIN)/python benchmarks/cold_start.py
	$(BIN)/python benchmarks/citations.py

bench-index: $(VENV)/installed
	$(BIN)/python benchmarks/index_throughput.py
	$(BIN)/python benchmarks/index_unchanged.py 10000
	$(BIN)/python benchmarks/index_watch.py
	$(BIN)/python benchmarks/index_reading.py
	$(BIN)/python benchmarks/redaction.py
	$(BIN)/python benchmarks/redaction_recall.py
	$(BIN)/python benchmarks/redaction_forms.py
	$(BIN)/python benchmarks/redaction_forms.py --corpus bare

bench-memory: $(VENV)/installed
	$(BIN)/python benchmarks/index_memory.py
	$(BIN)/python benchmarks/size.py

bench-embed: $(VENV)/installed-dev
	$(BIN)/python benchmarks/embed_throughput.py
	$(BIN)/python benchmarks/embed_models.py
	$(BIN)/python benchmarks/packaged_graph.py
	$(if $(PASTCHATS_BENCH),$(BIN)/python benchmarks/embed_pooling.py)

bench-scale: $(VENV)/installed
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/forget.py
	$(BIN)/python benchmarks/locked.py

bench-outcome: $(VENV)/installed
	$(BIN)/python benchmarks/outcomes_derive.py
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/usefulness.py $(PASTCHATS_TRANSCRIPTS))
	$(BIN)/python benchmarks/outcome/score.py $(PASTCHATS_TRANSCRIPTS)
	$(BIN)/python benchmarks/outcome/first_sight.py

bench-quality: $(VENV)/installed
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/leave_one_out.py
	$(BIN)/python benchmarks/pasted.py
	$(BIN)/python benchmarks/recall_floor.py
	$(BIN)/python benchmarks/recall_features.py

bench-tasks: $(VENV)/installed
	$(BIN)/python benchmarks/tasks_calibrate.py
	$(BIN)/python benchmarks/tasks_verdicts.py
	$(BIN)/python benchmarks/tasks_scan.py

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

# An editable install is not compiled, and where PYTHONDONTWRITEBYTECODE is set every process would compile it again.
$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m compileall -q pastchats_memory
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m compileall -q pastchats_memory
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
