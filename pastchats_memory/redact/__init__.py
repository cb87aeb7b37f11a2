"""Secrets out of a text, before it reaches the disk: each is replaced by `[redacted:kind]`, so that the sentence still reads.

A detector is a literal that must occur (`anchor`) and a pattern that is tried only where it does. The many literals of
tokens are looked for in the long unbroken runs of a text, which are a small part of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pastchats_memory.redact.commands import commanded_secrets
from pastchats_memory.redact.detector import Detector, Found
from pastchats_memory.redact.named import named_secrets
from pastchats_memory.redact.shapes import STRUCTURES, TOKENS
from pastchats_memory.redact.views import (
    View,
    base64_texts,
    may_be_base64,
    may_be_unseen,
    plain,
    seen,
    unquoted,
    unwrapped,
)

_RUN = re.compile(r"[A-Za-z0-9_\-./+=~:%$]{15,}")
"""As long as the shortest text that a pattern of `shapes.TOKENS` takes; of tokens in use it is Alibaba's with sixteen."""
_RUN_BEHIND_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[nrtbf])([A-Za-z0-9_\-./+=~:%$]{15,})")
_RUN_BEHIND_COLOUR = re.compile(r"\x1b\[[0-9;]{0,16}m([A-Za-z0-9_\-./+=~:%$]{15,})")
r"""Where the last letter of `\n`, of `\u003d` or of a colour would be taken for the beginning of the run."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without the secrets that were found in it."""

    text: str
    kinds: Counter[str]
    """How many of each kind were taken out."""


def redact(text: str) -> Redacted:
    """The text with every secret replaced by its kind; the same text when there is none.

    Redacting twice changes nothing more: what stands in for a secret is never taken for one, and a secret that begins
    where another ends is looked for again when that one is gone.
    """
    kinds: Counter[str] = Counter()
    found = list(_apart(_outside_marks(text, secrets(text))))
    while found:
        pieces: list[str] = []
        marks: list[tuple[int, int]] = []
        length = end = 0
        for one in found:
            mark = f"[redacted:{one.kind}]"
            pieces += (text[end : one.start], mark)
            length += one.start - end
            marks.append((length, length + len(mark)))
            length += len(mark)
            end = one.end
        kinds.update(one.kind for one in found)
        text = "".join((*pieces, text[end:]))
        found = list(_apart(_outside_marks(text, _near(text, marks))))
    return Redacted(text, kinds)


_MORE = re.compile(r"[^\W_]{4}")


def _near(text: str, marks: list[tuple[int, int]]) -> Iterator[Found]:
    """Every secret in the lines around some places, where another may show when one is gone."""
    for start, end in _lines_around(text, marks):
        for one in secrets(text[start:end]):
            yield Found(one.start + start, one.end + start, one.kind, one.rank)


def _lines_around(text: str, marks: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where the lines around some places begin and end, those that touch as one."""
    joined: tuple[int, int] | None = None
    for start, end in marks:
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        if not _MORE.search(text, end, last):
            continue  # what stands before a secret was looked at with it
        if joined is not None and first <= joined[1]:
            joined = joined[0], last
            continue
        if joined is not None:
            yield joined
        joined = first, last
    if joined is not None:
        yield joined


def redacted_value(value: Any) -> Any:
    """A JSON value with every text in it redacted; what a key like `api_key` holds is judged by that key."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {redact(str(key)).text: _of_key(str(key), redacted_value(inner)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_value(inner) for inner in value]
    return value


def without_split_secret(before: str, after: str) -> tuple[str, str] | None:
    """Two texts that were said one after the other without the secret that begins in one and ends in the other; None
    where there is none.
    """
    head, tail = _RUN_AT_START.match(after), _RUN_AT_END.search(before, max(0, len(before) - LONGEST_PIECE))
    if head is None or tail is None:
        return None
    seam = len(tail[0])
    if not _TELLING.search(head[0]) and any(one.end == seam for one in secrets(tail[0])):
        return None  # it ends where the first text does, and the next one begins with a word
    for one in _apart(secrets(tail[0] + head[0])):
        if one.start < seam < one.end:
            mark = f"[redacted:{one.kind}]"
            return before[: tail.start() + one.start] + mark, mark + after[one.end - seam :]
    return None


LONGEST_PIECE = 300
"""Characters of a secret on either side of a seam that are looked at."""
_RUN_AT_START = re.compile(rf"[A-Za-z0-9_\-./+=~]{{1,{LONGEST_PIECE}}}")
_RUN_AT_END = re.compile(r"[A-Za-z0-9_\-./+=~]+\Z")


def redacted_path(path: str) -> str:
    """A path without the tokens in it: it is what a citation names and a file is known by, so a shape alone counts."""
    if not _LONG_WORD.search(path):
        return path
    pieces, end = [], 0
    for one in _apart(_tokens(path, path)):
        pieces += [path[end : one.start], f"[redacted:{one.kind}]"]
        end = one.end
    return "".join((*pieces, path[end:]))


_LONG_WORD = re.compile(r"[A-Za-z0-9]{13}")
"""Longer than the last part of a UUID, which most names of transcripts are; said first, since there are many paths."""


def _of_key(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    label = f'"{key}": "'
    whole = redact(f'{label}{value}"').text
    return whole[len(label) : -1] if whole.startswith(label) else value


def secrets(text: str, depth: int = 0) -> Iterator[Found]:
    """Every secret that a detector sees, in no order; several may see the same one.

    Looked for in the text as it stands, and in what is written in it as URLs, base64 and narrow columns write texts,
    `DEEPEST` times one in the other.
    """
    if not text.isascii():
        text = plain(text)
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered, and places would no longer be the same
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    runs = _runs(text)
    yield from _tokens(text, runs)
    for detector in STRUCTURES:
        if detector.anchor in text:
            yield from detector.find(text)
    yield from named_secrets(text, lowered)
    yield from commanded_secrets(text, lowered)
    for view in unwrapped(text):
        yield from _seen_in(view, _tokens(view.text, view.text))
    if depth < DEEPEST:
        for view in (*unquoted(text), *([seen(text)] if may_be_unseen(text) else ())):
            yield from _seen_in(view, secrets(view.text, depth + 1))
        for start, end, decoded in base64_texts(text) if may_be_base64(runs) else ():
            for found in secrets(decoded, depth + 1):
                yield Found(start, end, found.kind, found.rank)


DEEPEST = 2
"""How often a text may be encoded: a URL in a URL, a URL in base64."""


def _runs(text: str) -> str:
    """The runs of token characters in a text that may have a token in them, a line each."""
    runs = _RUN.findall(text)
    if "\\" in text:
        runs += _RUN_BEHIND_ESCAPE.findall(text)
    if "\x1b" in text:
        runs += _RUN_BEHIND_COLOUR.findall(text)
    return "\n".join(filter(_TELLING.search, runs))


def _tokens(text: str, runs: str) -> Iterator[Found]:
    """Secrets by their shape."""
    starts = set(_START.findall(runs))
    if "%" in runs:
        starts.update(_START_BEHIND_ESCAPE.findall(runs))
    detectors = [one for start in starts & _BY_START.keys() for one in _BY_START[start]]
    for detector in (*detectors, *_WITHIN):
        if detector.anchor in runs:
            yield from detector.find(text)


_TELLING = re.compile(r"\d|[a-z][A-Z]|[A-Z]{6}")
"""Has every token; most long runs, paths and rulers and names with underscores, have it not."""
_START = re.compile(r"(?<![A-Za-z0-9])(?=([A-Za-z0-9][^\n]{2}))")
_START_BEHIND_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}(?=([A-Za-z0-9][^\n]{2}))")
_LENGTH_OF_START = 3
_BY_START: dict[str, list[Detector]] = {}
_WITHIN: list[Detector] = []
"""Detectors whose anchor does not stand where a run or a word begins."""
for _detector in TOKENS:
    if _detector.anchor[:1].isalnum() and len(_detector.anchor) >= _LENGTH_OF_START and not _detector.reach:
        _BY_START.setdefault(_detector.anchor[:_LENGTH_OF_START], []).append(_detector)
    else:
        _WITHIN.append(_detector)


def _seen_in(view: View, found: Iterable[Found]) -> Iterator[Found]:
    for one in found:
        yield Found(*view.span(one.start, one.end), one.kind, one.rank)


_MARK = re.compile(r"\[redacted:[a-z0-9\-]+\]")


def _outside_marks(text: str, found: Iterable[Found]) -> Iterator[Found]:
    """Without what touches the mark of a secret that is gone, so that redacting comes to an end."""
    marks = [mark.span() for mark in _MARK.finditer(text)]
    for one in found:
        nearest = bisect_left(marks, (one.end, 0)) - 1  # the last mark that begins before the end
        if nearest < 0 or marks[nearest][1] <= one.start:
            yield one


def _apart(found: Iterable[Found]) -> Iterator[Found]:
    """By place, overlapping ones joined under the kind that says most: a shape that providers publish before a name."""
    joined: Found | None = None
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if joined is None:
            joined = one
        elif one.start < joined.end:
            kind = min(joined, one, key=lambda each: each.rank).kind
            joined = Found(joined.start, max(joined.end, one.end), kind, min(joined.rank, one.rank))
        else:
            yield joined
            joined = one
    if joined is not None:
        yield joined
