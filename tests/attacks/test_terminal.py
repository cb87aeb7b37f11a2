"""Nothing that a transcript, a task, or a name of a file says moves the cursor, reorders text or hides in what is printed."""

from __future__ import annotations

import json
import re

import pytest
from hostile import EVIL, write_controls
from inprocess import Shell

from pastchats_memory.text.display import escape_json, sanitise

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\xad\u180b-\u180f\u3164\uffa0\ufff0-\ufffb\u034f\u115f\u1160\u17b4\u17b5\ufe00-\ufe0d\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A memory whose every text and name is hostile; nothing but ids is told apart by it."""
    home = tmp_path_factory.mktemp("hostile")
    folder, tasks = write_controls(home)
    shell = Shell(home)
    assert shell("index", folder, tasks).status == 0
    return shell


PRINTED = (
    "search webhook", "search webhook --explain", "search webhook --mode keyword", "search webhook --type task", "recall {words}",
    "context {words}", "ask {words}", "ask {tasks}", "lessons --project gar{evil}den", "lessons", "lessons --all", "judge --all --outcome worked,failed,unknown", "judge 1 --undo", "judge --project gar{evil}den", "judge no{evil}such unknown", "how {words} --project gar{evil}den", "how {words} --all", "show 1",
    "show t:{key}", "show c:1", "similar {key}", "find-duplicates {words}", "duplicates --scan", "check-prior-work {words}",
    "consult-episodic-memory {words}", "task list", "task show {key}", "task recall {words}", "task update {key} --status open",
    "task add New{evil}task", "task comment {key} Hello{evil}", "task depend {key} {other}", "task export", "capture {words} --no", "sources", "verify", "status", "doctor",
    "forget --query webhook", "forget --project gar{evil}den", "forget --source {folder}", "forget --list", "exclude {folder}{evil} --no", "prune --before 2026-05-02", "redact --rescan --no", "index .",
    "index . --dry-run", "index no{evil}such", "show no{evil}such", "show t:no{evil}such", "task show no{evil}such", "similar no{evil}such", "forget --id no{evil}such",
    "search x --project no{evil}such", "search x --since no{evil}such", "search x --status no{evil}such", "search --no{evil}such", "no{evil}such", "sources --db no{evil}such.db", "backup no{evil}such/x.db",
    "search webhook --json", "recall {words} --json", "context {words} --json", "show 1 --json", "task list --json", "task show {key} --json", "lessons --all --json", "judge --all --outcome worked,failed,unknown --json",
    "how {words} --all --json", "ask {words} --json", "duplicates --scan --json", "verify --json", "status --json", "sources --json", "index {folder} --json",
    "timeline --since 2026-05-01", "timeline --since 2026-05-01 --json", "digest --since 2026-05-01", "digest --since 2026-05-01 --json",
    "blame {folder}/a{evil}.py", "blame {folder}/a{evil}.py --json", "show --conversation 1", "show --conversation 1 --json", "show --conversation no{evil}such",
    "export --markdown --conversation 1", "export --html --conversation 1", "export --markdown --query webhook", "export --html --query webhook", "resume 1", "resume 1 --json", "open 1 --print",
    "open no{evil}such", "sync no{evil}such", "sync --status no{evil}such", "judge --auto --no",
    "forget --query webhook --json", "export", "task show no{evil}such --json", "task delete no{evil}such", "restore no{evil}such.db", "config", "task import no{evil}such.jsonl", "install no{evil}such",
)  # fmt: skip
"""Every command that prints what is stored, what was typed, or a name of a file."""

FOUND = (
    "recall",
    "lessons --all",
    "judge --all",
    "how {words} --all",
    "timeline",
    "digest",
    "show --conversation 1",
    "export --",
)
"""Of which something is found: an empty answer would hold nothing to look at."""


@pytest.mark.promise(
    "text",
    "The output of eighty commands contains no terminal escapes, no bidirectional controls and no invisible letters.",
)
@pytest.mark.parametrize("line", PRINTED)
def test_no_output_holds_what_a_terminal_obeys(shell: Shell, line: str) -> None:
    (folder,) = [path for path in shell.home.iterdir() if path.name.startswith("ba")]
    known = {
        "evil": EVIL, "words": "Why does the webhook retry fail?", "tasks": "which tasks are finished?",
        "key": f"gar-0{EVIL}", "other": f"gar-1{EVIL}", "folder": str(folder),
    }  # fmt: skip
    run = shell(*(word.format(**known) for word in line.split()))
    assert run.status in (0, 1, 2), run.stderr
    assert run.status == 0 or not line.startswith(FOUND), run.stderr
    for printed in (run.stdout, run.stderr):
        unseen = UNSEEN.search(printed)
        assert unseen is None, printed[max(0, unseen.start() - 60) : unseen.start() + 60]


def test_marks_that_are_piled_on_a_letter_do_not_cover_the_lines_around() -> None:
    piled = "Z" + "\u0336\u0315" * 300 + "\u200d\ufe0f" * 300
    assert sanitise(f"a{piled}b") == f"a{piled[:5]}b"
    for written in (
        "ế",
        "e\u0302\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "क्षि",
        "1\ufe0f\u20e3",
    ):
        assert sanitise(written) == written


def test_json_of_hostile_words_is_escaped_and_says_the_same(shell: Shell) -> None:
    assert "\u202e" in json.dumps(json.loads(shell("show", 1, "--json").stdout), ensure_ascii=False)
    for letter in EVIL:
        written = json.dumps({"a": letter}, ensure_ascii=False)
        assert json.loads(escape_json(written)) == {"a": letter}
