"""Where words stand in a text that are quoted from what was shown of it: other blanks between them, without marks of emphasis. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

WIDE = "\u2e80"
"""Where scripts without blanks begin, within which a line may be broken anywhere."""
OF_WIDE = 4
"""Characters that one of these counts for."""
LEAST = 12
"""Characters from which on a part of a line tells something; a shorter line has to be quoted whole."""
LONGEST = 1000
"""Characters of a quotation at most: it is a line, or a part of one."""
NEAR = 200
"""Characters on each side in which the rest of a line is looked for."""
_PIECE = re.compile(r"(?P<blank>\s+)|[*`#>\u200b-\u200f\u2060\ufeff]+|(?P<word>[^\s*`#>\u200b-\u200f\u2060\ufeff]+)")


class _Plain(NamedTuple):
    """A text without marks, every run of blanks one blank, and where its words stood."""

    text: str
    starts: list[int]
    """Of each word in this text, ascending."""
    places: list[int]
    """The same in the text it was made of."""


def found_in(text: str, quoted: str, least: int = LEAST) -> tuple[int, int] | None:
    """Where the quoted words stand last: the character at which they begin, and how many they are; None where they do not.

    They stand there as whole words; fewer than so many characters do not count unless they are a line of their own.
    """
    plain, words = _plain(text), _plain(quoted).text.strip()
    at = plain.text.rfind(words) if words else -1
    while at >= 0:
        start, end = _place(plain, at), _place(plain, at + len(words) - 1) + 1
        if _is_whole(plain.text, at, at + len(words)) and (_weight(words) >= least or _is_line(text, start, end)):
            return start, end - start
        at = plain.text.rfind(words, 0, at + len(words) - 1)
    return None


def _plain(text: str) -> _Plain:
    told, starts, places, length = list[str](), list[int](), list[int](), 0
    is_parted, last = False, ""
    for piece in _PIECE.finditer(text):
        is_parted = is_parted or piece["blank"] is not None
        if (word := piece["word"]) is None:
            continue
        if is_parted and told and not (last >= WIDE and word[0] >= WIDE):
            told.append(" ")
            length += 1
        told.append(word)
        starts.append(length)
        places.append(piece.start())
        length, is_parted, last = length + len(word), False, word[-1]
    return _Plain("".join(told), starts, places)


def _place(plain: _Plain, at: int) -> int:
    """Where a character of a word stood."""
    word = bisect_right(plain.starts, at) - 1
    return plain.places[word] + at - plain.starts[word]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word of ASCII goes on before or behind it."""
    before, behind = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
    return not any(len(edge) > 1 and edge.isascii() and edge.replace("_", "a").isalnum() for edge in (before, behind))


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether nothing but marks and signs stands beside it on its lines."""
    before, behind = text[max(0, start - NEAR) : start], text[end : end + NEAR]
    line = before.rpartition("\n")[2] + behind.partition("\n")[0]
    return not any(character.isalnum() for character in line)


def _weight(words: str) -> int:
    return sum(OF_WIDE if character >= WIDE else 1 for character in words)
