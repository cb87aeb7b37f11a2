"""Tokens that no literal gives away: long runs of letters and digits behind a short prefix, or in a known pair."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.redact.believed import of_any_key
from pastchats_memory.redact.detector import Found

LEAST_RUN = 32
_IS_ALNUM = bytes(chr(one).isascii() and chr(one).isalnum() for one in range(256))
_SHORTEST = b"\1" * LEAST_RUN
_PREFIX = re.compile(
    r"(?:(?<![A-Za-z0-9_\-\\])|(?<=\\[nrt]))(?!sha\d|pk_|pub)[a-z][a-z0-9]{0,9}(?:[_\-][a-z0-9]{1,9}){0,2}[_\-]\Z"
)
"""As providers name their tokens; of those that begin with `pk_` and `pub` nobody makes a secret."""
_BROKEN = re.compile(r"\d[A-Za-z]")
_JOINS = ("_", "-")
"""What such a prefix ends in."""
LEAST_BROKEN = 2
"""How often digits break a run off; a name in a program ends in its number."""
_REST = re.compile(r"[A-Za-z0-9_\-]*+(?![+/=])")
"""Of a token and, unlike that of a digest, no base64."""
LONGEST_PAIRED = 34
"""Letters and digits on end with which one of them begins."""
_PAIRED = (
    ("infisical-token", re.compile(r"(?<=\.)[0-9a-f]{32}\.[0-9a-f]{32}(?![A-Za-z0-9.])")),
    ("zai-key", re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{32}\.(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16}(?![A-Za-z0-9.])")),
    ("mailgun-key", re.compile(r"(?<![A-Za-z0-9\-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9\-])")),
    (
        "twilio-token",
        re.compile(r"AC[0-9a-f]{32}(?![A-Za-z0-9])[^\n]{1,40}?(?<![A-Za-z0-9])(?P<secret>[0-9a-f]{32})(?![A-Za-z0-9])"),
    ),
)


def in_long_runs(text: str, letters: bytes, first: int) -> Iterator[Found]:
    """Secrets that end in, or begin with, `LEAST_RUN` letters and digits on end, none of which are before a place; `letters` are the
    text with a byte for each character.
    """
    marked = letters.translate(_IS_ALNUM)
    start = marked.find(_SHORTEST, first)
    while start >= 0:
        end = marked.find(0, start)
        end = len(text) if end < 0 else end
        start += text.startswith("\\", start - 1)  # the letter of an escape
        prefix = _PREFIX.search(text, max(0, start - LEAST_RUN), start) if text[start - 1 : start] in _JOINS else None
        if prefix is not None:
            rest, run = _REST.match(text, end), text[start:end]
            if rest is not None and len(_BROKEN.findall(run)) >= LEAST_BROKEN and of_any_key(run, "token"):
                yield Found(prefix.start(), rest.end(), "token", 1)
        elif end - start <= LONGEST_PAIRED:
            yield from _pair(text, start)
        start = marked.find(_SHORTEST, end)


def _pair(text: str, start: int) -> Iterator[Found]:
    for kind, pair in _PAIRED:
        found = pair.match(text, start)
        if found is not None:
            yield Found(*found.span(found.lastgroup or 0), kind, 1)
