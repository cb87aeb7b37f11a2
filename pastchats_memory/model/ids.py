"""Read and write ids as people and agents see them.

`12` is a turn or a note, `t:KEY` a task, `c:5` a comment, `a:7` an attachment.
"""

TASK, COMMENT, ATTACHMENT = "t:", "c:", "a:"
LONGEST = 18
"""Digits of a number; every one that long fits into SQLite's 64 bits."""


def name_task(key: str) -> str:
    """Return the id of a task."""
    return f"{TASK}{key}"


def leads_to_task(id_: str) -> bool:
    """Return whether an id names a task, a comment or an attachment."""
    return id_.startswith((TASK, COMMENT, ATTACHMENT))


TEAM = "team:"
"""Begins the id of a turn of the team's memory."""
TEAM_DIGITS = 12
"""Hexadecimal digits of such an id."""


def is_team_id(id_: str) -> bool:
    """Return whether an id is one of a team's turn."""
    digits = id_.removeprefix(TEAM)
    return id_ != digits and len(digits) == TEAM_DIGITS and set(digits) <= set("0123456789abcdef")


def canonical_id(id_: str) -> str:
    """Return the id of a turn as `Item.shown_id` has it."""
    return id_ if is_team_id(id_) else str(int(id_))


def number_of(text: str) -> int | None:
    """Return the number of a row that a text spells in plain digits, or None."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST else None
