"""Find later requests that supersede an earlier decision on the same subject. Pure.

A linear model reads each sentence of the later request. It sees cues ("now", "if", "instead"), whatever their language, and which words the
earlier text has too. `scripts/train_supersession.py` writes its weights. A wrong *superseded* is worse than none.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise
from math import exp
from os.path import commonprefix
from typing import Literal, NamedTuple, get_args

from pastchats_memory.text.data_file import read_words
from pastchats_memory.text.identifiers import is_spaceless, separate_spaceless
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.sentences import split_sentences
from pastchats_memory.text.words import FUNCTION_WORDS

SentenceKind = Literal["changes", "decides", "other"]
"""`changes`: one thing takes the place of another. `decides`: a choice is made. `other`: it asks, compares, reports, or is about other work."""
KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)
WEIGHTS, SCALE, BUCKETS = "supersession_weights.txt", 64, 4096
"""File of whole multiples of weights, the multiple, and the number of features onto which cues are hashed. A constant comes first."""
SURE, MAX_OTHER = 0.78, 0.87
"""Least probability of a sentence that changes something, and the greatest one that the earlier sentence is of kind "other"."""
MAX_SCANNED, MAX_SENTENCES = 2000, 3
"""Characters of a text that are read, and sentences of one that decides or changes something. Longer texts describe work."""
MIN_SHARED, MIN_SHARE, MIN_OVERLAP, LONG_WORD = 2, 0.5, 0.4, 12
"""Words that both subjects share, their share in the shorter one and in the two sentences. So long a word is mostly a compound and counts as two."""
MIN_STEM, MIN_STEM_SHARE = 4, 0.6
"""Letters with which two forms of a word begin, and their share in the longer form."""
IGNORED, START, MAX_PHRASE = "ignored", "^", 4
"""Name of the words that mean nothing by themselves, what stands before the first word, and words of a cue."""
SHARED, NUMBER, UNKNOWN = "X", "0", "N"
"""Stand for a word of the earlier text, a number, and another word without a cue."""
STRONG = frozenset({"now", "from", "nomore", "out", "replace", "move", "instead", "change", "only", "decide"})
"""A sentence that changes something has one of these cues."""
SUBJECTS = frozenset({"", NUMBER, "others", "bug", "do"})
"""Cues whose words may be the subject: "customer", "error", "test". If the earlier text has the word, it is one."""
REVERSAL = frozenset({"replace", "decide"})
"""Cues of a sentence that says in so many words that it replaces a decision. One word of its subject is enough."""
UNDECIDED, UNDECIDED_REACH = frozenset({"ask", "bad", "bug", "maybe", "if", "think"}), 3
"""Cues of sentences that decide nothing, and the number of first words among which they count."""

_QUOTED = LazyPattern(
    r"```.*?(?:```|\Z)|^[ \t]*+>[^\n]*$|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|„[^“”\n]{0,300}[“”]|「[^」\n]{0,300}」",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = LazyPattern(r"[^\W_](?:[\w.+#@/’'-]*\w)?|[?？!！]|[,，、:;；.。](?=\s|\Z)")
_NO_HIRAGANA = LazyPattern(r"[^ぁ-ゟ]+")
QUESTION_MARKS = ("?", "？")
_TO_ASCII = {"？": "?", "！": "!", "，": ",", "、": ",", "；": ";", "。": "."}


class _Cues(NamedTuple):
    phrases: dict[tuple[str, ...], str]
    beginnings: dict[str, str]
    spaceless: dict[str, str]


class CuedWord(NamedTuple):
    """A word, a phrase or a mark of a sentence."""

    text: str
    cue: str
    """Empty for a word without one."""


@cache
def _read_cues() -> _Cues:
    found = _Cues({}, {}, {})
    for cue, listed in read_words(__file__, "supersession_words.txt").items():
        for phrase in listed.replace("\n", " ").split(", "):
            if is_spaceless(phrase):
                found.spaceless.setdefault(phrase, cue)
            elif phrase.endswith("*"):
                found.beginnings.setdefault(phrase[:-1], cue)
            else:
                found.phrases.setdefault(tuple(phrase.split()), cue)
    return found


@cache
def _read_weights() -> list[list[int]]:
    listed = read_words(__file__, WEIGHTS)
    return [[*map(int, listed[kind].split())] for kind in KINDS]


@lru_cache(maxsize=2048)
def split_tokens(sentence: str) -> tuple[CuedWord, ...]:
    """Return the words and marks of a sentence with their cues, without function words."""
    words = [word.lower().replace("’", "'") for word in _TOKEN.findall(separate_spaceless(sentence))]
    return tuple(_find_cues([START, *words]))


def _find_cues(words: Sequence[str]) -> Iterator[CuedWord]:
    cues = _read_cues()
    place = 0
    while place < len(words):
        word = words[place]
        parts = (tuple(words[place : place + size]) for size in range(MAX_PHRASE, 0, -1))
        phrase = next((one for one in parts if one in cues.phrases), ())
        place += len(phrase) or 1
        if phrase and cues.phrases[phrase] != IGNORED:
            yield CuedWord(" ".join(phrase), cues.phrases[phrase])
        if phrase or word == START:
            continue
        if is_spaceless(word):
            yield from _split_spaceless(word, cues.spaceless)
        elif not word[0].isalnum():
            yield CuedWord("", _TO_ASCII.get(word, word))
        elif word[0].isdigit():
            yield CuedWord(word, NUMBER)
        elif word not in FUNCTION_WORDS:
            beginnings = (word[:size] for size in range(len(word), 1, -1))
            yield CuedWord(word, next((cues.beginnings[one] for one in beginnings if one in cues.beginnings), ""))


def _split_spaceless(run: str, cues: Mapping[str, str]) -> Iterator[CuedWord]:
    """Yield the listed parts of a run, the longest first, and what is between them."""
    longest = max(map(len, cues))
    start = place = 0
    while place < len(run):
        parts = (run[place : place + size] for size in range(longest, 0, -1))
        part = next((one for one in parts if one in cues), "")
        if part and start < place:
            yield CuedWord(run[start:place], "")
        place += len(part) or 1
        if part:
            yield CuedWord(part, cues[part])
            start = place
    if start < place:
        yield CuedWord(run[start:], "")


def list_marks(tokens: Iterable[CuedWord], subject: Iterable[str] = ()) -> list[str]:
    """Return a cue or another mark for each word; those that belong to a subject have a mark of their own."""
    marks: list[str] = []
    for token in tokens:
        is_shared = token.cue in SUBJECTS and token.text and any(_is_same(token.text, word) for word in subject)
        mark = SHARED if is_shared else token.cue or UNKNOWN
        if marks[-1:] != [mark]:
            marks.append(mark)
    return marks[:-1] if marks[-1:] == ["."] else marks


def make_features(marks: Sequence[str]) -> set[int]:
    """Return the numbers of the features: marks, sequences of two and three, with and without other words, and pairs."""
    names = {f"mark {mark}" for mark in marks} | {f"first {mark}" for mark in marks[:1]}
    for row in (["^", *marks, "$"], ["^", *(mark for mark in marks if mark.isalpha() and mark != UNKNOWN), "$"]):
        names.update(map(" ".join, pairwise(row)))
        names.update(map(" ".join, zip(row, row[1:], row[2:], strict=False)))
    meaningful = sorted({mark for mark in marks if mark.isalnum() or mark == "?"} - {UNKNOWN})
    names.update(map("&".join, combinations(meaningful, 2)))
    return {zlib.crc32(name.encode()) % BUCKETS + 1 for name in names}


def estimate(marks: Sequence[str]) -> dict[SentenceKind, float]:
    """Return the probability of each kind of sentence."""
    features = make_features(marks)
    length = len(features) ** 0.5
    sums = [(row[0] + sum(row[one] for one in features) / length) / SCALE for row in _read_weights()]
    shares = [exp(one - max(sums)) for one in sums]
    return {kind: share / sum(shares) for kind, share in zip(KINDS, shares, strict=True)}


def list_changes(request: str) -> list[str]:
    """Return the sentences of a request, without its quotations, that may put one thing in the place of another."""
    return list(filter(_may_change, _list_sentences(request)))


def has_change(request: str) -> bool:
    """Return whether a sentence of a request surely puts one thing in the place of another."""
    marks = (list_marks(split_tokens(sentence)) for sentence in list_changes(request))
    return any(estimate(one)["changes"] >= SURE for one in marks)


@lru_cache(maxsize=512)
def _list_sentences(request: str) -> tuple[str, ...]:
    typed = split_paste(find_instruction(request)).typed[:MAX_SCANNED]
    return tuple(split_sentences(_QUOTED.sub(" ", typed)))


def _may_change(sentence: str) -> bool:
    cues = {token.cue for token in split_tokens(sentence)}
    return not STRONG.isdisjoint(cues) and ("polite" in cues or not sentence.endswith(QUESTION_MARKS))


def supersedes(later: str, request: str, answer: str = "") -> bool:
    """Return whether a later request changes what a request, or its answer, decided on the same subject."""
    sentences, *earlier = map(_list_sentences, (later, request, answer))
    changes = list(filter(_may_change, sentences))
    if not changes or len(sentences) > MAX_SENTENCES:
        return False
    decided = [one for text in earlier if len(text) <= MAX_SENTENCES for one in text if _may_decide(one)]
    # "Jenkins is dead. The nightly tests run on Buildkite." names its subject in both sentences.
    named = list_subject([token for one in sentences for token in split_tokens(one)])
    return any(_changes(change, named, one) for change in changes for one in decided)


def _may_decide(sentence: str) -> bool:
    cues = {token.cue for token in split_tokens(sentence)[:UNDECIDED_REACH]}
    return not sentence.endswith(QUESTION_MARKS) and UNDECIDED.isdisjoint(cues)


def _changes(change: str, named: Sequence[str], decided: str) -> bool:
    tokens, earlier = split_tokens(change), split_tokens(decided)
    subject, own = list_subject(earlier), list_subject(tokens)
    is_reversal = {token.cue for token in tokens} >= REVERSAL and [one.cue for one in earlier[:1]] != ["do"]
    if not is_same_subject(subject, named, MIN_SHARED - is_reversal):
        return False
    pairs = ((subject, own), (own, subject))
    shared = sum(any(_is_same(word, other) for other in others) for words, others in pairs for word in words)
    all_, marks = len(subject) + len(own), list_marks(tokens, subject)
    return (
        (is_reversal or MIN_OVERLAP * all_ <= shared < all_)  # without a new word nothing is changed
        and marks[:2] != ["replace", UNKNOWN]  # another thing in the same place
        and estimate(list_marks(earlier))["other"] < MAX_OTHER
        and estimate(marks)["changes"] >= SURE
    )


def list_subject(tokens: Sequence[CuedWord]) -> list[str]:
    """Return the words that a sentence may be about, and the pairs of letters in a script without spaces."""
    found: dict[str, None] = {}
    for token in tokens:
        if token.cue not in SUBJECTS or (token.cue == "do" and token is tokens[0]):
            continue
        if is_spaceless(token.text):
            found |= dict.fromkeys(filter(_NO_HIRAGANA.fullmatch, map("".join, pairwise(token.text))))
        elif len(token.text) > 1:
            found[token.text] = None
    return list(found)


def is_same_subject(earlier: Sequence[str], later: Sequence[str], least: int) -> bool:
    """Return whether the words of two subjects are about the same thing; at least some words have to be shared."""
    shared = [word for word in earlier if any(_is_same(word, other) for other in later)]
    numbers, others = ({word for word in subject if word[0].isdigit()} for subject in (earlier, later))
    worth = sum(1 + (len(word) >= LONG_WORD) for word in shared if word not in numbers)
    worth += bool(worth and numbers and others and numbers != others)
    return worth >= least and worth >= MIN_SHARE * min(len(earlier), len(later))


def _is_same(word: str, other: str) -> bool:
    """Return whether two words are forms of one, or a run of a script without spaces has the other."""
    if word == other or not word or not other:
        return word == other
    if is_spaceless(word) and is_spaceless(other):
        return len(other) > 1 and other in word
    if word[0].isdigit() or other[0].isdigit():
        return False
    equal = len(commonprefix([word, other]))  # noqa: RUF071 - these are no paths
    return equal >= MIN_STEM and equal >= MIN_STEM_SHARE * max(len(word), len(other))
