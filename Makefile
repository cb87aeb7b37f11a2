# Each target first creates the environment if it is missing or out of date.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-bare lint docs scan-patterns coverage fuzz fuzz-http torture clean
.PHONY: bench-quality bench-outcome bench-tasks bench-redaction bench-speed bench-scale bench-index bench-embed

# Index the sample history, then print a search and a recall block.
demo: $(VENV)/installed
	@$(BIN)/python scripts/demo.py

# Run every test, in random order.
test: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses=4 --dist=worksteal --random-order-seed=$$(date +%s)

# Run the tests with a program that has no fcntl, pwd, resource, termios and fork, as on Windows. ONLY=tests/hooks selects some.
test-bare: $(VENV)/installed-dev
	PASTCHATS_TESTS_BARE=1 $(BIN)/python -m pytest --numprocesses=4 --dist=worksteal $(ONLY)

# Check style, types, import rules, common security mistakes and known vulnerabilities of dependencies.
lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 pastchats_memory
	$(BIN)/mypy --platform darwin pastchats_memory
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive pastchats_memory scripts
	$(BIN)/python scripts/check_word_lists.py
	$(BIN)/python scripts/audit.py

# Write the generated parts of the pages, build the site into build/docs and check every link.
docs: $(VENV)/installed-dev
	$(BIN)/python scripts/generate_docs.py
	$(BIN)/python scripts/plot_benchmarks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Try every regular expression with hostile texts of up to LONGEST characters. ONLY=redact restricts it to one package.
LONGEST ?= 12000
scan-patterns: $(VENV)/installed-dev
	$(BIN)/python tests/attacks/scan_patterns.py --longest $(LONGEST) --only "$(ONLY)"

# Require that fixtures alone cover every branch of every reader.
coverage: $(VENV)/installed-dev
	PASTCHATS_SHARED=/nowhere $(BIN)/coverage run -m pytest tests/formats tests/hooks tests/cli/test_histories.py tests/cli/test_map.py -m 'not hypothesis'
	$(BIN)/coverage report

# Change fixtures at random and read them: MINUTES a format, FIRST_FIVE for those of the first release. FORMATS='codex cline' selects some.
MINUTES ?= 2
FIRST_FIVE ?= 10
fuzz: $(VENV)/installed-dev
	$(BIN)/python tests/formats/fuzz_readers.py --minutes $(MINUTES) --first-five $(FIRST_FIVE) $(FORMATS)

# Compare the server with its own description, with EXAMPLES random requests an operation.
EXAMPLES ?= 200
fuzz-http: $(VENV)/installed-dev
	FUZZ_HTTP_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest --timeout=3600 tests/http/test_description.py

# Kill KILLS writers, let system calls fail (every EVERYth, in JOBS processes), damage DAMAGES databases, and run a crowd for SECONDS.
KILLS ?= 1000
DAMAGES ?= 300
SECONDS ?= 600
JOBS ?= 2
torture: $(VENV)/installed-dev
	$(BIN)/python tests/torture/kill_loop.py --kills $(KILLS)
	$(BIN)/python tests/torture/fault_loop.py --jobs $(JOBS) $(if $(EVERY),--every $(EVERY))
	$(BIN)/python tests/torture/damage_loop.py --damages $(DAMAGES)
	$(BIN)/python tests/torture/crowd.py --seconds $(SECONDS)

# docs/benchmarks.md lists what each of the following measures, and the data that some of them need.
bench-quality: $(VENV)/installed
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/recall_floor.py
	$(if $(PASTCHATS_SHARED),$(BIN)/python benchmarks/hook_prompts.py)

bench-outcome: $(VENV)/installed
	$(BIN)/python benchmarks/outcome/judging.py
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/outcome/score.py $(PASTCHATS_TRANSCRIPTS) --part all)
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/usefulness.py $(PASTCHATS_TRANSCRIPTS))
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/usefulness.py $(PASTCHATS_TRANSCRIPTS) --tasks fresh)

bench-tasks: $(VENV)/installed
	$(BIN)/python benchmarks/tasks_calibrate.py
	$(BIN)/python benchmarks/tasks_verdicts.py

bench-redaction: $(VENV)/installed
	$(BIN)/python benchmarks/redaction.py
	$(BIN)/python benchmarks/redaction_recall.py
	for corpus in forms bare printed passwords contexts; do $(BIN)/python benchmarks/redaction_forms.py --corpus $$corpus || exit 1; done

bench-speed: $(VENV)/installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/edges.py

bench-scale: $(VENV)/installed
	$(BIN)/python benchmarks/scale.py

bench-index: $(VENV)/installed
	$(BIN)/python benchmarks/index_throughput.py
	$(BIN)/python benchmarks/index_unchanged.py 10000
	$(BIN)/python benchmarks/index_reading.py
	$(BIN)/python benchmarks/index_memory.py
	$(BIN)/python benchmarks/size.py

bench-embed: $(VENV)/installed-dev
	$(BIN)/python benchmarks/embed_throughput.py

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

# pip does not compile an editable install. With PYTHONDONTWRITEBYTECODE set, every process would compile it again.
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
