"""Secrets below their name, in a column of a table, of separated values or of aligned output."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pastchats_memory.redact.assignments import RANK
from pastchats_memory.redact.heuristics import is_random_secret, is_secret_in_prose
from pastchats_memory.redact.rules import ScannedText, Secret
from pastchats_memory.redact.secret_names import name_kind

LONGEST_HEAD = 1000
"""Characters of a line of names."""
_RULE_LINE = re.compile(r"[ \t|+:\-]++\Z")
_NAME = r"[A-Za-z_\"](?:[\w.\-\"]|[ ](?![ ]))*"
_BLANKS = "[ ]{2,16}"
_NAMES = {
    separator: re.compile(rf"{_NAME}(?:{separator}{_NAME})+\r?\Z")
    for separator in (",[ ]?", ";[ ]?", "\t[ ]?", _BLANKS)
}
"""Match a line of names, by the pattern of what separates two of them."""
_AROUND_CELL = " \t\"'`*\r"


class Columns(NamedTuple):
    """The rows below a line of names."""

    separator: str
    """A pattern of what stands between two cells."""
    is_ruled: bool = False
    """Whether a rule stands below the names."""

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
        before = text.rfind("\n", 0, max(0, start - 1)) + 1
        if not self.is_ruled:
            if not _NAMES[self.separator].match(line):
                return ""
            is_first = len(self._split_row(text, start, end)) != len(self._split_row(text, before, max(0, start - 1)))
            return line if is_first else ""
        return text[before : start - 1] if _RULE_LINE.match(line) and 0 < start - before <= LONGEST_HEAD else ""

    def _read_rows(self, text: str, names: str, start: int, secrets: list[Secret]) -> int:
        """Add the secrets of the rows from `start` on, and return where the rows end."""
        heads = [name_kind(name.strip(_AROUND_CELL)) for name in re.split(self.separator, names)]
        kinds = {number: kind for number, kind in enumerate(heads) if kind}
        while kinds and start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            cells = self._split_row(text, start, end)
            if len(cells) != len(heads) and not _RULE_LINE.match(text, start, end):
                break
            for number, kind in kinds.items():
                first, last = cells[number] if number < len(cells) else (end, end)
                value = text[first:last].strip(_AROUND_CELL)
                if value and _is_secret(value, kind):
                    first = text.index(value, first)
                    secrets.append(Secret(first, first + len(value), kind, RANK))
            start = end + 1
        return start

    def _split_row(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return where each cell of a row begins and ends."""
        between = [separator.span() for separator in re.compile(self.separator).finditer(text, start, end)]
        return list(
            zip([start, *(after for _, after in between)], [*(before for before, _ in between), end], strict=True)
        )


def _is_secret(value: str, kind: str) -> bool:
    is_secret = is_secret_in_prose if kind == "password" else is_random_secret
    return value.isascii() and " " not in value and "[redacted:" not in value and is_secret(value, kind)


COLUMNS: tuple[tuple[str, Columns], ...] = (
    *((rule, Columns(r"\|", is_ruled=True)) for rule in ("|--", "|:-", "| --", "| :-", "-+-", "-|-")),
    *(
        (f"{name}{end}", Columns(separator))
        for separator, sign in ((",[ ]?", ","), (";[ ]?", ";"), ("\t[ ]?", "\t"), (_BLANKS, "  "))
        for name in ("password", "passwd", "pwd", "pass", "passwort", "kennwort", "secret", "token", "key")
        for end in (sign, "\n")
    ),
)
"""Keywords that a line of names or the rule below it has, with the columns that they separate."""
