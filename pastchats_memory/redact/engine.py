"""Find every secret of a text: which keywords occur, and what the rules find at their places.

One pass over the text finds the places of all keywords. A rule is tried only where one of its keywords stands.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

from ahocorasick_rs import BytesAhoCorasick, Implementation

from pastchats_memory.redact import decoding
from pastchats_memory.redact.columns import COLUMNS
from pastchats_memory.redact.commands import GRAMMARS, MANIFESTS
from pastchats_memory.redact.random_runs import find_in_long_runs, find_whole_runs
from pastchats_memory.redact.rules import Finder, Rule, ScannedText, Secret, load_rules
from pastchats_memory.redact.secret_names import FOREIGN_NAMES, NAMES, NAMING_PHRASES
from pastchats_memory.redact.settings import SETTINGS
from pastchats_memory.redact.sibling_fields import FIELDS
from pastchats_memory.redact.sql_inserts import INSERTS

DEEPEST = 2
"""How often a text may be encoded: a URL in a URL, a URL in base64."""
MARK = r"\[redacted:[a-z0-9\-]+\]"
"""Matches what stands in the place of a secret."""
_MARK_LETTERS = re.compile(MARK.encode())
T = TypeVar("T")


class KeywordIndex(Generic[T]):
    """Values by ASCII keyword in lower case, found in one pass by the automaton of Aho and Corasick (1975)."""

    def __init__(self, entries: Sequence[tuple[str, T]], implementation: Implementation = Implementation.DFA) -> None:
        by_keyword: dict[str, list[tuple[int, T]]] = {}
        for number, (keyword, value) in enumerate(entries):
            by_keyword.setdefault(keyword, []).append((number, value))
        self._entries = tuple(by_keyword.values())
        self._automaton = BytesAhoCorasick([keyword.encode() for keyword in by_keyword], implementation=implementation)

    def find_places(self, letters: bytes) -> list[tuple[int, T, list[int]]]:
        """Return the entries whose keyword occurs, in their order: number, value, places.

        `letters` is a text in lower case with one byte for each character.
        """
        places: defaultdict[int, list[int]] = defaultdict(list)
        for keyword, at, _ in self._automaton.find_matches_as_indexes(letters, overlapping=True):
            places[keyword].append(at)
        found = [(number, value, at) for keyword, at in places.items() for number, value in self._entries[keyword]]
        found.sort()  # by the numbers, which are distinct
        return found


_RULES: tuple[tuple[Rule, str, Finder], ...] = tuple(
    (rule, keyword.lower(), partial(rule.find, keyword)) for rule in load_rules() for keyword in rule.keywords
)
_EVERYTHING = KeywordIndex[Finder](
    [
        *((keyword, find) for _, keyword, find in _RULES),
        *((name.part, name.find) for name in NAMES),
        *((grammar.keyword, grammar.find) for grammar in GRAMMARS),
        *((manifest.keyword, manifest.find) for manifest in MANIFESTS),
        *((keyword, insert.find) for keyword, insert in INSERTS),
        *((field.keyword, field.find) for field in FIELDS),
        *((setting.part, setting.find) for setting in SETTINGS),
        *((keyword, columns.find) for keyword, columns in COLUMNS),
        *((phrase.part, phrase.find) for phrase in NAMING_PHRASES),
    ]
)
_TOKENS = KeywordIndex[Finder](
    [(keyword, find) for rule, keyword, find in _RULES if rule.is_token],
    Implementation.ContiguousNFA,  # it scans short texts only, and is built in a quarter of the time
)


def find_secrets(text: str, depth: int = 0) -> list[Secret]:
    """Return every secret of a text, in no order; several may overlap.

    The text is searched as it stands, and as its URLs, base64 and narrow columns decode: up to `DEEPEST` times one
    within the other.
    """
    if not text.isascii():
        text = decoding.replace_typography(text)
    letters = text.encode("latin-1", "replace")
    secrets = _find_at_keywords(text, letters)
    runs = decoding.find_long_runs(letters)
    if runs:
        secrets += find_in_long_runs(text, letters, runs[0])
        secrets += find_whole_runs(text, runs)
    if "\n" in text:
        for view in decoding.join_wrapped_tokens(text):
            secrets += map(view.place_in_original, find_tokens(view.text))
    if depth < DEEPEST:
        secrets += _find_encoded(text, runs, depth + 1)
    return secrets


def find_tokens(text: str) -> Iterator[Secret]:
    """Find the secrets of a text that are known by their shape alone, in no order."""
    scanned = ScannedText(text, text.lower(), {})
    for _, find, places in _TOKENS.find_places(text.encode("latin-1", "replace").lower()):
        yield from find(scanned, places)


def _find_at_keywords(text: str, letters: bytes) -> list[Secret]:
    secrets: list[Secret] = []
    places = _EVERYTHING.find_places(_blank_marks(letters.lower()))
    if places or not text.isascii():
        scanned = ScannedText(text, _lower_in_place(text), {})
        for _, find, at in places:
            secrets += find(scanned, at)
        if not text.isascii():
            for name in FOREIGN_NAMES:
                if name.part in scanned.lowered:
                    secrets += name.find(scanned, (found.start() for found in re.finditer(name.part, scanned.lowered)))
    return secrets


def _blank_marks(letters: bytes) -> bytes:
    """Replace the marks of secrets by blanks: the kind in a mark names nothing that follows it."""
    return _MARK_LETTERS.sub(lambda mark: b" " * len(mark[0]), letters) if b"[redacted:" in letters else letters


def _lower_in_place(text: str) -> str:
    """Return a text in lower case, with every character at its place."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two in lower case
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    return lowered


def _find_encoded(text: str, runs: list[int], depth: int) -> Iterator[Secret]:
    """Find secrets in the URLs, HTML, JSON and terminal output of a text, and in its runs of base64."""
    for view in decoding.unescape_lines(text):
        yield from map(view.place_in_original, find_secrets(view.text, depth))
    if decoding.has_invisible(text):
        view = decoding.drop_invisible(text)
        yield from map(view.place_in_original, find_secrets(view.text, depth))
    for start, end, decoded in decoding.decode_base64(text, runs):
        for secret in find_secrets(decoded, depth):
            yield Secret(start, end, secret.kind, secret.rank)
