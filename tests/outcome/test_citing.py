"""A quotation is cited by the line of the file in which it stands, however many lines its turn has."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.episodes.citing import line_near, line_of
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


def test_what_a_commit_and_the_next_words_show_is_cited_by_its_own_line(tmp_path: Path) -> None:
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
    assert [line_near("make test", Place(str(path), line, None)) for line in (2, 3, 4, 6)] == [1, 1, 5, 5]
    assert line_near("never said", Place(str(path), 3, None)) == 3


def test_the_line_is_the_first_from_the_turn_on_that_holds_the_words_in_order(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_text(
        "2 passed\n## User\nRun it.\nIt passed 2 times.\nNow **2** tests `passed`.\n2 passed\n", encoding="utf-8"
    )
    assert line_of("2 tests passed", Place(str(path), 3, 4)) == 5
    assert line_of("2 passed", Place(str(path), 2, 4)) == 5
    assert line_of("Run it", Place(str(path), 4, 4)) == 3
    assert line_of("never said", Place(str(path), 2, 4)) == 2


def test_json_is_read_as_it_spells_text(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    records = [{"text": "one"}, {"text": 'He said:\n"schön, läuft jetzt"'}, {"text": "three"}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert line_of('"schön, läuft jetzt"', Place(str(path), 1, None)) == 2


def test_the_line_is_looked_for_in_a_file_of_sixteen_mebibytes_and_in_none_that_is_larger(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("Run it.\n12 passed\n", encoding="utf-8")
    os.truncate(path, 16 << 20)  # what is behind the lines is a hole
    assert line_of("12 passed", Place(str(path), 1, None)) == 2
    os.truncate(path, (16 << 20) + 1)
    assert line_of("12 passed", Place(str(path), 1, None)) == 1


@pytest.mark.parametrize("width", [1, 30, 700_000])
def test_the_line_is_counted_from_the_beginning_however_long_the_lines_are(tmp_path: Path, width: int) -> None:
    path = tmp_path / "session.jsonl"
    count = min(20_000, 4_000_000 // width)
    lines = ["x" * width] * count
    lines[0] = lines[count // 2] = lines[-1] = "12 passed"
    path.write_text("\n".join(lines), encoding="utf-8")
    for number in (1, count // 2 + 1, count):
        assert line_of("12 passed", Place(str(path), number, None)) == number
    assert line_of("12 passed", Place(str(path), count + 9, None)) == count
    assert line_of("12 passed", Place(str(path), 10 * count, None)) == 10 * count


def test_what_cannot_be_read_as_lines_is_cited_by_the_turn(tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("chat.md", "a\nb passed\n")
    assert line_of("passed", Place(f"{archive}/chat.md", 1, None)) == 1
    assert line_of("passed", Place(str(tmp_path / "gone.md"), 7, None)) == 7
