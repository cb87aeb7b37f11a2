"""A prompt that calls of tools answered without a word is an episode of its own."""

from __future__ import annotations

import json
from pathlib import Path

from pastchats_memory import Memory


def record(role: str, number: int, content: object) -> dict[str, object]:
    at = f"2026-05-01T08:{number:02}:07.000Z"
    message = {"id": f"m{number}", "role": role, "content": content}
    return {
        "type": role,
        "uuid": f"u{number}",
        "sessionId": "kiln",
        "cwd": "/srv/kiln",
        "timestamp": at,
        "message": message,
    }


def call(number: int, name: str, **arguments: str) -> dict[str, object]:
    return record("assistant", number, [{"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}])


def result(number: int, of: int) -> dict[str, object]:
    return record("user", number, [{"type": "tool_result", "tool_use_id": f"t{of}", "content": "ok"}])


RENAME = "Rename the valve of the kiln in gasvalve.go to burner."
SHOW = "The thermostat in the hall shows Fahrenheit, make it Celsius, with one decimal and the sensor's name below."
STILL = "No, the thermostat still shows Fahrenheit."


def test_each_prompt_keeps_its_own_outcome_and_actions(tmp_path: Path) -> None:
    edit = call(2, "Edit", file_path="/srv/kiln/gasvalve.go", old_string="valve", new_string="burner")
    records = [
        record("user", 1, RENAME), edit, result(3, 2), record("user", 4, SHOW),
        record("assistant", 5, [{"type": "text", "text": "The thermostat shows Celsius now, like 21.5, and the sensor's name stands below it in grey."}]), record("user", 6, STILL),
        record("assistant", 7, [{"type": "text", "text": "Sorry."}]),
    ]  # fmt: skip
    (tmp_path / "kiln.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "kiln.jsonl"])
        entries = {
            entry.asked: entry for entry in memory.recall("kiln valve gasvalve.go burner thermostat Fahrenheit").entries
        }
    assert entries[RENAME].outcome.verdict == "unknown"
    assert entries[RENAME].done == ("gasvalve.go",)
    assert entries[SHOW].outcome.verdict == "failed"


def test_a_prompt_at_the_end_keeps_the_calls_that_answered_it(tmp_path: Path) -> None:
    records = [record("user", 1, RENAME), call(2, "Edit", file_path="/srv/kiln/gasvalve.go"), result(3, 2)]
    (tmp_path / "kiln.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "kiln.jsonl"])
        (entry,) = memory.recall("rename the valve of the kiln to burner").entries
    assert entry.done == ("gasvalve.go",)
