"""Secrets below their name, in a column of a table or of comma-separated values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from pastchats_memory.redact.assignments import RANK
from pastchats_memory.redact.heuristics import is_random_secret, is_secret_in_prose
from pastchats_memory.redact.rules import ScannedText, Secret
from pastchats_memory.redact.secret_names import PASSWORD_WORDS, SECRET_WORDS

LONGEST_HEAD = 1000
"""Characters of a line of names."""
_IS_SECRET_NAME = re.compile(rf"[\w .\-]{{0,40}}?(?:(?P<password>{PASSWORD_WORDS})|{SECRET_WORDS})s?\Z")
_RULE_LINE = re.compile(r"[ \t|+:\-]++\Z")
_NAMES = re.compile(r"[\w\"][\w .\-\"]*(?:,[\w\"][\w .\-\"]*)+\Z")
_AROUND_CELL = " \t\"'`*\r"


def name_kind(name: str) -> str:
    """Return the kind of secret that a column of this name holds, or nothing."""
    found = _IS_SECRET_NAME.match(name.lower())
    return "" if found is None or name.endswith(" to pass") else "password" if found["password"] else "secret"


class Columns(NamedTuple):
    """The rows below a line of names."""

    separator: str
    """Stands between two cells."""

    def find(self, scanned: ScannedText, places: Iterable[int]) -> list[Secret]:
        """Return the secrets of columns with a secret's name, from left to right.

        A place lies in the line of names of comma-separated values, or in the rule below the names of a table.
        """
        text, done = scanned.text, 0
        secrets: list[Secret] = []
        for at in places:
            if at < done:
                continue
            start = text.rfind("\n", 0, at) + 1
            done = text.find("\n", at)
            names = self._read_names(text, start, done) if 0 < done - start <= LONGEST_HEAD else ""
            if names:
                done = self._read_rows(text, names, done + 1, secrets)
            elif done < 0:
                break
        return secrets

    def _read_names(self, text: str, start: int, end: int) -> str:
        """Return the line of names that belongs to a line, or nothing."""
        line = text[start:end]
        if self.separator == ",":
            return line if _NAMES.match(line) else ""
        before = text.rfind("\n", 0, max(0, start - 1)) + 1
        return text[before : start - 1] if _RULE_LINE.match(line) and 0 < start - before <= LONGEST_HEAD else ""

    def _read_rows(self, text: str, names: str, start: int, secrets: list[Secret]) -> int:
        """Add the secrets of the rows from `start` on, and return where the rows end."""
        heads = [name_kind(name.strip(_AROUND_CELL)) for name in names.split(self.separator)]
        kinds = {number: kind for number, kind in enumerate(heads) if kind}
        while kinds and start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            cells = text[start:end].split(self.separator)
            if len(cells) != len(heads) and not _RULE_LINE.match(text, start, end):
                break
            for number, kind in kinds.items():
                value = cells[number].strip(_AROUND_CELL) if number < len(cells) else ""
                if value and _is_secret(value, kind):
                    first = start + sum(map(len, cells[:number])) + number + cells[number].index(value)
                    secrets.append(Secret(first, first + len(value), kind, RANK))
            start = end + 1
        return start


def _is_secret(value: str, kind: str) -> bool:
    judge = is_secret_in_prose if kind == "password" else is_random_secret
    return value.isascii() and "[redacted:" not in value and judge(value, kind)


COLUMNS: tuple[tuple[str, Columns], ...] = (
    *((rule, Columns("|")) for rule in ("|--", "|:-", "| --", "| :-", "-+-", "-|-")),
    *((f"{name},", Columns(",")) for name in ("password", "secret", "token", "key")),
    *((f"{name}\n", Columns(",")) for name in ("password", "secret", "token", "key")),
)
"""Keywords that a line of names or the rule below it has, with the columns that they separate."""
