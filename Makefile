# Each target first creates the environment if it is missing or out of date.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Without cached bytecode, every process of the tests would rewrite all assertions again: half of the time to collect them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-bare test-page require-browser screenshots lint lint-workflows check-plugins docs lock release release-ready first-release scan-patterns coverage fuzz fuzz-http fuzz-sync torture clean
.PHONY: bench-locomo bench-longmemeval bench-beam bench-quality bench-outcome bench-tasks bench-redaction bench-speed bench-scale bench-index bench-embed

# Index the sample history, then print a search and a recall block.
demo: $(VENV)/installed
	@$(BIN)/python scripts/demo.py

# Run every test, in random order.
test: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses=3 --dist=worksteal --random-order-seed=$$(date +%s)

# Run the tests with a program that has no fcntl, pwd, resource, termios and fork, as on Windows. ONLY=tests/hooks selects some.
test-bare: $(VENV)/installed-dev
	PASTCHATS_TESTS_BARE=1 $(BIN)/python -m pytest --numprocesses=3 --dist=worksteal $(ONLY)

# Try the page in a real browser: Chromium of this system, or make BROWSER=/path/to/chrome. ONLY=tests/page/test_paths.py selects some.
BROWSER ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
AXE := build/page-tests/node_modules/axe-core/axe.min.js
test-page: require-browser $(VENV)/installed-page-tests $(AXE)
	PASTCHATS_TESTS_BROWSER=$(BROWSER) PASTCHATS_TESTS_AXE=$(AXE) $(BIN)/python -m pytest $(or $(ONLY),tests/page)

require-browser:
	@test -x "$(BROWSER)" || { echo 'No browser was found, so nothing was tested. Install Chromium, or: make BROWSER=/path/to/chrome test-page' >&2; exit 1; }

# Take the screenshots of the README from the sample history.
screenshots: require-browser $(VENV)/installed-page-tests
	$(BIN)/python scripts/take_screenshots.py $(BROWSER)

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

# Check the workflows for security mistakes.
lint-workflows: $(VENV)/installed-release
	$(BIN)/zizmor --offline --quiet .github

# Check the plugins with the agents' own programs. This needs npm, which installs them into build/agents.
check-plugins: $(VENV)/installed
	npm install --prefix build/agents --no-audit --no-fund --silent @anthropic-ai/claude-code @openai/codex @google/gemini-cli
	$(BIN)/python scripts/check_plugins.py build/agents

# Choose the newest versions of all packages, and write them with their hashes.
lock: $(VENV)/installed-release
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade --quiet \
		--output-file packaging/requirements.lock

# Refuse what no release may have, before anything takes time.
release-ready: $(VENV)/installed-dev
	! grep -q OWNER pyproject.toml README.md || { echo 'The repository has no owner yet: docs/releasing.md names the command.' >&2; exit 1; }
	grep -q "^## $$($(BIN)/pastchats-memory --version | sed 's/.* //') – [0-9]" CHANGELOG.md || { echo 'CHANGELOG.md has no date for this version.' >&2; exit 1; }
	test -z "$$(git status --porcelain)" || { git status --short; echo 'Commit these changes first.' >&2; exit 1; }

# Do everything for a release but the upload: dist/pypi is for PyPI, dist/downloads for the release page, the tap and the bucket.
release: release-ready lint lint-workflows docs test $(VENV)/installed-release
	test -z "$$(git status --porcelain)" || { git status --short; echo 'Commit what `make docs` wrote first.' >&2; exit 1; }
	rm -rf dist && mkdir -p dist/downloads
	$(BIN)/python -m build --outdir dist/pypi
	$(BIN)/twine check --strict dist/pypi/*
	$(BIN)/check-wheel-contents dist/pypi/*.whl
	$(BIN)/python scripts/generate_downloads.py dist/pypi/*.tar.gz dist/downloads
	PASTCHATS_TESTS_RELEASE=1 $(BIN)/python -m pytest tests/release
	$(PYTHON) -m venv dist/venv && dist/venv/bin/python -m pip install --quiet dist/pypi/*.whl
	$(BIN)/python scripts/smoke.py dist/venv/bin/pastchats-memory
	rm -rf dist/venv
	@echo 'Push the tag: the workflow Release uploads dist/pypi. Attach dist/downloads to the release by hand.'

# Set owner and date for the first release, and keep a database that it wrote.
first-release: $(VENV)/installed-dev
	$(BIN)/python scripts/prepare_first_release.py $(OWNER)
	$(MAKE) docs
	$(BIN)/python scripts/keep_database.py

# Write plugins, manual page, completion and the generated parts of the pages, build the site into build/docs and check every link.
docs: $(VENV)/installed-dev
	$(BIN)/python scripts/generate_docs.py
	$(BIN)/python scripts/generate_packages.py
	$(BIN)/python scripts/plot_benchmarks.py
	$(BIN)/python scripts/draw_recall.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Try every regular expression with hostile texts of up to LONGEST characters, in two minutes of the processor. ONLY=redact restricts it to one package.
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

# Let three machines write, forget and exchange files at random, in EXAMPLES histories, and compare their memories.
fuzz-sync: $(VENV)/installed-dev
	FUZZ_SYNC_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest --timeout=36000 tests/sync/test_convergence.py

# Kill KILLS writers, let system calls fail (every EVERYth, in JOBS processes), damage DAMAGES databases, run a crowd for SECONDS, forget FORGETS times, and let a team
# work for ROUNDS.
KILLS ?= 1000
DAMAGES ?= 300
FORGETS ?= 2000
SECONDS ?= 600
ROUNDS ?= 200
JOBS ?= 2
torture: $(VENV)/installed-dev
	$(BIN)/python tests/torture/kill_loop.py --kills $(KILLS)
	$(BIN)/python tests/torture/fault_loop.py --jobs $(JOBS) $(if $(EVERY),--every $(EVERY))
	$(BIN)/python tests/torture/damage_loop.py --damages $(DAMAGES)
	$(BIN)/python tests/torture/crowd.py --seconds $(SECONDS)
	$(BIN)/python tests/torture/forget_loop.py --forgets $(FORGETS)
	$(BIN)/python tests/torture/team_crowd.py --rounds $(ROUNDS)

# docs/benchmarks.md lists what each of the following measures, and the data that some of them need.
bench-quality: $(VENV)/installed
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/recall.py floor
	$(if $(PASTCHATS_SHARED),$(BIN)/python benchmarks/hook.py prompts)

bench-outcome: $(VENV)/installed
	$(BIN)/python benchmarks/outcome/judging.py
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/outcome/score.py $(PASTCHATS_TRANSCRIPTS) --part all)
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/recall.py lines $(PASTCHATS_TRANSCRIPTS))
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/recall.py lines $(PASTCHATS_TRANSCRIPTS) --tasks fresh)
	$(if $(PASTCHATS_TRANSCRIPTS),$(BIN)/python benchmarks/recall.py lines $(PASTCHATS_TRANSCRIPTS) --tasks unseen)

bench-tasks: $(VENV)/installed
	$(BIN)/python benchmarks/tasks.py similarity
	$(BIN)/python benchmarks/tasks.py verdicts

bench-redaction: $(VENV)/installed
	$(BIN)/python benchmarks/redaction.py speed
	$(BIN)/python benchmarks/redaction.py recall
	for corpus in forms bare printed passwords contexts; do $(BIN)/python benchmarks/redaction.py forms --corpus $$corpus || exit 1; done

# The official files: `make bench-locomo FILE=locomo10.json`, `make bench-longmemeval FILE=longmemeval_s.json`, `make bench-beam FILE=chats/100K`.
bench-locomo: $(VENV)/installed
	$(BIN)/python benchmarks/session_recall.py locomo $(FILE)

bench-longmemeval: $(VENV)/installed
	$(BIN)/python benchmarks/session_recall.py longmemeval $(FILE)

bench-beam: $(VENV)/installed
	$(BIN)/python benchmarks/session_recall.py beam $(FILE)
	$(BIN)/python benchmarks/session_recall.py beam-sessions $(FILE)

bench-speed: $(VENV)/installed
	$(BIN)/python benchmarks/speed.py cold
	$(if $(PASTCHATS_SHARED),$(BIN)/python benchmarks/hook.py process)

bench-scale: $(VENV)/installed
	$(BIN)/python benchmarks/scale.py own

bench-index: $(VENV)/installed
	$(BIN)/python benchmarks/index.py speed
	$(BIN)/python benchmarks/index.py unchanged 10000
	$(BIN)/python benchmarks/index.py reading
	$(BIN)/python benchmarks/index.py memory
	$(BIN)/python benchmarks/index.py size

bench-embed: $(VENV)/installed-dev
	$(BIN)/python benchmarks/index.py embed

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

# pip does not compile an editable install. Where PYTHONDONTWRITEBYTECODE is set, every run of the program would compile it again.
$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m compileall -q pastchats_memory
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m compileall -q pastchats_memory
	@touch $@ $(VENV)/installed

$(VENV)/installed-release: pyproject.toml | $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	@touch $@

$(VENV)/installed-page-tests: pyproject.toml | $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[page-tests]'
	@touch $@

$(AXE):
	npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix build/page-tests axe-core@4.14.1

clean:
	rm -rf $(VENV) build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
