"""Secrets out of a text, before it reaches the disk: each is replaced by `[redacted:kind]`, so that the sentence still reads.

A rule is a literal that must occur and a pattern that is tried only where it does. Which of the literals may be in a text is
known by one pass for all of them (`literals`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pastchats_memory.redact.columns import CALLED, COLUMNS
from pastchats_memory.redact.commands import GRAMMARS, OF_SECRETS, manifest_secrets
from pastchats_memory.redact.detector import TELLING, Found, Looked, Rule
from pastchats_memory.redact.literals import Literals
from pastchats_memory.redact.named import FOREIGN_NAMES, NAMES
from pastchats_memory.redact.runs import in_long_runs
from pastchats_memory.redact.settings import SETTINGS
from pastchats_memory.redact.shapes import TOKENS
from pastchats_memory.redact.structures import STRUCTURES
from pastchats_memory.redact.views import (
    View,
    base64_texts,
    long_runs,
    may_be_unseen,
    plain,
    seen,
    unquoted,
    unwrapped,
)

_SOUGHT = Literals[Rule](
    [
        *((one.anchor.lower(), one) for one in (*TOKENS, *STRUCTURES)),
        *((one.part, one) for one in NAMES),
        *((one.word, one) for one in GRAMMARS),
        *((one.part, one) for one in SETTINGS),
        *COLUMNS,
        *((one.words, one) for one in CALLED),
    ]
)
_TOKENS_SOUGHT = Literals([(one.anchor.lower(), one) for one in TOKENS])


class Redacted(NamedTuple):
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
    everywhere = secrets(text)
    found = _apart(_outside_marks(text, everywhere)) if everywhere else []
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
            kinds[one.kind] += 1
        text = "".join((*pieces, text[end:]))
        near = _near(text, marks)
        found = _apart(_outside_marks(text, near)) if near else []
    return Redacted(text, kinds)


_MORE = re.compile(r"[^\W_]{4}")


def _near(text: str, marks: list[tuple[int, int]]) -> list[Found]:
    """Every secret in the lines around some places, where another may show when one is gone."""
    return [
        Found(one.start + start, one.end + start, one.kind, one.rank)
        for start, end in _lines_around(text, marks)
        for one in secrets(text[start:end])
    ]


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
    if not TELLING.search(head[0]) and any(one.end == seam for one in secrets(tail[0])):
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
    for one in _apart(_tokens(path)):
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


def secrets(text: str, depth: int = 0) -> list[Found]:
    """Every secret that a rule sees, in no order; several may see the same one.

    Looked for in the text as it stands, and in what is written in it as URLs, base64 and narrow columns write texts,
    `DEEPEST` times one in the other.
    """
    if not text.isascii():
        text = plain(text)
    letters = text.encode("latin-1", "replace")
    found = _as_it_stands(text, letters)
    runs = long_runs(letters)
    if runs:
        found += in_long_runs(text, letters, runs[0])
    if "\n" in text:
        for view in unwrapped(text):
            found += _seen_in(view, _tokens(view.text))
    if depth < DEEPEST:
        found += _encoded(text, runs, depth + 1)
    return found


def _as_it_stands(text: str, letters: bytes) -> list[Found]:
    """Those behind a literal."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered, and places would no longer be the same
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    looked = Looked(text, lowered, {})
    found: list[Found] = []
    for _, rule, places in _SOUGHT.places(letters.lower()):
        found += rule.find(looked, places)
    if not text.isascii():
        for name in FOREIGN_NAMES:
            if name.part in lowered:
                found += name.find(looked, (one.start() for one in re.finditer(name.part, lowered)))
    if OF_SECRETS in text:
        found += manifest_secrets(text)
    return found


def _encoded(text: str, runs: list[int], depth: int) -> Iterator[Found]:
    """Those in what is written as URLs, HTML, terminals and, in the runs of its letters, base64 write texts."""
    if "%" in text or "&" in text:
        for view in unquoted(text):
            yield from _seen_in(view, secrets(view.text, depth))
    if may_be_unseen(text):
        view = seen(text)
        yield from _seen_in(view, secrets(view.text, depth))
    for start, end, decoded in base64_texts(text, runs):
        for one in secrets(decoded, depth):
            yield Found(start, end, one.kind, one.rank)


DEEPEST = 2
"""How often a text may be encoded: a URL in a URL, a URL in base64."""


def _tokens(text: str) -> Iterator[Found]:
    """Secrets by their shape alone."""
    looked = Looked(text, text.lower(), {})
    for _, token, places in _TOKENS_SOUGHT.places(text.encode("latin-1", "replace").lower()):
        yield from token.find(looked, places)


def _seen_in(view: View, found: Iterable[Found]) -> Iterator[Found]:
    for one in found:
        yield Found(*view.span(one.start, one.end), one.kind, one.rank)


_MARK = re.compile(r"\[redacted:[a-z0-9\-]+\]")


def _outside_marks(text: str, found: list[Found]) -> list[Found]:
    """Without what touches the mark of a secret that is gone, so that redacting comes to an end."""
    if not found or "[redacted:" not in text:
        return found
    marks = [mark.span() for mark in _MARK.finditer(text)]
    apart = []
    for one in found:
        nearest = bisect_left(marks, (one.end, 0)) - 1  # the last mark that begins before the end
        if nearest < 0 or marks[nearest][1] <= one.start:
            apart.append(one)
    return apart


def _apart(found: Iterable[Found]) -> list[Found]:
    """By place, overlapping ones joined under the kind that says most: a shape that providers publish before a name."""
    apart: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            kind = last.kind if last.rank <= one.rank else one.kind
            apart[-1] = Found(last.start, max(last.end, one.end), kind, min(last.rank, one.rank))
        else:
            apart.append(one)
    return apart
