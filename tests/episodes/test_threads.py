"""A thread follows a problem through its attempts, and a later message can refute what was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from irrigation import REFUTATION, TIMEOUTS, WARNING, write_history

from pastchats_memory import Memory
from pastchats_memory.model import RecallBlock

TIMEOUT_QUERY = "timeouts of the valve controller from the database"
WARNING_QUERY = "DeprecationWarning pkg_resources moistread"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def whole(memory: Memory, tmp_path: Path) -> Memory:
    """All conversations about the irrigation."""
    memory.index([write_history(tmp_path / "history")])
    return memory


def recall_in_bytes(memory: Memory, query: str, budget: int) -> RecallBlock:
    return memory.recall(query, budget, count_tokens=lambda text: len(text.encode()))


def test_the_fix_three_turns_after_a_rejected_workaround_leads(whole: Memory) -> None:
    first, *_ = whole.recall(WARNING_QUERY).entries
    assert WARNING[7][1].startswith((first.answered or "").split("\n")[0])
    assert (first.before[0].answered, first.before[0].reply) == (WARNING[1][1], WARNING[2][1])
    assert all("dashboard" not in (entry.asked or "") for entry in whole.recall(WARNING_QUERY).entries)


def test_the_reply_that_rejects_a_workaround_stands_beside_it(whole: Memory) -> None:
    assert f'{WARNING[1][1]} — failed, the user: "{WARNING[2][1]}"' in whole.recall(WARNING_QUERY).text


def test_a_refuted_fix_is_failed_and_what_replaced_it_leads(whole: Memory) -> None:
    first, *_ = whole.recall(TIMEOUT_QUERY).entries
    assert first.asked == REFUTATION[0][1]
    assert "snapshot" in (first.answered or "")
    (refuted,) = first.before
    assert refuted.outcome == "failed"
    assert refuted.reply == REFUTATION[0][1].split(" Find")[0]
    assert " · worked" not in whole.recall(TIMEOUT_QUERY).text


@pytest.mark.parametrize("budget", [700, 1000, 1500])
def test_the_bytes_of_a_hook_hold_the_end_of_the_first_thread(whole: Memory, budget: int) -> None:
    assert "snapshot" in recall_in_bytes(whole, TIMEOUT_QUERY, budget).text


def test_forgetting_the_refutation_gives_the_outcome_back(memory: Memory, tmp_path: Path) -> None:
    folder = write_history(tmp_path / "history", "timeouts", "refutation")
    memory.index([folder])
    assert [hit.conversation_id for hit in memory.search("connection pool", outcome="failed")][:1] == ["timeouts"]
    memory.forget(conversation="refutation")
    first, *_ = memory.recall(TIMEOUT_QUERY).entries
    assert (first.outcome.verdict, first.outcome.shown_by) == ("worked", TIMEOUTS[4][1])


def test_a_fix_that_is_indexed_after_its_refutation_is_refuted_by_a_reindex(memory: Memory, tmp_path: Path) -> None:
    memory.index([write_history(tmp_path / "later", "refutation")])
    memory.index([write_history(tmp_path / "earlier", "timeouts")])
    memory.reindex_outcomes()
    assert all(hit.conversation_id != "timeouts" for hit in memory.search("connection pool", outcome="worked"))


def test_a_conversation_about_another_thing_stays_apart(whole: Memory) -> None:
    first, *_ = whole.recall("review of the module that reads the weather report").entries
    assert (first.hit.conversation_id, first.before) == ("review", ())


def test_a_thread_reads_few_rows_of_a_long_conversation(memory: Memory, tmp_path: Path) -> None:
    pairs = (
        (("user", f"Open valve {number} of the lower field."), ("assistant", f"Valve {number} is open."))
        for number in range(1500)
    )
    turns = [turn for pair in pairs for turn in pair] + [*WARNING[:4]]
    lines = (
        json.dumps({"conversation_id": "long", "project": "irrigation", "role": role, "content": text, "timestamp": f"2026-03-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z"})
        for n, (role, text) in enumerate(turns)
    )  # fmt: skip
    (tmp_path / "long.jsonl").write_text("\n".join(lines), encoding="utf-8")
    memory.index([tmp_path / "long.jsonl"])
    first, *_ = memory.recall(WARNING_QUERY).entries
    assert first.outcome.shown_by == WARNING[2][1]
