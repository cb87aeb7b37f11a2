"""Recall decides by more than one signal whether anything is worth showing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pastchats_memory.model import Hit, Hits, Item, StoredTask
from pastchats_memory.recall.selection import above_threshold, find_perhaps
from pastchats_memory.search.hits import turn_hit


def make_hit(rank: int, relevance: float, conversation: str = "c1") -> Hit:
    """Return a hit of a conversation about the kiln."""
    item = Item(rank, "/kiln.jsonl", "kiln", conversation, rank, "user", "The kiln cools.", None, {"format": "x"}, ())
    return turn_hit(item)._replace(rank=rank, relevance=relevance, semantic_rank=rank, similarity=0.5, score=1 / rank)


def make_task_hit(rank: int, relevance: float) -> Hit:
    """Return a hit of a task about the kiln."""
    empty: tuple[str, ...] = ()
    task = StoredTask(
        1, "K-1", "Fire the kiln", "", "task", "pending", "", None, empty, "kiln", None, (), "", None, None, None, None, None,
        empty, (), (), (), {},
    )  # fmt: skip
    return make_hit(rank, relevance)._replace(id="t:K-1", task=task)


@pytest.mark.parametrize(
    ("hits", "coverage", "speaks"),
    [
        pytest.param([make_hit(1, 0.6)], 0.5, True, id="a relevant turn is enough"),
        pytest.param([make_hit(1, 0.4), make_hit(2, 0.3)], 1.0, True, id="two first hits of one conversation agree"),
        pytest.param([make_hit(1, 0.4), make_hit(2, 0.3, "c2")], 1.0, False, id="two conversations do not agree"),
        pytest.param([make_hit(1, 0.4), make_hit(2, 0.3)], 0.7, False, id="a word is unknown"),
        pytest.param([make_hit(1, 0.2), make_hit(2, 0.1)], 1.0, False, id="agreement about little"),
        pytest.param([make_task_hit(1, 0.6)], 1.0, False, id="a task alone needs more"),
        pytest.param([make_task_hit(1, 0.9)], 1.0, True, id="a very close task is enough"),
    ],
)
def test_recall_speaks_if_enough_signals_agree(hits: Sequence[Hit], coverage: float, speaks: bool) -> None:
    assert bool(above_threshold(Hits(hits), coverage)) == speaks


def test_the_first_hit_of_each_conversation_perhaps_fits() -> None:
    hits = [make_hit(1, 0.2), make_hit(2, 0.2), make_hit(3, 0.1, "c2"), make_hit(4, 0.1, "c3"), make_hit(5, 0.01, "c4")]
    assert [hit.id for hit in find_perhaps(hits)] == ["1", "3"]
