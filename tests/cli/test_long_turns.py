"""A turn of megabytes is stored in part, and shown whole while its source is there."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from program import Program

LONG = (
    "begin of the log\n" + "\n".join(f"line {number} of it" for number in range(180_000)) + "\nend of the log zeppelin"
)
PNG = base64.b64encode(bytes(range(256)) * 10).decode()


@pytest.fixture
def source(program: Program) -> Path:
    path = program.home / "chat.jsonl"
    records = [
        {"role": "user", "content": LONG, "conversation_id": "c"},
        {"role": "assistant", "content": f"As in ![x](data:image/png;base64,{PNG}).", "extra": f"data:image/png;base64,{PNG}"},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert program("index", path).status == 0
    return path


def test_the_middle_of_a_long_turn_is_read_from_its_source(program: Program, source: Path) -> None:
    (hit,) = program("search", "zeppelin", "--json", "--limit", "1").results
    assert "characters are not stored" in hit["content"]
    assert len(hit["content"]) < len(LONG)
    shown = program("show", hit["id"], "--json").results[0]
    assert shown["content"] == LONG
    source.unlink()
    run = program("show", hit["id"], "--json")
    assert run.results[0]["content"] == hit["content"]
    assert "no longer has it" in run.stderr


def test_media_are_stored_nowhere(program: Program, source: Path) -> None:
    assert source.exists()
    (hit,) = program("search", "As in", "--mode", "keyword", "--json", "--limit", "1").results
    assert hit["content"] == "As in ![x]([image/png, 3 KiB])."
    assert hit["metadata"]["extra"] == "[image/png, 3 KiB]"
    assert PNG[:200].encode() not in program.database.read_bytes()
