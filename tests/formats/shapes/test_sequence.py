"""Rows as they were meant in the end, in the order in which they were said."""

import pytest

from pastchats_memory.formats.generic.shapes.inference.sequence import in_the_end, is_gone, order_of


def test_pieces_are_put_together_by_what_they_share():
    rows = [
        {"kind": "begin", "reply_id": "a", "model": "m"},
        {"kind": "delta", "reply_id": "a", "text": "one "},
        {"kind": "delta", "reply_id": "b", "text": "three"},
        {"kind": "delta", "reply_id": "a", "text": "two"},
        {"kind": "end", "reply_id": "a", "cost": 5},
        {"kind": "pinged", "load": 3},
    ]
    told = in_the_end(rows, ("text",))
    assert [(row.get("text"), row.get("cost")) for row in told] == [("one two", 5), ("three", None), (None, None)]


def test_the_whole_that_comes_behind_its_pieces_counts_once():
    rows = [
        {"kind": "delta", "reply_id": "a", "text": "One and a half "},
        {"kind": "delta", "reply_id": "a", "text": "cups of wtr."},
        {"kind": "final", "reply_id": "a", "text": "One and a half cups of water."},
    ]
    assert [row["text"] for row in in_the_end(rows, ("text",))] == ["One and a half cups of water."]


def test_pieces_without_a_name_end_where_something_else_is_said():
    rows = [
        {"ev": "token", "text": "one "},
        {"ev": "token", "text": "two"},
        {"ev": "asked", "text": "more?"},
        {"ev": "token", "text": "three"},
    ]
    assert [row["text"] for row in in_the_end(rows, ("text",))] == ["one two", "more?", "three"]


def test_corrections_and_deletions_reach_the_row_that_they_name():
    rows = [
        {"op": "add", "id": 1, "text": "a"},
        {"op": "add", "id": 2, "text": "b"},
        {"op": "edit", "id": 1, "text": "A"},
        {"op": "edit", "id": 1, "pinned": True},
        {"op": "delete", "id": 2},
    ]
    assert [row["text"] for row in in_the_end(rows, ("text",)) if "text" in row] == ["A"]


def test_what_grows_under_one_id_is_its_last_state():
    rows = [{"id": "a", "text": "Feed"}, {"id": "a", "text": "Feed it."}, {"id": "b", "text": "Why?"}]
    assert [row["text"] for row in in_the_end(rows, ("text",))] == ["Feed it.", "Why?"]


@pytest.mark.parametrize(
    ("row", "gone"),
    [
        ({"removed": True}, True),
        ({"visible": False}, True),
        ({"status": "deleted"}, True),
        ({"deleted_at": "2026-05-01T10:00:00Z"}, True),
        ({"removed": False, "visible": True, "status": "read", "deleted_at": None}, False),
    ],
)
def test_what_was_taken_back_says_so(row, gone):
    assert is_gone(row) is gone


@pytest.mark.parametrize(
    "rows",
    [
        [{"key": "c", "prev": "b"}, {"key": "a", "prev": None}, {"key": "b", "prev": "a"}],
        [{"key": "c", "next": None}, {"key": "a", "next": "b"}, {"key": "b", "next": "c"}],
        [{"key": "c", "seq": 3}, {"key": "a", "seq": 1}, {"key": "b", "seq": 2}],
        [{"key": "a", "turns_left": 3}, {"key": "b", "turns_left": 2}, {"key": "c", "turns_left": 1}],
        [{"key": "c", "at": "2026-05-03"}, {"key": "a", "at": "2026-05-01"}, {"key": "b", "at": "2026-05-02"}],
    ],
)
def test_rows_come_in_the_order_in_which_they_were_said(rows):
    assert [rows[at]["key"] for at in order_of(rows, {})[0]] == ["a", "b", "c"]


def test_links_that_lead_in_a_circle_are_no_order():
    before = {"a": None, "b": "a", "c": "d", "d": "c", "e": "b"}
    order, left = order_of([{"key": key, "prev": link} for key, link in before.items()], {})
    assert (order, left) == ([0, 1, 2, 3, 4], frozenset())


def test_a_branch_that_was_left_is_known_by_the_leaf():
    rows = [{"key": "a", "up": None}, {"key": "b", "up": "a"}, {"key": "c", "up": "a"}, {"key": "d", "up": "b"}]
    order, left = order_of(rows, {"active_leaf": "d"})
    assert (order, left) == ([0, 1, 3, 2], {2})
