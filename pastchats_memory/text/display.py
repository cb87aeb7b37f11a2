"""Make text from transcripts safe to show: control characters, line breaks, quotation, local times.

`sanitise` alone disarms a text. The other functions fit it into its place: `quote` for paragraphs, `one_line` for a sentence,
`escape_name` for a name among our own words, `escape_path` for a path in a terminal. `escape_json` is for JSON.
"""

import re
from contextlib import suppress
from datetime import datetime, time, tzinfo
from functools import cache
from unicodedata import normalize

from pastchats_memory.text.data_file import read_words
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern
from pastchats_memory.text.truncate import keep_head

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, C1
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u061c"  # zero-width, line separators, bidirectional overrides
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff0-\ufffb"  # soft hyphen, joiners, fillers and annotations
    "\U0001107f\U00016fe4\U0001d159\U0001d173-\U0001d17a\U00013430-\U0001343f\U0001bca0-\U0001bca3"  # joiners and controls of scripts, music and shorthand
    "\ufe00-\ufe0d\U000e0000-\U000e0fff]"  # tags and variations, which can hide a text behind a letter
)
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe0e\ufe0f\ufe20-\ufe2f]"
_EXCESS_MARKS = LazyPattern(f"({_MARK}{{4}}){_MARK}+")
"""More than four marks and joiners on one letter. No script needs them; they cover other lines or hide a text."""
_IDLE_JOINERS = LazyPattern(
    rf"(?<=[\x00-\x7e\uff01-\uff5e\ufe64\ufe65\U0001d400-\U0001d7ff])[\u200c\u200d\ufe0e\ufe0f]++(?!\u20e3)|(?<=[<＜﹤/／|｜\[])(?!\u0338){_MARK}+"
)
"""Joiners and variations of a character that is ASCII, wide or mathematical, and marks on one that begins a tag, which split a tag.

Only keycaps such as 1️⃣ and signs such as ≮ need them.
"""
_BLANK = "\u2800"
"""Braille without a dot: looks like a blank, and is none to `str.split` or a pattern."""


@cache
def _list_words(kind: str) -> frozenset[str]:
    return frozenset(read_words(__file__, "tag_words.txt")[kind].split())


_TAG = read_pattern(__file__, "tag", words=tuple(_list_words("cues")))
_NAME_TAG = LazyPattern("<(?=[A-Za-z/!?|])", words=("<",))
"""A tag of any kind, or an address in angle brackets."""
_NAME_MARKS = read_pattern(__file__, "name-marks")


def remove_controls(text: str) -> str:
    """Remove characters that move the cursor, reorder text, cover other lines or cannot be seen."""
    text = _CONTROL.sub("", text)
    return text if text.isascii() else _IDLE_JOINERS.sub("", _EXCESS_MARKS.sub(r"\1", text.replace(_BLANK, " ")))


def sanitise(text: str) -> str:
    """Return a text that neither a terminal nor the reader of a context obeys.

    Control characters go, and a backslash keeps tags such as `</system-reminder>` from ending the context around them.
    """
    return _TAG.sub(_escape_tag, remove_controls(text))


def _escape_tag(found: re.Match[str]) -> str:
    closing, opening = (normalize("NFKC", found[name] or "").lower() for name in ("closing", "opening"))
    opening = opening or normalize("NFKC", found["indented"] or "").lower()
    looks_alike = not opening.isascii() and re.search("[a-z]", opening)  # letters of several alphabets
    if closing in _list_words("html"):
        return found[0]
    if opening and opening not in _list_words("wrappers") and not ({"-", "_", ":"} & {*opening} or looks_alike):
        return found[0]
    return f"{found[0][0]}\\{found[0][1:]}"


def escape_json(json_text: str, *, is_ascii_wanted: bool = False) -> str:
    """Replace by JSON escapes the characters that a terminal obeys or all beyond ASCII, and those that begin a tag."""
    unsafe = re.compile("[^\\x00-\\x7e]") if is_ascii_wanted else _CONTROL
    escaped = unsafe.sub(lambda found: re.sub("....", r"\\u\g<0>", found[0].encode("utf-16-be").hex()), json_text)
    return escaped.replace("<", r"\u003c")


def one_line(text: str) -> str:
    """Return the sanitised text on one line, with every run of blanks as one blank."""
    return " ".join(sanitise(text).split())


def shorten_line(text: str, width: int) -> str:
    """Return the first words of a text that fit, on one line."""
    line = one_line(text)
    return line if len(line) <= width else f"{keep_head(line, width - 1).rstrip()}…"


def escape_name(text: str) -> str:
    r"""Return a name, such as an id, a project or a path, that cannot leave its place in a line of Markdown.

    It is on one line, with its blanks as they are. A backslash precedes what would begin a heading, a fence, a link, a picture or a tag.

    >>> escape_name("# urgent\n![x](http://y)")
    '\\# urgent ![x]\\(http://y)'
    """
    line = _join_lines(text).strip().replace(" · ", " - ")
    line = _NAME_TAG.sub(r"<\\", line)
    return _NAME_MARKS.sub(r"\\\g<0>", line)


def escape_path(text: str) -> str:
    """Return a path for a terminal, from which it can be copied.

    It stands in a code span if Markdown would take a part of it for a link, a tag or another mark. Nothing in a code span
    is one, so its characters stay as they are.

    >>> escape_path("/home/ada/chat [1](2).json")
    '`/home/ada/chat [1](2).json`'
    """
    line = _join_lines(text)
    if escape_name(line) == line:
        return line
    mark = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    blank = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{mark}{blank}{line}{blank}{mark}"


def _join_lines(text: str) -> str:
    return sanitise(text).replace("\n", " ").replace("\t", " ")


def quote(text: str) -> str:
    """Put `> ` before every filled line of the sanitised text, so that no text can leave its quotation."""
    return "\n".join(f"> {line}".rstrip() for line in sanitise(text).split("\n") if line.strip())


def format_time(timestamp: str | None, zone: tzinfo | None = None) -> str:
    """Write an ISO 8601 time as `2026-01-31 08:15` in a zone, by default the system's; an empty text stands for None.

    Exactly midnight is written as the day alone. A note that states only its day is stored with the day's first
    moment, and an hour that nobody wrote down would be made up. A damaged row shows what it has in place of a time.
    """
    if timestamp is None:
        return ""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return one_line(timestamp)  # `doctor` names it
    with suppress(ValueError, OverflowError):  # the zone would push the first or last day out of the calendar
        moment = moment.astimezone(zone)
    return moment.strftime("%Y-%m-%d" if moment.time() == time.min else "%Y-%m-%d %H:%M")


def format_priority(number: int | None) -> str:
    """Write a priority as `P0` to `P4`; an empty text stands for none."""
    return "" if number is None else f"P{number}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1200, "turn")
    '1,200 turns'
    """
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"
