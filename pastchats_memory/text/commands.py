"""Compare shell commands by what they do. Pure."""

import re

from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.shell import QUOTED, classify_check, command_words, is_read_only, split_outside_quotes

_SURROUNDINGS = re.compile(
    r"""
    ^(?:cd\ [^&;|]+(?:&&|;)\s*)+|(?:(?<!\s)\s*+(?:2>&1|\|\s*(?:tail|head|cat)\b[^|;&]*|;\s*echo\b[^;&|]*)){1,8}$""",
    re.VERBOSE,
)
"""Text around a command that does not change what it does."""
_BETWEEN = LazyPattern(r"(?:(?<!\s)\s+)?(?:&&|\|\||;)\s*")
_MESSAGE = re.compile(rf"(?<=\s)(?:-[a-z]*m|--message|--body|--title)[=\s]\s*(?:{QUOTED.source}|\S+)")
"""The message of a commit or an issue."""
LIMITS = re.compile(r"\A(?:(?:time|nohup|nice(?:\s+-n\s*\d+)?|timeout(?:\s+-\S+)*\s+[\d.]+[smh]?)\s+)+")
"""Programs that only watch over another one."""
_LOUDNESS = re.compile(r"\s(?:-[qvs]{1,4}|--(?:quiet|verbose|silent|no-color|color(?:=\S+)?|tb=\S+))(?=\s|\Z)")
"""Options of a check that change what it prints."""
_ASSIGNMENT = re.compile(r"\A[A-Za-z_]\w*=\S*\Z")
_COPIED_OUTPUT = re.compile(r"(?:\s\d?>{1,2}\s*(?:/dev/null|/tmp/\S+|\S+\.(?:log|out))|\s\|\s*tee\b[^|]*)\Z")
"""Where the output goes. `2>&1` is gone by then."""
_INTERPRETER = re.compile(r"\Apython[\d.]*\s+(?:-m\s+)?(?=[^-\s])|(?<=\Anpx)\s+(?:-y|--yes)(?=\s)")
"""The part of a call that only says what runs a script or a module."""
_PRINTERS = frozenset({"cat", "echo", "printf"})
"""Programs whose output is what they do."""
_FOLDER = re.compile(r"\A\s*cd\s+(?:'([^'\n]+)'|\"([^\"\n]+)\"|([^\s;&|]+))\s*(?:&&|;)")
_TAKES_BACK = LazyPattern(r"git (?:-C \S+ )?(?:checkout|restore|revert|reset|stash|branch -[dD])\b")
_LONGEST = 2000
"""Characters of a command that are compared."""
MIN_SHARED = 3
"""Letters of an argument that shows a relation between two commands."""


def strip_surroundings(command: str) -> str:
    """Return a command without changes of folder before it, and filters of its output behind it."""
    return _SURROUNDINGS.sub("", command)


def find_purpose(command: str) -> str:
    """Return the parts of a command that do something, on one line; empty if it only reads.

    Commands with equal purposes do the same: quotation marks, messages, loudness and time limits may differ.
    """
    parts = (_normalise(part) for part in split_outside_quotes(" ".join(command[:_LONGEST].split()), _BETWEEN))
    return " && ".join(part for part in parts if part and not is_read_only(part))


def is_only_git(command: str) -> bool:
    """Return whether every part of a command that does something is one of git, and none takes work back."""
    parts = (find_purpose(command) or command).split(" && ")
    return all(part.startswith("git ") and not _TAKES_BACK.match(part) for part in parts)


def _normalise(part: str) -> str:
    bare = LIMITS.sub("", part.strip("() "))
    if bare.partition(" ")[0] in command_words("message-programs"):
        bare = _MESSAGE.sub("", bare)
    bare = strip_surroundings(bare).strip()
    if classify_check(bare):
        bare = _LOUDNESS.sub("", bare)
    return " ".join(re.sub("['\"]", "", bare).removesuffix("&").split())


def find_folder(command: str, project: str) -> str:
    """Return the folder to which a command changes first, relative to the project; empty for the project's own."""
    found = _FOLDER.match(command)
    folder = shorten_path(next(filter(None, found.groups())), project).rstrip("/") if found else ""
    return "" if folder == "." else folder


def simplify_purpose(purpose: str, project: str) -> str:
    """Return a purpose in one spelling, whichever interpreter, copy of the output or form of a path it has.

    >>> simplify_purpose("CI=1 python3 -m pytest ./tests > /tmp/tests.log", "shop")
    'pytest tests'
    """
    return " && ".join(_simplify(part, project) for part in purpose.split(" && "))


def _simplify(part: str, project: str) -> str:
    words = part.split()
    names = (word.partition("=")[0] if _ASSIGNMENT.match(word) else "" for word in words)
    printing = command_words("printing-variables")
    first = next((place for place, name in enumerate(names) if name not in printing), len(words))
    bare = " ".join(words[first:])
    if words[first:] and words[first] not in _PRINTERS:
        bare = _COPIED_OUTPUT.sub("", bare)
    return " ".join(shorten_path(word, project) for word in _INTERPRETER.sub("", bare).split())


def shorten_path(word: str, project: str) -> str:
    """Return a path relative to the project, if it is one of its files; a word that is no path stays as it is."""
    if not (project and (word.startswith("/") or word[1:3] == ":/")):
        return word.removeprefix("./")
    _, folder, inside = f"{word}/".partition(f"/{project}/")
    return (inside.removesuffix("/") or ".") if folder else word


def sort_options(purpose: str) -> str:
    """Return a purpose with the options of each command behind its other words, in one order.

    >>> sort_options("idf.py -p /dev/ttyUSB0 flash")
    'idf.py flash -p /dev/ttyUSB0'
    """
    return " && ".join(map(_sort_options, purpose.split(" && ")))


def _sort_options(part: str) -> str:
    words, mark, rest = part.partition(" -- ")
    others: list[str] = []
    options: list[str] = []
    is_value = False
    for word in words.split():
        if word.startswith("-"):
            options.append(word.replace("=", " ", 1))
        elif is_value:
            options[-1] += f" {word}"
        else:
            others.append(word)
        is_value = word.startswith("-") and "=" not in word
    return " ".join([*others, *sorted(options)]) + mark + rest


def find_program(purpose: str) -> str:
    """Return the name of the program that the last part of a purpose runs."""
    words = purpose.rpartition(" && ")[2].split()
    named = (word for word in words if word not in command_words("prefixes") and not _ASSIGNMENT.match(word))
    return next(named, "").rpartition("/")[2]


def is_same_kind(purpose: str, other: str) -> bool:
    """Check whether two commands run the same program with one of the arguments of the first."""
    return find_program(purpose) == find_program(other) and is_related(purpose, other)


def is_related(purpose: str, other: str) -> bool:
    """Check whether another command has an argument of the first, or a longer word with it."""
    return any(word in one for word in _subjects(purpose) for one in other.split())


def _subjects(purpose: str) -> list[str]:
    """Return the arguments that are long enough to show a relation."""
    program = find_program(purpose)
    return [
        word
        for word in purpose.split()
        if len(word) >= MIN_SHARED
        and not word.startswith("-")
        and word not in command_words("prefixes")
        and word.rpartition("/")[2] != program
    ]
