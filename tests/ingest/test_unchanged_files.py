"""An unchanged file costs one look at it: it is not opened, and thousands of them take less than a second."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from program import write_messages
from work import count_calls, opened_files

from pastchats_memory import Memory

OPENED: list[str] = []
WATCHING = [False]


def _watch(
    event: str, arguments: tuple[object, ...], watching: list[bool] = WATCHING, paths: list[str] = OPENED
) -> None:
    if watching[0] and event == "open":
        paths.append(str(arguments[0]))


sys.addaudithook(_watch)


@pytest.fixture
def opened():
    """The paths that the process opens while the test runs."""
    OPENED.clear()
    WATCHING[0] = True
    yield OPENED
    WATCHING[0] = False


def test_only_a_file_that_changed_is_opened(tmp_path: Path, opened: list[str]) -> None:
    history = tmp_path / "history"
    for number in range(20):
        write_messages(history / f"{number}.jsonl", ("user", f"Question {number}?"), ("assistant", f"Answer {number}."))
    (history / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([history])
        assert str(history / "7.jsonl") in opened
        opened.clear()
        report = memory.index([history])
        assert (report.files_unchanged, report.known) == (21, 20)
        assert [path for path in opened if path.startswith(str(history))] == []
        write_messages(history / "7.jsonl", ("user", "Question 7?"), ("assistant", "Answer 7."), ("user", "And 8?"))
        memory.index([history])
        assert {path for path in opened if path.startswith(str(history))} == {str(history / "7.jsonl")}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells when a file was made, not when it changed")
@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_file_of_the_same_size_and_time_with_other_words_is_read_again(is_replaced: bool, tmp_path: Path) -> None:
    chat, other = tmp_path / "chat.jsonl", tmp_path / "other.jsonl"
    write_messages(chat, ("user", "Is the door open?"), ("assistant", "It is."))
    before = chat.stat()
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([chat])
        written = other if is_replaced else chat
        write_messages(written, ("user", "Is the door shut?"), ("assistant", "It is."))
        os.utime(written, ns=(before.st_atime_ns, before.st_mtime_ns))
        written.replace(chat)
        assert (chat.stat().st_size, chat.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        memory.index([chat])
        assert [hit.content for hit in memory.search("door shut", limit=1)] == ["Is the door shut?"]
        assert memory.index([chat]).files_unchanged == 1


def test_with_force_every_file_is_read_again_and_nothing_is_embedded(tmp_path: Path) -> None:
    write_messages(tmp_path / "chat.jsonl", ("user", "Question?"), ("assistant", "Answer."))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
        report = memory.index([tmp_path], force=True)
    assert (report.files_unchanged, len(report.files_read), report.embedded, report.cached) == (0, 1, 0, 2)


def test_no_unchanged_file_is_opened_and_none_costs_a_statement(tmp_path: Path) -> None:
    statements = {}
    for count in (10, 200):
        history = tmp_path / f"history-{count}"
        for number in range(count):
            write_messages(history / str(number % 5) / f"{number}.jsonl", ("user", "Question?"))
        with Memory.open(tmp_path / f"{count}.db") as memory:
            memory.index([history])
            with opened_files() as opened:
                assert memory.index([history]).files_unchanged == count
            assert [path for path in opened if path.startswith(str(history)) and path.endswith(".jsonl")] == []
            statements[count] = count_calls(lambda memory=memory, history=history: memory.index([history]))["run"]
    assert statements[10] == statements[200]


def test_a_note_that_was_taken_stays_taken_and_costs_nothing_without_the_option(tmp_path: Path) -> None:
    note = tmp_path / "docs" / "fence.md"
    note.parent.mkdir()
    note.write_text("# Fence\n\nIt is painted green.\n", encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.index([note.parent]).files_read == []
        assert len(memory.index([note.parent], notes=True).files_read) == 1
        for notes in (False, True, False):
            report = memory.index([note.parent], notes=notes)
            assert (report.files_unchanged, report.known) == (1, 1)
        note.write_text("# Fence\n\nIt is painted dark blue.\n", encoding="utf-8")
        assert [file.added for file in memory.index([note.parent]).files_read] == [1]
        assert [hit.content for hit in memory.search("painted", mode="keyword")] == [
            "# Fence\n\nIt is painted dark blue."
        ]
