"""Find requests that supersede an earlier decision on the same subject. Pure.

A wrong *superseded* is worse than none. Statements that deny, ask, compare, quote, report or hope supersede nothing, and a
name that two requests share is no subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.shell import find_instruction
from pastchats_memory.text.words import FUNCTION_WORDS, fold_case

MAX_SCANNED = 2000
"""Characters of a request, and of an answer."""
MIN_SHARED = 0.5
"""Share of the words of the shorter subject. Both subjects must share more."""
MAX_SHORT_WORD, STEM = 3, 7
"""Letters: a final s belongs to a word so short; words with an equal stem are the same, such as "authenticate"."""

_FENCE = LazyPattern(r"```.*?(?:```|\Z)|^[ \t]*+>[^\n]*$", re.DOTALL | re.MULTILINE)
_QUOTED = LazyPattern(
    r"""
    \"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|„[^“”\n]{0,300}[“”]
    |(?<!\w)'[^'\n]{0,300}\ [^'\n]{0,300}'(?!\w)""",
    re.VERBOSE,
)
_SENTENCE = LazyPattern(r"[^.!?;\n]+(?:[.!?;](?!\s|\Z)[^.!?;\n]*)*[.!?;]*")
_CLAUSE = LazyPattern(r"(?<![,:–—()])[,:–—()]++(?=\s|\Z)|\s(?:and|because|since|but|so that)\s")
_TOKEN = LazyPattern(r"[\w.@][\w.+#@/-]*")
_VERSIONED = LazyPattern(
    r"(?<![\w./-])([A-Za-z][A-Za-z+#.-]{0,30}?)(?:[ :@=-]| (?:to|version) )v?(\d+(?:\.\d+)*)(?![\w.:-]*\w)"
)

_NAME = r"""
    (?:(?:the|a|an|our|my|using|that|this|plain|all)\s+)*`?
    (?P<old>[\w.@][\w.+#@/-]*(?:\s+(?:storage|compose|file|files|cookies?))?)`?(?!\w|\()"""
_NAME_END = r"""
    (?=\s*(?:
        [,.;:!?]|\Z
        |\s(?:and|for|in|on|from|to|as|at|with|everywhere|now|entirely|completely|altogether)\b
    ))"""
_PUT_ASIDE = tuple(
    LazyPattern(pattern, re.IGNORECASE | re.VERBOSE)
    for pattern in (
        rf"""
        (?<!,\ )\b(?:replac(?:e|ing)|swap(?:ping)?(?:\ out)?|exchang(?:e|ing)|substitut(?:e|ing))\ {_NAME}
        (?=[^,.;]{{0,120}}\ (?:by|with|for|through)\b)""",
        rf"""
        \b(?:mov|migrat|switch|chang|port|convert|transition|go|com)(?:e|es|ing|ed)?\b[^,.;]{{0,120}}?\ (?:away\ )?
        (?:from|off)\ {_NAME}(?=[^,.;]{{0,120}}\ (?:in)?to\b)""",
        rf"\b(?:away\ from|off\ of)\ {_NAME}{_NAME_END}",
        rf"\b(?:instead\ of|rather\ than|in\ place\ of|in\ (?:the\ )?stead\ of)\ {_NAME}",
        rf"(?:,|\ and)\ not\ (?:in\ |on\ |to\ |with\ |into\ |at\ |by\ |through\ )?{_NAME}{_NAME_END}",
        rf"""
        \b(?:
            drop(?:ping)?|remov(?:e|ing)|ditch(?:ing)?|(?:get|getting)\ rid\ of|(?:throw|kick|rip)\ out|abandon(?:ing)?
            |retir(?:e|ing)|uninstall|stop(?:ped)?\ using|(?:be|are|am|is|'re|'m)\ done\ with
            |no\ longer\ (?:want|use|need)(?:\ to\ use)?
        )\ {_NAME}{_NAME_END}""",
    )
)
"""Patterns with the name of the thing that is put aside."""
CUES = (
    "replac", "swap", "exchang", "substitut", "from ", "off ", "instead", "rather than ", "in place of ", "stead of", ", not ", " and not ",
    "drop", "remov", "ditch", "rid of", "throw out", "kick out", "rip out", "abandon", "retir", "uninstall", "stop", "done with", "no longer ",
)  # fmt: skip
"""Folded texts of which each match of these patterns has one."""
_INSTEAD = LazyPattern(r"\binstead\b(?!\s+of\b(?!\s+(?:it|that|them|this)\b))", re.IGNORECASE)
_RAISES = LazyPattern(
    r"\b(?:switch|upgrade|bump|move|go|update|migrate|require|pin|raise|downgrade|use|set)(?:s|d|ing)?\b", re.IGNORECASE
)
VERSION_CUES = (
    "switch",
    "upgrade",
    "bump",
    "move",
    "go",
    "update",
    "migrate",
    "require",
    "pin",
    "raise",
    "downgrade",
    "use",
    "set",
)
"""Folded texts of which each match of the last pattern has one."""
_ADOPTS = LazyPattern(
    r"""
    \b(?:us(?:e|es|ed|ing)|with|in|on|onto|into|to|through|via|by|as|install(?:ed)?|add(?:ed)?|adopt(?:ed)?
    |pin(?:ned)?|set\ up|choose|chose|take|require[sd]?|go\ for)\s+(?=(?:(?:the|a|an|our|their
    |plain)\s+)*`?([\w.@][\w.+#@/-]*(?:\s+[\w.][\w.+#-]*)?))""",
    re.IGNORECASE | re.VERBOSE,
)
"""Phrases that lead to the name of a chosen thing."""
_NEW = LazyPattern(
    r"""
    \b(?:us(?:e|ing)|with|into|to|in\ favou?r\ of|by|take|should|through|via|(?:swap|exchange
    |substitute)\b[^,.;]{0,120}\ for)\s+(?=(?:(?:the|a|an|our|their
    |plain)\s+)*`?([\w.@][\w.+#@/-]*(?:\s+\w[\w.+#-]*)?))""",
    re.IGNORECASE | re.VERBOSE,
)
"""Phrases that probably lead to the name of the wanted thing."""
_PLACED = LazyPattern(
    r"\b(?:for|in|on)\s+(?=(?:(?:the|a|an|our|their|plain)\s+)*`?([\w.@][\w.+#@/-]*(?:\s+\w[\w.+#-]*)?))", re.IGNORECASE
)
"""Phrases that lead to its name, or to its purpose."""

_INQUIRES = LazyPattern(
    r"""
    \W*(?:(?:ok|okay|so|and|but|hm+|well|also|now|then|please|hey|hi)\b\W*)*(?:why|how|what|when|which|who|where
    |should|shall|would|is|are|was|were|does|did|has|have\ (?:we|you|they)|do\ (?:we|you|they)|may|might|whether|if
    |(?:could|can)\ (?!you\b)\w+)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_POLITE = LazyPattern(r"\W*(?:\w+\W+){0,2}(?:can|could|would|will) you\b", re.IGNORECASE)
_UNDECIDED = LazyPattern(
    r"""
    \b(?:do\ not|don['’]?t|does\ not|doesn['’]?t|did\ not|didn['’]?t|never|no\ need|without|won['’]?t|cannot
    |can['’]?t|should\ not|shouldn['’]?t|must\ not|avoid\w*|rather\ not|nobody|neither|nor|refus\w+|against
    |compar\w+|estimat\w+|costs?|effort|consider\w*|think\w*|thought|evaluat\w+|investigat\w+|explor\w+|discuss\w*
    |explain\w*|describ\w+|document|mention\w*|says?|said|saying|(?:write|open|file|create|draft|add)\ (?:an?[ ]
    |the\ |some\ )?(?:\w+\ )?(?:issue|ticket|note|post|proposal|plan|adr|test|comment|message|warning)
    |translat\w+\ (?:this|that|the\ (?:sentence|text|following))|ask(?:s|ed|ing)?|whether|if|when(?:ever)?|unless
    |while|would(?!\ like)|might|maybe|perhaps|could(?!\ you)|propos\w+|suggest\w*|recommend\w*|pros|worth|check\w*
    |see|verify|read\ that|heard|wonder\w*|renam\w+|variable|label|title|column|heading|button|typo|bug|warn\w*
    |log(?:s|ged)?\ an?|errors?\ (?:when|if)|fail(?:s|ed|ing|ure)?|still|wrong\w*|show(?:s|ed|n|ing)?|return(?:s|ed
    |ing)?|print(?:s|ed|ing)?|display\w*|land(?:s|ed)?|gets|getting|complain\w*|was|were|had|has|have(?!\ (?:decided
    |agreed|to))|uses|reads|serves|writes|contains|idea|option|alternative\w*|tutorial|article|example|imagine
    |suppose|hypothetical\w*|plan(?:s|ning|ned)?\ to|someone|people|teams|they|he|she)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words earlier in the sentence that deny, ask, compare, quote, report or postpone."""
_STAYS = LazyPattern(
    r"""
    \b(?:stay(?:s|ing)?\ (?:with|on|where)|stick(?:s|ing)?\ (?:with|to)|as\ it\ is|as\ they\ are|leave\ it|not\ yet
    |yet\W*\Z|no\ changes?|change\ nothing|nothing\ yet|(?:one|some)\ ?day|for\ now\ only|for\ now\ just
    |just\ an?\ (?:estimate|idea|question|thought)|revert|undo|roll(?:ing)?\ (?:it\ |that\ |this\ )?back
    |would\ be\ nice|keep\ (?:it|using|redis\ as))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words anywhere in the request: nothing changes, or the old state returns."""
_NO_SUBJECT = FUNCTION_WORDS | frozenset(
    """abandon ada add adopt also always app away back be become belong better build bump call change code come completely convert decided deploy ditch do done drop
    entirely everywhere everything exchange expensive fine first format generate get go going got handle instead install keep kept kind let like live log longer lost make
    manage migrate mind move need new no off ok okay old one out pin place plain please port project put raise rather remove replace require retire rewrite rid run
    save search send serve set should slow start stop store strip style substitute sure swap switch take thing throw time today together transition try
    uninstall up update upgrade use used using version want way we write x yes""".split()  # noqa: SIM905 - one string is shorter than a hundred
)
_NO_PRODUCT = FUNCTION_WORDS | frozenset(
    """chapter day file hour issue item level line minute no number option page part phase point port pr second section size step task ticket timeout top version
    week year to from of by at in on with""".split()  # noqa: SIM905 - as above
)
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


@lru_cache(maxsize=512)
def find_replacements(request: str) -> tuple[Replacement, ...]:
    """Return what a request replaces; empty without such a decision."""
    text = find_instruction(request)[:MAX_SCANNED]
    if not _has_cue(text):
        return ()
    text = _QUOTED.sub(" ", _FENCE.sub("\n", text))
    if _STAYS.search(text):
        return ()
    found = [(sentence, *one) for sentence in _SENTENCE.findall(text) for one in _find_put_aside(sentence)]
    if not found:
        return ()
    news, placed = (_find_names(pattern, text) for pattern in (_NEW, _PLACED))
    mentioned = frozenset(_tokens(text))
    return tuple(
        Replacement(old, news - {old}, placed, _clause_subjects(sentence, {*old.split(), version}), mentioned, version)
        for sentence, old, version in found
    )


def _has_cue(text: str) -> bool:
    """Return False for most requests: they have no word of those that put something aside."""
    folded = fold_case(text)
    return any(cue in folded for cue in CUES) or (
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
    found += [(match.start(), "") for match in _INSTEAD.finditer(sentence)]
    for start, name in found:
        if not _UNDECIDED.search(sentence, 0, start) and (name in _IT or name not in FUNCTION_WORDS):
            yield ("" if name in _IT else name), ""
    raised = _RAISES.search(sentence)
    if raised and not _UNDECIDED.search(sentence, 0, raised.start()):
        for match in _VERSIONED.finditer(sentence, raised.start()):
            product = match[1].lower()
            if product not in _NO_PRODUCT:
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
    if one.old and clauses:
        return is_shared and one.old in _find_choices(request) | _find_choices(answer)
    if one.old:
        return bool(one.news or one.placed) and one.old in _find_choices(request)
    names = _find_choices(request, names_only=True) - one.news
    if names & one.mentioned:
        return is_shared
    return bool(names) and bool(one.news - own) and any(clause <= own for clause in significant)


def _find_names(pattern: LazyPattern, text: str) -> frozenset[str]:
    return frozenset(_stem(word) for name in pattern.findall(text) for word in _tokens(name)) - _NO_SUBJECT


def _clause_subjects(sentence: str, names: set[str]) -> tuple[frozenset[str], ...]:
    found = (_extract_subject(clause, names) for clause in _CLAUSE.split(sentence))
    return tuple(clause for clause in found if clause)


def _extract_subject(text: str, names: set[str]) -> frozenset[str]:
    """Return the stems of a text, without names and words of doing."""
    found = (word for word in _tokens(text) if not any(name and name in word for name in names))
    significant = (word for word in found if word not in _NO_SUBJECT and len(word) > 1 and not word.isdecimal())
    return frozenset(map(_stem, significant)) - _NO_SUBJECT


def _find_choices(text: str, *, names_only: bool = False) -> set[str]:
    """Return the chosen things of a text, by one word and by two."""
    found: set[str] = set()
    for match in _ADOPTS.finditer(text):
        first = match[1].split()[0].rstrip(".,")
        if not names_only or not (first.isalpha() and first.islower()):
            found |= {first.lower(), " ".join(match[1].lower().split()).rstrip(".,")}
    return found - FUNCTION_WORDS


def _tokens(text: str) -> list[str]:
    return [word.lower().rstrip(".-/").removesuffix("'s") for word in _TOKEN.findall(text)]


def _stem(word: str) -> str:
    return (word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > MAX_SHORT_WORD else word)[:STEM]
