"""Judge whether a value looks like a secret: neither a placeholder nor code nor words."""

import math
import re
from collections.abc import Callable
from functools import lru_cache

from pastchats_memory.redact.rule_files import read_patterns, read_rules

LEAST_DISTINCT = 4
LEAST_PASSWORD = 6
LEAST_RANDOM = 8
LEAST_IN_PROSE = 12
LEAST_LETTERS = 16
"""Characters that a value without a digit needs to look random."""
LEAST_KEY = 24
"""Characters of a value behind the bare word "key"."""
LEAST_ENTROPY = 2.8
"""Bits a character. Words and names of things lie below, random hexadecimal digits at 3.3 to 3.9."""
LEAST_ENTROPY_OF_LETTERS = 3.5
LEAST_LONG = 32
LEAST_ENTROPY_OF_LONG = 4.4
"""From `LEAST_LONG` characters on, names and paths repeat themselves more."""
LEAST_SALT = 48
LEAST_ENTROPY_OF_SALT = 5
"""For a value with blanks: sentences repeat themselves more."""
LEAST_WORDS = 0.8
LEAST_WORDS_OF_NAMES = 0.6
"""Part of a value that belongs to words, if it is one word or several with marks between them."""
MANY_DIGITS = 4
MOST_PARTS, LONGEST_SPACED = 6, 128
"""Parts and characters of a value with blanks; more are a sentence or a public key."""
NAME_CLASSES = 2
ALL_CLASSES = 4
LEAST_ENTROPY_OF_PATHS = 4.2
"""Above it, a value that begins with a slash is base64."""

SecretTest = Callable[[str, str], bool]
"""Returns whether a value behind a name of some kind is a secret."""

_RULES = read_rules("values.toml")
_PATTERNS = read_patterns("values.toml")
_PLACEHOLDER = _PATTERNS["placeholder"]
_PLACEHOLDER_PARTS = _RULES["words"]["placeholder_parts"]
_WORD = re.compile(r"(?<!\w)\w+\Z")
_COMMON_WORDS = frozenset(_RULES["words"]["common"])
_NAME_AND_LETTER = _PATTERNS["name_and_letter"]

_CODE = _PATTERNS["code"]
_SESSION_NAME = re.compile(r"sess|sid|auth|token|csrf|jwt|remember", re.IGNORECASE)
_PATH = re.compile(r"/[\w./\-]*\Z")
_URL = re.compile(r"https?://[^@]*\Z")
_URL_PART = re.compile(r"[A-Za-z0-9_\-]+")
_EMAIL = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[a-z]{2,})+\Z")
_NO_VALUE = _PATTERNS["no_value"]
_WORDLIKE = re.compile(r"[A-Za-z]+(?:['’\-/.][A-Za-z]+)*\Z")
_WORD_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_CONSONANTS = _PATTERNS["consonants"]
_SEPARATED = re.compile(r"(?:\w+(?:[-./]\w+)+|\w[^\W_]*_\w+)\Z")
_DIGIT_THEN_LETTER = re.compile(r"[0-9][A-Za-z]")
_EXTENSION = re.compile(r"[A-Za-z]\w{0,5}\Z")
_BOOTSTRAP_TOKEN = _PATTERNS["bootstrap_token"]
_CLASSES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]")))
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_INNER_DIGITS = re.compile(r"(?<=[a-z])[0-9]+(?=[a-z])", re.IGNORECASE)
_APP_PASSWORD = _PATTERNS["app_password"]
_PASSPHRASE = _PATTERNS["passphrase"]
_NAMING_WORDS = frozenset(_RULES["words"]["naming"])
_QUOTED_REST = re.compile(r"(?P<rest>(?=[^\"'`\n]{0,40} )[^\"'`\n]{1,128}?)\\{0,7}(?P<mark>[\"'`])")
_HEX = re.compile(r"[0-9a-f]+\Z")
_AGENT_SESSION = re.compile(r"ses_|[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)
_CACHE_KEY = re.compile(r"[A-Za-z][\w.]*-(?>(?:[\w.]+-)*)[0-9a-f]{32,128}\Z")


@lru_cache(maxsize=256)
def is_placeholder(value: str) -> bool:
    """Return whether a value stands in a secret's place: `<token>`, `your-key-here`, `****`."""
    if len(set(value)) < LEAST_DISTINCT or value.endswith(("...", "…")):
        return True
    lowered = value.lower()
    word = lowered[:-1] if lowered[-1] in ";,.:!?" else lowered
    return bool(
        word in _COMMON_WORDS
        or _NO_VALUE.match(value)
        or _PLACEHOLDER.match(lowered)
        or _NAME_AND_LETTER.match(word)
        or _is_description(word)
        or (any(part in lowered for part in _PLACEHOLDER_PARTS) and _WORD.match(lowered))
    )


def _is_description(word: str) -> bool:
    """Return whether a value says how something is written, as `base64-encoded` and `sha256-hashed` do."""
    first, _, rest = word.partition("-")
    return first in _COMMON_WORDS and not first.isalpha() and rest.isalpha()


def is_passphrase(value: str) -> bool:
    """Return whether a value is four or more joined words, as in `correct-horse-battery-staple`."""
    return _PASSPHRASE.match(value) is not None and _NAMING_WORDS.isdisjoint(re.findall("[a-z]+", value.lower()))


def has_letters_and_digits(value: str) -> bool:
    """Return whether a value has both a letter and a digit, as passwords that people choose."""
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


@lru_cache(maxsize=256)
def is_code(value: str) -> bool:
    """Return whether a value is an expression of a program, or a path."""
    if _PATH.match(value):
        is_path = value.count("/") >= len(value) / 8 or "." in value or entropy(value) <= LEAST_ENTROPY_OF_PATHS
        return is_path and not _is_mixed(value)
    if _URL.match(value):
        return not any(map(looks_random, _URL_PART.findall(value)))
    return _CODE.match(value) is not None and not _is_mixed(value) and not _has_random_part(value)


def _is_mixed(value: str) -> bool:
    """Return whether a value is more mixed than any name in a program."""
    return (
        len(value) >= LEAST_KEY
        and count_classes(value) == ALL_CLASSES
        and entropy(value) >= LEAST_ENTROPY_OF_PATHS
        and _count_letters_of_words(value) < LEAST_WORDS_OF_NAMES * len(value)
    )


def _has_random_part(value: str) -> bool:
    """Return whether the longest part between dots is random, and the last is no file extension."""
    *_, last = parts = value.partition("(")[0].split(".")
    longest = max(parts, key=len)
    return (
        len(longest) >= LEAST_LETTERS
        and _DIGIT_THEN_LETTER.search(longest) is not None
        and not _EXTENSION.match(last)
        and (is_unlike_words(longest) or _BOOTSTRAP_TOKEN.match(value) is not None)
    )


def count_classes(value: str) -> int:
    """Count which of lower case, upper case, digits and other characters a value has."""
    if not value.isascii():
        tests = (str.islower, str.isupper, str.isdigit, lambda character: not character.isalnum())
        return sum(any(map(test, value)) for test in tests)
    return sum(test.search(value) is not None for test in _CLASSES)


def entropy(value: str) -> float:
    """Return Shannon's entropy of a value's characters, in bits a character.

    H = -Σ p log2 p, computed as log2 n - Σ c log2 c / n over the counts c of the n characters.
    """
    length = len(value)
    repeated = [count for character in set(value) if (count := value.count(character)) > 1]
    return math.log2(length) - math.fsum(count * math.log2(count) for count in repeated) / length


def looks_random(value: str) -> bool:
    """Return whether a value is long, of several kinds of characters, and repeats itself little."""
    if len(value) < LEAST_RANDOM:
        return False
    if " " in value:
        return (
            not value.startswith("-----BEGIN ") and len(value) >= LEAST_SALT and entropy(value) >= LEAST_ENTROPY_OF_SALT
        )
    if (
        len(value) >= LEAST_LONG
        and value.isalnum()
        and len(_INNER_DIGITS.findall(value)) >= MANY_DIGITS
        and entropy(value) >= LEAST_ENTROPY_OF_LETTERS
    ):
        return True  # digits break no word so often
    if not is_unlike_words(value) and not _BOOTSTRAP_TOKEN.match(value):
        return (
            len(value) >= LEAST_LONG and count_classes(value) > NAME_CLASSES and entropy(value) >= LEAST_ENTROPY_OF_LONG
        )
    if _DIGIT.search(value):
        return _LETTER.search(value) is not None and entropy(value) >= LEAST_ENTROPY
    return len(value) >= LEAST_LETTERS and count_classes(value) > 1 and entropy(value) >= LEAST_ENTROPY_OF_LETTERS


def is_unlike_words(value: str) -> bool:
    """Return whether a value is not mostly made of words, as `llama-2-70b-chat` is."""
    least = LEAST_WORDS_OF_NAMES if _SEPARATED.match(value) else LEAST_WORDS
    return _count_letters_of_words(value) < least * len(value)


def _count_letters_of_words(value: str) -> int:
    return sum(len(part) for part in _WORD_PART.findall(value) if not _CONSONANTS.search(part))


def is_spaced_secret(value: str) -> bool:
    """Return whether a value has several parts, of which one is random, and is no sentence."""
    parts = [part.strip(",;.:()") for part in value.split()]
    return (
        1 < len(parts) <= MOST_PARTS
        and len(value) <= LONGEST_SPACED
        and sum(_WORDLIKE.match(part) is not None for part in parts) * 2 <= len(parts)
        and any(
            is_unlike_words(part) and _DIGIT_THEN_LETTER.search(part) and is_mixed_secret(part, "password")
            for part in parts
        )
        and not is_placeholder(value)
    )


def find_quoted_end(text: str, start: int, end: int) -> int:
    """Return where a secret ends of which the part from `start` to `end` is found: at its closing quotation mark."""
    rest = _QUOTED_REST.match(text, end)
    if rest is None or rest["mark"] != text[start - 1 : start] or not is_spaced_secret(text[start : rest.end("rest")]):
        return end
    return rest.end("rest")


def is_assigned_secret(value: str, kind: str) -> bool:
    """Return whether an assigned value is a secret: no placeholder, no code, random unless a password."""
    if is_spaced_secret(value):
        return True
    if kind == "password":
        return (
            len(value) >= LEAST_PASSWORD
            and " " not in value.strip()
            and (_APP_PASSWORD.match(value) is not None or is_passphrase(value) or not is_code(value))
            and not is_placeholder(value)
        )
    return is_random_secret(value, kind)


def is_random_secret(value: str, _kind: str = "") -> bool:
    """Return whether a value looks random and is neither code nor a placeholder.

    This judges cells of tables, where most names head a column of types or counts.
    """
    if len(value) < LEAST_RANDOM or _EMAIL.match(value):
        return False
    return not is_code(value) and not is_placeholder(value) and looks_random(value)


def is_secret_in_prose(value: str, kind: str) -> bool:
    """Return whether a value in a sentence is a secret and not the sentence's next word."""
    value = value.rstrip("!")
    if _EMAIL.match(value) or "://" in value:
        return False
    least = LEAST_PASSWORD if kind == "password" else LEAST_IN_PROSE
    if kind == "password" and is_passphrase(value):
        return True
    if len(value) < least or is_code(value) or is_placeholder(value):
        return False
    if kind == "password":
        return count_classes(value) > 1 and not _WORDLIKE.match(value)
    return looks_random(value)


def is_secret_on_own_line(value: str, kind: str) -> bool:
    """Return whether a value that fills a line is a secret and not the name of a file."""
    if kind == "password" and "." not in value and is_mixed_secret(value, kind):
        return True
    return (
        len(value) >= LEAST_IN_PROSE and is_random_secret(value, kind) and ("." not in value or _has_random_part(value))
    )


def is_secret_in_cell(value: str, kind: str) -> bool:
    """Return whether a cell next to a name is a secret and not the type of a column."""
    return is_random_secret(value, kind) or (kind == "password" and is_mixed_secret(value, kind))


def is_secret_behind_words(value: str, kind: str) -> bool:
    """Return whether a value behind a colon some words after its name is a secret and no report."""
    return is_mixed_secret(value, kind) and "/" not in value and is_unlike_words(value)


def is_secret_in_brackets(value: str, kind: str) -> bool:
    """Return whether a value in brackets behind its name is a secret and not a file or a note."""
    return "." not in value and is_secret_in_prose(value, kind)


def is_secret_in_later_brackets(value: str, kind: str) -> bool:
    """Return whether a value in brackets some words behind its name is a secret and no digest."""
    return not _HEX.match(value) and is_secret_in_brackets(value, kind) and is_mixed_secret(value, kind)


def is_mixed_secret(value: str, kind: str) -> bool:
    """Return whether a value has letters and digits and is no code.

    This judges what follows "pass", which also reports that a test succeeded.
    """
    if kind.startswith("pass") and is_passphrase(value):
        return True
    return (
        is_secret_in_prose(value, "password")
        and has_letters_and_digits(value)
        and is_assigned_secret(value, "password" if kind.startswith("pass") else kind)
    )


def is_environment_secret(value: str, kind: str) -> bool:
    """Return whether the value of a variable in capitals is a secret; any word may be a password."""
    if kind != "password" or value[0] in "$/.<{%":
        return is_assigned_secret(value, kind)
    return not is_placeholder(value)


def is_header_secret(value: str, _kind: str) -> bool:
    """Return whether the text behind `Bearer` or `Basic` is a secret. It may be short base64."""
    return (
        not is_placeholder(value)
        and not is_code(value)
        and (looks_random(value) or (len(value) >= LEAST_RANDOM and value.endswith("=")))
    )


def has_secret_cookie(value: str, _kind: str) -> bool:
    """Return whether a list of cookies has more than preferences."""
    pairs = (pair.partition("=") for pair in value.split(";"))
    return any(
        not is_placeholder(cookie)
        and (looks_random(cookie) or (_SESSION_NAME.search(name) and len(cookie) >= LEAST_IN_PROSE))
        for name, _, cookie in pairs
    )


def is_session_id(value: str, kind: str) -> bool:
    """Return whether a value identifies a web session, and not a session of a coding agent."""
    return not _AGENT_SESSION.match(value) and is_random_secret(value, kind)


def is_user_password(value: str, _kind: str = "") -> bool:
    """Return whether the text behind a user's name is a password; any word may be one."""
    return is_passphrase(value) or (not is_code(value) and not is_placeholder(value) and not value.startswith("//"))


def is_pin(value: str, _kind: str = "") -> bool:
    """Return whether a value is a number of a card or a phone, and no year."""
    return value.isdecimal() and not value.startswith(("19", "20"))


def is_unnamed_key(value: str, _kind: str = "") -> bool:
    """Return whether a value is a secret although it is called no more than a key.

    It is as long and mixed as no name, path, hash, UUID, cache key or public key.
    """
    return (
        len(value) >= LEAST_KEY
        and not _CACHE_KEY.match(value)
        and not value.startswith("pk_")
        and any(map(str.islower, value))
        and any(map(str.isupper, value))
        and any(map(str.isdigit, value))
        and is_random_secret(value)
    )


SECRET_TESTS: dict[str, SecretTest] = {
    test.__name__: test
    for test in (
        has_secret_cookie,
        is_assigned_secret,
        is_header_secret,
        is_mixed_secret,
        is_pin,
        is_random_secret,
        is_secret_behind_words,
        is_secret_in_brackets,
        is_secret_in_cell,
        is_secret_in_later_brackets,
        is_secret_in_prose,
        is_secret_on_own_line,
        is_session_id,
        is_unnamed_key,
        is_user_password,
    )
}
"""The functions that files of rules name."""
