"""Make text from transcripts safe to show: control characters, line breaks, quotation, local times."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, time, tzinfo

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, C1
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u061c"  # zero-width, line separators, bidirectional overrides
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff0-\ufffb"  # soft hyphen, joiners, fillers and annotations
    "\U0001d173-\U0001d17a"  # beams of music
    "\ufe00-\ufe0d\U000e0000-\U000e0fff]"  # tags and variations, which can hide a text behind a letter
)
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe0e\ufe0f\ufe20-\ufe2f]"
_EXCESS_MARKS = f"({_MARK}{{4}}){_MARK}+"
"""More than four marks and joiners on one letter. No script needs them; they cover other lines or hide a text.

It is compiled when the first text beyond ASCII is shown: a cold `recall` seldom needs it.
"""


def sanitise(text: str) -> str:
    """Remove characters that move the cursor, reorder text, cover other lines or cannot be seen."""
    text = _CONTROL.sub("", text)
    return text if text.isascii() else re.sub(_EXCESS_MARKS, r"\1", text)


def escape_controls(json_text: str, *, is_ascii_wanted: bool = False) -> str:
    """Replace the characters that a terminal would obey by JSON escapes, or all beyond ASCII.

    The JSON value stays the same.
    """
    escaped = re.compile("[^\\x00-\\x7e]") if is_ascii_wanted else _CONTROL
    return escaped.sub(lambda found: re.sub("....", r"\\u\g<0>", found[0].encode("utf-16-be").hex()), json_text)


def one_line(text: str) -> str:
    """Return the sanitised text on one line, with every run of blanks as one blank."""
    return " ".join(sanitise(text).split())


def quote(text: str) -> str:
    """Put `> ` before every line of the sanitised text and drop empty lines.

    No text can leave its quotation.
    """
    return "\n".join(f"> {line}".rstrip() for line in sanitise(text).split("\n") if line.strip())


def format_time(timestamp: str | None, zone: tzinfo | None = None) -> str:
    """Write an ISO 8601 time as `2026-01-31 08:15` in the zone; an empty text stands for no time.

    Exactly midnight is written as the day alone. A note that states only its day is stored with the day's first
    moment, and an hour that nobody wrote down would be made up.

    Args:
        timestamp: ISO 8601, or None for no time.
        zone: the system's zone if None.
    """
    if timestamp is None:
        return ""
    moment = datetime.fromisoformat(timestamp)
    with suppress(ValueError, OverflowError):  # the zone would push the first or last day out of the calendar
        moment = moment.astimezone(zone)
    return moment.strftime("%Y-%m-%d" if moment.time() == time.min else "%Y-%m-%d %H:%M")


def format_priority(number: int | None) -> str:
    """Write a priority as `P0` to `P4`; an empty text stands for none."""
    return "" if number is None else f"P{number}"
