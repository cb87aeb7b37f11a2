import sys
from itertools import pairwise
from pathlib import PurePosixPath

import pytest
from golden import ROOT, expected, inputs, plain, rows, shared, turns
from hypothesis import given, settings
from hypothesis import strategies as st

from pastchats_memory.formats.base.markdown import front_matter
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.markdown import notes
from pastchats_memory.formats.markdown.notes import NOTES
from pastchats_memory.text.timestamps import date_in_path


@pytest.mark.parametrize("path", inputs("notes"), ids=lambda path: path.name)
def test_a_note_gives_its_parts(path):
    assert [plain(row) for row in rows(NOTES, path, named=True)] == expected(path)


def holds_every_line(path, **wanted):
    """Every line below the front matter stands in a part, and the words of the front matter in the first one."""
    lines = SourceFile(path).text.split("\n")
    front = front_matter(lines)
    parts = turns(NOTES, path, named=True, **wanted)
    covered = {number for part in parts for number in range(part.line, part.end_line + 1)}
    written = "\n".join(part.content for part in parts)
    lost = [
        line
        for number, line in enumerate(lines[front.lines :], start=front.lines + 1)
        if line.strip() and (number not in covered or line not in written)
    ]
    assert not lost
    values = [value for key, value in front.fields.items() if key not in (*notes.DATE_KEYS, "project")]
    words = [
        word for value in values for text in ([value] if isinstance(value, str) else value) for word in text.split()
    ]
    assert not [word for part in parts[:1] for word in words if word not in part.content]


@pytest.mark.parametrize("path", inputs("notes"), ids=lambda path: path.name)
@pytest.mark.parametrize(("size", "overlap"), [(1500, 2), (40, 0), (1, 5)])
def test_no_line_of_a_note_is_lost(path, size, overlap):
    holds_every_line(path, chunk_size=size, chunk_overlap=overlap)


def test_no_line_of_real_documents_is_lost():
    for path in [*shared().glob("*.md"), *shared("transcripts").glob("backlog-md/*.md")]:
        holds_every_line(path)


MARKDOWN_LINES = st.sampled_from(
    ["# A", "## B", "### C", "text", "", "```", "~~~", "---", "===", "- item", "> # quoted", "    # code", "key: value"]
)


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(MARKDOWN_LINES, max_size=30), size=st.integers(1, 80), overlap=st.integers(0, 4))
def test_no_line_of_any_note_is_lost(lines, size, overlap, tmp_path_factory):
    path = tmp_path_factory.mktemp("note") / "note.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    if any(line.strip() for line in lines):
        holds_every_line(path, chunk_size=size, chunk_overlap=overlap)


FRONT = "---\ntitle: The port\ntags: [deploy, lamp]\nproject: shop\ndate: 2026-01-30\nstatus: moved\n---\n"


@pytest.mark.parametrize(
    ("body", "contents", "lines"),
    [
        ("\nIt is 8081.\n", ["The port\n\nIt is 8081.\n\ntags: deploy, lamp\nstatus: moved"], [9]),
        ("# The Port\n\n8081.", ["# The Port\n\n8081.\n\ntags: deploy, lamp\nstatus: moved"], [8]),
        (
            "8081.\n\n# Why\n\n8080.",
            ["The port\n\n8081.\n\ntags: deploy, lamp\nstatus: moved", "# Why\n\n8080."],
            [8, 10],
        ),
        ("", [], []),
        ("\n \n", [], []),
    ],
)
def test_front_matter_frames_the_first_part_and_is_no_part_of_its_own(tmp_path, body, contents, lines):
    path = tmp_path / "note.md"
    path.write_text(FRONT + body, encoding="utf-8")
    parts = turns(NOTES, path, named=True)
    assert [part.content for part in parts] == contents
    assert [part.line for part in parts] == lines
    assert all(part.metadata["tags"] == ["deploy", "lamp"] and part.metadata["title"] == "The port" for part in parts)


def test_chunks_share_lines_at_their_seams_and_keep_to_the_size(tmp_path):
    path = tmp_path / "long.md"
    path.write_text("# Long\n" + "".join(f"line {number}\n" for number in range(100)), encoding="utf-8")
    parts = turns(NOTES, path, named=True, chunk_size=200, chunk_overlap=3)
    assert all(len(part.content) <= 200 for part in parts)
    assert all(second.line == first.end_line - 2 for first, second in pairwise(parts))


@pytest.mark.parametrize(
    ("place", "wanted", "taken"),
    [
        ("repo/README.md", {}, False),
        ("repo/README.md", {"named": True}, True),
        ("repo/README.md", {"notes": True}, True),
        ("repo/LICENSE.txt", {"notes": True}, False),
        ("repo/todo.txt", {"named": True}, True),
        ("repo/Makefile", {"named": True}, False),
        ("repo/setup.cfg", {"named": True}, False),
        ("repo/notes/a.md", {}, True),
        ("repo/Logs/2026/01/31.md", {}, True),
        ("repo/plans/next/a.markdown", {}, True),
        ("repo/notes/a.txt", {}, False),
        ("repo/note.md", {}, False),
        ("repo/data.json", {"named": True}, False),
    ],
)
def test_a_file_is_a_note_when_somebody_wants_it_as_one(tmp_path, place, wanted, taken):
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text("# Title\n\nText.\n", encoding="utf-8")
    assert bool(NOTES.detect(SourceFile(path, **wanted))) is taken


def test_a_date_in_the_front_matter_makes_a_note(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("---\ndate: 2026-01-31\n---\ntext", encoding="utf-8")
    assert NOTES.detect(SourceFile(path))
    path.write_text("---\ndate: soon\n---\ntext", encoding="utf-8")
    assert not NOTES.detect(SourceFile(path))


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2026-01-31-foo.md", "2026-01-31"),
        ("logs/2026/01/31.md", "2026-01-31"),
        ("logs/2026/01/2026-01-30.md", "2026-01-30"),
        ("20260131.md", "2026-01-31"),
        ("2026_01_31.md", "2026-01-31"),
        ("foo.md", None),
        ("1234567890123.md", None),
        ("2026-13-01.md", None),
        ("2026-02-31.md", None),
    ],
)
def test_a_path_tells_the_day(path, day):
    assert date_in_path(PurePosixPath(path)) == (day and f"{day}T00:00:00.000Z")


@pytest.mark.parametrize(
    ("place", "project"),
    [
        ("shop/notes/a.md", "shop"),
        ("shop/docs/plans/a.md", "shop"),
        ("shop/.claude/plans/a.md", "shop"),
        ("home/ada/notes/a.md", None),
    ],
)
def test_a_path_tells_the_project(tmp_path, place, project):
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text("text", encoding="utf-8")
    assert turns(NOTES, path)[0].project == project


def test_markdown_it_is_imported_only_for_reading(tmp_path):
    import subprocess

    path = tmp_path / "notes" / "a.md"
    path.parent.mkdir()
    path.write_text("# A\n", encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from pastchats_memory.formats.markdown.notes import NOTES; from pastchats_memory.formats.base.source import SourceFile\n"
        f"assert NOTES.detect(SourceFile(Path({str(path)!r})))\nassert 'markdown_it' not in sys.modules\nassert 'yaml' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_a_named_file_that_is_no_note_is_not_called_markdown(program):
    (program.home / "Makefile").write_text("all: build\n\nbuild:\n\tcc x.c\n", encoding="utf-8")
    run = program("index", "Makefile")
    assert run.status == 1
    assert "no conversation found in it" in run.stdout
    assert "Markdown" not in run.stdout
