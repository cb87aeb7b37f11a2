"""Ids as people and agents see them: `12` a turn or a note, `t:KEY` a task, `c:5` a comment, `a:7` an attachment."""

from __future__ import annotations

TASK, COMMENT, ATTACHMENT = "t:", "c:", "a:"
LONGEST = 18
"""Digits of a number; every one that long fits into SQLite's 64 bits."""


def leads_to_task(id_: str) -> bool:
    """Whether it names a task, or what belongs to one."""
    return id_.startswith((TASK, COMMENT, ATTACHMENT))


def number_of(text: str) -> int | None:
    """The number of a row that a text spells in plain digits; None where it spells none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST else None
