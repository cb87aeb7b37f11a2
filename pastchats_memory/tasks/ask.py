"""A question in plain language, read by `questions`, answered from the tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pastchats_memory.embed import Embedder
from pastchats_memory.errors import UsageFault
from pastchats_memory.likeness import AT_RELATED
from pastchats_memory.model import TYPES, Filters, StoredTask
from pastchats_memory.questions import read_question
from pastchats_memory.questions.reading import Reading
from pastchats_memory.search import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import sources, tasks
from pastchats_memory.store.database import Database
from pastchats_memory.tasks.desk import Standing
from pastchats_memory.tasks.near import asked, near
from pastchats_memory.text.timestamps import parse_bound

MOST, MOST_ABOUT = 50, 200
LEAST_SIMILARITY = 0.3
"""Cosine below which a task that shares no word with the question is not about it."""

_KEY = re.compile(r"(?:[a-z]+-)?\d[\d.]*", re.IGNORECASE)
"""What is called so is looked for by no likeness: another number is another task."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question was taken for, and the tasks that answer it."""

    reading: Reading
    tasks: tuple[StoredTask, ...]
    total: int
    """How many there are, also where fewer are shown."""
    warnings: tuple[str, ...] = ()


def ask(
    database: Database,
    embedder: Embedder,
    question: str,
    today: date | None,
    standing: Standing,
) -> Answer:
    """The tasks that a question asks for.

    Args:
        database: open.
        embedder: of the database's vectors.
        question: in plain language.
        today: the day on which it is asked; None for the person's own.
        standing: from where: what "this project" means, and what is hidden.

    Raises:
        UsageFault: the question is empty.
        StoreFault: the database cannot be read.
    """
    if not question.strip():
        raise UsageFault("there is no question", 'Ask one: pastchats-memory ask "what is blocked?"')
    seen = [name for name in sources.names(database) if name not in standing.hidden]
    reading = read_question(question, today or date.today(), seen)  # noqa: DTZ011 - in the person's own zone
    conditions = [tasks.without(name) for name in reading.missing]
    if (span := reading.span) is not None:
        since = None if span.since is None else parse_bound(span.since.isoformat(), is_end=False)
        until = None if span.until is None else parse_bound(span.until.isoformat(), is_end=True)
        conditions += tasks.within(span.field, since, until)
    if reading.relation is not None:
        named = _tasks_named(database, embedder, reading.of or "", standing)
        if not named:
            return Answer(reading, (), 0, (f"there is no task {reading.of!r}",))
        conditions.append(tasks.related(database, reading.relation, named))
    filters = Filters(
        kinds=reading.types or TYPES,
        statuses=reading.statuses,
        priorities=reading.priorities,
        project=standing.project if reading.project == "." else reading.project,
        hidden=standing.hidden,
    )
    order = tasks.ORDERS.get(reading.order or "")
    ids = tasks.listed(database, filters, conditions, limit=-1, order=order, tags=reading.tags)
    warnings: tuple[str, ...] = ()
    if reading.concept:
        about, warnings = _about(database, embedder, reading.concept, filters)
        by_place, others = (about, ids) if order is None else (ids, about)
        both = frozenset(others)
        ids = [id_ for id_ in by_place if id_ in both]
    shown = tasks.tasks(database, ids[: reading.limit or MOST], standing.hidden)
    return Answer(reading, tuple(shown), len(ids), warnings)


def _tasks_named(database: Database, embedder: Embedder, name: str, standing: Standing) -> list[int]:
    """The tasks of a key, else those that have it in a list of their tracker, else the one that is most like the words."""
    found = tasks.find(database, name, standing.hidden) or tasks.find_tagged(database, name, standing.hidden)
    if found or _KEY.fullmatch(name):
        return found
    best = near(database, embedder, asked(embedder, name), standing.tasks)[:1]
    return [one.task.id for one in best if one.likeness.score >= AT_RELATED / 2]


def _about(
    database: Database, embedder: Embedder, concept: str, filters: Filters
) -> tuple[Sequence[int], tuple[str, ...]]:
    """Tasks that have to do with a concept, by themselves or by a comment or attachment, the best first; and warnings."""
    wide = filters._replace(kinds=(*filters.kinds, "comment", "attachment"))
    hits = search(database, embedder, Request(concept, limit=MOST_ABOUT, filters=wide))
    kept = (
        hit.task.id
        for hit in hits
        if hit.task and (hit.lexical_rank is not None or (hit.similarity or 0) >= LEAST_SIMILARITY)
    )
    return list(dict.fromkeys(kept)), hits.warnings
