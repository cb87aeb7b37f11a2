"""The same text as a URL, as base64 or as a narrow column hides it, with the place of each character in the original."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class View:
    """A part of a text as it reads when it is decoded."""

    text: str
    _starts: tuple[int, ...]
    """Places in the view at which a stretch begins whose characters stand one after the other in the original."""
    _places: tuple[int, ...]
    """Where each stretch begins there."""
    _widths: Mapping[int, int] = field(default_factory=dict)
    """Of the characters of the view that are written longer there."""

    def _place(self, at: int) -> int:
        """Where a character of the view stands in the original."""
        stretch = bisect_right(self._starts, at) - 1
        return self._places[stretch] + at - self._starts[stretch]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the view begins and ends in the original."""
        return self._place(start), self._place(end - 1) + self._widths.get(end - 1, 1)


_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})|&(quot|apos|lt|gt|amp|#34|#39|#x27|#x22);")
_ENTITIES = {
    "quot": '"',
    "#34": '"',
    "#x22": '"',
    "apos": "'",
    "#39": "'",
    "#x27": "'",
    "lt": "<",
    "gt": ">",
    "amp": "&",
}


def unquoted(text: str) -> Iterator[View]:
    """Each line that has `%XX` or an entity of HTML in it, without them."""
    at = 0
    while first := _ESCAPED.search(text, at):
        start = text.rfind("\n", 0, first.start()) + 1
        at = text.find("\n", first.end())
        at = len(text) if at < 0 else at
        yield _unquoted_line(text, start, at)


def _unquoted_line(text: str, start: int, end: int) -> View:
    pieces: list[str] = []
    starts, places, widths = [0], [start], {}
    length, done = 0, start
    for escape in _ESCAPED.finditer(text, start, end):
        pieces += (text[done : escape.start()], chr(int(escape[1], 16)) if escape[1] else _ENTITIES[escape[2]])
        length += escape.start() - done
        starts += (length, length + 1)
        places += (escape.start(), escape.end())
        widths[length] = len(escape[0])
        length += 1
        done = escape.end()
    pieces.append(text[done:end])
    return View("".join(pieces), tuple(starts), tuple(places), widths)


_OF_PRINT = {" ": "\xa0\u2007\u202f\u3000", '"': "“”„‟«»「」＂", "'": "‘’‚‛＇", "=": "＝", "|": "│┃║"}


def plain(text: str) -> str:
    """Blanks, quotes and rulers of print as programs have them, a letter for a letter, so that places stay the same."""
    for ours, theirs in _OF_PRINT.items():
        for letter in theirs:
            if letter in text:  # str.translate takes ten times as long
                text = text.replace(letter, ours)
    return text


_UNSEEN = re.compile(r"\x1b\[[0-9;]{0,16}m|[\u200b-\u200f\u2060\ufeff\u00ad]")
"""Colours of a terminal, and letters that nobody sees, between a name and its value."""


_UNSEEN_LETTERS = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"


def may_be_unseen(text: str) -> bool:
    """Whether `seen` has anything to leave out."""
    return "\x1b[" in text or (not text.isascii() and any(letter in text for letter in _UNSEEN_LETTERS))


def seen(text: str) -> View:
    """The text as a terminal shows it."""
    stretches = []
    done = 0
    for unseen in _UNSEEN.finditer(text):
        if unseen.start() > done:
            stretches.append((done, unseen.start()))
        done = unseen.end()
    return _joined(text, [*stretches, (done, len(text))])


_BASE64 = re.compile(r"(?:[I-Za-fC][A-Za-z0-9+/_\-]{3}){6,}[A-Za-z0-9+/_\-]*={0,2}")
"""Three bytes of plain text are four characters, of which the first can only be one of these."""
_PLAIN = re.compile(rb"[\t\n\r -~]*")
_ENOUGH = 48
"""Characters of base64 that show whether text is in it: no image begins with 36 printable characters."""


_IN_ALPHABET = bytes(chr(one).isascii() and (chr(one).isalnum() or chr(one) in "+/_-") for one in range(256))
_SHORTEST = b"\1" * 24
"""What `_BASE64` asks for, as its alphabet marks it."""


def long_runs(letters: bytes) -> list[int]:
    """Where runs of the letters of base64 begin that are long enough for a text, in a text with a byte for each character; most have none."""
    marked = letters.translate(_IN_ALPHABET)
    begins = []
    start = marked.find(_SHORTEST)
    while start >= 0:
        begins.append(start)
        end = marked.find(0, start)
        start = marked.find(_SHORTEST, end) if end >= 0 else -1
    return begins


def base64_texts(text: str, begins: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Every such run that decodes to plain text: where it begins and ends, and that text."""
    for start in begins:
        found = _BASE64.match(text, start)
        decoded = _decoded(found[0][:_ENOUGH]) if found else None
        if found and decoded is not None and len(found[0]) > _ENOUGH:
            decoded = _decoded(found[0])
        if found and decoded is not None:
            yield start, found.end(), decoded


def _decoded(run: str) -> str | None:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = binascii.a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except binascii.Error:
        return None
    return plain.decode() if _PLAIN.fullmatch(plain) else None


MOST_LINES = 8
"""Lines over which a token may go; what goes over more is a file in base64."""
_NEXT_LINE = re.compile(
    r"\n[ \t>|]{0,16}(?=[A-Za-z_\-+/=.]{0,40}\d)(?P<token>[A-Za-z0-9_\-+/=.]{6,200})(?![A-Za-z0-9_\-+/=.])"
)
_TOKEN_AT_END = re.compile(r"(?P<token>[A-Za-z0-9_\-+/=.]{12,200})\\?\r?\Z")


def unwrapped(text: str) -> Iterator[View]:
    """Every run of token characters that goes on in the next line, as one."""
    done = 0
    for line in _NEXT_LINE.finditer(text):
        if line.start() < done:
            continue
        before = _TOKEN_AT_END.search(text, max(done, line.start() - 202), line.start())
        if before is None:
            continue
        stretches = [before.span("token")]
        following: re.Match[str] | None = line
        while following is not None:
            stretches.append(following.span("token"))
            done = following.end()
            done += text.startswith("\\", done)
            following = _NEXT_LINE.match(text, done + text.startswith("\r", done))
        if len(stretches) <= MOST_LINES:
            yield _joined(text, stretches)


def _joined(text: str, stretches: list[tuple[int, int]]) -> View:
    lengths = accumulate((end - start for start, end in stretches[:-1]), initial=0)
    return View(
        "".join(text[start:end] for start, end in stretches),
        tuple(lengths),
        tuple(start for start, _ in stretches),
    )
