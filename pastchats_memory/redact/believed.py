"""Does a value look like one that somebody keeps secret? No placeholder, no name in a program, no word."""

from __future__ import annotations

import math
import re

LEAST_DISTINCT = 4
LEAST_PASSWORD = 6
LEAST_RANDOM = 8
LEAST_SAID = 12
LEAST_LETTERS = 16
"""Characters that a value without a digit has to have before it can look random."""
LEAST_KEY = 24
"""Characters of a value that is called no more than a key."""
LEAST_ENTROPY = 2.8
"""Bits a character (Shannon, over the value's own characters): words and names of things lie below, random hex at 3.3 to 3.9."""
LEAST_ENTROPY_OF_LETTERS = 3.5
LEAST_LONG = 32
LEAST_ENTROPY_OF_LONG = 4.4
"""From that length on no name or path has so little repetition."""
LEAST_SALT = 48
LEAST_ENTROPY_OF_SALT = 5
"""Of a value with blanks: no sentence has so little repetition."""
_NAMES_HAVE = 2
ALL_CLASSES = 4
LEAST_ENTROPY_OF_PATHS = 4.2
"""Above it, what begins with a slash is base64."""

_PLACEHOLDER = re.compile(
    r"(?:[x*.•_\-#0?]{3,}|<.*|\[.*|\{.*|\$.*|%\w+%|@\w+@|#\{.*|(?:your|my|the|some|insert|enter|replace|change|put|"
    r"add|set|use|new|old)[\-_ ].*|(?:required|nullable|sometimes)\|.*|(?:your|insert|enter|replace|change)\w*)\Z"
)
"""Of a value in small letters."""
_SAYS_SO = ("example", "placeholder", "changeme", "change_me", "redacted", "dummy", "foobar")
_WORD = re.compile(r"\w+\Z")
_NOBODYS = frozenset(
    re.findall(
        r"\w+",
        "none null nil undefined true false required optional string str bytes number int integer bool boolean object any "
        "void secret password passwd token key value text hidden basic bearer username user email input test self this not "
        "empty missing invalid incorrect wrong expired function return async await const import export default type name "
        "unset here there field from with and the for was are has must should will can may in is it of on or to as at be by",
    )
)
_ONE_MORE = re.compile(r"(?:secret|password|token|key)\w\Z")
"""Those that may have a letter more, as of a plural."""


_IDENTIFIER = r"(?:[$_]{0,2}[a-z]+(?:\d{1,3}[a-z]*)?(?:_[a-z0-9]+)*_?|[$_]{0,2}[a-z]+(?:[A-Z]{1,4}[a-z]+\d{0,3})+|(?:[A-Z]{1,4}[a-z]+\d{0,3})+|[A-Z]+\d{0,2}(?:_[A-Z0-9]+)*)"
_CODE = re.compile(
    rf"(?:{_IDENTIFIER}(?:(?:\.|->|::|\?\.|\[\d+\]\.){_IDENTIFIER})+|{_IDENTIFIER}(?:(?:\.|->|::|\?\.|!\.){_IDENTIFIER})*!?[(\[].*|[(\[{{@].*|"
    r"\.{1,2}/.*|~/.*|(?:https?|file|ftp)://.*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:_[a-z]+)+|[a-z]+(?:-[a-z]+)+|"
    r"[a-z]+(?:[A-Z][a-z]+)+|@?[A-Z][a-z]+(?:[A-Z][a-z]+)*|[a-z]{1,20}|\d{1,11}|\d+\.\d+.*|\d{4}-\d\d-\d\d.*|[&*!][A-Za-z_][a-z_.]*|"
    r"\w+\\)\Z"
)
"""What stands on the right of an assignment in a program and is no literal: names, calls, paths, numbers, dates."""
_SESSION = re.compile(r"sess|sid|auth|token|csrf|jwt|remember", re.IGNORECASE)
_PATH = re.compile(r"/[\w./\-]*\Z")
_WORDLIKE = re.compile(r"[A-Za-z]+(?:['’\-/.][A-Za-z]+)*\Z")
_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_NO_WORD = re.compile(r"[b-df-hj-np-tv-xz]{5}", re.IGNORECASE)
"""No word has five consonants on end."""
_SEPARATED = re.compile(r"(?:\w+(?:[-./]\w+)+|\w[^\W_]*_\w+)\Z")


def is_placeholder(value: str) -> bool:
    """Something that stands where a secret would: `<token>`, `your-key-here`, `****`, `required`."""
    if len(set(value)) < LEAST_DISTINCT or value.endswith(("...", "…")):
        return True
    lowered = value.lower()
    word = lowered[:-1] if lowered[-1] in ";,.:!?" else lowered
    return bool(
        word in _NOBODYS
        or _PLACEHOLDER.match(lowered)
        or _ONE_MORE.match(word)
        or (any(said in lowered for said in _SAYS_SO) and _WORD.match(lowered))
    )


def is_code(value: str) -> bool:
    """Something that a program computes its value from, or a path."""
    if _PATH.match(value):
        is_path = value.count("/") >= len(value) / 8 or "." in value or entropy(value) <= LEAST_ENTROPY_OF_PATHS
        return is_path and not _is_mixed(value)
    return _CODE.match(value) is not None and not _is_mixed(value) and not _has_random_part(value)


def _is_mixed(value: str) -> bool:
    """More so than anything that a program has a name for."""
    return len(value) >= LEAST_KEY and classes(value) == ALL_CLASSES and entropy(value) >= LEAST_ENTROPY_OF_PATHS


def _has_random_part(value: str) -> bool:
    """Between dots something that no program has a name for and no file: digits within a word that is none."""
    *_, last = parts = value.split(".")
    longest = max(parts, key=len)
    return (
        len(longest) >= LEAST_LETTERS
        and _BROKEN.search(longest) is not None
        and not _EXTENSION.match(last)
        and (_unlike_words(longest) or _BOOTSTRAP.match(value) is not None)
    )


_BROKEN = re.compile(r"[0-9][A-Za-z]")
_EXTENSION = re.compile(r"[A-Za-z]\w{0,5}\Z")
_BOOTSTRAP = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}\Z")
"""As Kubernetes makes them."""


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and other characters a value has."""
    if not value.isascii():
        tests = (str.islower, str.isupper, str.isdigit, lambda one: not one.isalnum())
        return sum(any(map(test, value)) for test in tests)
    return sum(test.search(value) is not None for test in _CLASSES)


_CLASSES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]")))


def entropy(value: str) -> float:
    """Shannon's H = -Σ p log2 p over the characters of a text, in bits a character: log2 n - Σ c log2 c / n."""
    length = len(value)
    repeated = [count for one in set(value) if (count := value.count(one)) > 1]
    return math.log2(length) - math.fsum(count * math.log2(count) for count in repeated) / length


def looks_random(value: str) -> bool:
    """Long enough, without blanks, of several kinds of characters, and with little repetition."""
    if len(value) < LEAST_RANDOM:
        return False
    if " " in value:
        return (
            not value.startswith("-----BEGIN ") and len(value) >= LEAST_SALT and entropy(value) >= LEAST_ENTROPY_OF_SALT
        )
    if (
        len(value) >= LEAST_LONG
        and value.isalnum()
        and len(_DIGITS.findall(value)) >= MANY_DIGITS
        and entropy(value) >= LEAST_ENTROPY_OF_LETTERS
    ):
        return True  # letters that are broken by digits so often are no words
    if not _unlike_words(value) and not _BOOTSTRAP.match(value):
        return len(value) >= LEAST_LONG and classes(value) > _NAMES_HAVE and entropy(value) >= LEAST_ENTROPY_OF_LONG
    if _DIGIT.search(value):
        return _LETTER.search(value) is not None and entropy(value) >= LEAST_ENTROPY
    return len(value) >= LEAST_LETTERS and classes(value) > 1 and entropy(value) >= LEAST_ENTROPY_OF_LETTERS


_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"(?<=[a-z])[0-9]+(?=[a-z])", re.IGNORECASE)
MANY_DIGITS = 4


def _unlike_words(value: str) -> bool:
    """Not mostly made of words, as `llama-2-70b-chat` or `user_id_2024` are."""
    letters = sum(len(part) for part in _PART.findall(value) if not _NO_WORD.search(part))
    return letters < 0.8 * len(value) if not _SEPARATED.match(value) else letters < 0.6 * len(value)


def assigned(value: str, kind: str) -> bool:
    """A value that is assigned, quoted or not: no placeholder, no code, and, but for passwords, not readable."""
    if kind == "password":
        return (
            len(value) >= LEAST_PASSWORD
            and " " not in value.strip()
            and (_OF_AN_APP.match(value) is not None or not is_code(value))
            and not is_placeholder(value)
        )
    return len(value) >= LEAST_RANDOM and not is_code(value) and not is_placeholder(value) and looks_random(value)


_OF_AN_APP = re.compile(r"[a-z]{4}(?:-[a-z]{4}){3}\Z")
"""As Apple makes passwords for programs."""


def said(value: str, kind: str) -> bool:
    """A value in a sentence: nobody's word."""
    value = value.rstrip("!")
    if len(value) < (LEAST_PASSWORD if kind == "password" else LEAST_SAID) or is_code(value) or is_placeholder(value):
        return False
    if kind == "password":
        return classes(value) > 1 and not _WORDLIKE.match(value)
    return looks_random(value)


def alone(value: str, kind: str) -> bool:
    """A value that has a line for itself, where names of files stand as well."""
    return in_a_cell(value, kind) and ("." not in value or _has_random_part(value))


def in_brackets(value: str, kind: str) -> bool:
    """A value in brackets behind its name, where mostly a file or a note stands."""
    return "." not in value and said(value, kind)


def later_in_brackets(value: str, kind: str) -> bool:
    """A value in brackets some words behind its name, where digests stand as well."""
    return not _HEX.match(value) and in_brackets(value, kind) and mixed(value, kind)


_HEX = re.compile(r"[0-9a-f]+\Z")


def mixed(value: str, kind: str) -> bool:
    """Behind a word that says as well that a test has passed: letters and digits, and no code."""
    return (
        said(value, "password")
        and _DIGIT.search(value) is not None
        and _LETTER.search(value) is not None
        and assigned(value, kind)
    )


def of_environment(value: str, kind: str) -> bool:
    """A value that an environment variable with a shouted name is given: any word may be a password there."""
    if kind != "password" or value[0] in "$/.<{%":
        return assigned(value, kind)
    return not is_placeholder(value)


def in_a_cell(value: str, _: str) -> bool:
    """A value beside its name in a table, where most tables tell of types."""
    return len(value) >= LEAST_RANDOM and not is_code(value) and not is_placeholder(value) and looks_random(value)


def shown_in_header(value: str, _: str) -> bool:
    """What comes behind `Bearer` or `Basic`, which may be short base64."""
    return (
        not is_placeholder(value)
        and not is_code(value)
        and (looks_random(value) or (len(value) >= LEAST_RANDOM and value.endswith("=")))
    )


def of_cookie(value: str, _kind: str) -> bool:
    """A list of cookies, one of which is no preference."""
    pairs = (part.partition("=") for part in value.split(";"))
    return any(looks_random(held) or (_SESSION.search(name) and len(held) >= LEAST_SAID) for name, _, held in pairs)


def of_session(value: str, kind: str) -> bool:
    """What a session is known by; an agent's own, by which it is resumed, is a UUID or says what it is."""
    return not _OF_AN_AGENT.match(value) and in_a_cell(value, kind)


_OF_AN_AGENT = re.compile(r"ses_|[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)


def of_user(value: str, _: str) -> bool:
    """What comes behind a user's name and a colon."""
    return not is_code(value) and not is_placeholder(value) and not value.startswith("//")


def of_any_key(value: str, _: str) -> bool:
    """What is called no more than a key: as long and as mixed as no name, path, hash or UUID is; neither one of a cache nor one for all."""
    return (
        len(value) >= LEAST_KEY
        and not _OF_A_CACHE.match(value)
        and not value.startswith("pk_")
        and any(map(str.islower, value))
        and any(map(str.isupper, value))
        and any(map(str.isdigit, value))
        and in_a_cell(value, _)
    )


_OF_A_CACHE = re.compile(r"[A-Za-z][\w.]*-(?>(?:[\w.]+-)*)[0-9a-f]{32,128}\Z")
