"""Find tokens without a known keyword: long runs of letters and digits behind a prefix, or in pairs."""

import re
from collections.abc import Iterable, Iterator

from pastchats_memory.redact.heuristics import is_random_secret, is_unnamed_key
from pastchats_memory.redact.rule_files import read_patterns
from pastchats_memory.redact.rules import Secret

LEAST_RUN = 32
LEAST_BREAKS = 2
"""How often digits break up a run; a name in a program only ends in a number."""
LONGEST_PAIRED = 34
"""Letters and digits in a row with which a paired token begins."""
_IS_ALNUM = bytes(chr(code).isascii() and chr(code).isalnum() for code in range(256))
_SHORTEST = b"\1" * LEAST_RUN
_PATTERNS = read_patterns("places.toml")
_PREFIX = _PATTERNS["token_prefix"]
_SECRET_PREFIX = _PATTERNS["secret_prefix"]
_BREAK = re.compile(r"\d[A-Za-z]")
_SEPARATORS = ("_", "-")
_REST = _PATTERNS["rest_of_token"]
_SERVICE = _PATTERNS["service_id"]
_PAIRED = ("infisical-token", "zai-key", "mailgun-key", "twilio-token")
"""The kinds of tokens in pairs, and the names of their patterns."""
_WHOLE = ("ngrok-key", "okta-token", "azure-storage-key")


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


def find_whole_runs(text: str, starts: Iterable[int]) -> Iterator[Secret]:
    """Find tokens that are all of a run, which begins at one of `starts`."""
    for start in starts:
        for kind in _WHOLE:
            found = _PATTERNS[kind].match(text, start)
            if found is not None and is_unnamed_key(found[0]):
                yield Secret(start, found.end(), kind, 1)


def _is_token(prefix: str, run: str) -> bool:
    is_random = is_random_secret(run) if _SECRET_PREFIX.search(prefix) else is_unnamed_key(run)
    return len(_BREAK.findall(run)) >= LEAST_BREAKS and is_random


def _find_pair(text: str, start: int) -> Iterator[Secret]:
    for kind in _PAIRED:
        found = _PATTERNS[kind].match(text, start)
        if found is not None:
            first, end = found.span(found.lastgroup or 0)
            service = _SERVICE.search(text, max(0, first - LEAST_RUN * 2), first)
            yield Secret(service.start() if service else first, end, kind, 1)
