"""Count the work of a call, which depends on neither the clock nor other processes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


def count_lines(do: Callable[[], object]) -> int:
    """Return how many lines of Python code the call executes, those of everything it calls included.

    Work inside C functions, such as a regular expression, is not counted.
    """
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        do()
    finally:
        sys.settrace(before)
    return count


def count_calls(do: Callable[[], object]) -> Counter[str]:
    """Return how often the call enters each Python function, by the function's bare name."""
    counts: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            counts[frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        do()
    finally:
        sys.setprofile(before)
    return counts


_listening: list[list[str]] = []
_hooked: list[bool] = []


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Collect the paths of the files that this process opens meanwhile."""
    if not _hooked:
        sys.addaudithook(_note)  # which stays as long as the process
        _hooked.append(True)
    opened: list[str] = []
    _listening.append(opened)
    try:
        yield opened
    finally:
        _listening.remove(opened)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        for opened in _listening:
            opened.append(str(arguments[0]))
