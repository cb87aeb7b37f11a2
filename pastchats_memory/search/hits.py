"""Build the hits that callers get from ranked rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pastchats_memory.model import Hit, Item, Place, TaskText
from pastchats_memory.text.excerpt import excerpt

if TYPE_CHECKING:
    from pastchats_memory.search.rank import Ranked

UNRANKED: Any = {
    "rank": 0,
    "score": 0.0,
    "relevance": None,
    "lexical_rank": None,
    "semantic_rank": None,
    "similarity": None,
    "named": 0.0,
    "snippet": "",
}
"""Values of the fields that say how a hit was found, before it is ranked."""


class Fit(NamedTuple):
    """How well a row fits the question in itself, not compared with other rows."""

    similarity: float | None
    """Cosine of the vectors of question and row; None while the row's vector is pending."""
    relevance: float
    """0 to 1."""


def build_hit(item: Item | TaskText, row: "Ranked", place: int, fit: Fit | None, named: float) -> Hit:
    """Return the hit of a ranked row; without a vector of the question it has no fit.

    Args:
        row: its score, contributions and ranks.
        place: its rank, counted from 1.
        named: worth of the question's names in the row.
    """
    hit = _task_hit(item) if isinstance(item, TaskText) else turn_hit(item)
    return hit._replace(
        rank=place,
        score=row.score,
        relevance=None if fit is None else fit.relevance,
        lexical_rank=row.lexical_rank,
        semantic_rank=row.semantic_rank,
        similarity=None if fit is None else fit.similarity,
        named=named,
        contributions=row.contributions,
    )


def turn_hit(item: Item) -> Hit:
    """Return a turn as a hit, with its stored place; `cite` checks the places of the hits that are shown."""
    where = cited_place(item)
    return Hit(
        **UNRANKED,
        id=str(item.id),
        type="note" if item.role == "note" else "prompt",
        content=item.content,
        role=item.role,
        source_path=where.path,
        source_line=where.line or None,
        source_project=item.project,
        conversation_id=item.conversation_id,
        turn_index=item.turn_index,
        timestamp=item.timestamp,
        metadata=item.metadata,
    )


def move_hit(hit: Hit, item: Item) -> Hit:
    """Return the hit with another turn in place of its own, found in the same way."""
    if hit.id == str(item.id):
        return hit
    other = turn_hit(item)
    return other._replace(**{name: getattr(hit, name) for name in UNRANKED}, contributions=hit.contributions)


def _task_hit(text: TaskText) -> Hit:
    task = text.task
    return Hit(
        **UNRANKED,
        id=text.shown_id,
        type=task.type if text.kind == "task" else text.kind,
        content=text.content,
        role="task",
        source_path=task.source_path,
        source_line=task.source_line,
        source_project=task.project,
        conversation_id=task.conversations[0] if task.conversations else None,
        turn_index=0,
        timestamp=text.timestamp,
        metadata={"format": "by-hand", **task.metadata, "branch": "main", "kind": text.kind},
        task=task,
    )


def cited_place(item: Item) -> Place:
    """Return the place at which a turn is cited."""
    return item.places[0] if item.places else Place(item.source_path, 0, None)


SNIPPET_WIDTH = 240
"""Characters of a snippet."""


def add_snippet(hit: Hit, weights: Mapping[str, float]) -> Hit:
    """Return the hit with the part of its text about the question's words, on one line."""
    return hit._replace(snippet=" ".join(excerpt(hit.content, weights, SNIPPET_WIDTH).split()))
