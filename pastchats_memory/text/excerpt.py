"""The part of a long text that is worth showing: pure, and always a part of it, word for word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

from pastchats_memory.text.identifiers import find_subword, subword_text

ELLIPSIS = "…"
_WORD = re.compile(r"[^\W_]+")


def excerpt(text: str, weights: Mapping[str, float], width: int) -> str:
    """At most `width` characters of the text around what weighs most, cut at blanks, `…` where something was left out.

    Args:
        text: of any length.
        weights: by lower-case word or piece; a word of the text that begins with it, or with which it begins, counts as found.
        width: characters, the ellipses included.
    """
    text = text.strip()
    if len(text) <= width:
        return text
    start = _find_densest(text, weights, width)
    return _cut(text, start, width)


def _find_densest(text: str, weights: Mapping[str, float], width: int) -> int:
    """Where the window of `width` begins whose distinct words weigh most; the earliest of equals."""
    found = [
        (match.start(), stem) for match in _WORD.finditer(text) if (stem := _match_stem(match.group().lower(), weights))
    ]
    pieces = [(term, within) for term in weights if (within := subword_text(term)) is not None]
    if pieces:
        found += [(place, term) for term, within in pieces for place in find_subword(text, within)]
        found.sort()
    reach = max(0, width - 40)
    best_start, best_weight = 0, 0.0
    counted: Counter[str] = Counter()  # of the window that moves along, so that megabytes of one word take no longer
    end = 0
    for place, stem in found:
        while end < len(found) and found[end][0] - place <= reach:
            counted[found[end][1]] += 1
            end += 1
        weight = math.fsum(weights[stem] for stem, count in counted.items() if count)
        if weight > best_weight:
            best_start, best_weight = place, weight
        counted[stem] -= 1
    return max(0, best_start - width // 6)


def weigh_matches(text: str, weights: Mapping[str, float]) -> float:
    """What those words and pieces weigh together that stand in the text."""
    words = {word.lower() for word in _WORD.findall(text)}
    return math.fsum(
        weight
        for term, weight in weights.items()
        if (term in words if (within := subword_text(term)) is None else any(True for _ in find_subword(text, within)))
    )


def _match_stem(word: str, weights: Mapping[str, float]) -> str | None:
    """The query's word that this one is a form of: equal, or equal up to the endings that a stemmer takes off."""
    if word in weights:
        return word
    shorter = (word[:length] for length in range(len(word) - 1, max(3, len(word) - 4), -1))
    return next((stem for stem in shorter if stem in weights), None)


def _cut(text: str, start: int, width: int) -> str:
    end = start + width - (2 if start else 1)
    if end >= len(text):
        end = len(text)
        start = max(0, end - width + 1)
    if start:
        blank = re.search(r"\s", text[start : start + 40])
        start = start + blank.end() if blank else start
    if end < len(text):
        blank = re.search(r"\s\S*\Z", text[start:end])
        end = start + blank.start() if blank and blank.start() > width // 2 else end
    return f"{ELLIPSIS if start else ''}{text[start:end].strip()}{ELLIPSIS if end < len(text) else ''}"


# The lines of an answer that say what it came to, rather than its first ones. Pure.
