"""Whether two requests are about the same problem, beyond being alike. Pure.

To a model that knows meaning, "Add a --verbose flag to the export" and "Add a --quiet flag to the export" say nearly the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from pastchats_memory.model import Item
from pastchats_memory.store.outcomes import OPENING
from pastchats_memory.text.identifiers import blank_spaceless, ngrams
from pastchats_memory.text.shell import find_instruction
from pastchats_memory.text.words import FUNCTION_WORDS, words

LEAST_SHARED = 3
"""Words of their subject that they share: "do that" is asked a hundred times, and to an English model all short texts in Chinese are alike."""
LONGEST_NAME = 2
"""Words of one that stand where the other has others, up to which they are a name."""
BEFORE = 2
"""Characters before a word that tell whether it begins a sentence."""
LEAST_SPOKEN_OF = 2
"""Words of an error that a request has which is about it."""
OUTPUT = 8000
"""Characters of a turn, its last ones, in which errors are looked for."""
COMPARED = 400
"""Characters of a request in which names are compared word by word."""

_COMMAND = re.compile(r"\s*[/!$]")
_PATH = re.compile(r"(?<!\S)[^\s/\\]*+[/\\]\S*+")
_TOKEN = re.compile(r"[\w#@-][\w.+#@/:-]*")
_FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_FILE = re.compile(r"(?<![\w/])[\w./-]*\w\.[a-z][a-z0-9]{0,4}(?![\w.])|(?<!\S)[\w.-]*/[\w./-]+")
_SUFFIX = re.compile(r"(?<=\w)\.[a-z][a-z0-9]{0,4}\Z")
_SENTENCE = re.compile(r"(?:\A|[.!?:\n])\W*\Z")
_PLAIN = re.compile(r"[A-Za-z]?[a-z]+\Z")
_LEADS_TO_NAME = frozenset(
    "a all an and any as at by called every for from in into its my named of on or our per the their this that to under with your".split()  # noqa: SIM905 - a list of thirty strings would fill a page
)
"""Words behind which a name stands rather than what is done."""
_ERROR = re.compile(
    r"^[^\n]{0,200}?(?:\b\w*(?:[Ee]rror|[Ee]xception)\b|\b(?:FAIL|FAILED|fatal|panic|refused|waiting for|not found|no such)\b|✘|✕|×|^[ \t]*+\d+\) )[^\n]{0,200}$",
    re.MULTILINE,
)
_OWN = re.compile(r"['\"`][^'\"`\n]{3,}['\"`]|\w\.[a-z]{1,5}\b|::|\w/\w")
"""What an error has that not every one of its kind has: a quotation, a file, a test, a path."""
_ELSEWHERE = re.compile(r"https?://(?!localhost|127\.)|\blogs?\b", re.IGNORECASE)
"""Where to read on, which is printed below every error of a program."""
_COUNTS = re.compile(r"\d+(?:\.\d+)?")
_PART = re.compile(r"[A-Z]?[a-z0-9]{2,}|[A-Z]{2,}(?![a-z])")
_OF_ERRORS = frozenset(
    """error errors exception fail failed failing failure fix found make no not of please run spec test tests the undefined waiting why js py ts tsx go rs src
    line file module name type value""".split()  # noqa: SIM905 - as below
)
"""Words that are in errors of every kind."""
_GO = frozenset(
    """ahead also apply change changes continue fix go help hello hi implement keep let make need next ok okay please proceed retry
    run start thank thanks try update want work works yeah yes""".split()  # noqa: SIM905 - as above
)
"""Words that ask for work without a word about which."""


def subject(request: str) -> frozenset[str]:
    """What a request is about: its words but for function words, a mere go and paths, and pieces of scripts without spaces; of a command nothing."""
    if _COMMAND.match(request):
        return frozenset()
    bare = _PATH.sub(" ", find_instruction(request[:OPENING]))
    return frozenset([*words(blank_spaceless(bare)), *ngrams(bare)]) - FUNCTION_WORDS - _GO


def are_one(first: str, second: str) -> bool:
    """Whether two requests that are alike are about one problem: they share enough of their subject, and name nothing different in it."""
    return len(subject(first) & subject(second)) >= LEAST_SHARED and not differ_in_name(first, second)


def differ_in_name(first: str, second: str) -> bool:
    """Whether they name other flags or files, or one has another name, number or identifier where the other has its own."""
    one, other = (find_instruction(text[:OPENING])[:COMPARED] for text in (first, second))
    flags, files = ([kind.findall(text) for text in (one, other)] for kind in (_FLAG, _FILE))
    if all(flags) and not set(flags[0]) & set(flags[1]):
        return True
    if all(files) and not any(_is_one_file(file, another) for file in files[0] for another in files[1]):
        return True
    left, right = _told(one), _told(other)
    runs = SequenceMatcher(None, [word for word, _ in left], [word for word, _ in right], autojunk=False).get_opcodes()
    return any(
        _are_names(left[start:end], right) and _are_names(right[begin:stop], left)
        for what, start, end, begin, stop in runs
        if what == "replace"
    )


def _is_one_file(first: str, second: str) -> bool:
    """Whether two paths may be of one file: one may be longer, and one may lack the suffix."""
    (stem, suffix), (other_stem, other_suffix) = map(_named, (first, second))
    return stem == other_stem and (suffix == other_suffix or not (suffix and other_suffix))


def _named(path: str) -> tuple[str, str]:
    """What a file is called behind its folders, and its suffix, both lower-cased."""
    name = path.rstrip("/").rpartition("/")[2].lower()
    suffix = _SUFFIX.search(name)
    return (name[: suffix.start()], suffix[0]) if suffix else (name, "")


def _are_names(run: list[tuple[str, bool]], others: list[tuple[str, bool]]) -> bool:
    """Whether what stands there, but for words that the other has elsewhere, is a name."""
    known = {word for word, _ in others}
    own = [one for one in run if one[0] not in known]
    return 0 < len(own) <= LONGEST_NAME and any(is_name for _, is_name in own)


def _told(text: str) -> list[tuple[str, bool]]:
    """The words that tell, each without an s at the end and with whether it may be a name where it stands."""
    found: list[tuple[str, bool]] = []
    before = ""
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".:-/")
        word = _named(token)[0] if _FILE.fullmatch(token) else token.lower()
        if word and word not in FUNCTION_WORDS and word not in _GO:
            begins = _SENTENCE.search(text, max(0, match.start() - BEFORE), match.start())
            is_plain = _PLAIN.match(token) and (token.islower() or begins)
            found.append((word.removesuffix("s"), not is_plain or before in _LEADS_TO_NAME))
        before = word
    return found


def errors_in(turns: Iterable[Item]) -> frozenset[str]:
    """The lines of an episode, without numbers, by which an error is known again: what tools printed and what the person pasted."""
    found = (
        line[0] for turn in turns if turn.role in ("tool", "user") for line in _ERROR.finditer(turn.content[-OUTPUT:])
    )
    own = (line for line in found if _OWN.search(line) and not _ELSEWHERE.search(line))
    return frozenset(" ".join(_COUNTS.sub("#", line).split()) for line in own)


def are_of_one_error(first: str, second: str, errors: frozenset[str]) -> bool:
    """Whether two requests are about errors that came in both of their episodes: one that nobody speaks of was there all the time."""
    named = frozenset(part for error in errors for part in _parts(error))
    return bool(named) and all(len(_parts(request[:OPENING]) & named) >= LEAST_SPOKEN_OF for request in (first, second))


def _parts(text: str) -> frozenset[str]:
    return frozenset(part.lower().removesuffix("s") for part in _PART.findall(text)) - FUNCTION_WORDS - _OF_ERRORS
