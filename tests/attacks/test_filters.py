"""Syntax of SQL, FTS5, globs and regular expressions in every filter and argument: it is a value, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inprocess import Shell

VALUES = (
    "'; DROP TABLE prompts; --", "x' UNION SELECT content FROM prompts --", '" OR NEAR(a b, 3) NOT y* {content}: ^', "[!a]*%_\\(a+)+$", "-1", "9" * 30, "\udcff",
)  # fmt: skip
FILTERS = (
    *(("search", "port", "--mode", "keyword", option) for option in ("--project", "--role", "--since", "--until", "--type", "--status", "--priority", "--outcome", "--limit", "--page", "--threshold", "--meaning")),
    *(("recall", "port", option) for option in ("--project", "--since", "--outcome", "--budget", "--limit")), ("context", "port", "--project"), ("how", "port", "--project"), ("lessons", "--project"),
    *(("forget", option) for option in ("--id", "--conversation", "--source", "--project", "--since", "--until", "--query", "--undo")), ("prune", "--before"), ("show",), ("similar",),
    *(("task", "list", option) for option in ("--project", "--status", "--type")), ("task", "show"), ("task", "recall"), ("task", "depend", "t-1"), ("sources", "--project"), ("export", "--project"),
    ("index", "chat.jsonl", "--include"), ("index", "chat.jsonl", "--exclude"), ("index", "chat.jsonl", "--project"),
)  # fmt: skip


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    home = tmp_path_factory.mktemp("filters")
    messages = [("user", "Which port?"), ("assistant", "8080."), ("user", "Why not 80?"), ("assistant", "It is taken.")]
    lines = [{"conversation_id": "c", "project": "garden", "role": role, "content": text} for role, text in messages]
    (home / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    shell = Shell(home)
    assert shell("index", "chat.jsonl").status == 0
    return shell


@pytest.mark.promise("text", "Globs, regular expressions and broken bytes in filters and ids are plain values.")
@pytest.mark.parametrize("arguments", FILTERS, ids=" ".join)
def test_a_value_is_a_value_whatever_it_looks_like(shell: Shell, arguments: tuple[str, ...]) -> None:
    for value in VALUES:
        run = shell(*arguments, value)
        assert run.status in (0, 1, 2), (value, run.stderr)
        assert "Traceback" not in run.stderr
        assert "syntax error" not in run.stderr
        assert "no such column" not in run.stderr
    assert shell("search", "8080", "--mode", "keyword").status == 0
    assert Path(shell.home / "chat.jsonl").exists()
