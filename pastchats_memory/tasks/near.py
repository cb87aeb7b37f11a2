"""The stored tasks that are most like a text or like another task."""

from __future__ import annotations

from dataclasses import dataclass

from pastchats_memory.embed import Embedder, Vector
from pastchats_memory.likeness import Likeness, likeness
from pastchats_memory.model import Filters, StoredTask
from pastchats_memory.store import sources, tasks, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import task_text

CANDIDATES = 40
"""Tasks nearest by the text, and as many by the title, that are compared in full."""


@dataclass(frozen=True, slots=True)
class Near:
    """A task and how like it is to what was asked for."""

    task: StoredTask
    likeness: Likeness
    similarity: float
    """Cosine of the texts."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A text to compare with, and its vectors."""

    text: str
    """A title, and after an empty line a description where there is one."""
    whole: Vector
    title: Vector


def asked(embedder: Embedder, text: str) -> Asked:
    """The text with its vectors. Raises ModelUnavailable."""
    whole = embedder.embed_query(text)
    title = text.partition("\n")[0]
    return Asked(text, whole, whole if title == text else embedder.embed_query(title))


def near(database: Database, embedder: Embedder, one: Asked, filters: Filters, but: int | None = None) -> list[Near]:
    """Tasks by likeness, the most like first, equal ones by id; of those that pass and are not the task `but`.

    Raises:
        ModelChanged: the stored vectors are another model's.
        StoreFault: the database cannot be read.
    """
    sources.require_model(database, embedder.name, embedder.version)
    found = {
        neighbour.id
        for vector in (one.whole, one.title)
        for neighbour in vectors.nearest(database, vector, CANDIDATES, filters)
    }
    cosines = {neighbour.id: neighbour.similarity for neighbour in vectors.score(database, one.whole, sorted(found))}
    titles = tasks.title_vectors(database, sorted(found))
    direction = vectors.unit(one.title)
    compared = [
        Near(
            text.task,
            likeness(
                cosines[text.id],
                float(vectors.decode([titles[text.id][1]])[0] @ direction),
                one.text,
                task_text(text.task.title, text.task.description),
            ),
            cosines[text.id],
        )
        for text in tasks.task_texts(database, sorted(found), filters.hidden)
        if text.task.id != but
    ]
    return sorted(compared, key=lambda one: (-one.likeness.score, -one.similarity, one.task.id))
