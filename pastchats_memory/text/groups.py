"""Group things that pairs connect."""

from collections.abc import Iterable


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
    groups: dict[int, list[int]] = {}
    for number in range(count):
        groups.setdefault(find_root(number), []).append(number)
    return list(groups.values())
