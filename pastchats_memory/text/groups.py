"""Group things that pairs connect."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def group_by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of pairs by their keys, both in order."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def group_connected(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers below a count in order, grouped by the pairs that connect them (union-find)."""
    parents = list(range(count))

    def find_root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for first, second in pairs:
        parents[find_root(second)] = find_root(first)
    return list(group_by_key((find_root(number), number) for number in range(count)).values())
