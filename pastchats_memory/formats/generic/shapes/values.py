"""What a value looks like: prose that somebody may have said, a word for who speaks, an id, a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeGuard

LONGEST_WORD = 48
LONGEST_ID = 128
MOST_WORDS = 12
"""Different values that say who speaks, or of what kind a record is."""
FEWEST_WORDS = 3
FEW_WORDS = 2
"""Different words of which none need stand twice: one for each side of a short talk."""

_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_NO_PROSE = re.compile(r"\s*(?:[{<\[].*[}>\]]|\$?[\w.]+\(.*\))\s*\Z", re.DOTALL)
"""Markup, and a call of a function."""


def is_word(value: object) -> TypeGuard[str | int]:
    """Whether a value may be an id: a text of a line at most, or a whole number."""
    return (isinstance(value, str) and len(value) <= LONGEST_ID) or (
        isinstance(value, int) and not isinstance(value, bool)
    )


def words_in(text: str) -> int:
    """Roughly how many words; in scripts without spaces two characters are one."""
    return max(len(text.split()), len(_WITHOUT_SPACES.findall(text)) // 2)


def is_prose(value: object) -> bool:
    """Whether somebody may have said it: a few words, most of them letters, and no address, markup or path."""
    if not isinstance(value, str) or words_in(value) < FEWEST_WORDS:
        return False
    head = value[:400]
    letters = sum(letter.isalpha() or letter.isspace() for letter in head)
    return letters >= 0.7 * len(head) and not _NO_PROSE.match(head)


def may_hold_prose(value: object) -> bool:
    """Whether any text in the value, or its pieces, could be prose: a quick look, since much JSON is numbers and codes."""
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, dict):
            stack.extend(at.values())
        elif isinstance(at, list):
            if len(at) > FEWEST_WORDS and all(isinstance(item, str) for item in at):
                return True
            stack.extend(at)
        elif isinstance(at, str) and (" " in at or "\n" in at or not at.isascii()):
            return True
    return False


def prose_share(values: Sequence[object]) -> float:
    """How many of the texts of a column somebody may have said; 0 for a column in which texts repeat."""
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if not texts or len(set(texts)) < 0.6 * len(texts):
        return 0.0
    return sum(map(is_prose, texts)) / len(texts)


def is_choice(values: Sequence[object]) -> bool:
    """Whether the values of a column are a few words, numbers or flags, each of them several times where there are many."""
    told = [value for value in values if value is not None]
    if not told or not all(isinstance(value, str | int) for value in told):
        return False
    different = set(map(str, told))
    short = all(len(word) <= LONGEST_WORD and "\n" not in word for word in different)
    return (
        short and len(different) <= MOST_WORDS and (len(different) <= FEW_WORDS or len(different) * 2 <= len(told) + 1)
    )


def asks(text: object) -> bool:
    """Whether it is a question: by its mark, in whatever script."""
    return isinstance(text, str) and text.rstrip(" \n\"'”»)").endswith(("?", "？", "؟", "\u037e"))
