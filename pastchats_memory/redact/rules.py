"""Rules for secrets with a known shape or frame, as `rules.toml` describes them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from pastchats_memory.redact.rule_files import read_rules

BOUNDARY = r"""(?:
    (?<![A-Za-z0-9])
  | (?<=\\[nrtbf])
  | (?<=%[0-9A-Fa-f]{2})
  | (?<=\\u[0-9A-Fa-f]{4})
  | (?<=\[[0-9]m)
  | (?<=[;\[][0-9]{2}m)
)"""
r"""Where a token may begin, as a verbose pattern: outside a word, or behind an escape that ends in a letter or a digit.

Escapes are those of JSON (`\n`, `\u003d`), of URLs (`%3D`) and the colours of a terminal.
"""
SPAN = 96
"""Characters from a keyword on within which a match that begins before it must end."""
MOST_READ = 100_000
"""Characters that a rule reads for one keyword, beyond which a place within `SPAN` of the one before is not tried.

It keeps a text linear that repeats a keyword without a secret.
"""
TOKEN_MARK = re.compile(r"\d|[a-z][A-Z]|[A-Z]{6}")
"""Occurs in every token, but in few of the paths and names that are written like one."""
_LEADING_BOUNDARY = re.compile(r"\A(\(\?x\)\s*)?\\b")


class Secret(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    rank: int = 0
    """How little the kind says: 0 for a provider's own format, 2 for a value behind a name."""


class ScannedText(NamedTuple):
    """A text with what the rules know of it so far."""

    text: str
    lowered: str
    """The same in lower case, with every character at its place."""
    known_ends: dict[int, int]
    """Where the secrets of rank 0 end, by where they begin."""

    def is_whole_secret(self, start: int) -> bool:
        """Return whether a secret of rank 0 begins here and a blank or the text's end follows it."""
        end = self.known_ends.get(start)
        return end is not None and self.text[end : end + 1] in " \r\n"


Finder = Callable[[ScannedText, Iterable[int]], Iterable[Secret]]
"""Returns the secrets at the places of a keyword in lower case, from left to right."""


@dataclass(frozen=True)
class Rule:
    """One entry of `rules.toml`, whose header explains the fields."""

    id: str
    kind: str
    keywords: tuple[str, ...]
    regex: str
    reach: int
    is_token: bool
    rank: int

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compile the regex when a keyword is first met: a run meets few of the rules."""
        return re.compile(_LEADING_BOUNDARY.sub(lambda found: f"{found[1] or ''}(?x:{BOUNDARY})", self.regex, count=1))

    def find(self, keyword: str, scanned: ScannedText, places: Iterable[int]) -> list[Secret]:
        """Return the secrets at the places of a keyword, from left to right."""
        text, reach, end, next_place, read = scanned.text, self.reach, 0, 0, 0
        secrets: list[Secret] = []
        for at in places:
            if at < max(end, next_place) or not text.startswith(keyword, at):
                continue
            found = (
                self.pattern.search(text, max(end, at - reach), at + SPAN) if reach else self.pattern.match(text, at)
            )
            read += reach + SPAN if reach else found.end() - at if found else 0
            next_place = at + SPAN if read > MOST_READ else 0
            if found is None or not found.start() <= at < found.end():
                continue
            if self.is_token and not TOKEN_MARK.search(
                text, found.start() if reach else at + len(keyword), found.end()
            ):
                continue
            secret_start, secret_end = found.span("secret" if "secret" in self.pattern.groupindex else 0)
            if not self.rank:
                scanned.known_ends[secret_start] = max(secret_end, scanned.known_ends.get(secret_start, 0))
            secrets.append(Secret(secret_start, secret_end, self.kind, self.rank))
            end = found.end()
        return secrets


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return the rules of `rules.toml` in the order of the file."""
    return tuple(
        Rule(
            id=entry["id"],
            kind=entry.get("kind", entry["id"]),
            keywords=tuple(entry["keywords"]),
            regex=entry["regex"],
            reach=entry.get("reach", 0),
            is_token=entry.get("token", True),
            rank=entry.get("rank", 0),
        )
        for entry in read_rules("rules.toml")["rules"]
    )
