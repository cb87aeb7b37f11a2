"""Files that were moved, renamed, emptied or filed under a project are known again; only their own reader reads them again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from program import Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.formats import registry
from pastchats_memory.formats.markdown.terminal import SCROLLBACK
from pastchats_memory.ingest import changes
from pastchats_memory.store import turns as corpus


def stored(memory: Memory, statement: str) -> list[tuple[object, ...]]:
    return memory._database.run(statement)  # noqa: SLF001 - what is stored is asked of the store


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as memory:
        yield memory


def places(memory: Memory) -> set[tuple[str, str]]:
    return set(
        stored(
            memory,
            "SELECT p.source_path, s.path FROM prompts p JOIN sightings g ON g.prompt_id = p.id "
            "JOIN sources s ON s.id = g.source_id",
        )
    )


def projects(memory: Memory) -> set[str]:
    return {name for (name,) in stored(memory, "SELECT DISTINCT source_project FROM prompts")}


def chat(path: Path, *more: tuple[str, str]) -> Path:
    return write_messages(path, ("user", "Is the fence painted?"), ("assistant", "Green, on Monday."), *more)


@pytest.mark.parametrize("how", ["renamed", "copied elsewhere"])
def test_a_moved_file_is_known_again_and_nothing_is_read_or_embedded(tmp_path: Path, memory: Memory, how: str) -> None:
    old, new = chat(tmp_path / "a" / "chat.jsonl"), tmp_path / "b" / "talk.jsonl"
    memory.index([tmp_path / "a"])
    new.parent.mkdir()
    if how == "renamed":
        old.rename(new)
    else:
        new.write_bytes(old.read_bytes())
        old.unlink()
    report = memory.index([tmp_path / "b"])
    assert (report.moved, report.files_unchanged, report.embedded, report.files_read) == (1, 1, 0, [])
    assert places(memory) == {(str(new), str(new))}
    assert memory.index([tmp_path / "b"]).files_unchanged == 1


def test_a_file_that_moved_and_grew_is_known_again_and_costs_what_was_added(tmp_path: Path, memory: Memory) -> None:
    old, new = chat(tmp_path / "chat.jsonl"), tmp_path / "later.jsonl"
    for turn in range(50):
        chat(old, *(("user", f"And {number}?") for number in range(turn)))
    memory.index([old])
    old.rename(new)
    with new.open("a", encoding="utf-8") as file:
        file.write('{"role": "assistant", "content": "That is all."}\n')
    report = memory.index([new])
    assert (report.moved, report.counts()["turns_added"], report.embedded) == (1, 1, 1)
    assert places(memory) == {(str(new), str(new))}


def test_a_copy_is_no_move(tmp_path: Path, memory: Memory) -> None:
    old = chat(tmp_path / "chat.jsonl")
    memory.index([old])
    (tmp_path / "copy.jsonl").write_bytes(old.read_bytes())
    assert memory.index([tmp_path]).moved == 0
    assert {source for _, source in places(memory)} == {str(old), str(tmp_path / "copy.jsonl")}


def test_a_project_given_once_stays_until_it_is_taken_back(tmp_path: Path, memory: Memory) -> None:
    file = chat(tmp_path / "garden" / "chat.jsonl")
    memory.index([file], project="shed")
    assert memory.index([file.parent]).files_unchanged == 1
    chat(file, ("user", "And the gate?"))
    memory.index([file.parent])
    assert projects(memory) == {"shed"}
    memory.index([file], project="")
    assert projects(memory) == {"garden"}


@pytest.mark.parametrize("after", [b"", b"\0\0\0", b'{"bread": 2}'])
def test_a_note_that_was_emptied_loses_its_rows(tmp_path: Path, memory: Memory, after: bytes) -> None:
    note = tmp_path / "notes" / "plan.md"
    note.parent.mkdir()
    note.write_text("# Plan\n\nDig.\n\n## Later\n\nPlant.\n", encoding="utf-8")
    memory.index([note.parent])
    note.write_bytes(after)
    report = memory.index([note.parent])
    assert report.superseded == 2 or after.startswith(b"{")
    assert [hit.content for hit in memory.search("plant", mode="keyword")] == []


def test_another_version_of_a_reader_reads_its_own_files_and_no_others(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat(tmp_path / "history" / "chat.jsonl")
    (tmp_path / "history" / "talk.md").write_text("## User\n\nHow?\n\n## Assistant\n\nSo.\n", encoding="utf-8")
    (tmp_path / "history" / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    memory.index([tmp_path / "history"])
    monkeypatch.setitem(changes.VERSIONS, "markdown-dialogue", 99)
    monkeypatch.setitem(changes.VERSIONS, memory.index([tmp_path / "history"], force=True).files_read[0].format, 99)
    report = memory.index([tmp_path / "history"])
    assert [file.format is None or changes.VERSIONS[file.format] == 99 for file in report.files] == [True] * len(
        report.files
    )
    assert (report.embedded, report.counts()["turns_added"]) == (0, 0)


def test_a_reader_that_is_asked_before_the_one_that_took_a_file_is_shown_it(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    note, chats = tmp_path / "notes" / "screen.md", chat(tmp_path / "chat.jsonl")
    note.parent.mkdir()
    note.write_text("> Is it open?\n\n✦ Yes.\n\n✦ And wide.\n", encoding="utf-8")
    with monkeypatch.context() as then:
        others = tuple(reader for reader in registry.all_formats() if reader is not SCROLLBACK)
        then.setattr(registry, "all_formats", lambda: others)
        then.setattr(changes, "VERSIONS", {name: of for name, of in changes.VERSIONS.items() if name != "scrollback"})
        assert {file.format for file in memory.index([note.parent, chats]).files_read} == {"messages", "notes"}
    assert [file.format for file in memory.index([note.parent, chats]).files_read] == ["scrollback"]
    assert stored(memory, "SELECT count(*) FROM prompts WHERE role = 'note'") == [(0,)]


@pytest.mark.parametrize("touched", [False, True], ids=["as it was", "copied anew"])
def test_a_reader_that_reads_better_leaves_no_row_of_the_old_reading(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch, touched: bool
) -> None:
    file = chat(tmp_path / "chat.jsonl")
    memory.index([file])
    if touched:
        os.utime(file, (1, 1))
    stored(memory, "UPDATE prompts SET content_hash = 'old ' || id, content = 'misread ' || id, echo_hash = NULL")
    monkeypatch.setitem(changes.VERSIONS, "messages", 99)
    report = memory.index([file])
    assert (report.superseded, report.embedded) == (2, 0)
    assert memory.status().turns == 2


def test_a_row_that_another_process_deletes_before_it_is_stored_is_embedded_again(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = chat(tmp_path / "chat.jsonl")
    memory.index([file])
    original, deleted = corpus.known_vectors, []

    def vectors_of(database, *arguments):
        found = original(database, *arguments)
        if not deleted:
            deleted.append(True)
            database.run("DELETE FROM prompts")
        return found

    monkeypatch.setattr(corpus, "known_vectors", vectors_of)
    report = memory.index([file], force=True)
    assert (report.counts()["turns_added"], memory.status().turns, memory.status().embeddings) == (2, 2, 2)


def test_the_next_run_repeats_what_was_unreadable_and_no_file_that_was_not_taken(program: Program) -> None:
    folder = program.home / "mixed"
    chat(folder / "chat.jsonl")
    with (folder / "chat.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    (folder / "shopping.json").write_text('{"bread": 2}', encoding="utf-8")
    first, second = program("index", "mixed").stdout, program("index", "mixed").stdout
    assert "shopping.json: no conversation found in it" in first
    assert "shopping.json" not in second
    assert all("chat.jsonl:3: not JSON" in shown for shown in (first, second))


def test_an_empty_list_and_a_table_are_left_with_a_reason_of_their_own(program: Program) -> None:
    (program.home / "todos.json").write_text("[]", encoding="utf-8")
    for name in ("chat.csv", "chat.tsv"):
        (program.home / name).write_text("sender,text,isCreatedByUser\nUser,Why?,true\n", encoding="utf-8")
    run = program("index", "--dry-run", "--json", "todos.json", "chat.csv", "chat.tsv")
    reasons = {Path(row["source_path"]).name: row["reason"] for row in run.results}
    assert reasons["todos.json"] == "an empty list or object"
    assert "as JSON too" in reasons["chat.csv"]
    assert reasons["chat.tsv"] == reasons["chat.csv"]


def test_a_dry_run_knows_the_database_and_the_project(program: Program) -> None:
    chat(program.home / "mixed" / "chat.jsonl")
    assert program("index", "mixed").status == 0
    chat(program.home / "mixed" / "talk.jsonl", ("user", "Why?"))
    run = program("index", "--dry-run", "--project", "shed", "--json", "mixed")
    assert [(row["project"], row["unchanged"]) for row in run.results] == [("shed", False)] * 2
    plain = {Path(row["source_path"]).name: row for row in program("index", "--dry-run", "--json", "mixed").results}
    assert plain["chat.jsonl"]["unchanged"]
    assert (plain["talk.jsonl"]["unchanged"], plain["talk.jsonl"]["turns"]) == (False, 3)


@pytest.mark.parametrize("fields", [{"v": 1, "created": 1772618400120}, {}], ids=["amp", "messages"])
def test_a_file_whose_times_cannot_be_trusted_is_known_by_its_bytes(
    tmp_path: Path, memory: Memory, fields: dict[str, int]
) -> None:
    file = tmp_path / "T-1.json"
    messages = [{"role": "user", "content": "Is it one?"}, {"role": "assistant", "content": "Yes."}]
    file.write_text(json.dumps({**fields, "messages": messages}), encoding="utf-8")
    memory.index([file])
    stat = file.stat()
    file.write_text(file.read_text(encoding="utf-8").replace("one", "two"), encoding="utf-8")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    report = memory.index([file])
    assert (report.files_unchanged, report.counts()["turns_added"]) == (0, 1)
