"""What a citation stands on: the lines of a file in which a text was read, by their place, their length and a digest.

With the place a citation is checked by reading a few bytes of a file of any size; with length and digest its lines are
found again where lines were added or taken away above them.
"""

from __future__ import annotations

import os
import struct
from _blake2 import blake2b  # hashlib would bring OpenSSL, which a question has no use for
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.model import utf8

LONGEST = 8 << 20
"""Bytes of the lines of one text; what is longer is known by its file alone."""
LONGEST_REDACTED = 1 << 16
"""Of lines that hold a secret, which is taken out before they are digested."""
LEAST_KNOWN = 24
"""Characters from which on a text is known by itself, wherever it stands."""
REDACTED = "[redacted:"
_PACKED = struct.Struct(">QI8s")
_ENDS_OF_A_RECORD = b" \t\r\n,"
_LAST_WORDS = 40
LEAST_TELLING = 12
"""Characters of last words that are looked for behind a line that is a JSON value of its own."""


class Passage(NamedTuple):
    """Whole lines of a file, without the line end of the last."""

    offset: int
    """Bytes before them."""
    length: int
    """Bytes."""
    digest: bytes
    """BLAKE2b, 8 bytes; of lines with a secret in them that of the lines without it, so that nothing can be guessed by it."""

    def packed(self) -> bytes:
        """20 bytes."""
        return _PACKED.pack(*self)


def unpacked(stored: bytes | None) -> Passage | None:
    """The passage in what was stored; None where nothing was, or that there is none."""
    return Passage(*_PACKED.unpack(stored)) if stored else None


def passage_of(lines: bytes, offset: int, text: str, count: int | None, *, is_bounded: bool) -> Passage | None:
    """The passage of a text that is cited by the first of some lines.

    It is so many lines, where that is known; else all up to the one in which the text ends, as a message may be written in
    several records; one, where that is a JSON value of its own and no end is found.

    Args:
        lines: from the cited line on.
        offset: bytes before them.
        text: as it is stored.
        count: of lines, where the text has its own.
        is_bounded: the lines end where another text begins.
    """
    end = _end_of(lines, text, count, is_bounded=is_bounded)
    if end == 0 or end > (LONGEST_REDACTED if REDACTED in text else LONGEST):
        return None
    return Passage(offset, end, digest(lines[:end], text))


def _end_of(lines: bytes, text: str, count: int | None, *, is_bounded: bool) -> int:
    if count is not None:
        return _end_of_line(lines, count)
    first = lines[: _end_of_line(lines, 1)]
    words = _last_words(text)
    places = [lines.find(spelled) for spelled in _spellings(words)] if words else []
    found = min((place for place in places if place >= 0), default=None)
    if is_record(first) and (found is None or found < len(first) or len(words) < LEAST_TELLING):
        return len(first)
    if found is not None:
        end = lines.find(b"\n", found)
        return len(lines) if end < 0 else end
    return len(lines.rstrip(b"\n")) if is_bounded else 0


def is_record(line: bytes | bytearray) -> bool:
    """Whether a line looks like a JSON value of its own."""
    value = line.strip(_ENDS_OF_A_RECORD)
    return len(value) > len("{}") and value[:1] in (b"{", b"[") and value[-1:] in (b"}", b"]")


def _end_of_line(lines: bytes, number: int) -> int:
    """Where the line ends that is the so many-th."""
    end = -1
    for _ in range(number):
        end = lines.find(b"\n", end + 1)
        if end < 0:
            return len(lines)
    return end


def _last_words(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].rpartition("]")[2][-_LAST_WORDS:].strip()


def _spellings(text: str) -> tuple[bytes, ...]:
    """The text as files have it: as it is, and within JSON."""
    import json  # which a question that finds all lines where they were has no use for

    forms = (text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1])
    return tuple(dict.fromkeys(form.encode("utf-8", "surrogatepass") for form in forms))


def digest(lines: bytes, text: str) -> bytes:
    """Of lines in which a text stands: 8 bytes."""
    if REDACTED in text:
        from pastchats_memory.redact import redact  # many patterns, and few texts have had a secret in them

        lines = redact(lines.decode("utf-8", "replace")).text.encode()
    return blake2b(lines, digest_size=8).digest()


def places_of(content: bytes, passage: Passage, text: str) -> Iterator[int]:
    """Where in a file's content the lines of a passage stand: bytes before them, the first first."""
    start = 0
    while start <= len(content) - passage.length:
        end = start + passage.length
        if content[end : end + 1] in (b"", b"\n") and digest(content[start:end], text) == passage.digest:
            yield start
        start = content.find(b"\n", start) + 1
        if start == 0:
            return


def place_of_text(content: bytes, text: str) -> int | None:
    """Where the whole of a text stands in a file's content; None where it does not, or is too short to be known, or was redacted."""
    if len(text) < LEAST_KNOWN or REDACTED in text:
        return None
    places = [content.find(spelled) for spelled in _spellings(text)]
    return min((place for place in places if place >= 0), default=None)


# From the name under which a file is stored to the file: names with a token in them are stored without it.

MARKS = ("[redacted:", "\\udc")
"""What stands in a stored name in the place of a token, and of a byte that is no UTF-8."""
MOST_NAMES = 10_000
"""Of a folder, among which the one is looked for."""


def located(stored: str) -> Path:
    """The file of that name, or the first whose name would be stored so; the name as it is where there is none."""
    path = Path(stored)
    if not any(mark in stored for mark in MARKS) or os.path.lexists(path):
        return path
    found = Path(path.anchor)
    for part in path.parts[len(found.parts) :]:
        found = found / part if not any(mark in part for mark in MARKS) else _among(found, part)
    return found if os.path.lexists(found) else path


def _among(folder: Path, stored: str) -> Path:
    from pastchats_memory.redact import redact_path  # many patterns, and hardly a name has had a token in it

    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_NAMES):
                if Path(redact_path(utf8(entry.path))).name == stored:
                    return Path(entry.path)
    except OSError:
        pass
    return folder / stored
