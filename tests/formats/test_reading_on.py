"""A file that has grown, read on from where its reader stopped, gives the rows of one that was read as a whole."""

import json

import pytest
from golden import inputs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import damaged

from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE
from pastchats_memory.formats.agents.cursor import CURSOR
from pastchats_memory.formats.base import source
from pastchats_memory.formats.base.checkpoint import CannotResume, Checkpoint
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, NotText, SourceFile
from pastchats_memory.formats.generic import MESSAGES
from pastchats_memory.formats.registry import all_formats
from pastchats_memory.model import Task, Turn

WHOLE = {
    "beads",
    "cline",
    "enveloped",
    "export",
    "github-issues",
    "hermes",
    "llm-logs",
    "opencode",
    "vscode-copilot-chat",
}
"""Formats whose lines change what stands above them, or whose programs write the file anew each time."""
GROWING = {
    reader: paths
    for reader in all_formats()
    if reader.is_specific
    and reader.name not in WHOLE
    and (paths := [path for path in inputs(reader.name) if path.suffix == ".jsonl" and reader.detect(SourceFile(path))])
}


def read(reader, path, resumed=None):
    """The rows that stand for good, where to go on, and the rows that may still change."""
    rows = list(reader.read(SourceFile(path, resumed=resumed)))
    place = next((number for number, row in enumerate(rows) if isinstance(row, Checkpoint)), None)
    if place is None:
        return rows, None, []
    kept = rows[place]
    return rows[:place], Checkpoint(kept.offset, kept.line, json.loads(json.dumps(kept.state))), rows[place + 1 :]


def gone_on_with(reader, path, target, first=1):
    """How often the file, cut behind every line from `first` on, was gone on with; turns and tasks are those of the whole."""
    lines = path.read_bytes().splitlines(keepends=True)
    target.write_bytes(b"".join(lines))
    before, _, after = read(reader, target)
    times = 0
    for cut in range(first, len(lines)):
        target.write_bytes(b"".join(lines[:cut]))
        certain, place, shown = read(reader, target)
        assert place is not None
        target.write_bytes(b"".join(lines))
        try:
            more, _, rest = read(reader, target, place)
        except CannotResume:
            continue
        times += 1
        assert turns_of(certain + more + rest) == turns_of(before + after), cut
        assert states_of(shown + rest) == states_of(after), cut
    return times


def turns_of(rows):
    """What is not a task: of those only what is new is told. Edits are not remembered at a checkpoint."""
    return [row._replace(edits=()) if isinstance(row, Turn) else row for row in rows if not isinstance(row, Task)]


def states_of(rows):
    """By task the states that it went through, in order."""
    told = {}
    for row in rows:
        if isinstance(row, Task):
            told.setdefault(row.native_id, []).extend(row.states)
    return told


@pytest.mark.parametrize("reader", GROWING, ids=[reader.name for reader in GROWING])
def test_wherever_a_file_was_cut_it_is_gone_on_with_or_read_as_a_whole(reader, tmp_path):
    cuts = sum(path.read_bytes().count(b"\n") - 1 for path in GROWING[reader])
    times = sum(gone_on_with(reader, path, tmp_path / path.name) for path in GROWING[reader])
    assert times > cuts // 3, (times, cuts)


def is_read_by(reader, path):
    try:
        return SourceFile(path).shape == "jsonl" and reader.detect(SourceFile(path))
    except NotText:
        return False


@pytest.mark.hypothesis
@pytest.mark.parametrize("reader", GROWING, ids=[reader.name for reader in GROWING])
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors],
)
@given(data=st.data())
def test_continued_reading_gives_the_turns_of_the_whole_file(reader, data, tmp_path):
    path = data.draw(st.sampled_from(GROWING[reader]))
    lines = data.draw(damaged(path)).splitlines(keepends=True)
    target = tmp_path / path.name
    target.write_bytes(b"".join(lines[: data.draw(st.integers(0, len(lines)))]))
    if not is_read_by(reader, target):
        return
    certain, place, _ = read(reader, target)
    target.write_bytes(b"".join(lines))
    if place is None or not is_read_by(reader, target):
        return
    before, _, after = read(reader, target)
    try:
        more, _, rest = read(reader, target, place)
    except CannotResume:
        return
    assert turns_of(certain + more + rest) == turns_of(before + after)


def test_messages_a_line_are_gone_on_with_behind_those_by_which_they_were_recognised(tmp_path):
    path = tmp_path / "chat.jsonl"
    text = [
        {"role": ("user", "assistant")[place % 2], "content": f"Sentence {place % 7}.", "chat": f"c{place // 9}"}
        for place in range(SAMPLE_RECORDS + 8)
    ]
    path.write_text("".join(json.dumps(message) + "\n" for message in text), encoding="utf-8")
    assert gone_on_with(MESSAGES, path, tmp_path / "grown.jsonl", first=SAMPLE_RECORDS) == 8


def test_a_large_addition_is_read_like_a_small_one(tmp_path, monkeypatch):
    path = next(path for path in GROWING[CLAUDE_CODE] if path.name == "claude-code-q1.jsonl")
    longest = max(map(len, path.read_bytes().splitlines(keepends=True)))
    monkeypatch.setattr(source, "LARGE_DOCUMENT", longest)
    assert gone_on_with(CLAUDE_CODE, path, tmp_path / path.name)


def test_a_late_working_directory_has_the_whole_file_read(tmp_path):
    path = tmp_path / "projects" / "home-ada-kiln" / "agent-transcripts" / "6d1f" / "6d1f.jsonl"
    path.parent.mkdir(parents=True)
    words = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nlook\n</user_query>"}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "I look."}]}},
        {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Read", "input": {"path": "/home/ada/kiln/a.py"}}]}},
        {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nand now?\n</user_query>"}]}},
    ]  # fmt: skip
    lines = [json.dumps(record) + "\n" for record in words]
    path.write_text("".join(lines[:2]), encoding="utf-8")
    _, place, _ = read(CURSOR, path)
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(CannotResume):
        read(CURSOR, path, place)
    certain, place, shown = read(CURSOR, path)
    assert {row.cwd for row in certain + shown} == {"/home/ada/kiln"}
    assert [row.content for row in read(CURSOR, path, place)[2]] == ["and now?"]
