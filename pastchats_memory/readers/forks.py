"""Which messages of a tree hang beside the path that leads to the current one."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

Link = tuple[str | None, str | None]
"""A message's own id and that of the one that it answers."""


def abandoned(links: Sequence[Link], current: str | None = None) -> frozenset[int]:
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
