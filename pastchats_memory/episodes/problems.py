"""Compare two similar requests: are they about the same problem? Pure.

Their embeddings do not tell: "Add a --verbose flag to the export" is close to "Add a --quiet flag to the export".
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from pastchats_memory.model import Item
from pastchats_memory.store.outcomes import OPENING
from pastchats_memory.text.data_file import read_words
from pastchats_memory.text.identifiers import blank_spaceless, ngrams
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern
from pastchats_memory.text.words import FUNCTION_WORDS, words

MIN_SHARED_WORDS = 3
"""Words of both subjects. "Do that" recurs often, and an English model finds all short Chinese texts similar."""
MAX_NAME_WORDS = 2
"""Words of a name that stands in the place of another name."""
LOOKBEHIND = 2
"""Characters before a word that show whether it starts a sentence."""
MIN_ERROR_WORDS = 2
"""Words of an error in a request about it."""
MAX_OUTPUT = 8000
"""Last characters of a turn that are searched for errors."""
COMPARED = 400
"""Characters of a request that are compared word by word."""

_COMMAND = LazyPattern(r"\s*[/!$]")
_PATH = LazyPattern(r"(?<!\S)[^\s/\\]*+[/\\]\S*+")
_TOKEN = LazyPattern(r"[\w#@-][\w.+#@/:-]*")
_FLAG = LazyPattern(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_FILE = LazyPattern(r"(?<![\w./-])[\w./-]*\w\.[a-z][a-z0-9]{0,4}(?![\w.])|(?<!\S)[\w.-]*/[\w./-]+")
_SUFFIX = LazyPattern(r"(?<=\w)\.[a-z][a-z0-9]{0,4}\Z")
_SENTENCE = LazyPattern(r"(?:\A|[.!?:\n])\W*\Z")
_PLAIN = LazyPattern(r"[A-Za-z]?[a-z]+\Z")
_WORDS = read_words(__file__, "problem_words.txt")
_LEADS_TO_NAME = frozenset(_WORDS["leads-to-name"].split())
_ERROR = read_pattern(__file__, "error-line", re.MULTILINE)
_SPECIFIC = LazyPattern(r"['\"`][^'\"`\n]{3,}['\"`]|\w\.[a-z]{1,5}\b|::|\w/\w")
"""Parts that distinguish an error from others of its kind: a quotation, a file, a test, a path."""
_FURTHER_READING = LazyPattern(r"https?://(?!localhost|127\.)|\blogs?\b", re.IGNORECASE)
"""Links that a program prints below every error."""
_COUNTS = LazyPattern(r"\d+(?:\.\d+)?")
_PART = LazyPattern(r"[A-Z]?[a-z0-9]{2,}|[A-Z]{2,}(?![a-z])")
_ERROR_WORDS = frozenset(_WORDS["of-errors"].split())
_GO_WORDS = frozenset(_WORDS["of-requests"].split())


@lru_cache(128)
def extract_subject(request: str) -> frozenset[str]:
    """Return the content words of a request, and n-grams of scripts without blanks; none of a command.

    Leave out paths, function words, and words such as "go on".
    """
    if _COMMAND.match(request):
        return frozenset()
    bare = _PATH.sub(" ", find_instruction(request[:OPENING]))
    return frozenset([*words(blank_spaceless(bare)), *ngrams(bare)]) - FUNCTION_WORDS - _GO_WORDS


def is_same_problem(first: str, second: str) -> bool:
    """Return whether two similar requests share their subject and differ in no name."""
    shared = extract_subject(first) & extract_subject(second)
    return len(shared) >= MIN_SHARED_WORDS and not has_different_name(first, second)


def has_different_name(first: str, second: str) -> bool:
    """Return whether the requests differ in a flag, file, name or number."""
    one, other = (find_instruction(text[:OPENING])[:COMPARED] for text in (first, second))
    flags, files = ([kind.findall(text) for text in (one, other)] for kind in (_FLAG, _FILE))
    if all(flags) and not set(flags[0]) & set(flags[1]):
        return True
    if all(files) and not any(_is_one_file(file, another) for file in files[0] for another in files[1]):
        return True
    from difflib import SequenceMatcher  # here, since most recalls compare no two requests

    left, right = _content_words(one), _content_words(other)
    changes = SequenceMatcher(
        None, [word for word, _ in left], [word for word, _ in right], autojunk=False
    ).get_opcodes()
    return any(
        _contains_name(left[start:end], right) and _contains_name(right[begin:stop], left)
        for change, start, end, begin, stop in changes
        if change == "replace"
    )


def find_file_names(text: str) -> list[str]:
    """Return the names and paths of files in a text."""
    return [found for found in _FILE.findall(text) if _SUFFIX.search(found)]


def _is_one_file(first: str, second: str) -> bool:
    """Return whether two paths may name one file, if one is longer or lacks the suffix."""
    (stem, suffix), (other_stem, other_suffix) = map(_split_name, (first, second))
    return stem == other_stem and (suffix == other_suffix or not (suffix and other_suffix))


def _split_name(path: str) -> tuple[str, str]:
    name = path.rstrip("/").rpartition("/")[2].lower()
    suffix = _SUFFIX.search(name)
    return (name[: suffix.start()], suffix[0]) if suffix else (name, "")


def _contains_name(words: list[tuple[str, bool]], others: list[tuple[str, bool]]) -> bool:
    """Return whether the words, without those of the other text, are a name."""
    known = {word for word, _ in others}
    own = [one for one in words if one[0] not in known]
    return 0 < len(own) <= MAX_NAME_WORDS and any(is_name for _, is_name in own)


def _content_words(text: str) -> list[tuple[str, bool]]:
    """Return the content words without a final s, and whether each may be a name."""
    found: list[tuple[str, bool]] = []
    before = ""
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".:-/")
        word = _split_name(token)[0] if _FILE.fullmatch(token) else token.lower()
        if word and word not in FUNCTION_WORDS and word not in _GO_WORDS:
            starts_sentence = _SENTENCE.search(text, max(0, match.start() - LOOKBEHIND), match.start())
            is_plain = _PLAIN.match(token) and (token.islower() or starts_sentence)
            found.append((word.removesuffix("s"), not is_plain or before in _LEADS_TO_NAME))
        before = word
    return found


def extract_errors(turns: Iterable[Item]) -> frozenset[str]:
    """Return error lines of tools and of the user, without numbers."""
    found = (
        line[0]
        for turn in turns
        if turn.role in ("tool", "user")
        for line in _ERROR.finditer(turn.content[-MAX_OUTPUT:])
    )
    specific = (line for line in found if _SPECIFIC.search(line) and not _FURTHER_READING.search(line))
    return frozenset(" ".join(_COUNTS.sub("#", line).split()) for line in specific)


def is_shared_error(first: str, second: str, errors: frozenset[str]) -> bool:
    """Return whether two requests mention errors of both episodes; an unmentioned one was always there."""
    named = frozenset(part for error in errors for part in _words_of(error))
    return bool(named) and all(
        len(_words_of(request[:OPENING]) & named) >= MIN_ERROR_WORDS for request in (first, second)
    )


def _words_of(text: str) -> frozenset[str]:
    return frozenset(part.lower().removesuffix("s") for part in _PART.findall(text)) - FUNCTION_WORDS - _ERROR_WORDS
