"""What is looked for within words: characters of scripts without spaces, parts of identifiers, words that nothing has as a word. Pure.

A piece is spelled between asterisks (`*userby*`), so that it goes with words wherever these go: what a query is made of,
what each part weighs, which rows have it, around what an excerpt is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LEAST_LENGTH = 3
"""Letters of a word that nothing has as a word, but perhaps as a part of one."""
ANYWHERE = 6
"""Letters from which a piece may stand anywhere; a shorter one has to begin where a word or a part of one does."""

_PAIRED = (
    r"\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u30fa\u30fc-\u30ff\u3105-\u312f"
    r"\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff"
    r"\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Chinese, Japanese, Korean and Yi. Korean has spaces, but joins to a noun what other languages say beside it."""
_TRIPLED = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u1049\u1780-\u17d3\u1950-\u19df\u1a20-\u1a7c"
"""Thai, Lao, Tibetan, Burmese, Khmer and their neighbours, which spell words out in more characters."""

_RUN = re.compile(f"([{_PAIRED}]+)|([{_TRIPLED}]+)")
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:[_./\\:#@+~=-]++[^\W_]++)+")


def subword(text: str) -> str:
    """A piece as it is spelled among words, lower-cased."""
    return f"*{text.lower()}*"


def subword_text(term: str) -> str | None:
    """The text of a piece; None for a word."""
    return term[1:-1] if term.startswith("*") else None


def blank_spaceless(text: str) -> str:
    """The text with a blank for every run of a script without spaces."""
    return _RUN.sub(" ", text)


def is_spaceless(text: str) -> bool:
    """Whether most letters of a text are of scripts without spaces."""
    if text.isascii():
        return False
    spelled = sum(map(len, _RUN.sub("", text).split()))
    return sum(map(len, (match.group() for match in _RUN.finditer(text)))) > spelled


def ngrams(text: str) -> list[str]:
    """The distinct pieces of scripts without spaces, in order: pairs of neighbours, or threes, or what is shorter than that."""
    found: dict[str, None] = {}
    for paired, tripled in _RUN.findall(text):
        size, run = (2, paired) if paired else (3, tripled)
        found |= dict.fromkeys(subword(run[start : start + size]) for start in range(max(1, len(run) - size + 1)))
    return list(found)


def split_identifiers(text: str) -> dict[str, tuple[str, ...]]:
    """By lower-case word those that are made of parts (`getUserById`, `E11000`), with the parts, lower-cased."""
    found = {}
    for word in dict.fromkeys(_WORD.findall(blank_spaceless(text))):
        parts = _PART.findall(word)
        if len(parts) > 1:
            found[word.lower()] = tuple(part.lower() for part in parts)
    return found


def find_compounds(text: str) -> list[str]:
    """The distinct runs of words that marks and no blanks hold together (`ingest/turns`, `next_attempt_at`), as they were typed."""
    return list(dict.fromkeys(_COMPOUND.findall(blank_spaceless(text))))


def find_subword(text: str, sought: str) -> Iterator[int]:
    """Where a piece, lower-cased, may stand in a text as it was written. Regular expressions take ten times as long for it."""
    is_anywhere = len(sought) >= ANYWHERE or _WORD.fullmatch(sought) is None or _RUN.match(sought) is not None
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter such as İ
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    at = lowered.find(sought)
    while at >= 0:
        if is_anywhere or _is_part_start(text, at):
            yield at
        at = lowered.find(sought, at + 1)


def _is_part_start(text: str, at: int) -> bool:
    """Whether a word begins there, or a part of an identifier."""
    before, first = text[at - 1 : at], text[at]
    if not before.isalnum() or _RUN.match(before):
        return True
    return (before.islower() and first.isupper()) or before.isdigit() != first.isdigit()
