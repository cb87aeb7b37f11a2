"""Split text into words as the full-text index does, and compare letters as regular expressions do."""

import re
from functools import cache

from pastchats_memory.text.data_file import read_words

FUNCTION_WORDS = frozenset(
    """a about above after again against all am an and any are as at be because been before being below between both but
    by can could d did do does doing don down during each few for from further had has have having he her here him his
    how i if in into is isn it its just ll m may me might more most must my no nor not now of off on once only or other
    our out over own re s same shall she should so some such t than that the their them then there these they this
    those through to too under until up us ve very was we were what when where which while who whom whose why will with
    would you your""".split()  # noqa: SIM905 - a list of 130 strings would fill a page
)

FIRST_PERSON = frozenset({"i", "me", "mine", "my", "myself", "our", "ours", "us", "we"})
"""Words by which a question speaks of the person who asks."""

WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the distinct words, lower-cased, in order: runs of letters and digits."""
    return list(dict.fromkeys(word.lower() for word in WORD.findall(text)))


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
