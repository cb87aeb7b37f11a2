"""What `export` writes is what `index` reads back: the same rows, in a new memory and in the one that it came from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import DEMO, REPOSITORY, Program, write_messages
from systems import has_mode
from whole import assert_whole, state

from pastchats_memory import Memory
from pastchats_memory.store.database import open_database

COLUMNS = (
    "source_path, source_project, conversation_id, turn_index, role, content, timestamp, content_hash, metadata_json, "
    "text_hash, echo_hash"
)
SAME = ("tasks", "texts", "comments", "states", "links", "outcomes", "model")


def _rows(path: Path) -> list[tuple]:
    with open_database(path) as database:
        return database.run(f"SELECT {COLUMNS} FROM prompts ORDER BY content_hash")


def _places(path: Path) -> set[tuple]:
    with open_database(path) as database:
        return set(
            database.run(
                "SELECT p.content_hash, s.path, g.line, g.end_line FROM sightings g JOIN prompts p ON p.id = g.prompt_id "
                "JOIN sources s ON s.id = g.source_id"
            )
        )


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Sessions with tools, notes, chats, a live turn, tasks of a tracker and by hand, and an export of it all."""
    home = tmp_path_factory.mktemp("full")
    shutil.copytree(DEMO / "history", home / "history")
    shutil.copy(REPOSITORY / "fixtures" / "beads" / "beads-q4-links.jsonl", home / "history")
    program = Program(home)
    assert program("index", "history").status == 0
    program("task", "add", "Water the roses", "--priority", "2", "--tag", "garden")
    program("task", "comment", "T-5", "In the evening.")
    with Memory.open(program.database) as memory:
        memory.store_turn("user", "Where is the greenhouse key?", "today", "event-1", "garden", "2026-05-06T10:00:03Z")
    assert program("index", "history").status == 0  # which derives what the live turn has changed
    assert program("export", "memory.jsonl").status == 0
    return program


def test_an_export_is_read_back_to_the_same_rows_and_fits_its_schema(full: Program, tmp_path: Path) -> None:
    file = full.home / "memory.jsonl"
    assert has_mode(file, 0o600)
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "export.json").read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        Draft202012Validator(schema).validate(line)
    assert {line["role"] for line in lines if line["kind"] == "turn"} == {"user", "assistant", "tool", "system", "note"}
    assert full("export").stdout == file.read_text(encoding="utf-8")
    new = tmp_path / "new.db"
    run = full("index", file, "--db", new)
    assert run.status == 0, run
    assert "not understood" not in run.stdout
    assert _rows(new) == _rows(full.database)
    assert {place for place in _places(new) if place[1] != str(file)} == _places(full.database)
    with open_database(new) as copy, open_database(full.database) as original:
        assert_whole(copy)
        there, here = state(copy), state(original)
        assert {name: there[name] for name in SAME} == {name: here[name] for name in SAME}
        vectors = {row[0]: row[-2] for row in here["prompts"]}
        assert {row[0]: row[-2] for row in there["prompts"]} == vectors


def test_read_into_the_memory_that_it_came_from_an_export_changes_nothing(full: Program, tmp_path: Path) -> None:
    shutil.copy(full.database, tmp_path / "same.db")
    run = full("index", "memory.jsonl", "--db", tmp_path / "same.db", "--json")
    assert run.json["turns_added"] == run.json["tasks_added"] == 0
    assert _rows(tmp_path / "same.db") == _rows(full.database)


def test_transcripts_that_are_indexed_after_their_export_meet_their_own_rows(full: Program, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    assert full("index", "memory.jsonl", "--db", new).status == 0
    again = full("index", "history", "--db", new, "--json")
    assert again.json["turns_added"] == again.json["tasks_added"] == 0
    assert _rows(new) == _rows(full.database)


def test_an_older_export_takes_nothing_from_what_has_been_learned_since(program: Program) -> None:
    file = write_messages(program.home / "history" / "chat.jsonl", ("user", "How deep?"), ("assistant", "Eighty"))
    program("index", "history")
    program("task", "add", "Dig", "--key", "dig")
    assert program("export", "old.jsonl").status == 0
    file.write_text(file.read_text(encoding="utf-8").replace("Eighty", "Eighty centimetres"), encoding="utf-8")
    program("index", "history")
    program("task", "update", "dig", "--status", "done")
    before = _rows(program.database)
    assert "Eighty centimetres" in [row[5] for row in before]
    assert program("index", "old.jsonl").status == 0
    assert _rows(program.database) == before
    assert json.loads(program("task", "show", "dig", "--json").stdout)["results"][0]["status"] == "completed"


def test_a_project_that_is_private_is_exported_from_inside_alone_and_stays_private_elsewhere(program: Program) -> None:
    diary = program.home / "diary"
    write_messages(diary / "chats" / "one.jsonl", ("user", "A secret garden"), project="diary")
    (diary / ".git").mkdir()
    (diary / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    write_messages(program.home / "history" / "two.jsonl", ("user", "An open garden"), conversation="c2")
    assert program("index", "diary", "history").status == 0
    outside = program("export", "outside.jsonl")
    assert "1 turn and 0 tasks of private projects left out" in outside.stderr
    assert "secret" not in (program.home / "outside.jsonl").read_text(encoding="utf-8")
    elsewhere = Program(program.home / "elsewhere")
    elsewhere.home.mkdir()
    assert program.within(diary)("export", elsewhere.home / "all.jsonl").status == 0
    assert "secret" in (elsewhere.home / "all.jsonl").read_text(encoding="utf-8")
    shutil.rmtree(diary)
    assert elsewhere("index", "all.jsonl").status == 0
    assert elsewhere("search", "open garden", "--mode", "keyword").status == 0
    assert "secret" not in elsewhere("search", "garden", "--mode", "keyword").stdout


def test_an_export_takes_no_name_that_is_taken_and_none_of_the_memorys_own(full: Program) -> None:
    for name, text in (("memory.jsonl", "there already"), ("memory.db", "database itself")):
        run = full("export", name)
        assert run.status == 2
        assert text in run.stderr
    assert full("export", "memory.jsonl", "--force").status == 0


@pytest.mark.parametrize(("kind", "levels"), [("turn", 150), ("turn", 600), ("task", 150), ("task", 600)])
def test_deep_metadata_is_reported_and_the_other_lines_are_read(
    full: Program, tmp_path: Path, kind: str, levels: int
) -> None:
    lines = [json.loads(line) for line in (full.home / "memory.jsonl").read_text(encoding="utf-8").splitlines()]
    changed = next(line for line in lines if line["kind"] == kind)
    for _ in range(levels):
        changed["metadata"] = {"a": changed["metadata"]}
    file = tmp_path / "memory.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        report = memory.index([file])
        assert ["metadata" in one.reason for one in report.unreadable] == [True]
        assert report.added > 0
        assert memory.export_to(tmp_path / "again.jsonl") == len(lines) - 1
