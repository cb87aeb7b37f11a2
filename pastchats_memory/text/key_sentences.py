"""Extract the lines of an answer that state its conclusion. Pure."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pastchats_memory.text.excerpt import excerpt, weigh_matches
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern

LONG_LINE = 120
"""Characters of a line above which its sentences count one by one."""
WRAP_WIDTH = 60
"""Characters from which a line may have been wrapped by a terminal."""
CONCLUSION = 0.1
"""Worth of a word of conclusion, if all words of the question are worth 1."""
SOLUTION = 0.2
"""Worth of a line that says what to change, on the same scale; it settles what others describe."""
LATE = 0.1
"""Worth of the last position; an answer begins with the question and the plan (`benchmarks/recall.py`)."""
OPENING = 0.8
"""Share of its worth that a line has which only opens what follows."""
EARLY = 0.5
"""Share of the answer up to which a list names steps; its third item is useless without the first."""
FIRST = 0.15
"""Worth of the first line of prose of an answer; agents begin their last one with what they reached."""
LEAST_BYTES = 25
"""Bytes below which a line earns nothing by its position ("Done.", "goal.")."""
_SENTENCE = LazyPattern(r"(?<=[.!?])(?<!\b\d\.)(?<!\b\d\d\.)\s+(?=[A-Z`*\"'(])")
"""The gap before a sentence, but not behind the number of a list item."""
_CONCLUSION = read_pattern(__file__, "conclusion", re.IGNORECASE)
_SOLUTION = read_pattern(__file__, "solution", re.IGNORECASE)
"""An instruction that names something exactly, or a report of a change or of what solved the problem."""
_ANNOUNCEMENT = read_pattern(__file__, "announcement", re.IGNORECASE)
_OPENING = LazyPattern(r"[:：]\s*$")
"""The end of a line that only opens what follows, unless the line itself says what to change."""
_ITEM = LazyPattern(r"\s*(?:[-*+•|]|\d{1,3}[.)])(?:\s|\Z)|\s*\|")
"""The start of an item of a list, or of a row of a table."""
_FURTHER_ITEM = LazyPattern(r"\s*(?!1[.)])\d{1,3}[.)]\s")
_SENTENCE_END = LazyPattern(r"[.!?:;…|]\W*\Z")
_FENCE = LazyPattern(r"^\s*(?:```|~~~)")
_BLANK, _NAME = r"[^\S\n]*+", r"[#*` ]*+[^\s`*]++[*`:]*+"
_SEARCH, _REPLACE = rf"^{_BLANK}(?:<{{5,9}}|-{{5,9}}) ?SEARCH\b", rf"^{_BLANK}(?:>{{5,9}}|\+{{5,9}}) ?REPLACE\b[^\n]*+"
_FENCED = rf"{_BLANK}(?:```|~~~)"
_BEGIN, _END = r"^\*\*\* Begin Patch\b", r"^\*\*\* End Patch\b[^\n]*+"
_UNFINISHED = rf".*?(?=^{_FENCED}|^{_BLANK}\n(?![-+@*=\s])|\Z)"
"""The end of an edit without its end marker: its fence, or a blank line with prose below."""
_EDITS = LazyPattern(
    rf"(?:^{_BLANK}{_NAME}{_BLANK}\n)?(?:^{_FENCED}[^\n]*+\n)?(?:^{_NAME}\n)?"
    rf"(?:{_SEARCH}(?:(?:(?!{_SEARCH}).)*?{_REPLACE}|{_UNFINISHED})"
    rf"|{_BEGIN}(?:(?:(?!{_BEGIN}).)*?{_END}|{_UNFINISHED}))"
    rf"(?:\n?^{_FENCED}{_BLANK}$)?",
    re.MULTILINE | re.DOTALL,
    words=("SEARCH", "Begin Patch"),
)
"""Edits that a model writes for its client, with the file's name and fence: finished or not."""
_CONTRAST = read_pattern(__file__, "contrast", re.IGNORECASE)
_OPEN_CODE = LazyPattern(r"(?:[({\[,]|=>|\b(?:then|do|else))\s*\Z")
"""The end of a line of code that says nothing without the next one."""
_WIDE_GAP = LazyPattern(r"(?<=\S)\s{3,}(?=\S)")
"""Blanks by which a terminal lays out its columns."""
_BARE = LazyPattern(r"^[\W_]*$|^\s*#{1,6}\s|^<{5}|^={5}|^>{5}")


def key_sentences(text: str, weights: Mapping[str, float], width: int) -> str:
    """Return at most `width` characters of an answer: the lines that are worth most, in order.

    A line is worth the question's words in it, by their `weights`, words of conclusion, and a late position. A line that
    announces, asks or offers more is worth nothing. Code between fences counts by the question's words alone, and not at
    all if it only opens what follows. Edits for a client are worth nothing. An item of a list comes with the line that introduces it.
    """
    text = _EDITS.sub("", text).strip()
    if len(text) <= width:
        return text
    lines = list_lines(text, weights)
    chosen: set[int] = set()
    left = width
    for line in sorted(lines, key=lambda line: -line.worth):
        added = {line.place, *line.needs} - chosen
        cost = sum(len(lines[place].text) + 1 for place in added)
        if cost <= left and line.worth > 0:
            chosen |= added
            left -= cost
    return join_lines(line for line in lines if line.place in chosen) or excerpt(text, weights, width)


def find_conclusion(text: str, weights: Mapping[str, float]) -> str:
    """Return the line of an answer that says most plainly what came of it; empty if none does.

    That is a line of prose, and no item of a list. Of equals, the first line and then the last ones are better. A line that
    contradicts it ("But the server answers nothing.") follows it.
    """
    lines = list_lines(text, weights)
    prose = [line for line in lines if line.worth > 0 and line.is_prose] or [line for line in lines if line.worth > 0]
    total = sum(weights.values()) or 1.0

    def score(line: Line) -> float:
        first = FIRST if line is prose[0] else 0.0
        return _score_line((line.text, False), line.place / len(lines), weights, total) + first

    if not prose:
        return ""
    best = max(prose, key=score)
    after = next((line.text.strip() for line in prose if line.place == best.place + 1), "")
    return f"{best.text.strip()}\n{after}" if _CONTRAST.match(after) else best.text.strip()


def reports_change(text: str) -> bool:
    """Return whether a text says what was changed, or what is to be changed."""
    return _SOLUTION.search(text) is not None


class Line(NamedTuple):
    """A line of an answer, or a sentence of a long line."""

    place: int
    """Number among the lines, from 0."""
    text: str
    worth: float
    """Worth for its length; 0 for a line that never helps."""
    needs: tuple[int, ...] = ()
    """Places of the line that introduces it, if it is an item of a list, and of the next one if that contradicts it."""
    is_prose: bool = True
    """Whether it is a sentence of its own, rather than code, a row, an item, or what introduces one."""
    opens: bool = False
    """Whether it only introduces what follows."""


def join_lines(lines: Iterable[Line]) -> str:
    """Return chosen lines as a text. They are in order."""
    return "\n".join(line.text for line in lines)


def list_lines(text: str, weights: Mapping[str, float]) -> list[Line]:
    """Return the lines of an answer, in order. Room is scarce, so a line has to be worth its bytes."""
    lines = _split_lines(_EDITS.sub("", text).strip())
    total = sum(weights.values()) or 1.0
    found: list[Line] = []
    opening: int | None = None
    for place, line in enumerate(lines):
        worth = _score_line(line, place / len(lines), weights, total) / math.sqrt(len(line[0].encode()) + 1)
        is_item = line[1] or _ITEM.match(line[0]) is not None
        opens = not is_item and _OPENING.search(line[0]) is not None
        needs = (opening,) if is_item and opening is not None else ()
        if place + 1 < len(lines) and _CONTRAST.match(lines[place + 1][0]):
            needs = (*needs, place + 1)  # what it says did not hold
        found.append(Line(place, line[0], worth, needs, not is_item and not opens, opens))
        if not is_item:
            opening = place if opens else None
    return found


def _split_lines(text: str) -> list[tuple[str, bool]]:
    """Return lines, and the sentences of long lines, each with whether it is code."""
    found: list[tuple[str, bool]] = []
    for line, is_code in _unwrap_lines(text):
        parts = [line] if is_code or len(line) <= LONG_LINE else _SENTENCE.split(line)
        found += [
            (part.rstrip() if is_code else _WIDE_GAP.sub("  ", part.strip()), is_code) for part in parts if part.strip()
        ]
    return found


def _unwrap_lines(text: str) -> list[tuple[str, bool]]:
    """Return lines with whether they are code; prose that a terminal wrapped is one line again."""
    found: list[tuple[list[str], bool]] = []
    in_code = False
    last = ""
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_code, last = not in_code, ""
            continue
        if not in_code and _is_continuation(last, line):
            found[-1][0].append(line.strip())
        else:
            found.append(([line if in_code else line.rstrip()], in_code))
        last = "" if in_code else line.strip()
    return [(" ".join(parts), is_code) for parts, is_code in found]


def _is_continuation(above: str, line: str) -> bool:
    return (
        len(above) >= WRAP_WIDTH
        and line.lstrip(" (`\"'")[:1].islower()
        and not _SENTENCE_END.search(above[-WRAP_WIDTH:])
    )


def _score_line(line: tuple[str, bool], place: float, weights: Mapping[str, float], total: float) -> float:
    """Return the worth of a line at a position, a share of the answer."""
    text, is_code = line
    if _BARE.match(text):
        return 0.0
    about = weigh_matches(text, weights) / total
    if is_code:
        return 0.0 if _OPEN_CODE.search(text) else about
    if _ANNOUNCEMENT.search(text):
        return 0.0
    is_solution = _SOLUTION.search(text) is not None
    own = about + CONCLUSION * bool(_CONCLUSION.search(text)) + SOLUTION * is_solution
    if _OPENING.search(text) and not is_solution:
        return OPENING * own
    if len(text.encode()) < LEAST_BYTES or (not own and place < EARLY and _FURTHER_ITEM.match(text)):
        return own
    return own + LATE * place
