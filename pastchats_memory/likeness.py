"""How alike two tasks are: meaning, shared words, and what sets two near texts apart. Pure.

Cosine alone does not tell: for the packaged model "Fix the login bug" is .61 to "users cannot sign in" and .65 to "Fix
the logout bug". So two logistic regressions over labelled pairs (`benchmarks/tasks_calibrate.py`) say how probable it
is that two tasks have to do with each other, and that they are then the same one. Against that counts what tells a task
from its neighbour: a word changed among equal ones, an opposite, numbers and names of code that differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

TO_RELATE: Mapping[str, float] = {"cosine": 6.48, "title_cosine": 5.77, "title_words": 5.58, "always": -4.53}
TO_BE_SAME: Mapping[str, float] = {
    "title_cosine": 11.28, "substituted": -5.21, "opposite": -2.99, "identifiers": -2.0, "words": -2.75, "always": -5.15,
}  # fmt: skip
"""Weights of the features. That of identifiers is set by hand: the labelled pairs have too few of them."""
SAME = 0.3
"""Probability of being the same task from which two tasks are shown as duplicates: of those three in four are, and four
in five are found."""
AT_RELATED, AT_DUPLICATE = 0.5, 0.8
"""The scores at which two tasks are rather related than not, and the same by SAME."""

GUIDE = (
    (0.95, "near-identical"),
    (AT_DUPLICATE, "very similar"),
    (AT_RELATED, "related"),
    (0.25, "loosely related"),
    (0.0, "different"),
)
"""Least score and label, from the top."""

_PAIRS = """
    login/logout signin/signout add/remove add/delete create/delete create/remove enable/disable start/stop open/close
    import/export upload/download encrypt/decrypt encode/decode show/hide lock/unlock increase/decrease install/uninstall
    attach/detach connect/disconnect subscribe/unsubscribe upgrade/downgrade allow/deny allow/block allow/forbid
    accept/reject include/exclude read/write push/pull send/receive input/output sync/async synchronous/asynchronous
    frontend/backend client/server light/dark ascending/descending minimum/maximum min/max before/after up/down
    left/right online/offline public/private internal/external register/unregister mount/unmount serialize/deserialize
    compress/decompress expand/collapse activate/deactivate backup/restore zoomin/zoomout ban/unban follow/unfollow
    archive/unarchive publish/unpublish load/unload pause/resume raise/lower split/merge speedup/slowdown request/response
    buy/sell credit/debit incoming/outgoing encrypt/sign desktop/mobile ios/android windows/linux linux/macos
    windows/macos mysql/postgres json/yaml json/xml staging/production
""".split()  # noqa: SIM905 - a list of eighty strings would fill two pages
OPPOSITES: Mapping[str, frozenset[str]] = {
    word: frozenset(other for pair in _PAIRS if word in pair.split("/") for other in pair.split("/") if other != word)
    for pair in _PAIRS
    for word in pair.split("/")
}
_TWO_WORDS = re.compile(r"\b(log|sign|zoom)(?:ging|ging|ning|ned|ged|s)?[ -](in|out|on|off)\b", re.IGNORECASE)
_JOINED = {("log", "on"): "login", ("log", "off"): "logout", ("sign", "on"): "signin", ("sign", "off"): "signout"}
_SYNONYMS = {"signin": "login", "signout": "logout", "sign": "login", "deletion": "delete", "removal": "remove",
         "creation": "create", "addition": "add", "auth": "authentication", "db": "database", "docs": "documentation",
         "doc": "documentation", "config": "configuration", "repo": "repository", "perf": "performance",
         "postgresql": "postgres", "drop": "remove", "erase": "delete"}  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?:v?\d+(?:\.\d+)+|#?\d+|[A-Z]{2,}-\d+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[A-Za-z]\w*_\w+|\w+\(\)|(?:[\w.-]{1,255}/)+[\w.-]+|[\w-]{1,255}\.(?:py|ts|tsx|js|go|rs|md|json|ya?ml|toml|sql|sh|c|h|cpp|java))(?![\w])"
)
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "for",
        "and",
        "or",
        "with",
        "by",
        "from",
        "at",
        "as",
        "is",
        "are",
        "be",
        "it",
        "its",
        "this",
        "that",
        "when",
        "if",
        "not",
        "no",
        "into",
        "via",
        "so",
        "we",
        "our",
        "should",
        "can",
        "cannot",
        "could",
        "will",
        "would",
        "do",
        "does",
        "did",
        "have",
        "has",
        "had",
        "all",
        "any",
        "each",
        "per",
        "more",
        "new",
        "make",
        "makes",
        "using",
        "use",
        "used",
        "task",
        "issue",
        "implement",
        "fix",
        "support",
        "ensure",
        "need",
        "needs",
    ]
)
_SUFFIX = re.compile(r"(?:ations?|ings?|ies|ied|ers?|ed|es|s|ly|ment|e|y)\Z")


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two tasks are."""

    score: float
    """0 to 1; 1 only for the same words."""
    label: str
    """Of GUIDE."""

    @property
    def is_duplicate(self) -> bool:
        """Rather the same task than another one."""
        return self.score >= AT_DUPLICATE

    @property
    def is_related(self) -> bool:
        """Rather to do with it than not."""
        return self.score >= AT_RELATED


def label_of(score: float) -> str:
    """The guide's word for a score."""
    return next(label for least, label in GUIDE if score >= least)


def likeness(cosine: float, title_cosine: float, first: str, second: str) -> Likeness:
    """How alike two tasks are.

    Args:
        cosine: of the vectors of both texts.
        title_cosine: of the vectors of both titles.
        first: a task's title, and after an empty line its description where it has one.
        second: the other's.
    """
    if _profile(first).plain == _profile(second).plain:
        return Likeness(1.0, GUIDE[0][1])
    found = features(cosine, title_cosine, first, second)
    score = round(min(shown(_probability(TO_RELATE, found), _probability(TO_BE_SAME, found)), 0.999), 3)
    return Likeness(score, label_of(score))


def shown(related: float, same: float) -> float:
    """One score out of both probabilities: AT_RELATED where a relation is as likely as not, AT_DUPLICATE at SAME."""
    both = related * same
    if related < AT_RELATED:
        return related
    if both < SAME:
        return AT_RELATED + (AT_DUPLICATE - AT_RELATED) * both / SAME
    return AT_DUPLICATE + (1 - AT_DUPLICATE) * (both - SAME) / (1 - SAME)


def features(cosine: float, title_cosine: float, first: str, second: str) -> dict[str, float]:
    """What the probabilities are made of, by the names of the weights."""
    one, other = _profile(first), _profile(second)
    return {
        "cosine": cosine,
        "title_cosine": title_cosine,
        "title_words": _overlap(one.title_stems, other.title_stems),
        "words": _overlap(one.stems, other.stems),
        "substituted": _substituted(one, other),
        "opposite": float(are_opposite(one.title_words, other.title_words)),
        "identifiers": float(differ(one.identifiers, other.identifiers)),
        "always": 1.0,
    }


@dataclass(frozen=True, slots=True)
class _Profile:
    """What of a text is compared."""

    plain: str
    stems: frozenset[str]
    title_stems: frozenset[str]
    title_words: frozenset[str]
    identifiers: frozenset[str]
    """Of the title."""
    order: tuple[str, ...]
    """Stems of the title's words as they stand."""


@lru_cache(maxsize=1 << 15)
def _profile(text: str) -> _Profile:
    title = text.partition("\n")[0]
    order = tuple(_stem(word) for word in _WORD.findall(title.lower()))
    return _Profile(_plain(text), stems(text), stems(title), words_of(title), identifiers(title), order)


def _probability(weights: Mapping[str, float], found: Mapping[str, float]) -> float:
    return 1 / (1 + math.exp(-sum(weight * found[name] for name, weight in weights.items())))


def _substituted(first: _Profile, second: _Profile) -> float:
    """Share of the words that stand in the same order in both, if each has a telling word that the other lacks, else 0."""
    if not (first.title_stems - second.title_stems and second.title_stems - first.title_stems):
        return 0.0
    return SequenceMatcher(a=first.order, b=second.order, autojunk=False).ratio()


def are_opposite(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one has a word and the other its opposite, and neither has both."""
    return any(
        not (OPPOSITES[word] & one) and OPPOSITES[word] & other and word not in other
        for word in one
        if word in OPPOSITES
    )


def differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether each has identifiers, and they have none in common."""
    return bool(one) and bool(other) and not one & other


def identifiers(text: str) -> frozenset[str]:
    """Numbers, versions, names as code spells them, files and paths."""
    return frozenset(found[0].lower().strip("#()") for found in _IDENTIFIER.finditer(text))


def stems(text: str) -> frozenset[str]:
    """Words that tell something, without their endings, synonyms as one."""
    return frozenset(_stem(word) for word in words_of(text) if word not in _STOP)


def words_of(text: str) -> frozenset[str]:
    """Each as its simplest form, those that are spelled in two as one."""
    joined = _TWO_WORDS.sub(
        lambda found: _JOINED.get((found[1].lower(), found[2].lower()), f"{found[1]}{found[2]}"), text
    )
    return frozenset(_base(word) for word in _WORD.findall(joined.lower()))


def _base(word: str) -> str:
    """The word that the tables know: synonyms as one, verbs without their ending where that leaves a word of the table."""
    if word in _SYNONYMS:
        return _SYNONYMS[word]
    for ending, instead in (("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("s", ""), ("es", "")):
        if word.endswith(ending) and (bare := word.removesuffix(ending) + instead) in OPPOSITES:
            return bare
    return word


def _stem(word: str) -> str:
    bare = _SUFFIX.sub("", word)
    return bare if len(bare) > 2 else word  # noqa: PLR2004 - shorter is no stem


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Dice: 2 · common / (both sizes), 0 to 1."""
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
