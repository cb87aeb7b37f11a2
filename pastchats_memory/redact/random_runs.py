"""Find tokens without a known keyword: long runs of letters and digits behind a prefix, or in pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.redact.heuristics import is_random_secret, is_unnamed_key
from pastchats_memory.redact.rules import Secret

LEAST_RUN = 32
LEAST_BREAKS = 2
"""How often digits break up a run; a name in a program only ends in a number."""
LONGEST_PAIRED = 34
"""Letters and digits in a row with which a paired token begins."""
_IS_ALNUM = bytes(chr(code).isascii() and chr(code).isalnum() for code in range(256))
_SHORTEST = b"\1" * LEAST_RUN
_PREFIX = re.compile(
    r"""
    (?: (?<![A-Za-z0-9_\-\\]) | (?<=\\[nrt]) )
    (?! sha\d | pk_ | pub )
    [a-z][a-z0-9]{0,9} (?:[_\-][a-z0-9]{1,9}){0,2} [_\-]\Z
    """,
    re.VERBOSE,
)
"""Matches a prefix as providers name their tokens; those that begin with `pk_` and `pub` are public."""
_SECRET_PREFIX = re.compile(r"(?:\A|[_\-])(?:sk|api|apikey|live|prod|pat|secret|token)[_\-]")
"""Matches a prefix that names a secret: the run behind it may be hexadecimal, as that of an id is."""
_BREAK = re.compile(r"\d[A-Za-z]")
_SEPARATORS = ("_", "-")
_REST = re.compile(r"[A-Za-z0-9_\-]*+(?![+=]|/[A-Za-z0-9+/]{24})")
"""Matches the rest of a token; a digest goes on with base64 characters."""
_SERVICE = re.compile(r"(?<![A-Za-z0-9])st\.[0-9a-f\-]{24,36}\.\Z")
"""Matches the id of a service before its token."""
_PAIRED = (
    ("infisical-token", re.compile(r"(?<=\.)[0-9a-f]{32}\.[0-9a-f]{32}(?![A-Za-z0-9.])")),
    ("zai-key", re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{32}\.(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16}(?![A-Za-z0-9.])")),
    ("mailgun-key", re.compile(r"(?<![A-Za-z0-9\-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9\-])")),
    (
        "twilio-token",
        re.compile(
            r"""
            AC[0-9a-f]{32} (?![A-Za-z0-9])
            [^\n]{1,40}?
            (?<![A-Za-z0-9]) (?P<secret> [0-9a-f]{32} ) (?![A-Za-z0-9])
            """,
            re.VERBOSE,
        ),
    ),
)


def find_in_long_runs(text: str, letters: bytes, first: int) -> Iterator[Secret]:
    """Find secrets with a run of at least `LEAST_RUN` letters and digits.

    `letters` has one byte for each character of the text. No such run begins before `first`.
    """
    marked = letters.translate(_IS_ALNUM)
    start = marked.find(_SHORTEST, first)
    while start >= 0:
        end = marked.find(0, start)
        end = len(text) if end < 0 else end
        start += text.startswith("\\", start - 1)  # the letter of an escape
        has_separator = text[start - 1 : start] in _SEPARATORS
        prefix = _PREFIX.search(text, max(0, start - LEAST_RUN), start) if has_separator else None
        if prefix is not None:
            rest, run = _REST.match(text, end), text[start:end]
            if rest is not None and _is_token(prefix[0], run):
                yield Secret(prefix.start(), rest.end(), "token", 1)
        elif end - start <= LONGEST_PAIRED:
            yield from _find_pair(text, start)
        start = marked.find(_SHORTEST, end)


def _is_token(prefix: str, run: str) -> bool:
    is_random = is_random_secret(run) if _SECRET_PREFIX.search(prefix) else is_unnamed_key(run)
    return len(_BREAK.findall(run)) >= LEAST_BREAKS and is_random


def _find_pair(text: str, start: int) -> Iterator[Secret]:
    for kind, pattern in _PAIRED:
        found = pattern.match(text, start)
        if found is not None:
            first, end = found.span(found.lastgroup or 0)
            service = _SERVICE.search(text, max(0, first - LEAST_RUN * 2), first)
            yield Secret(service.start() if service else first, end, kind, 1)
