"""Views of a text as a reader decodes it, with the place of each character in the original.

A view decodes URLs and HTML, base64, colours of a terminal, or tokens that a narrow column wraps.
"""

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from pastchats_memory.redact.rule_files import read_patterns
from pastchats_memory.redact.rules import Secret


@dataclass(frozen=True, slots=True)
class DecodedPart:
    """A decoded part of a text."""

    text: str
    _starts: tuple[int, ...]
    """Where the view's stretches begin: runs of characters that are also a run in the original."""
    _places: tuple[int, ...]
    """Where each stretch begins in the original."""
    _widths: Mapping[int, int] = field(default_factory=dict)
    """Lengths in the original of the view's characters that are escaped there."""

    def _place_of(self, at: int) -> int:
        """Return where a character of the view stands in the original."""
        stretch = bisect_right(self._starts, at) - 1
        return self._places[stretch] + at - self._starts[stretch]

    def place_in_original(self, secret: Secret) -> Secret:
        """Return a secret of the view as it stands in the original."""
        end = self._place_of(secret.end - 1) + self._widths.get(secret.end - 1, 1)
        return secret._replace(start=self._place_of(secret.start), end=end)


_ESCAPED = re.compile(
    r"%([0-9A-Fa-f]{2})|&(quot|apos|lt|gt|amp|nbsp|#[3-9]\d|#1[01]\d|#x[2-7][0-9A-Fa-f]);"
    r"|\\{1,7}(?:u([0-9A-Fa-f]{4})|([nrt\"/]))"
)
_JSON = {"n": "\n", "r": "\r", "t": "\t"}
_ENTITIES = {"quot": '"', "apos": "'", "nbsp": " ", "lt": "<", "gt": ">", "amp": "&"}


def has_escapes(text: str) -> bool:
    """Return whether a text may have escapes of URLs, HTML or JSON."""
    return "%" in text or "&" in text or "\\" in text


def unescape_lines(text: str) -> Iterator[DecodedPart]:
    """Decode each line that has `%XX`, an HTML entity, or an escape of JSON, also of JSON in JSON."""
    at = 0 if has_escapes(text) else len(text)
    while first := _ESCAPED.search(text, at):
        start = text.rfind("\n", 0, first.start()) + 1
        at = text.find("\n", first.end())
        at = len(text) if at < 0 else at
        yield _unescape(text, start, at)


def _read_escape(escape: re.Match[str]) -> str:
    if letter := escape[4]:
        return _JSON.get(letter, letter)
    if code := escape[3]:
        return chr(int(code, 16))
    entity = escape[2]
    if not entity:
        return chr(int(escape[1], 16))
    if entity[0] != "#":
        return _ENTITIES[entity]
    return chr(int(f"0{entity[1:]}", 0) if entity[1] == "x" else int(entity[1:]))


def _unescape(text: str, start: int, end: int) -> DecodedPart:
    pieces: list[str] = []
    starts, places, widths = [0], [start], {}
    length, done = 0, start
    for escape in _ESCAPED.finditer(text, start, end):
        pieces += (text[done : escape.start()], _read_escape(escape))
        length += escape.start() - done
        starts += (length, length + 1)
        places += (escape.start(), escape.end())
        widths[length] = len(escape[0])
        length += 1
        done = escape.end()
    pieces.append(text[done:end])
    return DecodedPart("".join(pieces), tuple(starts), tuple(places), widths)


_TYPOGRAPHIC = {" ": "\xa0\u2007\u202f\u3000", '"': "“”„‟«»「」＂", "'": "‘’‚‛＇", "=": "＝", "|": "│┃║"}


def replace_typography(text: str) -> str:
    """Replace printers' blanks, quotes and rules by ASCII, a character for a character."""
    for ascii_character, characters in _TYPOGRAPHIC.items():
        for character in characters:
            if character in text:  # str.translate takes ten times as long
                text = text.replace(character, ascii_character)
    return text


_INVISIBLE = re.compile(r"\x1b\[[0-9;]{0,16}m|[\u200b-\u200f\u2060\ufeff\u00ad]")
"""Matches a colour of a terminal, or a character without width, between a name and its value."""
_INVISIBLE_CHARACTERS = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"


def has_invisible(text: str) -> bool:
    """Return whether a text has characters that a terminal does not show."""
    return "\x1b[" in text or (not text.isascii() and any(character in text for character in _INVISIBLE_CHARACTERS))


def drop_invisible(text: str) -> DecodedPart:
    """Return a text as a terminal shows it."""
    stretches = []
    done = 0
    for invisible in _INVISIBLE.finditer(text):
        if invisible.start() > done:
            stretches.append((done, invisible.start()))
        done = invisible.end()
    return _join(text, [*stretches, (done, len(text))])


_BASE64 = re.compile(r"(?:[I-Za-fC][A-Za-z0-9+/_\-]{3}){6,}[A-Za-z0-9+/_\-]*={0,2}")
"""Matches base64 of plain text: four characters hold three bytes, and an ASCII byte limits the first of them."""
_PLAIN_TEXT = re.compile(rb"[\t\n\r -~]*")
_SAMPLE = 48
"""Characters of base64 that show whether it holds text: no image begins with 36 printable characters."""
_IN_ALPHABET = bytes(chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+/_-") for code in range(256))
_LEAST_RUN = b"\1" * 24
"""The shortest run that `_BASE64` matches, as `_IN_ALPHABET` marks it."""


def find_long_runs(letters: bytes) -> list[int]:
    """Return where runs of base64 characters begin that are long enough to hold text.

    `letters` has one byte for each character of the text.
    """
    marked = letters.translate(_IN_ALPHABET)
    starts = []
    start = marked.find(_LEAST_RUN)
    while start >= 0:
        starts.append(start)
        end = marked.find(0, start)
        start = marked.find(_LEAST_RUN, end) if end >= 0 else -1
    return starts


def decode_base64(text: str, starts: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Decode the runs that hold plain text: start and end in the original, and that text."""
    for start in starts:
        run = _BASE64.match(text, start)
        decoded = _decode_run(run[0][:_SAMPLE]) if run else None
        if run and decoded is not None and len(run[0]) > _SAMPLE:
            decoded = _decode_run(run[0])
        if run and decoded is not None:
            yield start, run.end(), decoded


def _decode_run(run: str) -> str | None:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = binascii.a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except binascii.Error:
        return None
    return plain.decode() if _PLAIN_TEXT.fullmatch(plain) else None


MOST_LINES = 8
"""Lines over which a token may be wrapped; a longer run is a file in base64."""
_NEXT_LINE = read_patterns("places.toml")["next_line"]
_TOKEN_AT_END = re.compile(r"(?P<token>[A-Za-z0-9_\-+/=.]{12,200})\\?\r?\Z")


def join_wrapped_tokens(text: str) -> Iterator[DecodedPart]:
    """Join each run of token characters that goes on in the next line."""
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
            yield _join(text, stretches)


def _join(text: str, stretches: list[tuple[int, int]]) -> DecodedPart:
    lengths = accumulate((end - start for start, end in stretches[:-1]), initial=0)
    return DecodedPart(
        "".join(text[start:end] for start, end in stretches), tuple(lengths), tuple(start for start, _ in stretches)
    )
