"""A quotation is cited by its own line of the file."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.episodes.cite import find_line, find_nearest_line
from pastchats_memory.model import Place

HISTORY = """
# aider chat started at 2026-03-01 10:11:12

> Aider v0.86.1

#### Show the estimated time in the progress bar.

I compute it from the mean time of an item.

It is shown behind the bar.

> Tokens: 3.2k sent, 250 received.
> Applied edit to bar.py
> Commit 1f2e3d4 feat: show the time that is left

#### /clear
#### Lovely,
#### that works on every terminal
"""


def test_evidence_is_cited_by_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(HISTORY, encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        (found,) = memory.recall("estimated time in the progress bar").entries
    lines = HISTORY.split("\n")
    assert found.outcome.verdict == "worked"
    assert [lines[(shown.source_line or 0) - 1] for shown in found.outcome.evidence] == ["#### Lovely,"]


def test_the_nearest_line_is_before_the_place_or_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_text("make test\n\nDone.\n\nmake test\n12 passed\nDone.\n", encoding="utf-8")
    assert [find_nearest_line("make test", Place(str(path), line, None)) for line in (2, 3, 4, 6)] == [1, 1, 5, 5]
    assert find_nearest_line("never said", Place(str(path), 3, None)) == 3


def test_the_line_is_the_first_from_the_turn_on_that_holds_the_words_in_order(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_text(
        "2 passed\n## User\nRun it.\nIt passed 2 times.\nNow **2** tests `passed`.\n2 passed\n", encoding="utf-8"
    )
    assert find_line("2 tests passed", Place(str(path), 3, 4)) == 5
    assert find_line("2 passed", Place(str(path), 2, 4)) == 5
    assert find_line("Run it", Place(str(path), 4, 4)) == 3
    assert find_line("never said", Place(str(path), 2, 4)) == 2


def test_json_escapes_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    records = [{"text": "one"}, {"text": 'He said:\n"schön, läuft jetzt"'}, {"text": "three"}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert find_line('"schön, läuft jetzt"', Place(str(path), 1, None)) == 2


def test_files_above_sixteen_mebibytes_are_not_searched(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("Run it.\n12 passed\n", encoding="utf-8")
    os.truncate(path, 16 << 20)  # what is behind the lines is a hole
    assert find_line("12 passed", Place(str(path), 1, None)) == 2
    os.truncate(path, (16 << 20) + 1)
    assert find_line("12 passed", Place(str(path), 1, None)) == 1


@pytest.mark.parametrize("width", [1, 30, 700_000])
def test_lines_are_counted_from_the_start_of_the_file(tmp_path: Path, width: int) -> None:
    path = tmp_path / "session.jsonl"
    count = min(20_000, 4_000_000 // width)
    lines = ["x" * width] * count
    lines[0] = lines[count // 2] = lines[-1] = "12 passed"
    path.write_text("\n".join(lines), encoding="utf-8")
    for number in (1, count // 2 + 1, count):
        assert find_line("12 passed", Place(str(path), number, None)) == number
    assert find_line("12 passed", Place(str(path), count + 9, None)) == count
    assert find_line("12 passed", Place(str(path), 10 * count, None)) == 10 * count


def test_an_unreadable_file_is_cited_by_the_turn(tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("chat.md", "a\nb passed\n")
    assert find_line("passed", Place(f"{archive}/chat.md", 1, None)) == 1
    assert find_line("passed", Place(str(tmp_path / "gone.md"), 7, None)) == 7
