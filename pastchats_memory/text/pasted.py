"""Separate what a person typed from what was pasted.

Pastes are code, logs, traces, diffs, data and quotations.

The start and end of a line, and its share of ordinary words, show whether it was pasted. A few such lines belong to what
the person typed, and stay.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern

FEW_LINES = 3
"""Consecutive pasted lines that still count as typed."""
MOST_READ = 400
"""Characters of a line that are looked at."""
LONG_LINE = 300
"""Characters from which one line may be a paste: data in one piece."""
LEAST_WORDS = 0.65
"""Share of words in a typed line."""
LONG_QUOTATION = 400
"""Characters from which a quotation counts as pasted."""

_FENCES = ("```", "~~~")
_FENCE = LazyPattern(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL, _FENCES)
_QUOTATION = LazyPattern(rf'“[^“”]{{{LONG_QUOTATION},}}+”|"[^"\n]{{{LONG_QUOTATION},}}+"')
_PROGRAM_LINE = read_pattern(__file__, "program-line")
"""Logs, traces, compilers, diffs, shell prompts, quoted mail, listings, data."""
_CODE_LINE = read_pattern(__file__, "code-line")
_CONTINUES_PASTE = LazyPattern(r"[ \t]*$|(?: {2}|\t)[ \t]*\S|[#*] |[-+](?! \S)")
"""A line that belongs to the paste above it: blank, indented, a comment, or a line of a diff."""
_ERROR = LazyPattern(
    r"\b(?:(?:[A-Z]\w*)?(?:Error|Exception|Warning|Failure)|error|fatal|panic|FAILED)\b(?: ?\[\w+\])?[:! ]"
)
_BULLET = LazyPattern(r"(?<![ \t])[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_WORD = LazyPattern(r"[(\"'“*_`]*(?:[^\W\d_]|(?![^\W\d_])[\u3000-\uffef])+(?:['’-][^\W\d_]+)*[)\"'”*_`.,;:!?…]*\Z")
"""Letters, and whatever scripts without spaces put among them."""


class PastedText(NamedTuple):
    """A text in two parts."""

    typed: str
    """The text without pastes, line by line."""
    error: str
    """The last line of the pastes that names an error; empty for none."""


@lru_cache(maxsize=4)  # several rules look at one text in turn
def split_paste(text: str) -> PastedText:
    """Return the typed part of a text, and the error that its pastes name."""
    lines = text.splitlines()
    if len(lines) <= FEW_LINES and len(text) < LONG_LINE and not any(fence in text for fence in _FENCES):
        return PastedText("\n".join(lines).strip(), "")
    pastes = _FENCE.findall(text)
    typed: list[str] = []
    run: list[str] = []
    for line in [*_QUOTATION.sub(" ", _FENCE.sub("\n", text)).splitlines(), "end"]:
        if _is_pasted(line) or (run and _CONTINUES_PASTE.match(line)):
            run.append(line)
            continue
        (pastes if _is_paste(run) else typed).extend(run)
        run = []
        typed.append(line)
    errors = [line for paste in pastes for line in paste.splitlines() if _ERROR.search(line[:MOST_READ])]
    return PastedText("\n".join(typed[:-1]).strip(), errors[-1].strip()[:MOST_READ] if errors else "")


def _is_pasted(line: str) -> bool:
    """Check whether a line looks written by or for a program."""
    start = line[:MOST_READ].rstrip()
    return bool(start) and bool(_PROGRAM_LINE.match(start) or _CODE_LINE.match(start) or not _is_talk(start))


def _is_talk(line: str) -> bool:
    parts = _BULLET.compiled.sub("", line, count=1).split()
    return sum(_WORD.match(part) is not None for part in parts) >= LEAST_WORDS * len(parts)


def _is_paste(run: list[str]) -> bool:
    """Check whether lines that look pasted are more than a part of a prompt."""
    return sum(map(_is_pasted, run)) > FEW_LINES or any(
        len(line) >= LONG_LINE and not _is_talk(line[:MOST_READ]) for line in run
    )
