"""Which files are looked at and how notes are split, as the configuration says."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import Program, write_messages

from pastchats_memory.ingest.options import FileFilter


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a/drafts/x.md", "drafts", True),
        ("a/drafts/x.md", "*.md", True),
        ("a/drafts/x.md", "x", False),
        ("a/drafts/x.md", "drafts/*", True),
        ("a/drafts/x.md", "a/x.md", False),
        ("drafts/x.md", "drafts/x.md", True),
        ("redrafts/x.md", "drafts/x.md", False),
    ],
)
def test_a_pattern_fits_a_name_or_the_end_of_a_path(path: str, pattern: str, *, fits: bool) -> None:
    assert FileFilter(exclude=(pattern,)).excludes(path) is fits
    assert FileFilter(include=(pattern,)).includes(path) is fits


def test_includes_excludes_note_folders_and_the_size_of_parts_count_for_index_and_its_rehearsal(
    program: Program,
) -> None:
    home = program.home
    (home / "pastchats-memory.toml").write_text(
        "include = ['*.jsonl', '*.md']\nexclude = ['old']\nnote_folders = ['Diary']\nchunk_size = 100\noverlap = 0\n",
        encoding="utf-8",
    )
    write_messages(home / "all" / "chat.jsonl", ("user", "Is the fence painted?"))
    write_messages(home / "all" / "old" / "chat.jsonl", ("user", "Is the gate painted?"), conversation="c2")
    write_messages(home / "all" / "chat.json.txt", ("user", "Is the door painted?"), conversation="c3")
    note = home / "all" / "diary" / "day.md"
    note.parent.mkdir()
    note.write_text("# Day\n\n" + "\n".join(f"Line {number} of the day, in which it rained." for number in range(9)))
    rehearsed = program("index", "--dry-run", "--json", "all")
    taken = {Path(file["source_path"]).name: file["turns"] for file in rehearsed.results if file["format"]}
    assert taken == {"chat.jsonl": 1, "day.md": taken["day.md"]}
    assert taken["day.md"] > 3
    done = program("index", "--json", "all")
    assert done.json["turns_added"] == 1 + taken["day.md"]
    assert program("index", "--json", "all").json["files_unchanged"] == 2
    (home / "pastchats-memory.toml").write_text("note_folders = ['diary']\n", encoding="utf-8")
    again = program("index", "--json", "all")
    (whole,) = [file for file in again.results if file["source_path"] == str(note)]
    assert (whole["added"] + whole["updated"], again.json["superseded"] > 2) == (1, True)
