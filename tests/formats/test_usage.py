"""Tokens that agents report: each report counts once, with the answer that it belongs to."""

from __future__ import annotations

import json
from pathlib import Path

from golden import turns

from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE
from pastchats_memory.formats.agents.codex import CODEX

SONNET = "claude-sonnet-4-5"


def write(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def of_claude(number: int, content: object, message_id: str = "", **tokens: int) -> dict[str, object]:
    """Return a record of Claude Code: a prompt, or a block of the answer with this id."""
    role = "assistant" if message_id else "user"
    message = {"role": role, "content": content}
    if message_id:
        message |= {"id": message_id, "model": SONNET, "usage": tokens}
    place = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s", "cwd": "/kiln"}
    return {"type": role, "message": message, "timestamp": f"2026-02-03T09:00:{number:02}.000Z", **place}


def text(words: str) -> list[object]:
    return [{"type": "text", "text": words}]


def call(name: str) -> list[object]:
    return [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}]


def of_codex(number: int, kind: str, **payload: object) -> dict[str, object]:
    return {"type": kind, "timestamp": f"2026-02-03T09:00:{number:02}.000Z", "payload": payload}


def total(number: int, tokens: tuple[int, int, int], last: tuple[int, int, int]) -> dict[str, object]:
    """Return a count of input, of output and of the input that a cache held: all of the session, and the last."""
    names = ("input_tokens", "output_tokens", "cached_input_tokens")
    both = {"total_token_usage": tokens, "last_token_usage": last}
    info = {name: dict(zip(names, numbers, strict=True)) for name, numbers in both.items()}
    return of_codex(number, "event_msg", type="token_count", info=info)


def rollout(path: Path, *counts: dict[str, object]) -> Path:
    return write(
        path,
        of_codex(0, "session_meta", id="0199aaaa-0000-7000-8000-000000000001", cwd="/kiln"),
        of_codex(1, "turn_context", model="gpt-5-codex", cwd="/kiln"),
        of_codex(2, "response_item", type="message", role="user", content=[{"type": "input_text", "text": "Fire it."}]),
        of_codex(
            3, "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Lit."}]
        ),
        *counts,
    )


def test_the_lines_of_one_message_count_once_by_the_last_of_them(tmp_path: Path) -> None:
    lines = [
        of_claude(0, "Fire the kiln."),
        of_claude(1, [{"type": "thinking", "thinking": "hm"}], "m1", input_tokens=5, output_tokens=1),
        of_claude(2, text("It is lit."), "m1", input_tokens=5, output_tokens=1),
        of_claude(3, call("c1"), "m1", input_tokens=5, output_tokens=90, cache_read_input_tokens=700),
    ]
    _, answer = turns(CLAUDE_CODE, write(tmp_path / "s.jsonl", *lines))
    assert answer.metadata["usage"] == {SONNET: {"input": 5, "output": 90, "cache_read": 700}}


def test_a_message_without_words_counts_with_the_answer_before_it(tmp_path: Path) -> None:
    lines = [
        of_claude(0, "Fire the kiln."),
        of_claude(1, text("It is lit."), "m1", input_tokens=5, output_tokens=2),
        of_claude(2, call("c1"), "m2", input_tokens=7, output_tokens=3),
    ]
    _, answer = turns(CLAUDE_CODE, write(tmp_path / "s.jsonl", *lines))
    assert answer.metadata["usage"] == {SONNET: {"input": 12, "output": 5}}


def test_tokens_before_the_first_words_wait_for_them_and_without_any_stay_with_the_prompt(tmp_path: Path) -> None:
    lines = [
        of_claude(0, "Fire the kiln."),
        of_claude(1, call("c1"), "m1", input_tokens=5, output_tokens=2),
        of_claude(2, text("It is lit."), "m2", input_tokens=7, output_tokens=3),
        of_claude(3, "Now cool it."),
        of_claude(4, call("c2"), "m3", input_tokens=11, output_tokens=4),
    ]
    _, answer, prompt = turns(CLAUDE_CODE, write(tmp_path / "s.jsonl", *lines))
    assert answer.metadata["usage"] == {SONNET: {"input": 12, "output": 5}}
    assert prompt.metadata["usage"] == {SONNET: {"input": 11, "output": 4}}


def test_numbers_of_another_type_count_nothing(tmp_path: Path) -> None:
    bad = of_claude(1, text("It is lit."), "m1", input_tokens=-5)
    bad["message"]["usage"]["output_tokens"] = "many"  # type: ignore[index]
    (answer,) = turns(CLAUDE_CODE, write(tmp_path / "s.jsonl", bad))
    assert "usage" not in answer.metadata


def test_a_repeated_total_of_a_rollout_adds_nothing(tmp_path: Path) -> None:
    counts = [
        total(4, (100, 10, 60), (100, 10, 60)),
        total(5, (100, 10, 60), (100, 10, 60)),
        total(6, (250, 15, 160), (150, 5, 100)),
    ]
    _, answer = turns(CODEX, rollout(tmp_path / "r.jsonl", *counts))
    assert answer.metadata["usage"] == {"gpt-5-codex": {"input": 90, "output": 15, "cache_read": 160}}


def test_a_fork_does_not_count_what_its_parent_used(tmp_path: Path) -> None:
    _, answer = turns(CODEX, rollout(tmp_path / "r.jsonl", total(4, (9100, 910, 60), (100, 10, 60))))
    assert answer.metadata["usage"] == {"gpt-5-codex": {"input": 40, "output": 10, "cache_read": 60}}


def test_a_total_that_begins_anew_counts_from_there(tmp_path: Path) -> None:
    counts = [total(4, (100, 10, 0), (100, 10, 0)), total(5, (30, 4, 0), (30, 4, 0))]
    _, answer = turns(CODEX, rollout(tmp_path / "r.jsonl", *counts))
    assert answer.metadata["usage"] == {"gpt-5-codex": {"input": 130, "output": 14}}
