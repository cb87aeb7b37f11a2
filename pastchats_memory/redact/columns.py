"""Secrets below their name, in a column of a table or of values with commas between them; and before it, as in `use … as the key`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pastchats_memory.redact import believed
from pastchats_memory.redact.detector import Found, Looked
from pastchats_memory.redact.named import KEYS
from pastchats_memory.redact.ways import RANK

LONGEST_HEAD = 1000
_PASSWORD = r"(?:password|passwd|passphrase|passcode|pwd|pass)"  # noqa: S105 - a pattern # nosec B105
_OTHER = rf"(?:secret|token|(?:{KEYS})[_\-. ]?key(?:_base)?)"
_IS_NAME = re.compile(rf"[\w .\-]{{0,40}}?(?:(?P<password>{_PASSWORD})|{_OTHER})s?\Z")
_RULE = re.compile(r"[ \t|+:\-]++\Z")
"""Below the names; there is one in it, since a part of it was found."""
_NAMES = re.compile(r"[\w\"][\w .\-\"]*(?:,[\w\"][\w .\-\"]*)+\Z")
_AROUND = " \t\"'`*\r"


@dataclass(frozen=True, slots=True)
class Columns:
    """The rows below a line of names."""

    between: str
    """Stands between two cells."""

    def find(self, looked: Looked, places: Iterable[int]) -> list[Found]:
        """Such secrets, from left to right; a place is one in the line of names, or in the rule below it."""
        text, done = looked.text, 0
        found: list[Found] = []
        for at in places:
            if at < done:
                continue
            start = text.rfind("\n", 0, at) + 1
            done = text.find("\n", at)
            names = self._names(text, start, done) if 0 < done - start <= LONGEST_HEAD else ""
            if names:
                done = self._below(text, names, done + 1, found)
            elif done < 0:
                break
        return found

    def _names(self, text: str, start: int, end: int) -> str:
        """The names, if a line is one of names or a rule below them."""
        line = text[start:end]
        if self.between == ",":
            return line if _NAMES.match(line) else ""
        before = text.rfind("\n", 0, max(0, start - 1)) + 1
        return text[before : start - 1] if _RULE.match(line) and 0 < start - before <= LONGEST_HEAD else ""

    def _below(self, text: str, names: str, start: int, found: list[Found]) -> int:
        """Adds what looks like a secret in the columns that are called one, and says where a line has other columns."""
        heads = [_IS_NAME.match(name.strip(_AROUND).lower()) for name in names.split(self.between)]
        kinds = {at: "password" if head["password"] else "secret" for at, head in enumerate(heads) if head}
        while kinds and start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            cells = text[start:end].split(self.between)
            if len(cells) != len(heads) and not _RULE.match(text, start, end):
                break
            for at, kind in kinds.items():
                value = cells[at].strip(_AROUND) if at < len(cells) else ""
                if value and _is_believed(value, kind):
                    begins = start + sum(map(len, cells[:at])) + at + cells[at].index(value)
                    found.append(Found(begins, begins + len(value), kind, RANK))
            start = end + 1
        return start


def _is_believed(value: str, kind: str) -> bool:
    believes = believed.said if kind == "password" else believed.in_a_cell
    return value.isascii() and "[redacted:" not in value and believes(value, kind)


@dataclass(frozen=True, slots=True)
class Called:
    """What is said to be a secret behind it: `… as the API key`, `… is my password`."""

    words: str
    """Stand between the value and its name."""

    def find(self, looked: Looked, places: Iterable[int]) -> Iterator[Found]:
        """Such secrets, from left to right."""
        for at in places:
            name = _NAMED.match(looked.lowered, at + len(self.words))
            value = _BEFORE.search(looked.text, max(0, at - LONGEST), at) if name else None
            if name is None or value is None:
                continue
            kind = "password" if name["password"] else "secret"
            believes = believed.mixed if name["password"] else believed.in_a_cell
            if "[redacted:" not in value["secret"] and believes(value["secret"], kind):
                yield Found(*value.span("secret"), kind, RANK)


LONGEST = 300
_NAMED = re.compile(
    rf"(?:(?!(?:of|for|to|in|on|at|by|that|which|where|when|from|with) )[\w.\-]{{1,20}} ){{0,3}}?(?:(?P<password>{_PASSWORD})|{_OTHER})(?=[.,;:!?)\n]|\Z| (?:for|of|in|on|and|from|when|to)\b)"
)
_BEFORE = re.compile(r"(?:^|(?<=[\s\"'`(:]))(?P<secret>[^\s\"'`<>()]{8,256})[\"'`)]{0,2}\Z", re.MULTILINE)

COLUMNS: tuple[tuple[str, Columns], ...] = (
    *((rule, Columns("|")) for rule in ("|--", "|:-", "| --", "| :-", "-+-", "-|-")),
    *((f"{name},", Columns(",")) for name in ("password", "secret", "token", "key")),
    *((f"{name}\n", Columns(",")) for name in ("password", "secret", "token", "key")),
)
CALLED = tuple(Called(f" {verb} {whose} ") for verb in ("as", "is") for whose in ("the", "my", "our", "your", "its"))
