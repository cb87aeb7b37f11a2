"""Anchor a text to the lines of its file: offset, length and digest.

The offset lets a citation be checked by reading a few bytes of a file of any size. Length and digest find the lines again
after lines were added or removed above them.
"""

import re
import struct
from _blake2 import blake2b  # hashlib would bring OpenSSL, which a question has no use for
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 8 << 20
"""Bytes of the lines of one text; a longer text is cited by its file alone."""
LONGEST_REDACTED = 1 << 16
"""Bytes of lines with a secret, which is redacted before the digest."""
LEAST_TEXT = 24
"""Characters from which a text can be found by itself."""
REDACTED = "[redacted:"
_MARK = re.compile(r"\[redacted:[^\]\[\n]*\]")
_FORMAT = struct.Struct(">QI8s")
_ENDS_OF_A_RECORD = b" \t\r\n,"
_LAST_WORDS = 40
LEAST_ENDING = 12
"""Characters of a text's last words that are looked for after a line that is a JSON value."""


class LineAnchor(NamedTuple):
    """Whole lines of a file, without the last line end."""

    offset: int
    """Bytes before the lines."""
    length: int
    """Bytes."""
    digest: bytes
    """BLAKE2b, 8 bytes; lines with a secret are redacted first, so the digest gives nothing away."""

    def packed(self) -> bytes:
        """Return the anchor as 20 bytes."""
        return _FORMAT.pack(*self)


def unpack_anchor(stored: bytes | None) -> LineAnchor | None:
    """Return the anchor of stored bytes; None for none."""
    return LineAnchor(*_FORMAT.unpack(stored)) if stored else None


def make_anchor(lines: bytes, offset: int, text: str, count: int | None, *, is_bounded: bool) -> LineAnchor | None:
    """Return the anchor of a text whose citation is the first of some lines.

    The anchor has `count` lines if that is known; else it ends at the line with the text's end, because a message may span
    several records. It is one line if that is a JSON value and no end is found.

    Args:
        lines: bytes from the cited line on.
        offset: bytes before them.
        text: the stored text.
        count: number of lines, if the text has lines of its own.
        is_bounded: whether the lines end where another text begins.
    """
    end = _end_of(lines, text, count, is_bounded=is_bounded)
    if end == 0 or end > (LONGEST_REDACTED if REDACTED in text else LONGEST):
        return None
    return LineAnchor(offset, end, digest(lines[:end], text))


def _end_of(lines: bytes, text: str, count: int | None, *, is_bounded: bool) -> int:
    if count is not None:
        return _end_of_line(lines, count)
    first = lines[: _end_of_line(lines, 1)]
    words = text.rstrip().rpartition("\n")[2].rpartition("]")[2][-_LAST_WORDS:].strip()
    places = [lines.find(spelled) for spelled in _spellings(words)] if words else []
    found = min((place for place in places if place >= 0), default=None)
    if is_record(first) and (found is None or found < len(first) or len(words) < LEAST_ENDING):
        return len(first)
    if found is not None:
        end = lines.find(b"\n", found)
        return len(lines) if end < 0 else end
    return len(lines.rstrip(b"\n")) if is_bounded else 0


def is_record(line: bytes | bytearray) -> bool:
    """Check whether a line looks like a JSON value of its own."""
    value = line.strip(_ENDS_OF_A_RECORD)
    return len(value) > len("{}") and value[:1] in (b"{", b"[") and value[-1:] in (b"}", b"]")


def _end_of_line(lines: bytes, number: int) -> int:
    end = -1
    for _ in range(number):
        end = lines.find(b"\n", end + 1)
        if end < 0:
            return len(lines)
    return end


def _spellings(text: str) -> tuple[bytes, ...]:
    """Return the text as files may have it: plain, and as JSON."""
    import json  # which a question that finds all lines where they were has no use for

    forms = (text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1])
    return tuple(dict.fromkeys(form.encode("utf-8", "surrogatepass") for form in forms))


def digest(lines: bytes, text: str) -> bytes:
    """Return the digest of the lines of a text, 8 bytes."""
    if REDACTED in text:
        from pastchats_memory.redact import redact  # many patterns, and few texts have had a secret in them

        lines = redact(lines.decode("utf-8", "replace")).text.encode()
    return blake2b(lines, digest_size=8).digest()


def has_lines(lines: bytes, anchor: LineAnchor, text: str) -> bool:
    """Check whether some lines are those of an anchor.

    The digest of a text with a secret needs all rules of redaction, which take longest of all to load. So what stands between
    its secrets is looked for first.
    """
    return (REDACTED in text and _has_parts(lines, text)) or digest(lines, text) == anchor.digest


def _has_parts(lines: bytes, text: str) -> bool:
    """Check whether some lines have all that stands between the secrets of a text, in its order."""
    parts = [part for part in _MARK.split(text) if part]
    end = 0
    for part in parts:
        ends = [place + len(form) for form in _spellings(part) if (place := lines.find(form, end)) >= 0]
        if not ends:
            return False
        end = min(ends)
    return sum(map(len, parts)) >= LEAST_TEXT


def find_lines(content: bytes, passage: LineAnchor, text: str) -> Iterator[int]:
    """Yield the offsets at which an anchor's lines occur in a file's content."""
    start = 0
    while start <= len(content) - passage.length:
        end = start + passage.length
        if content[end : end + 1] in (b"", b"\n") and has_lines(content[start:end], passage, text):
            yield start
        start = content.find(b"\n", start) + 1
        if start == 0:
            return


def find_text(content: bytes, text: str) -> int | None:
    """Return the offset of a whole text in a file's content; None if it is missing, too short, or redacted."""
    if len(text) < LEAST_TEXT or REDACTED in text:
        return None
    places = [content.find(spelled) for spelled in _spellings(text)]
    return min((place for place in places if place >= 0), default=None)
