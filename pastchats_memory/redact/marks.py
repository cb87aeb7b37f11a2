"""Put marks such as `[redacted:password]` in the places of a text's secrets."""

import re
import string
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from pastchats_memory.redact.decoding import unescape_lines
from pastchats_memory.redact.engine import MARK, find_secrets, find_tokens
from pastchats_memory.redact.heuristics import is_mixed_secret
from pastchats_memory.redact.known_secrets import known_secrets
from pastchats_memory.redact.rules import TOKEN_MARK, Secret

MOST_ROUNDS = 8
"""How often a text is searched anew, since a secret may show only when its neighbour is gone.

Real texts need two rounds. A text of secrets that hide one another could need one for each of them.
"""
MOST_READ = 3
"""How often, in lengths of the text, its lines are searched anew once they have more than `LONG_LINES` characters."""
LONG_LINES = 50_000
LEAST_COPIED = 8
"""Characters of a secret whose copies in the same text are found; a shorter one may be another word."""
MOST_COPIED = 64
"""Secrets of a text whose copies are looked for."""
COPY_RANK = 3
LONGEST_PIECE = 300
"""Characters of a split secret that are read on either side of the split."""
_OF_SECRETS = string.ascii_letters + string.digits + "_-./+=~"
"""Characters that both pieces of a split secret consist of."""
_MARK = re.compile(MARK)
_LETTERS = re.compile(r"[^\W_]{4}")


class Redaction(NamedTuple):
    """A text without its secrets."""

    text: str
    kinds: Counter[str]
    """How many secrets of each kind were replaced."""


def mark_secrets(text: str) -> Redaction:
    """Replace every secret in a text, also one that shows only when its neighbour is gone."""
    kinds: Counter[str] = Counter()
    every = [*find_secrets(text)]
    values = _list_values(text, every)
    every += _find_copies(text, values)
    if (known := known_secrets()) is not None:
        known.learn(values)
        every += [secret for _, secret in known.find(text)]
    secrets = _merge_overlaps(_outside_marks(text, every)) if every else []
    most, read = MOST_READ * len(text), 0
    for _ in range(MOST_ROUNDS):
        if not secrets:
            break
        pieces: list[str] = []
        marks: list[tuple[int, int]] = []
        length = end = 0
        for secret in secrets:
            mark = _mark_of(secret)
            pieces += (text[end : secret.start], mark)
            length += secret.start - end
            marks.append((length, length + len(mark)))
            length += len(mark)
            end = secret.end
            kinds[secret.kind] += 1
        text = "".join((*pieces, text[end:]))
        lines = list(_lines_around(text, marks))
        read += sum(end - start for start, end in lines)
        if read > max(most, LONG_LINES):
            break
        near = [
            Secret(secret.start + start, secret.end + start, secret.kind, secret.rank)
            for start, end in lines
            for secret in find_secrets(text[start:end])
        ]
        secrets = _merge_overlaps(_outside_marks(text, near)) if near else []
    return Redaction(text, kinds)


def _list_values(text: str, secrets: Iterable[Secret]) -> dict[str, str]:
    """Return the kinds of a text's secrets by their values, unless these are short or plain words."""
    kinds = {text[secret.start : secret.end]: secret.kind for secret in secrets}
    kinds |= {view.text: kind for value, kind in kinds.items() for view in unescape_lines(value)}
    return {
        value: kind
        for value, kind in kinds.items()
        if len(value) >= LEAST_COPIED and is_mixed_secret(value, "password")
    }


def _find_copies(text: str, values: Mapping[str, str]) -> list[Secret]:
    """Return where the values of a text's secrets stand, there and elsewhere, also with escapes."""
    if not values:
        return []
    views = [view for view in unescape_lines(text) if any(value in view.text for value in values)]
    return [
        *_find_values(text, values),
        *(view.place_in_original(copy) for view in views for copy in _find_values(view.text, values)),
    ]


def _find_values(text: str, values: Mapping[str, str]) -> Iterator[Secret]:
    for value, kind in islice(values.items(), MOST_COPIED):
        for found in re.finditer(re.escape(value), text):
            yield Secret(found.start(), found.end(), kind, COPY_RANK)


def mark_tokens(text: str) -> str:
    """Replace the secrets that are known by their shape alone."""
    known = known_secrets()
    secrets = [*find_tokens(text), *(secret for _, secret in (known.find(text) if known is not None else ()))]
    pieces, end = [], 0
    for secret in _merge_overlaps(secrets):
        pieces += [text[end : secret.start], _mark_of(secret)]
        end = secret.end
    return "".join((*pieces, text[end:]))


def mark_split(before: str, after: str) -> tuple[str, str] | None:
    """Replace a secret that begins in one text and ends in the next; None if there is none."""
    end, start = before[-LONGEST_PIECE:], after[:LONGEST_PIECE]
    tail = end[len(end.rstrip(_OF_SECRETS)) :]
    head = start[: len(start) - len(start.lstrip(_OF_SECRETS))]
    if not head or not tail:
        return None
    split = len(tail)
    secret = next((one for one in _merge_overlaps(find_secrets(tail + head)) if one.start < split < one.end), None)
    if secret is None:
        return None
    if not TOKEN_MARK.search(head) and any(one.end == split for one in find_secrets(tail)):
        return None  # the secret ends with the first text, and the next one begins with a word
    mark = _mark_of(secret)
    return before[: len(before) - split + secret.start] + mark, mark + after[secret.end - split :]


def _mark_of(secret: Secret) -> str:
    return f"[redacted:{secret.kind}]"


def _lines_around(text: str, marks: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Return where the lines with marks begin and end, touching lines as one."""
    joined: tuple[int, int] | None = None
    for start, end in marks:
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        if not _LETTERS.search(text, end, last):
            continue  # the text before a secret was searched together with it
        if joined is not None and first <= joined[1]:
            joined = joined[0], last
            continue
        if joined is not None:
            yield joined
        joined = first, last
    if joined is not None:
        yield joined


def _outside_marks(text: str, secrets: list[Secret]) -> list[Secret]:
    """Leave out what overlaps the mark of a replaced secret, so that redacting comes to an end."""
    if not secrets or "[redacted:" not in text:
        return secrets
    marks = [mark.span() for mark in _MARK.finditer(text)]
    outside = []
    for secret in secrets:
        nearest = bisect_left(marks, (secret.end, 0)) - 1  # the last mark that begins before the secret's end
        if nearest < 0 or marks[nearest][1] <= secret.start:
            outside.append(secret)
    return outside


def _merge_overlaps(secrets: Iterable[Secret]) -> list[Secret]:
    """Sort secrets by place and merge those that overlap, under the kind of the lowest rank."""
    merged: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            kind = last.kind if last.rank <= secret.rank else secret.kind
            merged[-1] = Secret(last.start, max(last.end, secret.end), kind, min(last.rank, secret.rank))
        else:
            merged.append(secret)
    return merged
