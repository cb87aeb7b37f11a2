"""Split text into subwords. Pure.

Subwords are n-grams of scripts without spaces, identifiers and their parts.

A subword is written between asterisks (`*userby*`). So it can stand wherever a word can: among the words of a query, their
weights and rows, and the words around which an excerpt is cut.
"""

from collections.abc import Iterator

from pastchats_memory.text.lazy_pattern import LazyPattern

LEAST_LENGTH = 3
"""Letters of an unknown word that may be a part of another word."""
LAST_LATIN = "\u024f"
"""End of the blocks of Latin letters, but for those of Vietnamese."""
ANYWHERE = 6
"""Letters from which a subword matches anywhere. A shorter one must begin where a word or a part of a word begins."""

_PAIRED = (
    r"\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u30fa\u30fc-\u30ff\u3105-\u312f"
    r"\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff"
    r"\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Chinese, Japanese, Korean and Yi. Korean has spaces, but joins particles to a noun."""
_TRIPLED = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u1049\u1780-\u17d3\u1950-\u19df\u1a20-\u1a7c"
"""Thai, Lao, Tibetan, Burmese, Khmer and related scripts, which need more characters for a word."""

_RUN = LazyPattern(f"([{_PAIRED}]+)|([{_TRIPLED}]+)")
"""A run of a script without spaces. No function asks it about ASCII text."""
_WORD = LazyPattern(r"[^\W_]+")
_PART = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
_COMPOUND = LazyPattern(r"(?<![^\W_])[^\W_]++(?:[_./\\:#@+~=-]++[^\W_]++)+")


def subword(text: str) -> str:
    """Return text written as a subword, lower-cased."""
    return f"*{text.lower()}*"


def subword_text(term: str) -> str | None:
    """Return the text of a subword, or None for a word."""
    return term[1:-1] if term.startswith("*") else None


def blank_spaceless(text: str) -> str:
    """Return the text with a blank for each run of a script without spaces."""
    return text if text.isascii() else _RUN.sub(" ", text)


def is_foreign(text: str) -> bool:
    """Check whether most letters belong to another script than Latin."""
    if text.isascii():
        return False
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > LAST_LATIN and not "\u1e00" <= letter <= "\u1eff" for letter in letters) * 2 > len(letters)


def separate_spaceless(text: str) -> str:
    """Return the text with a blank on each side of each run of a script without spaces."""
    return text if text.isascii() else _RUN.sub(r" \g<0> ", text)


def is_spaceless(text: str) -> bool:
    """Check whether most letters belong to scripts without spaces."""
    if text.isascii():
        return False
    spelled = sum(map(len, _RUN.sub("", text).split()))
    return sum(map(len, (match.group() for match in _RUN.finditer(text)))) > spelled


def _begins_spaceless(text: str) -> bool:
    return not text.isascii() and _RUN.match(text) is not None


def ngrams(text: str) -> list[str]:
    """Return the distinct pairs or triples of letters of scripts without spaces, in order."""
    if text.isascii():
        return []
    found: dict[str, None] = {}
    for paired, tripled in _RUN.findall(text):
        size, run = (2, paired) if paired else (3, tripled)
        found |= dict.fromkeys(subword(run[start : start + size]) for start in range(max(1, len(run) - size + 1)))
    return list(found)


def split_identifiers(text: str) -> dict[str, tuple[str, ...]]:
    """Return the lower-cased parts of each identifier that has several, as `getUserById` and `E11000`."""
    found = {}
    for word in dict.fromkeys(_WORD.findall(blank_spaceless(text))):
        parts = _PART.findall(word)
        if len(parts) > 1:
            found[word.lower()] = tuple(part.lower() for part in parts)
    return found


def find_compounds(text: str) -> list[str]:
    """Return the distinct runs of words joined by marks, such as `ingest/turns` and `next_attempt_at`."""
    return list(dict.fromkeys(_COMPOUND.findall(blank_spaceless(text))))


def find_subword(text: str, sought: str) -> Iterator[int]:
    """Yield the positions at which a subword may occur in a text; regular expressions take ten times as long."""
    is_anywhere = len(sought) >= ANYWHERE or _WORD.fullmatch(sought) is None or _begins_spaceless(sought)
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter such as İ
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    at = lowered.find(sought)
    while at >= 0:
        if is_anywhere or _is_part_start(text, at):
            yield at
        at = lowered.find(sought, at + 1)


def _is_part_start(text: str, at: int) -> bool:
    """Check whether a word, or a part of an identifier, begins there."""
    before, first = text[at - 1 : at], text[at]
    if not before.isalnum() or _begins_spaceless(before):
        return True
    return (before.islower() and first.isupper()) or before.isdigit() != first.isdigit()
