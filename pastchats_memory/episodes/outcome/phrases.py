"""Compile the phrases of `phrases.toml` into patterns at their first use."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pastchats_memory.episodes.outcome.episode import Pattern

FILE = Path(__file__).with_name("phrases.toml")
BOUNDARY = r"\b"
"""Frame of a phrase unless its group states another one."""

Kind = Literal["evidence", "guards"]
Group = Mapping[str, str | list[str]]
"""One frame (`before`, `after`) with phrases by language code."""


class Phrases(Pattern):
    """Find the phrases of one meaning; blanks count, and case does not."""

    flags = re.IGNORECASE | re.MULTILINE

    def __init__(self, kind: Kind, meaning: str) -> None:
        super().__init__(lambda: join_groups(read_phrases()[kind][meaning]))
        self.kind: Kind = kind
        self.meaning = meaning


@cache
def read_phrases() -> dict[Kind, dict[str, list[Group]]]:
    """Return the groups of every meaning, by kind. The file is read once."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))  # type: ignore[return-value] # tests check the file's shape


def join_groups(groups: list[Group]) -> str:
    """Return one expression for all phrases of the groups."""
    return "|".join(map(_join_group, groups))


def _join_group(group: Group) -> str:
    phrases = [phrase for values in group.values() if isinstance(values, list) for phrase in values]
    before, after = (group.get(edge, BOUNDARY) for edge in ("before", "after"))
    return f"{before}(?:{'|'.join(phrases)}){after}"
