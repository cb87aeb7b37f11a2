"""What is kept of sessions: what each was given, which it is not given again, and what went wrong; neither for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pastchats_memory.hooks.log import LARGEST, note
from pastchats_memory.hooks.session import WEEK_S, forget_old, given, remember


def test_nothing_that_was_given_is_forgotten_however_much_it_was(tmp_path: Path) -> None:
    many = frozenset(str(number) for number in range(2000, 4500))
    remember(tmp_path, "one", many)
    remember(tmp_path, "one", frozenset({"1"}))
    assert given(tmp_path, "one") == many | {"1"}


def test_the_list_of_shown_memories_lasts_a_week(tmp_path: Path) -> None:
    remember(tmp_path, "over", frozenset({"1"}))
    (over,) = (tmp_path / "sessions").iterdir()
    remember(tmp_path, "going on", frozenset({"2"}))
    long_ago = time.time() - WEEK_S - 60
    os.utime(over, (long_ago, long_ago))
    forget_old(tmp_path)
    assert (given(tmp_path, "over"), given(tmp_path, "going on")) == (frozenset(), {"2"})


def test_the_log_holds_the_latest_faults(tmp_path: Path) -> None:
    for fault in ("first", "second", "third"):
        note(tmp_path, fault)
        with (tmp_path / "hooks.log").open("a", encoding="utf-8") as log:
            log.write("x" * LARGEST)
    note(tmp_path, "fourth")
    kept = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert set(kept) == {"hooks.log", "hooks.log.1"}
    assert kept["hooks.log"].endswith("\tfourth\n")
    assert "third" in kept["hooks.log.1"]
    assert "second" not in kept["hooks.log.1"]
