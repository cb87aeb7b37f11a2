"""What a session was given, which it is not given again."""

from __future__ import annotations

from pathlib import Path

from pastchats_memory.hooks.session import given, remember


def test_nothing_that_was_given_is_forgotten_however_much_it_was(tmp_path: Path) -> None:
    many = frozenset(str(number) for number in range(2000, 4500))
    remember(tmp_path, "one", many)
    remember(tmp_path, "one", frozenset({"1"}))
    assert given(tmp_path, "one") == many | {"1"}
