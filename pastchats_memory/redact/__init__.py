"""Secrets out of a text, before it reaches the disk: each is replaced by `[redacted:kind]`, so that the sentence still reads.

A detector is a literal that must occur (`anchor`) and a pattern that is tried only where it does. The many literals of
tokens are looked for in the long unbroken runs of a text, which are a small part of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pastchats_memory.redact.detector import Found
from pastchats_memory.redact.named import named_secrets
from pastchats_memory.redact.shapes import STRUCTURES, TOKENS

_RUN = re.compile(r"[A-Za-z0-9_\-./+=~:%$]{15,}")
"""As long as the shortest text that a pattern of `shapes.TOKENS` takes; of tokens in use it is Alibaba's with sixteen."""


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
    while found := list(_apart(secrets(text))):
        pieces: list[str] = []
        end = 0
        for one in found:
            pieces += (text[end : one.start], f"[redacted:{one.kind}]")
            end = one.end
        kinds.update(one.kind for one in found)
        text = "".join((*pieces, text[end:]))
    return Redacted(text, kinds)


def redacted_value(value: Any) -> Any:
    """A JSON value with every text in it redacted; what a key like `api_key` holds is judged by that key."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {key: _of_key(str(key), redacted_value(inner)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted_value(inner) for inner in value]
    return value


def _of_key(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    label = f'"{key}": "'
    whole = redact(f'{label}{value}"').text
    return whole[len(label) : -1] if whole.startswith(label) else value


def secrets(text: str) -> Iterator[Found]:
    """Every secret that a detector sees, in no order; several may see the same one."""
    runs = "\n".join(_RUN.findall(text))
    for detector in TOKENS:
        if detector.anchor in runs:
            yield from detector.find(text)
    for detector in STRUCTURES:
        yield from detector.find(text)
    yield from named_secrets(text)


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
