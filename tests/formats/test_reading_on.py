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
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, NotText, SourceFile
from pastchats_memory.formats.generic import MESSAGES
from pastchats_memory.formats.registry import all_formats
from pastchats_memory.formats.testing import check_growing, read_to_checkpoint, turns_of

WHOLE = {
    "beads",
    "cline",
    "enveloped",
    "export",
    "github-issues",
    "hermes",
    "llm-logs",
    "opencode",
    "taskwarrior",
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


@pytest.mark.parametrize("reader", GROWING, ids=[reader.name for reader in GROWING])
def test_a_file_cut_at_any_line_is_continued_or_read_as_a_whole(reader, tmp_path):
    cuts = sum(path.read_bytes().count(b"\n") - 1 for path in GROWING[reader])
    times = sum(check_growing(reader, path, tmp_path) for path in GROWING[reader])
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
    certain, place, _ = read_to_checkpoint(reader, target)
    target.write_bytes(b"".join(lines))
    if place is None or not is_read_by(reader, target):
        return
    before, _, after = read_to_checkpoint(reader, target)
    try:
        more, _, rest = read_to_checkpoint(reader, target, place)
    except CannotResume:
        return
    assert turns_of(certain + more + rest) == turns_of(before + after)


def test_tokens_are_counted_once_though_a_message_without_an_id_stands_between_two_lines_of_one(tmp_path):
    (reader,) = (one for one in GROWING if one.name == "claude-code")
    (path,) = (one for one in GROWING[reader] if one.name == "claude-code-q5.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"msg_10"', b"null")
    target = tmp_path / path.name
    target.write_bytes(b"".join(lines[:2]))
    certain, place, _ = read_to_checkpoint(reader, target)
    target.write_bytes(b"".join(lines))
    before, _, after = read_to_checkpoint(reader, target)
    more, _, rest = read_to_checkpoint(reader, target, place)
    assert turns_of(certain + more + rest) == turns_of(before + after)


def test_messages_a_line_are_gone_on_with_behind_those_by_which_they_were_recognised(tmp_path):
    path = tmp_path / "chat.jsonl"
    text = [
        {"role": ("user", "assistant")[place % 2], "content": f"Sentence {place % 7}.", "chat": f"c{place // 9}"}
        for place in range(SAMPLE_RECORDS + 8)
    ]
    path.write_text("".join(json.dumps(message) + "\n" for message in text), encoding="utf-8")
    (tmp_path / "grown").mkdir()
    assert check_growing(MESSAGES, path, tmp_path / "grown", first=SAMPLE_RECORDS) == 8


def test_a_large_addition_is_read_like_a_small_one(tmp_path, monkeypatch):
    path = next(path for path in GROWING[CLAUDE_CODE] if path.name == "claude-code-q1.jsonl")
    longest = max(map(len, path.read_bytes().splitlines(keepends=True)))
    monkeypatch.setattr(source, "LARGE_DOCUMENT", longest)
    assert check_growing(CLAUDE_CODE, path, tmp_path)


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
    _, place, _ = read_to_checkpoint(CURSOR, path)
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(CannotResume):
        read_to_checkpoint(CURSOR, path, place)
    certain, place, shown = read_to_checkpoint(CURSOR, path)
    assert {row.cwd for row in certain + shown} == {"/home/ada/kiln"}
    assert [row.content for row in read_to_checkpoint(CURSOR, path, place)[2]] == ["and now?"]


@pytest.mark.parametrize("way", ["before", "after"])
def test_a_prompt_that_its_queue_delivers_is_no_second_one_when_reading_on(way, tmp_path):
    words = "then open the door"
    typed = {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-09-09T10:00:03Z",
        "message": {"role": "user", "content": words},
    }
    queued = [
        {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-09-09T10:00:02Z", "content": words},
        {"type": "queue-operation", "operation": "dequeue", "timestamp": "2026-09-09T10:00:02Z"},
        *(
            {"type": "assistant", "uuid": f"a{place}", "timestamp": f"2026-09-09T10:00:0{place}Z",
             "message": {"id": f"m{place}", "role": "assistant", "content": [{"type": "text", "text": f"Step {place}."}]}}
            for place in (4, 5)
        ),
    ]  # fmt: skip
    later = {**typed, "timestamp": "2026-09-09T10:00:09Z"}
    session = {"sessionId": "7d0a", "cwd": "/home/ada/kiln", "parentUuid": None, "isSidechain": False}
    start = {
        **typed,
        "uuid": "u0",
        "timestamp": "2026-09-09T10:00:01Z",
        "message": {"role": "user", "content": "Fire the kiln"},
    }
    lines = [start, typed, *queued] if way == "before" else [start, *queued, later]
    path = tmp_path / "7d0a.jsonl"
    path.write_text("".join(json.dumps({**session, **line}) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "grown").mkdir()
    check_growing(CLAUDE_CODE, path, tmp_path / "grown")
    texts = [turn.content for part in read_to_checkpoint(CLAUDE_CODE, path)[::2] for turn in part]
    assert texts.count(words) == 1
