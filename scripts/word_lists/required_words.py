"""Write the words without which each expression of `episodes/outcome` cannot match: `required_words.py`.

Most texts have none of them, and need not be searched at all. A test checks that the table is current.

The method is that of RE2's `FilteredRE2`: each part of an expression is either a small set of exact strings, or it
requires one word of a set. The longest set of a sequence counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from re import _parser  # type: ignore[attr-defined] # the standard library has no public parser of its expressions
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from pastchats_memory.episodes.outcome.patterns import EXPRESSIONS, REQUIRED_WORDS, Pattern, list_phrases  # noqa: E402 - the path comes first
from pastchats_memory.text.data_file import read_data  # noqa: E402 - the path comes first
from pastchats_memory.text.words import fold_case  # noqa: E402 - the path comes first

MODULES = ("", ".answers", ".checks", ".episode", ".feedback", ".requests")
"""Modules below `episodes.outcome` that have expressions."""

MAX_STRINGS = 64
"""Exact strings of one part, beyond which only its longest words count."""

Strings = frozenset[str]
NOTHING: Strings = frozenset({""})


def required_words(source: str, flags: int = 0) -> Strings:
    """Return folded words, one of which is in each text that an expression matches; none if there is no such set.

    >>> sorted(required_words(r"\\b(?:fail(?:s|ed)?|not (?:pass|work)ing)\\b"))
    ['fail', 'not passing', 'not working']
    """
    words = _require(_parser.parse(source, flags))
    return frozenset() if "" in words else frozenset(_drop_longer(words))


def _drop_longer(words: Strings) -> list[str]:
    """Return the words that contain no other word."""
    shortest: list[str] = []
    for word in sorted(words, key=len):
        if not any(other in word for other in shortest):
            shortest.append(word)
    return shortest


def _require(items: Iterable[tuple[Any, Any]], before: Strings = NOTHING) -> Strings:
    """Return the best set of words of which a match of this sequence has one; an empty word requires nothing.

    `before` holds the strings that the sequence continues.
    """
    found, exact = [NOTHING], before
    for item in items:
        strings = _exact_strings(item)
        if strings is not None and len(joined := _join(exact, strings)) <= MAX_STRINGS:
            exact = joined
            continue
        found += [exact, _require_of(item, exact)]
        exact = (_exact_strings_of(item[1][2]) if _is_repeated(item) else strings) or NOTHING
    return max([*found, exact], key=lambda words: (min(map(len, words)), -len(words)))


def _require_of(item: tuple[Any, Any], before: Strings) -> Strings:
    """Return the words that one part of a sequence requires, with the strings before it."""
    kind, value = str(item[0]), item[1]
    if kind == "SUBPATTERN":
        return _require(value[-1], before)
    if _is_repeated(item):
        return _require(value[2], before)
    if kind == "BRANCH":
        return frozenset(word for branch in value[1] for word in _require(branch, before))
    return NOTHING


def _is_repeated(item: tuple[Any, Any]) -> bool:
    """Return whether a part occurs at least once, and maybe more often."""
    return str(item[0]) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][0] > 0


def _exact_strings(item: tuple[Any, Any]) -> Strings | None:
    """Return all strings that one part of a sequence matches, or None if they are not few."""
    kind, value = str(item[0]), item[1]
    found: Strings | None = None
    match kind:
        case "LITERAL":
            found = frozenset({fold_case(chr(value))})
        case "AT" | "ASSERT" | "ASSERT_NOT":
            found = NOTHING
        case "IN" if all(str(one) == "LITERAL" for one, _ in value):
            found = frozenset(fold_case(chr(letter)) for _, letter in value)
        case "SUBPATTERN":
            found = _exact_strings_of(value[-1])
        case "BRANCH":
            branches = [_exact_strings_of(branch) for branch in value[1]]
            found = None if None in branches else frozenset().union(*filter(None, branches))
        case "MAX_REPEAT" | "MIN_REPEAT" if value[:2] == (0, 1):
            found = _exact_strings_of(value[2])
            found = None if found is None else found | NOTHING
    return found


def _exact_strings_of(items: Iterable[tuple[Any, Any]]) -> Strings | None:
    joined = NOTHING
    for item in items:
        strings = _exact_strings(item)
        if strings is None or len(joined := _join(joined, strings)) > MAX_STRINGS:
            return None
    return joined


def _join(starts: Strings, ends: Strings) -> Strings:
    return frozenset([start + end for start in starts for end in ends])


def list_patterns() -> dict[str, Pattern]:
    """Return the expressions of `episodes.outcome` by module and name."""
    modules = [import_module(f"pastchats_memory.episodes.outcome{module}") for module in MODULES]
    found = {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Pattern)
    }
    tables = read_data(str(REQUIRED_WORDS), "patterns.toml").items()
    names = [f"{table}.{name}" for table, values in tables for name, value in values.items() if isinstance(value, str)]
    found |= {name: EXPRESSIONS[name] for name in names}
    return found | {f"{one.kind} {one.meaning}": one for one in list_phrases()}


def build_table() -> str:
    """Return the text of the table: the words of each expression that needs some, by the expression's key."""
    found = {
        pattern.key: sorted(required_words(pattern.source, pattern.compiled.flags))
        for pattern in list_patterns().values()
    }
    lines = (
        f"{json.dumps(key)}: {json.dumps(words, ensure_ascii=False)}" for key, words in sorted(found.items()) if words
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    REQUIRED_WORDS.write_text(build_table(), encoding="utf-8")
