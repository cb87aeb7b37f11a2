"""aider: chat histories, and histories of what was typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pastchats_memory.formats.agents.aider.reader import matches, read
from pastchats_memory.formats.base.format import CERTAIN, Format, confident
from pastchats_memory.formats.base.locations import Environment

if TYPE_CHECKING:
    from pathlib import Path

HISTORY = ".aider.chat.history.md"
PARENTS = (
    "[Cc]ode",
    "[Pp]rojects",
    "[Ss]rc",
    "[Dd]ev",
    "[Ww]ork",
    "[Rr]epos",
    "[Gg]it*",
    "[Ww]orkspace",
    "[Dd]ocuments",
)
"""Usual names of folders in the home that hold repositories."""


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the histories in the home, in its folders, and in repositories up to two folders below the usual ones."""
    patterns = [HISTORY, f"*/{HISTORY}", *(f"{name}/{below}/{HISTORY}" for name in PARENTS for below in ("*", "*/*"))]
    for pattern in patterns:
        yield from sorted(environment.home.glob(pattern))


AIDER = Format(
    name="aider",
    version=13,
    detect=confident(matches, CERTAIN),
    read=read,
    locations=locations,
    verified="0.86.2, 2026-11",
)
