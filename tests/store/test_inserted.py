"""Turns that another program inserts with the columns of SPEC's data contract alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from program import Program, write_messages

INSERT = """INSERT INTO prompts (source_path, source_project, conversation_id, turn_index, role, content, content_hash)
VALUES ('/notes/kiln.txt', 'kiln', 'by-hand', ?, ?, ?, ?)"""
TURNS = [("user", "Why does the relay of the kiln trip?"), ("assistant", "Because the damper jams: oil it.")]


@pytest.fixture
def inserted(program: Program) -> Program:
    """A memory with one indexed conversation, and one that was inserted by SQL."""
    write_messages(program.home / "chat.jsonl", ("user", "Paint the fence."), ("assistant", "It is green now."))
    assert program("index", "chat.jsonl").status == 0
    with closing(sqlite3.connect(program.database)) as database, database:
        database.executemany(INSERT, [(place, *turn, f"hash {place}") for place, turn in enumerate(TURNS)])
    return program


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_an_inserted_turn_is_found(inserted: Program, mode: str) -> None:
    assert inserted("search", "what jams the kiln").status == 0
    found = inserted("search", "the damper jams", "--mode", mode, "--json").results
    assert found[0]["content"] == TURNS[1][1]
    assert (found[0]["source_path"], found[0]["source_project"]) == ("/notes/kiln.txt", "kiln")


def test_an_inserted_conversation_is_recalled_and_shown(inserted: Program) -> None:
    assert "the damper jams" in inserted("recall", "the relay of the kiln trips").stdout
    assert TURNS[0][1] in inserted("show", "--conversation", "by-hand").stdout
    assert inserted("show", "3").status == inserted("verify").status == 0
    assert inserted("timeline", "--since", "2020-01-01").status in (0, 1)


def test_the_doctor_asks_for_the_redaction_of_inserted_text_alone(inserted: Program) -> None:
    checks = {one["check"]: one for one in inserted("doctor", "--json").results}
    assert [name for name, one in checks.items() if not one["is_well"]] == ["secrets"]
    assert "redact --rescan" in checks["secrets"]["remedy"]
    assert inserted("redact", "--rescan", "--yes").status == 0
    assert inserted("doctor").status == 0


def test_inserted_turns_survive_a_change_of_model_and_a_backup(inserted: Program) -> None:
    assert inserted("reindex", "--embeddings").status == 0
    assert inserted("backup", "copy.db").status == 0
    assert inserted("export").status == 0
