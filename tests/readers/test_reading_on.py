"""A file that has grown, read on from where its reader stopped, gives the rows of one that was read as a whole."""

import json

from golden import inputs

from pastchats_memory.readers import claude_code, messages, source
from pastchats_memory.readers.resume import CannotResume, Checkpoint
from pastchats_memory.readers.source import SAMPLE_RECORDS, Source

GROWING = [path for path in inputs("claude-code") if path.suffix == ".jsonl"]


def read(reader, path, resumed=None):
    """The rows that stand for good, where to go on, and the rows that may still change."""
    rows = list(reader.read(Source(path, resumed=resumed)))
    place = next((number for number, row in enumerate(rows) if isinstance(row, Checkpoint)), None)
    if place is None:
        return rows, None, []
    kept = rows[place]
    return rows[:place], Checkpoint(kept.offset, kept.line, json.loads(json.dumps(kept.state))), rows[place + 1 :]


def gone_on_with(reader, path, target, first=1):
    """How often the file, cut behind every line from `first` on, was gone on with; the rows are those of the whole."""
    lines = path.read_bytes().splitlines(keepends=True)
    target.write_bytes(b"".join(lines))
    before, _, after = read(reader, target)
    times = 0
    for cut in range(first, len(lines)):
        target.write_bytes(b"".join(lines[:cut]))
        certain, place, _ = read(reader, target)
        assert place is not None
        target.write_bytes(b"".join(lines))
        try:
            more, _, rest = read(reader, target, place)
        except CannotResume:
            continue
        times += 1
        assert certain + more + rest == before + after, cut
    return times


def test_wherever_a_session_was_cut_it_is_gone_on_with_or_read_as_a_whole(tmp_path):
    times = {path.name: gone_on_with(claude_code, path, tmp_path / path.name) for path in GROWING}
    assert sum(1 for count in times.values() if count) > len(times) // 2, times


def test_messages_a_line_are_gone_on_with_behind_those_by_which_they_were_recognised(tmp_path):
    path = tmp_path / "chat.jsonl"
    said = [
        {"role": ("user", "assistant")[place % 2], "content": f"Sentence {place % 7}.", "chat": f"c{place // 9}"}
        for place in range(SAMPLE_RECORDS + 8)
    ]
    path.write_text("".join(json.dumps(message) + "\n" for message in said), encoding="utf-8")
    assert gone_on_with(messages, path, tmp_path / "grown.jsonl", first=SAMPLE_RECORDS) == 8


def test_what_was_added_is_read_alike_where_it_is_too_much_to_be_held(tmp_path, monkeypatch):
    path = next(path for path in GROWING if path.name == "claude-code-q1.jsonl")
    longest = max(map(len, path.read_bytes().splitlines(keepends=True)))
    monkeypatch.setattr(source, "LARGE_DOCUMENT", longest)
    assert gone_on_with(claude_code, path, tmp_path / path.name)
