"""Compare shell commands by what they do. Pure."""

from __future__ import annotations

import re

from pastchats_memory.text.shell import classify_check, is_read_only

_SURROUNDINGS = re.compile(
    r"""
    ^(?:cd\ [^&;|]+(?:&&|;)\s*)+|(?:(?<!\s)\s*+(?:2>&1|\|\s*(?:tail|head|cat)\b[^|;&]*|;\s*echo\b[^;&|]*)){1,8}$""",
    re.VERBOSE,
)
"""Text around a command that does not change what it does."""
_PARTS = re.compile(r"(?:(?<!\s)\s+)?(?:&&|\|\||;)\s*")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_MESSAGE = re.compile(rf"(?<=\s)(?:-[a-z]*m|--message|--body|--title)[=\s]\s*(?:{_QUOTED.pattern}|\S+)")
"""The message of a commit or an issue."""
_LIMITS = re.compile(r"\A(?:(?:time|nohup|nice(?:\s+-n\s*\d+)?|timeout(?:\s+-\S+)*\s+[\d.]+[smh]?)\s+)+")
"""Programs that only watch over another one."""
_LOUDNESS = re.compile(r"\s(?:-[qvs]{1,4}|--(?:quiet|verbose|silent|no-color|color(?:=\S+)?|tb=\S+))(?=\s|\Z)")
"""Options of a check that change what it prints."""
_ASSIGNMENT = re.compile(r"\A[A-Za-z_]\w*=\S*\Z")
_RUNNERS = frozenset({
    "bunx", "bundle", "command", "env", "exec", "npx", "pipenv", "pnpx", "poetry", "python", "python3", "run", "rye", "sudo", "uv", "uvx", "-m",
})  # fmt: skip
"""Words before the program that does the work."""
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
    line = strip_surroundings(_MESSAGE.sub("", " ".join(command[:_LONGEST].split())))
    parts = (_normalise(part) for part in _split_parts(line))
    return " && ".join(part for part in parts if part and not is_read_only(part))


def _split_parts(line: str) -> list[str]:
    """Return the commands of a line, split at separators outside quotation marks."""
    masked = _QUOTED.sub(lambda found: "_" * len(found[0]), line)
    edges = [0, *(edge for found in _PARTS.finditer(masked) for edge in found.span()), len(line)]
    return [line[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _normalise(part: str) -> str:
    bare = _LIMITS.sub("", strip_surroundings(part.strip("() ")).strip())
    if classify_check(bare):
        bare = _LOUDNESS.sub("", bare)
    return " ".join(re.sub("['\"]", "", bare).removesuffix("&").split())


def find_program(purpose: str) -> str:
    """Return the name of the program that the last part of a purpose runs."""
    words = purpose.rpartition(" && ")[2].split()
    named = (word for word in words if word not in _RUNNERS and not _ASSIGNMENT.match(word))
    return next(named, "").rpartition("/")[2]


def is_variant(purpose: str, other: str) -> bool:
    """Check whether another command does the same thing in another way.

    It has all words of the first, or runs the same program with one of its arguments.
    """
    words, others = purpose.split(), other.split()
    if purpose == other:
        return False
    if set(words) <= set(others):
        return True
    return is_same_kind(purpose, other) or (not _subjects(purpose) and find_program(purpose) == find_program(other))


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
        and word not in _RUNNERS
        and word.rpartition("/")[2] != program
    ]
