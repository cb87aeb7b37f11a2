"""Branches of sessions whose records or messages name the one before them: the main branch, and abandoned ones."""

from collections import deque
from collections.abc import Sequence

from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume
from pastchats_memory.formats.base.values import Json, list_of, text_of
from pastchats_memory.text.groups import group_by_key

Link = tuple[str | None, str | None]
"""A message's own id, and the id of the message that it answers."""


def parent_in(record: Json, key: str) -> str | None:
    """Return the parent's id, "" for a root, or None if the record does not name a parent."""
    return text_of(record[key]) if key in record else None


class BranchTree:
    """The records of a file, added in file order, and the branch of each."""

    def __init__(self, snapshot: Json | None = None) -> None:
        """Start empty, or with the snapshot of the shorter file."""
        snapshot = snapshot or {}
        self._parents: dict[str, str] = {}
        self._last = text_of(snapshot.get("last"))
        self._main: frozenset[str] | None = None
        self._before = dict.fromkeys(map(text_of, list_of(snapshot.get("known"))))

    def snapshot(self) -> Json:
        """Return what a longer file needs, as JSON."""
        return {"last": self._last, "known": list(deque((*self._before, *self._parents), RECENT))}

    def add(self, own_id: str, parent: str | None) -> None:
        """Add a record by its id and its parent's; without a parent it follows the record before it.

        The record before also stands in for a parent that is not in the file, whose line was lost. Raises CannotResume if
        the record abandons records of the shorter file.
        """
        parent = self._last if parent is None else parent
        is_of_earlier_lines = own_id in self._before or (parent != self._last and parent not in self._parents)
        if self._before and own_id and is_of_earlier_lines:
            raise CannotResume(f"{own_id} belongs to much earlier lines")
        if own_id and own_id not in self._parents:
            self._parents[own_id] = parent if parent in self._parents or not parent else self._last
            self._last = own_id

    def of(self, own_id: str) -> str:
        """Return `main` for the last record, its ancestors and records without id, and `abandoned` for all others."""
        if self._main is None:
            self._main = frozenset(self._chain())
        return "main" if not own_id or own_id in self._main else "abandoned"

    def _chain(self) -> list[str]:
        """Return the ids from the last record up; this ends, since a parent precedes its child."""
        chain = [self._last]
        while parent := self._parents.get(chain[-1]):
            chain.append(parent)
        return chain


def abandoned_places(links: Sequence[Link], current: str | None = None) -> frozenset[int]:
    """Return the places of messages on abandoned branches; empty if nothing forks.

    The main path leads from the current message, or from the last one, to the root. A parent without a message is a root,
    too: of several messages below it, those beside the path are abandoned. Circles end.
    """
    parents = {own: parent for own, parent in links if own}
    children = group_by_key((parent, own) for own, parent in parents.items())
    main: dict[str, None] = {}
    at = current if current in parents else next(reversed(parents), None)
    while at is not None and at not in main:
        main[at] = None
        at = parents.get(at)
    waiting = deque(child for own in main if parents.get(own) for child in children[parents[own]] if child not in main)
    left: set[str] = set()
    while waiting:
        own = waiting.popleft()
        left.add(own)  # once: it has one parent
        waiting.extend(child for child in children.get(own, ()) if child not in main)
    return frozenset(place for place, (own, _) in enumerate(links) if own in left)
