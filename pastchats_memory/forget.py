"""What a person wants gone: chosen, shown, deleted for good, and kept from coming back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import ATTACHMENT, COMMENT, TASK, Filters, number_of
from pastchats_memory.store import deletion, fulltext, tasks, tombstones
from pastchats_memory.store.database import Database
from pastchats_memory.store.deletion import Choice, Reach, Shown
from pastchats_memory.store.tombstones import Forgetting
from pastchats_memory.text.words import words

MOST_SHOWN = 1000
MOST_REMEMBERED = 50
"""Ids of a choice that `forget --list` can name."""
PARTS = {COMMENT: "comments", ATTACHMENT: "attachments"}


@dataclass(frozen=True, slots=True)
class Selector:
    """By what is chosen; all that is given must hold."""

    ids: tuple[str, ...] = ()
    """`12`, `t:KEY`, `c:5`, `a:7`."""
    conversation: str | None = None
    sources: tuple[str, ...] = ()
    """A path as it was typed and as it was indexed, of a file or a folder."""
    query: str | None = None
    """Rows that have all of its words, or just this text."""
    before: str | None = None
    """Turns older than that, which are left out from now on; as `prompts.timestamp` has it."""
    filters: Filters = field(default_factory=Filters)
    """Project, time and what may be seen from here."""

    def __post_init__(self) -> None:
        criteria = (
            self.conversation,
            self.query,
            self.before,
            self.filters.project,
            self.filters.since,
            self.filters.until,
        )
        if not (self.ids or self.sources or any(said is not None for said in criteria)):
            raise UsageFault(
                "nothing says what to forget",
                "Use --id, --conversation, --source, --project, --since, --until or --query; for everything there is `purge`.",
            )
        if self.query is not None and not self.query.strip():
            raise UsageFault("the query is empty", "Say which words what is to be forgotten has.")

    def remembered(self) -> dict[str, Any]:
        """What `forget --list` may say of it: the words of a query are what was to be forgotten."""
        said = {
            "ids": list(self.ids[:MOST_REMEMBERED]),
            "conversation": self.conversation,
            "source": self.sources[-1] if self.sources else None,
            "project": self.filters.project,
            "since": self.filters.since,
            "until": self.filters.until,
            "before": self.before,
        }
        return {name: value for name, value in said.items() if value} | ({} if self.query is None else {"query": None})


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a choice comes to, and what became of it."""

    turns: int
    tasks: int
    comments: int
    """Of tasks that stay."""
    attachments: int
    """Of tasks that stay."""
    private: int
    """Further rows, of private projects, that are not to be seen from here and stay."""
    missing: tuple[str, ...] = ()
    """Where nothing is forgotten yet: ids that name nothing."""
    rows: tuple[Shown, ...] = ()
    """Where nothing is forgotten yet: the first of them, the latest first."""
    forgetting: Forgetting | None = None
    """None where nothing was forgotten."""
    is_erased: bool = False
    """Nothing of it is in the file any more; else a process that is reading keeps it in the log for now."""

    @property
    def total(self) -> int:
        """Rows of all kinds."""
        return self.turns + self.tasks + self.comments + self.attachments

    def __bool__(self) -> bool:
        return self.total > 0


def find(database: Database, selector: Selector, unseen: Collection[str] = ()) -> Forgotten:
    """What would be forgotten, and nothing is. Raises UsageFault, StoreFault.

    Args:
        database: open.
        selector: by what.
        unseen: projects whose text is not shown here.
    """
    with database.snapshot():
        reach = deletion.reach_of(database, _choice(database, selector))
        rows = tuple(_shown(row, unseen) for row in deletion.shown(database, reach, MOST_SHOWN))
        found = _came_to(reach, _private(database, selector, reach), rows=rows)
        return replace(found, missing=tuple(id_ for id_ in selector.ids if not _is_there(database, id_)))


def _is_there(database: Database, id_: str) -> bool:
    """Whether an id names anything, be it of a private project."""
    return bool(deletion.reach_of(database, _choice(database, Selector((id_,)))))


def _came_to(reach: Reach, private: int, rows: tuple[Shown, ...] = ()) -> Forgotten:
    return Forgotten(
        len(reach.turns), len(reach.tasks), len(reach.comments), len(reach.attachments), private=private, rows=rows
    )


def _shown(row: Shown, unseen: Collection[str]) -> Shown:
    return replace(row, content="") if row.project in unseen else row


def _private(database: Database, selector: Selector, reach: Reach) -> int:
    if not selector.filters.hidden:
        return 0
    all_of_it = replace(selector, filters=selector.filters._replace(hidden=()))
    every = deletion.reach_of(database, _choice(database, all_of_it))
    return sum(every.counts().values()) - sum(reach.counts().values())


def forget(database: Database, selector: Selector) -> Forgotten:
    """Delete what a choice comes to now, with all that was made of it, and keep it from coming back.

    One transaction says what goes and that it stays away. Many rows are deleted after it in steps, so that other writers can
    go on; then what the file still has of them is overwritten. What a process that ends before leaves is done at the next opening.

    Raises:
        UsageFault: this cannot be asked.
        StoreFault: it cannot be written; nothing is forgotten.
    """
    with database.transaction():
        choice = _choice(database, selector)
        private = _private(database, selector, deletion.reach_of(database, choice))
        number, reach = deletion.forget(database, choice, selector.remembered())
    deletion.finish(database)
    is_erased = deletion.finish_scrub(database)
    known = {one.number: one for one in tombstones.forgettings(database)}
    return replace(_came_to(reach, private), forgetting=known.get(number), is_erased=is_erased)


def undo(database: Database, number: int | None = None) -> Forgetting | None:
    """Let what was forgotten come in again, that one time or the last; None where there is no such.

    Its text is gone; it comes back when a file that has it is indexed again, with `force` where that was not changed.

    Raises:
        StoreFault: it cannot be written.
    """
    with database.transaction():
        known = tombstones.forgettings(database)
        wanted = next((one for one in reversed(known) if number in (None, one.number)), None)
        if wanted is not None:
            tombstones.lift(database, wanted.number)
    return wanted


def _choice(database: Database, selector: Selector) -> Choice:
    return Choice(
        filters=selector.filters,
        ids=_numbers(database, selector) if selector.ids else None,
        conversation=selector.conversation,
        sources=selector.sources,
        rows=None if selector.query is None else _having(database, selector.query),
        before=selector.before,
    )


def _numbers(database: Database, selector: Selector) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"turns": [], "tasks": [], "comments": [], "attachments": []}
    for id_ in selector.ids:
        number = number_of(id_[2:] if id_[:2] in PARTS else id_)
        if id_.startswith(TASK):
            found["tasks"] += tasks.find(database, id_, selector.filters.hidden)
        elif number is not None:
            found[PARTS.get(id_[:2], "turns")].append(number)
        else:
            raise UsageFault(
                f"{id_!r} is no id", "Ids stand in the output of search and recall, such as 12, t:KEY or c:5."
            )
    return found


def _having(database: Database, query: str) -> list[int]:
    """Rows that have every word of a query, or just its text."""
    said = words(query)
    by_words = fulltext.having(database, said[0], Filters()) if said else np.empty(0, np.int64)
    for word in said[1:]:
        by_words = np.intersect1d(by_words, fulltext.having(database, word, Filters()))
    return sorted({*by_words.tolist(), *deletion.having(database, query.strip())})
