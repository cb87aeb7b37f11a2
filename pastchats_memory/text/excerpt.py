"""Cut the part of a long text that is worth showing, word for word. Pure."""

import math
import re
from collections import Counter
from collections.abc import Mapping

from pastchats_memory.text.identifiers import find_subword, subword_text
from pastchats_memory.text.words import WORD

ELLIPSIS = "…"
COMMON_START = 3
"""Letters that words with the same stem have in common at least, unless they are shorter."""


def excerpt(text: str, weights: Mapping[str, float], width: int) -> str:
    """Return at most `width` characters around the heaviest words, with `…` for omissions.

    `weights` has lower-case words and subwords. A word of the text counts if one is the start of the other.
    """
    text = text.strip()
    return text if len(text) <= width else _cut(text, _find_densest(text, weights, width), width)


def _find_densest(text: str, weights: Mapping[str, float], width: int) -> int:
    """Return the start of the earliest window whose distinct words weigh most."""
    starts = {term[:COMMON_START] for term in weights}  # most words of a text have none of them
    found = [
        (match.start(), stem)
        for match in WORD.finditer(text)
        if (word := match.group().lower())[:COMMON_START] in starts and (stem := _match_stem(word, weights))
    ]
    subwords = [(term, within) for term in weights if (within := subword_text(term)) is not None]
    if subwords:
        found += [(place, term) for term, within in subwords for place in find_subword(text, within)]
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
    """Return the sum of the weights of the words and subwords that occur in the text."""
    words = {word.lower() for word in WORD.findall(text)}
    return math.fsum(
        weight
        for term, weight in weights.items()
        if (term in words if (within := subword_text(term)) is None else any(True for _ in find_subword(text, within)))
    )


def _match_stem(word: str, weights: Mapping[str, float]) -> str | None:
    """Return the query's word that is equal to a word, or equal up to a short ending."""
    if word in weights:
        return word
    shorter = (word[:length] for length in range(len(word) - 1, max(COMMON_START, len(word) - 4), -1))
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
