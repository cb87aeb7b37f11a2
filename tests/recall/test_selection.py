"""Recall decides by more than one signal whether anything is worth showing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pastchats_memory.model import Hit, Hits, Item, StoredTask
from pastchats_memory.model.episodes import Outcome, RecallEntry
from pastchats_memory.recall.selection import above_threshold, choose_first, find_perhaps
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
        pytest.param(
            [*(make_hit(rank, 0.2) for rank in range(1, 8)), make_hit(8, 0.1, "c2")],
            0.5,
            True,
            id="one conversation leads far",
        ),
        pytest.param([make_hit(rank, 0.2) for rank in range(1, 8)], 0.5, False, id="there is no other conversation"),
        pytest.param([make_task_hit(1, 0.6)], 1.0, False, id="a task alone needs more"),
        pytest.param([make_task_hit(1, 0.9)], 1.0, True, id="a very close task is enough"),
    ],
)
def test_recall_speaks_if_enough_signals_agree(hits: Sequence[Hit], coverage: float, speaks: bool) -> None:
    assert bool(above_threshold(Hits(hits), coverage)) == speaks


def test_the_first_hit_of_each_conversation_perhaps_fits() -> None:
    hits = [make_hit(1, 0.2), make_hit(2, 0.2), make_hit(3, 0.1, "c2"), make_hit(4, 0.1, "c3"), make_hit(5, 0.01, "c4")]
    assert [hit.id for hit in find_perhaps(hits, None)] == ["1", "3"]


def test_a_weaker_hit_of_the_current_project_perhaps_fits() -> None:
    hits = [make_hit(1, 0.01, "c1"), make_hit(2, 0.002, "c2")]
    assert find_perhaps(hits, "garden") == []
    assert [hit.id for hit in find_perhaps(hits, "kiln")] == ["1"]


WEIGHTS = {"why": 0.1, "review": 1.0, "kiln": 1.0, "thermocouple": 4.0, "drifts": 4.0}
QUESTION = "Why does the thermocouple of the kiln drift, review it"
REVIEW, NAMED = "A review of the kiln's door.", "The thermocouples age in the kiln."


@pytest.mark.parametrize(
    ("texts", "relevances", "order"),
    [
        pytest.param([REVIEW, NAMED], [0.9, 0.8], "21", id="the one that names it leads"),
        pytest.param([NAMED, REVIEW], [0.9, 0.8], "12", id="it leads already"),
        pytest.param([REVIEW, NAMED], [0.9, 0.3], "12", id="it is far less relevant"),
        pytest.param([REVIEW, "The door."], [0.9, 0.8], "12", id="none names it"),
        pytest.param([REVIEW, "The door.", NAMED], [0.9, 0.8, 0.7], "312", id="the others keep their order"),
    ],
)
def test_an_entry_that_never_names_the_thing_leads_none_that_does(
    texts: list[str], relevances: list[float], order: str
) -> None:
    entries = [
        RecallEntry(make_hit(place, relevance), None, text, Outcome("worked"), is_current=True)
        for place, (text, relevance) in enumerate(zip(texts, relevances, strict=True), start=1)
    ]
    assert "".join(one.hit.id for one in choose_first(entries, texts, QUESTION, WEIGHTS)) == order
