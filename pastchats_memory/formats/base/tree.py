"""Which records of a session lie on the way to its last one, for formats whose records name the one before them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from pastchats_memory.formats.base.checkpoint import RECENT, CannotResume
from pastchats_memory.formats.base.source import Json, list_of, text_of


class BranchTree:
    """Learns of every record in file order, then tells the main branch from what was left behind."""

    def __init__(self, before: Json | None = None) -> None:
        """Begin with nothing, or with what `state` gave when the file was shorter."""
        kept = before or {}
        self._parents: dict[str, str] = {}
        self._last = text_of(kept.get("last"))
        self._main: frozenset[str] | None = None
        self._before = dict.fromkeys(map(text_of, list_of(kept.get("known"))))

    def state(self) -> Json:
        """What must be known to go on when the file has grown, as JSON."""
        return {"last": self._last, "known": list(deque((*self._before, *self._parents), RECENT))}

    def add(self, own_id: str, parent: str | None) -> None:
        """One record more, None where it names no parent and follows the one before it. A parent that is not in the file was lost with its line: the record before takes its place.

        Raises:
            CannotResume: what was added to the file leaves records behind that were told before.
        """
        parent = self._last if parent is None else parent
        if self._before and own_id:
            self._refuse_what_reaches_back(own_id, parent)
        if own_id and own_id not in self._parents:
            self._parents[own_id] = parent if parent in self._parents or not parent else self._last
            self._last = own_id

    def _refuse_what_reaches_back(self, own_id: str, parent: str) -> None:
        if own_id in self._before or (parent != self._last and parent not in self._parents):
            raise CannotResume(f"{own_id} belongs to lines long before")

    def of(self, own_id: str) -> str:
        """`main` for an ancestor of the last record, for it and for records without id; `abandoned` for all others."""
        if self._main is None:
            self._main = frozenset(self._chain())
        return "main" if not own_id or own_id in self._main else "abandoned"

    def _chain(self) -> list[str]:
        """From the last record up. A parent always comes before its child, so this ends."""
        chain = [self._last]
        while parent := self._parents.get(chain[-1]):
            chain.append(parent)
        return chain


# Which messages of a tree hang beside the path that leads to the current one.

Link = tuple[str | None, str | None]
"""A message's own id and that of the one that it answers."""


def abandoned_places(links: Sequence[Link], current: str | None = None) -> frozenset[int]:
    """Places of the messages that were left for another branch; none where nothing forks.

    The path is walked from the current message, or where that is not known from the last one. A parent that no message has
    is a root: of several messages below it, all but the one on the path are abandoned. Circles end.
    """
    parents = {own: parent for own, parent in links if own}
    children = defaultdict(list)
    for own, parent in parents.items():
        children[parent].append(own)
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
        waiting.extend(child for child in children[own] if child not in main)
    return frozenset(place for place, (own, _) in enumerate(links) if own in left)
