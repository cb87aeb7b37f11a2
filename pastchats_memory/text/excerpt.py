"""The part of a long text that is worth showing: pure, and always a part of it, word for word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

from pastchats_memory.text.identifiers import inside, places

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
    start = _densest(text, weights, width)
    return _cut(text, start, width)


def _densest(text: str, weights: Mapping[str, float], width: int) -> int:
    """Where the window of `width` begins whose distinct words weigh most; the earliest of equals."""
    found = [
        (match.start(), stem) for match in _WORD.finditer(text) if (stem := _known(match.group().lower(), weights))
    ]
    pieces = [(term, within) for term in weights if (within := inside(term)) is not None]
    if pieces:
        found += [(place, term) for term, within in pieces for place in places(text, within)]
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


def present(text: str, weights: Mapping[str, float]) -> float:
    """What those words and pieces weigh together that stand in the text."""
    words = {word.lower() for word in _WORD.findall(text)}
    return math.fsum(
        weight
        for term, weight in weights.items()
        if (term in words if (within := inside(term)) is None else any(True for _ in places(text, within)))
    )


def _known(word: str, weights: Mapping[str, float]) -> str | None:
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

LONG_LINE = 120
"""Characters; a longer line is taken sentence by sentence."""

WRAPPED = 60
"""Characters from which on a line may have been broken at the width of a screen."""

CONCLUDES = 0.1
"""What a word of conclusion counts for, where all words of the question count for 1."""
LATE = 0.2
"""What standing last counts for: an answer begins with what is asked and what will be done (`benchmarks/usefulness.py`)."""
EARLY = 0.5
"""Up to where a list tells the steps of what was looked at: its third item fills no room that is left without the first."""
LEAST_BYTES = 25
"""Below which a line says nothing by standing last ("Done.", "goal.")."""

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b\d\.)(?<!\b\d\d\.)\s+(?=[A-Z`*\"'(])")
"""Where one begins, but not behind the number of a list."""
_CONCLUDES = re.compile(
    r"\b(?:cannot|can't|best|cleanest|simplest|recommend\w*|means|key|found|never|always|limitation|default|yes|no"
    r"|cause[ds]?|because|culprit|due to|reason|root|turns? out|turned out)\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"^\W*(?:let me|let's|i(?:'ll| will| am going|'m going)|now (?:let|i)|first,? (?:let|i)|sure|certainly|great|okay|ok\b|i (?:see|understand|apologize)"
    r"|would you|do you want|let me know|is there anything|here(?:'s| is| are)"
    r"|just (?:tell|let) me|tell me (?:if|what|whether|which)|feel free|(?:i(?:'d| would| am|'m) )?(?:be )?(?:also )?(?:happy|glad) to|i can also"
    r"|if you(?:'d| would) like|you (?:could|may|might) (?:also )?(?:consider|like to|want to|wish)|(?:shall|should|may) i|want me to)\b|[:?：？]\s*$",
    re.IGNORECASE,
)
_FURTHER = re.compile(r"\s*(?!1[.)])\d{1,3}[.)]\s")
_ENDED = re.compile(r"[.!?:;…|]\W*\Z")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_BLANK, _NAME = r"[^\S\n]*+", r"[#*` ]*+[^\s`*]++[*`:]*+"
_SEARCH, _REPLACE = rf"^{_BLANK}(?:<{{5,9}}|-{{5,9}}) ?SEARCH\b", rf"^{_BLANK}(?:>{{5,9}}|\+{{5,9}}) ?REPLACE\b[^\n]*+"
_FENCED = rf"{_BLANK}(?:```|~~~)"
_BEGIN, _END = r"^\*\*\* Begin Patch\b", r"^\*\*\* End Patch\b[^\n]*+"
_BROKEN_OFF = rf".*?(?=^{_FENCED}|^{_BLANK}\n(?![-+@*=\s])|\Z)"
"""Up to where an edit without its end is one: its fence, or a blank line with prose below."""
_EDITS = re.compile(
    rf"(?:^{_BLANK}{_NAME}{_BLANK}\n)?(?:^{_FENCED}[^\n]*+\n)?(?:^{_NAME}\n)?"
    rf"(?:{_SEARCH}(?:(?:(?!{_SEARCH}).)*?{_REPLACE}|{_BROKEN_OFF})"
    rf"|{_BEGIN}(?:(?:(?!{_BEGIN}).)*?{_END}|{_BROKEN_OFF}))"
    rf"(?:\n?^{_FENCED}{_BLANK}$)?",
    re.MULTILINE | re.DOTALL,
)
"""What a model writes for its client to change files, with the file's name and the fence around it: finished or broken off."""
_BARE = re.compile(r"^[\W_]*$|^\s*#{1,6}\s|^<{5}|^={5}|^>{5}")


def decisive(text: str, weights: Mapping[str, float], width: int) -> str:
    """At most `width` characters of the text: its lines that tell most, in order, `…` between those that do not follow each other.

    A line tells by the question's words in it, by concluding and by standing late; one that announces, asks or offers more tells nothing.
    What stands between fences is code and counts by the question's words alone; edits that a client is to make tell nothing.

    Args:
        text: an answer of any length.
        weights: of the question's words, lower-cased.
        width: characters.
    """
    text = _EDITS.sub("", text).strip()
    if len(text) <= width:
        return text
    lines = _lines(text)
    total = sum(weights.values()) or 1.0
    worth = [_worth(line, place / len(lines), weights, total) for place, line in enumerate(lines)]
    chosen: set[int] = set()
    left = width
    for place in sorted(range(len(lines)), key=lambda place: -worth[place]):
        line = lines[place][0]
        cost = len(line) + 2 + (place - 1 not in chosen)
        if cost > left or worth[place] <= 0:
            continue
        chosen.add(place)
        left -= cost
    if not chosen:
        return excerpt(text, weights, width)
    parts: list[str] = []
    for place in sorted(chosen):
        if place and place - 1 not in chosen:
            parts.append(ELLIPSIS)
        parts.append(lines[place][0])
    return "\n".join(parts)


def _lines(text: str) -> list[tuple[str, bool]]:
    """Lines and long lines' sentences, each with whether it is code."""
    found: list[tuple[str, bool]] = []
    for line, is_code in _unwrapped(text):
        pieces = [line] if is_code or len(line) <= LONG_LINE else _SENTENCE.split(line)
        found += [(piece.strip() if not is_code else piece.rstrip(), is_code) for piece in pieces if piece.strip()]
    return found


def _unwrapped(text: str) -> list[tuple[str, bool]]:
    """Lines with whether they are code; prose that a terminal broke at its width is one line again."""
    found: list[tuple[list[str], bool]] = []
    in_code = False
    last = ""
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_code, last = not in_code, ""
            continue
        if not in_code and _goes_on(last, line):
            found[-1][0].append(line.strip())
        else:
            found.append(([line if in_code else line.rstrip()], in_code))
        last = "" if in_code else line.strip()
    return [(" ".join(parts), is_code) for parts, is_code in found]


def _goes_on(above: str, line: str) -> bool:
    return len(above) >= WRAPPED and line.lstrip(" (`\"'")[:1].islower() and not _ENDED.search(above[-WRAPPED:])


def _worth(line: tuple[str, bool], place: float, weights: Mapping[str, float], total: float) -> float:
    """What a line tells that stands at that share of the answer."""
    text, is_code = line
    if _BARE.match(text):
        return 0.0
    about = present(text, weights) / total
    if is_code:
        return about
    if _ANNOUNCES.search(text):
        return 0.0
    own = about + CONCLUDES * bool(_CONCLUDES.search(text))
    if len(text.encode()) < LEAST_BYTES or (not own and place < EARLY and _FURTHER.match(text)):
        return own
    return own + LATE * place
