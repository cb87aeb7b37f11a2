"""Which records of a session lie on the way to its last one, for formats whose records name the one before them."""

from __future__ import annotations


class Branches:
    """Learns of every record in file order, then tells the main branch from what was left behind."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._last = ""
        self._main: frozenset[str] | None = None

    def add(self, own_id: str, parent: str) -> None:
        """One record more. A parent that is not in the file was lost with its line: the record before takes its place."""
        if own_id and own_id not in self._parents:
            self._parents[own_id] = parent if parent in self._parents or not parent else self._last
            self._last = own_id

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
