"""Refused calls: the proposal is marked, and the reason is the person's own turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory.episodes import split_episodes
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Turn

REASON = "no postgres, we have only sqlite on the kiln box"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
NOTE = "Note: The user's next message may contain a correction or preference. Pay close attention."
CALLS = {
    "a plan": ("ExitPlanMode", {"plan": "Store the readings in postgres."}),
    "a command": ("Bash", {"command": "createdb kiln"}),
    "an edit": ("Edit", {"file_path": "/srv/kiln/store.py", "old_string": "sqlite", "new_string": "postgres"}),
}


def read_session(folder: Path, call: tuple[str, object], result: str) -> list[Turn]:
    """Return the turns of a session in which the person refuses a call."""
    name, arguments = call
    messages = (
        ("user", "Where do we store the readings?"),
        ("assistant", [{"type": "text", "text": "In postgres."}]),
        ("assistant", [{"type": "tool_use", "id": "t1", "name": name, "input": arguments}]),
        ("user", [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": result}]),
        ("assistant", [{"type": "text", "text": "Then sqlite."}]),
    )
    records = (
        {"type": role, "uuid": f"u{place}", "sessionId": "s", "cwd": "/srv/kiln", "version": "2.1.266",
         "timestamp": f"2026-05-04T10:0{place}:00.000Z", "message": {"role": role, "id": f"m{place}", "content": content}}
        for place, (role, content) in enumerate(messages)
    )  # fmt: skip
    path = folder / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    source = SourceFile(path)
    reader = detect_format(source)
    assert reader is not None
    return [row for row in reader.read(source) if isinstance(row, Turn)]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_reason_of_a_refusal_is_a_turn_of_the_person(tmp_path: Path, call: tuple[str, object]) -> None:
    result = f"{REFUSED} To tell you how to proceed, the user said:\n{REASON}\n\n{NOTE}"
    turns = read_session(tmp_path, call, result)
    [reason] = [turn for turn in turns if turn.role == "user"][1:]
    assert reason.content == REASON
    [refusal] = [turn for turn in turns if turn.role == "tool"]
    assert refusal.content.endswith("\nRefused by the user.")


def test_the_reason_begins_the_next_episode(tmp_path: Path) -> None:
    turns = read_session(tmp_path, CALLS["a command"], f"{REFUSED} the user said:\n{REASON}")
    proposal, answer = split_episodes(turns)
    assert [turn.content for turn in proposal][-1] == "$ createdb kiln\nRefused by the user."
    assert answer[0].content == REASON


def test_a_refusal_without_words_has_no_turn_of_the_person(tmp_path: Path) -> None:
    turns = read_session(tmp_path, CALLS["a command"], f"{REFUSED} STOP what you are doing.")
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
