"""Secrets in the values of SQL statements, by the columns that the statement names."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pastchats_memory.redact.assignments import LEAST_LENGTH, RANK
from pastchats_memory.redact.heuristics import is_placeholder, is_random_secret
from pastchats_memory.redact.rule_files import read_patterns
from pastchats_memory.redact.rules import ScannedText, Secret
from pastchats_memory.redact.secret_names import name_kind

_PATTERNS = read_patterns("places.toml")
_HEAD = _PATTERNS["insert_head"]
_VALUE = _PATTERNS["inserted_value"]
_NEXT_ROW = re.compile(r"(?:\s|\\n){0,20},(?:\s|\\n){0,20}\(")
_AROUND_NAME = " \t\r\n\"'`[]\\"


class Insert(NamedTuple):
    """A statement that names columns and then gives rows of values."""

    def find(self, scanned: ScannedText, places: Iterable[int]) -> Iterator[Secret]:
        """Return the secrets of columns with a secret's name, from left to right."""
        for at in places:
            head = _HEAD.match(scanned.text, scanned.lowered.index("into", at) + len("into"))
            kinds = [name_kind(name.strip(_AROUND_NAME)) for name in head["names"].split(",")] if head else []
            if head and any(kinds):
                yield from _read_rows(scanned.text, head.end(), kinds)


def _read_rows(text: str, at: int, kinds: list[str]) -> Iterator[Secret]:
    """Return the secrets of rows from a place on."""
    at += text.startswith("(", at)
    while True:
        for number, kind in enumerate(kinds):
            value = _VALUE.match(text, at)
            if value is None:
                return
            if kind and value["text"] and _is_secret(value["text"], kind):
                yield Secret(*value.span("text"), kind, RANK)
            at = value.end()
            if number < len(kinds) - 1:
                if not text.startswith(",", at):
                    return
                at += 1
        following = _NEXT_ROW.match(text, at + 1) if text.startswith(")", at) else None
        if following is None:
            return
        at = following.end()


def _is_secret(value: str, kind: str) -> bool:
    if "[redacted:" in value or " " in value or len(value) < LEAST_LENGTH or is_placeholder(value):
        return False
    return kind == "password" or is_random_secret(value, kind)


INSERTS: tuple[tuple[str, Insert], ...] = tuple((f"{verb} into", Insert()) for verb in ("insert", "replace"))
"""Keywords of statements."""
