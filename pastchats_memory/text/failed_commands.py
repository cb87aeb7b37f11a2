"""Find out why a command failed: its program, and the word of the command that the error names. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pastchats_memory.text.commands import LIMITS, find_folder, shorten_path
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern
from pastchats_memory.text.shell import NO_SUCH_COMMAND, QUOTED, classify_check, command_words, split_outside_quotes

LONGEST = 2000
"""Characters of a command and of its result that are read."""
MAX_WORD, MAX_ERROR = 80, 240
"""Characters."""
MAX_LINES = 30
"""Lines of a result that are read."""
_WORD = LazyPattern(r"(?:[^\s'\"`]|'[^'\n]*'|\"(?:\\.|[^\"\\\n])*\"|`[^`\n]*`|['\"`])+")
_SEPARATOR = LazyPattern(r"\|\||&&|[;|\n]|(?<![<>])&(?!>)")
_HEREDOC = LazyPattern(r"<<-?\s*['\"]?\w.*\Z", re.DOTALL)
_REDIRECTION = LazyPattern(r"[\d&]?(?:>{1,2}|<)(?:&\d|\s*\S+)?")
_ASSIGNMENT = LazyPattern(r"[A-Za-z_]\w*=")
_INTERPRETER = LazyPattern(r"python[\d.]+\Z")
_PLACE = LazyPattern(r"\s(?:-C|-w|--(?:prefix|workspace|filter|cwd|dir|manifest-path))[\s=]+(\S+)")
"""Options with which a command runs elsewhere."""
NOT_RUN = read_pattern(__file__, "not-run", re.IGNORECASE | re.MULTILINE, also=NO_SUCH_COMMAND)
"""Results of a check that tell about the command, and not about the checked work."""
_REASON = read_pattern(__file__, "reason", re.IGNORECASE, also=NO_SUCH_COMMAND)
"""Lines of a result that give a reason."""
_ERROR = LazyPattern(r"error|fatal|denied|not found|no such|cannot|unable|unexpected", re.IGNORECASE)
_DENIED = read_pattern(__file__, "permission-denied", re.IGNORECASE)
"""Results of a call that needed the person's permission, or that the client's sandbox stopped."""
_NO_REASON = read_pattern(__file__, "no-reason", re.IGNORECASE)
"""Lines that tell nothing about a failure: an exit code, the progress of a download, a warning, the place in a script."""
_SHELL = LazyPattern(r"\A(?:(?:\S*/)?(?:ba|da|z)?sh: (?:(?:\w+ )?\d+: ?)?|\(eval\):\d+: |\w*sh:\d+: )")
"""The shell that prints an error; the same error counts in each."""
_INNER_SHELL = read_pattern(__file__, "inner-shell", re.IGNORECASE | re.DOTALL)
"""A command line of Windows within another one."""
_SANDBOXED = LazyPattern(r"\Afailed in sandbox \w+ with execution error:.*?\bstderr: ", re.DOTALL)
"""What Codex writes before the error of any command that fails within its sandbox."""
MOVES = frozenset({"cd", "pushd"})
_WITH_COMMANDS = frozenset({"docker", "kubectl", "pip", "podman"})
"""Programs with commands of their own, beside those of the word lists."""
_ENVIRONMENTS = frozenset({"bunx", "dlx", "exec", "npx", "pnpx", "run", "uvx"})
WRONG_FOLDER = "./"
"""Word of a failure that any call of the program has in the wrong folder."""
_WRONG_FOLDER = read_pattern(__file__, "wrong-folder", re.IGNORECASE)
"""Errors of a program that needs a file of the project in its folder, or above."""
_MISSING = read_pattern(__file__, "missing-program", re.MULTILINE)
"""Lines that name a program which is not there."""
_IN_SCRIPT = LazyPattern(r"\A(?:(?:/bin/)?sh|(?:/usr/bin/)?env): ")
"""The start of an error in a script that the command runs."""
MARKS = ("&&", "||", "[")
"""Marks that a shell may take in another way: older versions of PowerShell know no `&&`, and zsh looks for the files of `/[id]`."""
_MISUSED = LazyPattern(
    r"['\"“](&&|\|\|)['\"”] (?:is not a valid statement separator|ist in dieser Version kein)|\bno matches found: \S*/(\[)"
)
_UNCLOSED = LazyPattern(r"['\"].*\Z", re.DOTALL)
_IN_QUOTES = LazyPattern(r"[`'\"‘“«]([^`'\"’”»\n]{1,80})[`'\"’”»]")
_OPTION = LazyPattern(r"(?<![\w-])--?[A-Za-z][\w-]*")
_BEFORE_COLON = LazyPattern(r"(?:\A|:\s+)([^\s:]+)(?=:(?:\s|\Z))")
_AFTER_COLON = LazyPattern(r":\s+([^\s:,;]+)[.,;:]?\s*(?:\(.{1,60}\)\s*)?\Z")
_LETTER = LazyPattern(r"\boption -- '?(\w)(?!\w)")
_BARE = LazyPattern(r"[^\s'\"`:,;()\[\]{}<>«»‘’“”]+")
_PATH = LazyPattern(r"[/.\\]")
_DISTINCT = LazyPattern(r"\w[/.:@_-]\w|\d{3}")
"""Words that hardly stand in an error by chance: names of files, modules and packages, and numbers of ports."""
_NO_MODULE = LazyPattern(r"\bNo module named ['\"]?([\w.]+)")
_NUMBER = LazyPattern(r"0x[0-9a-f]+|\d+")


class Part(NamedTuple):
    """One of the commands of a command line."""

    program: str
    """Its name, without the folder and without what only starts it."""
    words: tuple[str, ...]
    """The arguments, without quotation marks."""
    text: str
    starters: tuple[str, ...] = ()
    """The programs that only start it, such as `timeout`, `sudo` and `python`."""


class FailureCause(NamedTuple):
    """Why a command failed."""

    program: str
    word: str
    """What the error names of the command: an argument, perhaps behind its option, or a missing program; else empty."""
    error: str
    """The line of the result."""
    part: Part
    is_missing: bool = False
    """Whether the program is not on this machine."""


def split_command(command: str) -> list[Part]:
    """Return the commands of a line that run one after the other, without those that only assign.

    >>> [part.program for part in split_command("cd web && CI=1 timeout 60 npx vitest run | tail -3")]
    ['cd', 'vitest', 'tail']
    """
    text = _HEREDOC.sub("", command[:LONGEST])
    if inner := _INNER_SHELL.match(text):
        text = inner["inner"]
    return [part for one in split_outside_quotes(text, _SEPARATOR) if (part := _parse_part(one))]


def _parse_part(text: str) -> Part | None:
    bare = (_REDIRECTION.sub(" ", text) if not QUOTED.search(text) else text).strip().strip("()")
    limits = LIMITS.match(bare)
    found = (
        QUOTED.sub(lambda one: one[0][1:-1], word) for word in _WORD.findall(bare[limits.end() if limits else 0 :])
    )
    words = [*filter(None, found)]  # `--name="value"` loses the quotation marks within
    place = _find_program(words)
    program = words[place].replace("\\", "/").rstrip("/").rpartition("/")[2] if place < len(words) else ""
    starters = (*(limits[0].split() if limits else ()), *words[:place])
    name = program.removesuffix(".exe") or program
    return Part(name, tuple(words[place + 1 :]), " ".join(text.split()), starters) if name else None


def _find_program(words: Sequence[str]) -> int:
    """Return the place of the word that names the program, behind assignments and what starts it."""
    starters = command_words("prefixes") | command_words("wrappers")
    place = 0
    while place < len(words) - 1:
        word, following = words[place], words[place + 1]
        if _ASSIGNMENT.match(word):
            place += 1
        elif word == "sudo" and following in ("-u", "--user") and place + 3 < len(words):
            place += 3
        elif word == "npx" and following in ("-y", "--yes"):
            place += 2
        elif (word in starters or _INTERPRETER.match(word)) and (not following.startswith("-") or following == "-m"):
            place += 1
        else:
            break
    return place


def list_words(part: Part, project: str) -> Iterator[str]:
    """Yield what an error may name of a command: options, and values behind their option or their subcommand.

    `-t tsx` is a type, and `tsx` alone a word to look for; `npm run e2e` is no `npm install e2e`.
    """
    before = ""
    with_commands = command_words("runners") | command_words("message-programs") | _WITH_COMMANDS
    for word in part.words:
        name, mark, value = word.partition("=")
        if word.startswith("-") and len(word) > 1:
            yield name
            if mark and value:
                yield _put_behind(name, value, project)
            before = "" if mark else name
        else:
            yield _put_behind(before, word, project)
            before = word if part.program in with_commands else ""


def _put_behind(before: str, value: str, project: str) -> str:
    """Return a value behind its option or its subcommand; a path means the same everywhere."""
    if not before or " " in value or _PATH.search(value):
        return shorten_path(value, project)
    return f"{before} {value}"


def find_place(command: str, project: str) -> str:
    """Return the folder or workspace in which a command runs; empty for the project's own."""
    named = _PLACE.search(QUOTED.sub("_", command[:LONGEST]))
    return find_folder(command, project) or (shorten_path(named[1], project).rstrip("/") if named else "")


def find_cause(command: str, result: str, project: str) -> FailureCause | None:
    """Return why a command failed; None if the result tells nothing about the command itself.

    A check that reports faults of the checked work did not fail. An exit code without a word is an answer, as of `test -f`.
    """
    lines = [line.strip().removeprefix("Output: ") for line in _SANDBOXED.sub("", result[:LONGEST]).split("\n")]
    lines = [line for line in lines if line and not _NO_REASON.match(line)]
    parts = split_command(command)
    is_check = classify_check(command) is not None
    if not lines or not parts or (_DENIED.match(result.lstrip()) is not None):
        return None
    misused = _find_mark(parts, lines) or _find_misplaced(parts, lines)
    if misused or (is_check and not NOT_RUN.search(result)):
        return misused
    if missing := _find_missing(parts, lines):
        return missing
    # Otherwise it is a program of the agent's own shell.
    lines = [line for line in lines if _IN_SCRIPT.match(line) or not _MISSING.search(line)]
    pattern = NOT_RUN if is_check else _REASON
    for line in lines[:MAX_LINES]:
        if pattern.search(line) and (found := _find_module(parts, line) or _find_named(parts, line, project)):
            return found
    error = next(filter((pattern if is_check else _ERROR).search, lines), "")
    if not error:
        return None
    part = _find_blamed(parts, error)
    return FailureCause(part.program, "", _quote(error), part)


def _quote(line: str) -> str:
    return _SHELL.sub("", line)[:MAX_ERROR]


def _find_misplaced(parts: Sequence[Part], lines: Sequence[str]) -> FailureCause | None:
    """Return the cause if a program ran in a folder without the file that it needs there."""
    line = next(filter(_WRONG_FOLDER.search, lines[:MAX_LINES]), None)
    part = _find_blamed(parts, line or "")
    return FailureCause(part.program, WRONG_FOLDER, _quote(line), part) if line else None


def _find_blamed(parts: Sequence[Part], error: str) -> Part:
    """Return the last command whose program an error names, else the last one that does more than show another's output."""
    named = (part for part in reversed(parts) if re.search(rf"(?<!\w){re.escape(part.program)}(?!\w)", error))
    acting = (part for part in reversed(parts) if part.program not in command_words("filters"))
    return next(named, None) or next(acting, parts[-1])


def _find_mark(parts: Sequence[Part], lines: Sequence[str]) -> FailureCause | None:
    """Return the cause if the shell takes a mark in another way."""
    found = ((line, name[1] or name[2]) for line in lines[:MAX_LINES] if (name := _MISUSED.search(line)))
    return next((FailureCause(mark, mark, _quote(line), parts[0]) for line, mark in found), None)


def has_mark(command: str, mark: str) -> bool:
    """Check whether a command has a mark outside quotes: of brackets, one that begins the name of a file in a folder."""
    bare = _UNCLOSED.sub("", QUOTED.sub("", _HEREDOC.sub("", command[:LONGEST])))
    return ("/[" if mark == "[" else mark) in bare


def _find_missing(parts: Sequence[Part], lines: Sequence[str]) -> FailureCause | None:
    """Return the cause if a program of the command is not there; one that is named by a path belongs to the project."""
    for line in lines[:MAX_LINES]:
        names = {name.strip("'\"`‘’“”") for found in _MISSING.finditer(line) for name in found.groups() if name}
        for part in parts:
            if name := next((name for name in _list_bare_names(part) if name in names), ""):
                return FailureCause(name, name, _quote(line), part, is_missing=True)
    return None


def _list_bare_names(part: Part) -> tuple[str, ...]:
    """Return the programs that a command calls by their name alone, and not in an environment of their own."""
    start = part.text.partition(part.program)[0].rpartition(" ")[2]
    names = part.starters if "/" in start or "\\" in start else (*part.starters, part.program)
    return names[: next((place for place, name in enumerate(names, 1) if name in _ENVIRONMENTS), len(names))]


def _find_module(parts: Sequence[Part], line: str) -> FailureCause | None:
    """Return the cause if a module is missing that the command runs as a program."""
    named = {name.partition(".")[0] for name in _NO_MODULE.findall(line)}
    part = next((part for part in parts if part.program in named), None)
    return part and FailureCause(part.program, part.program, _quote(line), part)


def _find_named(parts: Sequence[Part], line: str, project: str) -> FailureCause | None:
    """Return the cause whose word an error line names: in quotes, as an option, beside a colon, or bare."""
    order = sorted(parts, key=lambda part: re.search(rf"(?<!\w){re.escape(part.program)}(?!\w)", line) is None)
    marked = [
        *_IN_QUOTES.findall(line),
        *_OPTION.findall(line),
        *_BEFORE_COLON.findall(line),
        *_AFTER_COLON.findall(line),
        *(f"-{letter}" for letter in _LETTER.findall(line)),
    ]
    bare = [word for word in _BARE.findall(line) if _DISTINCT.search(word)]
    for candidates in (marked, bare):
        for part in order:
            words = [word for word in list_words(part, project) if len(word) <= MAX_WORD and word != part.program]
            for candidate in candidates:
                if word := next((word for word in words if _is_named(word, candidate.rstrip("."))), None):
                    return FailureCause(part.program, word, _quote(line), part)
    return None


def _is_named(word: str, candidate: str) -> bool:
    """Check whether an error's word is a word of a command, which may be the value of an option or a path below a folder."""
    value = word.rpartition(" ")[2]
    if not any(map(str.isalnum, candidate)):
        return False
    return candidate in (word, value, f"./{value}") or (bool(_PATH.search(value)) and candidate.endswith(f"/{value}"))


def is_subject(command: str, program: str, word: str, project: str) -> bool:
    """Check whether a command line does again what failed: it runs a program with a word, or has a mark."""
    if word in MARKS:
        return has_mark(command, word)
    parts = split_command(command)
    if word == program:  # a missing one; `.venv/bin/python` is there without `python`
        return any(program in _list_bare_names(part) for part in parts)
    return any(calls(part, program) and has_word(part, word, project) for part in parts)


def calls(part: Part, program: str) -> bool:
    """Check whether a command runs a program, perhaps only to start another one."""
    return program == part.program or program in part.starters


def has_word(part: Part, word: str, project: str) -> bool:
    """Check whether a command has the word of a failure: an argument, itself as the program, or any in a wrong folder."""
    return word == WRONG_FOLDER or calls(part, word) or word in list_words(part, project)


def is_move(command: str) -> bool:
    """Check whether a command changes the folder, or names the one in which it runs."""
    return bool(_PLACE.search(command)) or any(part.program in MOVES for part in split_command(command))


def simplify_error(error: str) -> str:
    """Return an error line in the form in which equal errors are equal, whatever numbers they have."""
    return _NUMBER.sub("#", " ".join(error.split())).strip().lower()
