"""The memory of tests about recalled outcomes, unless they make their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory

ELSEWHERE = (("user", "Which flour is best for pizza?"), ("assistant", "One with much gluten, such as tipo 00."))


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        write_messages(
            tmp_path / "history" / "elsewhere.jsonl", *ELSEWHERE, conversation="elsewhere", project="kitchen"
        )
        opened.index([tmp_path / "history"])
        yield opened


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "history" / "webhooks.jsonl"
