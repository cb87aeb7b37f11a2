"""Numbers that pairs connect are one group."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.text.groups import group_connected


def test_pairs_connect_numbers_through_others() -> None:
    assert group_connected(6, [(4, 2), (5, 1), (2, 0)]) == [[0, 2, 4], [1, 5], [3]]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12))
def test_each_number_is_in_one_group_and_no_pair_is_divided(pairs: list[tuple[int, int]]) -> None:
    groups = group_connected(9, pairs)
    assert sorted(number for group in groups for number in group) == list(range(9))
    assert all(any({*pair} <= {*group} for group in groups) for pair in pairs)
    assert len(groups) >= 9 - len(pairs)
