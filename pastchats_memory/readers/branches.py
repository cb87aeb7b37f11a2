"""Which records of a session lie on the way to its last one, for formats whose records name the one before them."""

from __future__ import annotations

from collections import deque

from pastchats_memory.readers.fields import Json, list_of, text_of
from pastchats_memory.readers.resume import RECENT, CannotResume


class Branches:
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
