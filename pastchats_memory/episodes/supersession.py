"""Find requests that supersede an earlier decision on the same subject. Pure.

A wrong *superseded* is worse than none. Statements that deny, ask, compare, quote, report or hope supersede nothing, and a
name that two requests share is no subject.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from pastchats_memory.text.data_file import read_data, read_parts
from pastchats_memory.text.identifiers import LAST_LATIN, blank_spaceless, ngrams
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.words import FUNCTION_WORDS, fold_case

MAX_SCANNED = 2000
"""Characters of a request, and of an answer."""
MIN_SHARED = 0.5
"""Share of the words of the shorter subject. Both subjects must share more."""
MAX_SHORT_WORD, STEM, SHORT_STEM = 3, 7, 4
"""Letters: an ending belongs to a word so short; words with an equal stem are the same. Cyrillic and Greek words inflect more."""
ENDINGS = ("ing", "ed", "es", "s", "e")


def _load_pattern(name: str) -> LazyPattern:
    """Return an expression of `supersession.toml`, which is read when it is first needed."""

    def read() -> str:
        data = read_data(__file__, "supersession.toml")
        parts = {
            f"%{part.upper()}%": data[part] for part in ("name", "names", "name_end", "subject", "latin", "explicit")
        }
        return str(re.sub("|".join(parts), lambda found: parts[found[0]], data[name]))

    return LazyPattern(read, re.IGNORECASE | re.VERBOSE)


@cache
def _load_words(name: str) -> frozenset[str]:
    """Return a list of words, and all function words."""
    listed = read_data(__file__, "supersession.toml")[name]
    return FUNCTION_WORDS.union(listed, map(_stem, listed))


_FENCE = LazyPattern(r"```.*?(?:```|\Z)|^[ \t]*+>[^\n]*$", re.DOTALL | re.MULTILINE)
_QUOTED = _load_pattern("quoted")
_SENTENCE = LazyPattern(r"[^.!?;。！？；\n]+(?:[.!?;](?!\s|\Z)[^.!?;。！？；\n]*)*[.!?;。！？；]*")
_CLAUSE = LazyPattern(r"(?<![,:–—()])[,:–—()]++(?=\s|\Z)|[，、]|\s(?:and|because|since|but|so that)\s")
_NO_PAIR = LazyPattern(r"[ぁ-ゖ改用使換换成从從不再了的到在把和与與将將请請現现已存放]+|変更|移行")
_TOKEN = LazyPattern(r"[\w.@][\w.+#@/-]*")
_VERSIONED = LazyPattern(
    r"(?<![\w./-])([A-Za-z][A-Za-z+#.-]{0,30}?)(?:[ :@=-]| (?:to|version) )v?(\d+(?:\.\d+)*)(?![\w.:-]*\w)"
)
WAYS = (
    "replaces", "moves_away", "away_from", "instead_of", "not_in", "drops", "is_out", "not_any_more", "is_reversed", "foreign_drops", "foreign_is_out",
    "foreign_moves", "spaceless_drops", "spaceless_is_out",
)  # fmt: skip
_PUT_ASIDE = [_load_pattern(way) for way in WAYS]
"""Ways to put a thing aside, each with its name."""
_UNNAMED = _load_pattern("unnamed")
_EXPLICIT = _load_pattern("explicit")
VERSION_CUES = (
    "switch", "upgrade", "bump", "move", "go", "update", "migrate", "require", "pin", "raise", "downgrade", "use", "set",
)  # fmt: skip
"""Verbs that set a version, as folded texts."""
_RAISES = LazyPattern(rf"\b(?:{'|'.join(VERSION_CUES)})(?:s|d|ing)?\b", re.IGNORECASE)
_ADOPTS = _load_pattern("adopts")
_NEW = _load_pattern("new")
_PLACED = LazyPattern(
    r"\b(?:for|in|on)\s+(?=(?:(?:the|a|an|our|their|plain)\s+)*`?([\w.@][\w.+#@/-]*(?:\s+\w[\w.+#-]*)?))", re.IGNORECASE
)
"""Phrases that lead to its name, or to its purpose."""

_INQUIRES = _load_pattern("inquires")
_POLITE = LazyPattern(r"\W*(?:\w+\W+){0,2}(?:can|could|would|will) you\b", re.IGNORECASE)
_UNDECIDED = _load_pattern("undecided")
_STAYS = _load_pattern("stays")
_IT = frozenset({"it", "that", "them", "this", "these", "those", "with"})


class Replacement(NamedTuple):
    """Something that a sentence of a request puts aside."""

    old: str
    """Its name in lower case; empty if it has none."""
    news: frozenset[str]
    """Words that are probably the name of its successor."""
    placed: frozenset[str]
    """Words that may be the name or the purpose of its successor."""
    clauses: tuple[frozenset[str], ...]
    """Subjects of its clauses; empty without a subject."""
    mentioned: frozenset[str]
    """Every word of the request."""
    version: str = ""
    """The new version, if only the version changes."""
    is_explicit: bool = False
    """Whether it says in so many words that it replaces an earlier decision."""


@lru_cache(maxsize=512)
def find_replacements(request: str) -> tuple[Replacement, ...]:
    """Return what a request replaces; empty without such a decision."""
    text = find_instruction(request)[:MAX_SCANNED]
    if not _has_cue(text):
        return ()
    text = _QUOTED.sub(" ", _FENCE.sub("\n", text))
    if _STAYS.search(text):
        return ()
    sentences = _SENTENCE.findall(text)
    found = [(place, *one) for place, sentence in enumerate(sentences) for one in _find_put_aside(sentence)]
    if not found:
        return ()
    news, placed = (_find_names(pattern, text) for pattern in (_NEW, _PLACED))
    mentioned = frozenset(_tokens(text))

    def describe(place: int, old: str, version: str) -> Replacement:
        is_explicit = _EXPLICIT.search(sentences[place]) is not None
        # "This replaces the rule." is about what it follows
        about = "".join(sentences[max(0, place - is_explicit) : place + 1])
        subjects = (_extract_subject(clause, {*old.split(), version}) for clause in _CLAUSE.split(about))
        clauses = tuple(subject for subject in subjects if subject)
        return Replacement(old, news - {old}, placed, clauses, mentioned, version, is_explicit)

    return tuple(describe(*one) for one in found)


def _has_cue(text: str) -> bool:
    """Return False for most requests: they have no word of those that put something aside."""
    folded = fold_case(text)
    return any(cue in folded for cue in read_parts(__file__, "supersession_words.txt", "cues")) or (
        any(map(str.isdigit, folded)) and any(cue in folded for cue in VERSION_CUES)
    )


def _find_put_aside(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the things that a sentence puts aside, or a product and its version."""
    if (_INQUIRES.match(sentence) or sentence.rstrip().endswith("?")) and not _POLITE.match(sentence):
        return
    found = [
        (match.start(), match["old"].lower().rstrip("."))
        for pattern in _PUT_ASIDE
        for match in pattern.finditer(sentence)
    ]
    found += [(match.start(), "") for match in _UNNAMED.finditer(sentence)]
    for start, name in found:
        if not _UNDECIDED.search(sentence, 0, start) and (name in _IT or name not in FUNCTION_WORDS):
            yield ("" if name in _IT else name), ""
            if " " in name:
                yield name.split()[-1], ""
    raised = _RAISES.search(sentence)
    if raised and not _UNDECIDED.search(sentence, 0, raised.start()):
        for match in _VERSIONED.finditer(sentence, raised.start()):
            product = match[1].lower()
            if product not in _load_words("no_product"):
                yield product, match[2]


def replaces(one: Replacement, request: str, answer: str) -> bool:
    """Return whether a request of the same subject, or its answer, chose the replaced thing."""
    request, answer = find_instruction(request)[:MAX_SCANNED], answer[:MAX_SCANNED]
    own = _extract_subject(request, set(one.old.split()))
    clauses = [clause for about in one.clauses if (clause := about - (one.news - own))]
    significant = [clause for about in clauses if (clause := about - (one.placed - own))]
    is_shared = any(len(clause & own) > MIN_SHARED * min(len(clause), len(own)) for clause in significant)
    if one.version:
        others = {number for name, number in _VERSIONED.findall(request) if name.lower() == one.old}
        is_other = bool(others) and one.version not in others and one.old in _find_choices(request)
        return is_other and (is_shared or not clauses)
    if one.old:
        chosen = _find_choices(request) | (_find_choices(answer) if clauses else set())
        is_chosen = one.old in chosen or one.old.removesuffix("s") in chosen
        return is_chosen and (is_shared if clauses else bool(one.news or one.placed))
    names = _find_choices(request, names_only=not one.is_explicit) - one.news
    if one.is_explicit:
        return is_shared and (bool(names) or any(len(clause & own) > 1 for clause in significant))
    if names & one.mentioned:
        return is_shared
    return bool(names) and bool(one.news - own) and any(clause <= own for clause in significant)


def _find_names(pattern: LazyPattern, text: str) -> frozenset[str]:
    return frozenset(
        _stem(word) for match in pattern.finditer(text) for word in _tokens(match[match.lastindex or 0])
    ) - _load_words("no_subject")


def _extract_subject(text: str, names: set[str]) -> frozenset[str]:
    """Return the stems of a text, without names and words of doing."""
    found = (word for word in _tokens(text) if not any(name and name in word for name in names))
    significant = (
        word for word in found if word not in _load_words("no_subject") and len(word) > 1 and not word.isdecimal()
    )
    return frozenset(map(_stem, significant)) - _load_words("no_subject")


def _find_choices(text: str, *, names_only: bool = False) -> set[str]:
    """Return the chosen things of a text, by one word and by two."""
    found: set[str] = set()
    for match in _ADOPTS.finditer(text):
        name = match[match.lastindex or 0]
        first = name.split()[0].rstrip(".,")
        if not names_only or not (first.isalpha() and first.islower()):
            found |= {first.lower(), " ".join(name.lower().split()).rstrip(".,")}
    return found - FUNCTION_WORDS


def _tokens(text: str) -> list[str]:
    """Return the words, and the pairs of letters of scripts without spaces, without their endings and particles."""
    found = _TOKEN.findall(blank_spaceless(text))
    return [*(word.lower().rstrip(".-/").removesuffix("'s") for word in found), *ngrams(_NO_PAIR.sub(" ", text))]


def _stem(word: str) -> str:
    """Return the beginning that the forms of a word have in common."""
    if word > LAST_LATIN:
        return word[:SHORT_STEM] if len(word) <= 2 * SHORT_STEM else word[:STEM]
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MAX_SHORT_WORD and not word.endswith("ss"):
            return word.removesuffix(ending)[:STEM]
    return word[:STEM]
