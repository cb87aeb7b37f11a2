"""Split text into words as the full-text index does, and compare letters as regular expressions do."""

import re
from functools import cache

from pastchats_memory.text.data_file import read_words

FUNCTION_WORDS = frozenset(read_words(__file__, "function_words.txt")["english"].split())

FIRST_PERSON = frozenset({"i", "me", "mine", "my", "myself", "our", "ours", "us", "we"})
"""Words by which a question speaks of the person who asks."""

WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the distinct words, lower-cased, in order: runs of letters and digits."""
    return list(dict.fromkeys(word.lower() for word in WORD.findall(text)))


def stem(word: str) -> str:
    """Return a word without the "s" at its end."""
    return word.removesuffix("s")


def is_function_word(word: str) -> bool:
    """Check whether a lower-case word only serves grammar, in any of the languages that are listed."""
    return word in FUNCTION_WORDS or word in _read_others()


def is_other_language(text: str) -> bool:
    """Check whether more words of a text belong to listed languages, or have their letters, than to English grammar."""
    found = words(text)
    others = sum(not word.isascii() or word in _read_others() for word in found)
    return others > sum(word in FUNCTION_WORDS for word in found)


@cache
def _read_others() -> frozenset[str]:
    """Return the function words of languages other than English."""
    return frozenset(" ".join(read_words(__file__, "function_words.txt").values()).split()) - FUNCTION_WORDS


def fold_case(text: str) -> str:
    """Return the text so that letters which an expression takes as equal, case ignored, are one letter."""
    return text.lower() if text.isascii() else text.replace("İ", "i").replace("ı", "i").casefold()
