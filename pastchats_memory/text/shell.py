"""Classify tools and shell commands by what they do. Pure."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from pastchats_memory.text.data_file import read_words
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern

Family = Literal["test", "lint", "build"]
"""The kind of check that a command makes."""
FAMILIES: tuple[Family, ...] = ("test", "lint", "build")
_VERBOSE = re.VERBOSE | re.MULTILINE | re.IGNORECASE
_PART = LazyPattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READ_ONLY = read_pattern(__file__, "read-only", re.IGNORECASE | re.MULTILINE)
_HERE = LazyPattern(r"<<-? *['\"]?\w+['\"]?")
_REDIRECTED = LazyPattern(r"(?:(?<![0-9&])>{1,2}|\btee\b(?: -a)?) *['\"]?([^\s'\"<>|;&()]{1,300})")
_IN_PLACE = LazyPattern(r"\b(?:sed|perl)\b[^\n;|&]{0,300}? (?:-\w*i|--in-place)[^\s;|&]*([^\n;|&]{0,600})")
_BETWEEN = LazyPattern(r"&&|\|\||;|\||\n")
QUOTED = LazyPattern(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_CUT = LazyPattern(r"['\"][^'\"]*…\Z")
"""Quoted text at the end of a command that was cut there."""
_INTO_FILE = LazyPattern(r"(?<![0-9&>])>{1,2}+\s*+(?!/dev/null|[&>])")


@cache
def command_words(name: str) -> frozenset[str]:
    """Return a list of `command_words.txt`."""
    return frozenset(read_words(__file__, "command_words.txt")[name].split())


@cache
def list_alike_programs() -> list[frozenset[str]]:
    """Return sets of programs of which one does what another does."""
    lists = read_words(__file__, "command_words.txt").items()
    return [frozenset(words.split()) for name, words in lists if name.startswith("alike-")]


def is_shell(tool: str) -> bool:
    """Check by its name, such as `run_in_terminal` or `developer__shell`, whether a tool runs commands."""
    words, running = _words(tool), command_words("run-words")
    return words - running <= command_words("shell-words") and bool(words & running or words >= {"launch", "process"})


def is_editor(tool: str) -> bool:
    """Check by its name, such as `MultiEdit` or `mcp__fs__write_file`, whether a tool changes files."""
    words, editing = _words(tool), command_words("edit-words")
    return words - editing <= command_words("file-words") and bool(
        words & editing or words >= {"apply", "diff"} or words == {"editor"}
    )


def is_reader(tool: str) -> bool:
    """Check by its name, such as `Read` or `view_file`, whether a tool reads files."""
    words, reading = _words(tool), command_words("read-words")
    return bool(words & reading) and words - reading <= command_words("file-words")


def written_files(command: str) -> list[str]:
    """Return the files that a shell command writes from a here-document, or edits in place.

    >>> written_files("cat > a.py <<'EOF'\\nx = 1\\nEOF\\nsed -i 's/x/y/' b.py")
    ['a.py', 'b.py']
    """
    found = [
        target[1]
        for line in command.split("\n")
        if "<<" in line
        for target in _REDIRECTED.finditer(_HERE.sub("", line))
    ]
    edited = (match[1].split() for match in _IN_PLACE.finditer(command))
    found += [words[-1].strip("'\"") for words in edited if words]
    return [name for name in found if not name.startswith("/dev/")]


def split_outside_quotes(text: str, separators: LazyPattern) -> list[str]:
    """Return the parts of a text between separators that stand outside quotation marks."""
    masked = QUOTED.sub(lambda found: "_" * len(found[0]), text)
    edges = [0, *(edge for found in separators.finditer(masked) for edge in found.span()), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _words(tool: str) -> frozenset[str]:
    return frozenset(part.lower() for part in _PART.findall(tool.rpartition("__")[2]))


def is_read_only(command: str) -> bool:
    """Check whether every part of a command only reads, whatever stands in quotes."""
    bare = _CUT.sub("_", QUOTED.sub("_", command[:_LONGEST_COMMAND]))
    return not _INTO_FILE.search(bare) and all(
        _READ_ONLY.match(part) or _ASKS_PROGRAM.search(part) for part in map(str.strip, _BETWEEN.split(bare)) if part
    )


_CONTAINERS = frozenset({"docker", "podman"})
"""Programs that run another program, or build its container."""
_INTERPRETER = LazyPattern(r"python[0-9.]*\Z")
_ASSIGNMENT = LazyPattern(r"[A-Za-z_][A-Za-z0-9_]*=")
_SEPARATORS = LazyPattern(r"[;&|()\n]+")
_DURATION = LazyPattern(r"[0-9.]+[smh]?\Z")
_ASKS_PROGRAM = read_pattern(__file__, "asks-program", re.IGNORECASE)
"""Options that make a program describe itself and check nothing."""
_SET_ASIDE = read_pattern(__file__, "set-aside")
"""Commands that set the work aside; a check beside them is meant to fail."""
_TEST_SUMMARY = read_pattern(__file__, "test-summary", re.IGNORECASE | re.MULTILINE)
NO_SUCH_COMMAND = r"""
    \bCommandNotFoundException\b|\bis\ not\ recognized\ as\ (?:an?|the)\ (?:name|internal)\b|\bals\ Name\ eines\ Cmdlet
    |\bist\ entweder\ falsch\ geschrieben\b|\bn'est\ pas\ reconnu\ (?:comme|en\ tant)\b|\bno\ se\ reconoce\ como\b
    |\bnão\ é\ reconhecido\ como\b|\bnon\ riconosciuto\ come\b|не\ распознано\ как|не\ является\ внутренней
    |无法将[^\n]{1,80}项识别为|不是内部或外部命令|として認識され(?:ません|ていません)"""
"""Messages of PowerShell and the Windows command line for a missing command."""
_FAILURE = read_pattern(__file__, "failure", re.IGNORECASE | re.MULTILINE, also=NO_SUCH_COMMAND)
_HEREDOC = read_pattern(__file__, "heredoc", re.IGNORECASE | re.MULTILINE)
"""A text within a command; if a shell reads it, it consists of commands."""
_MESSAGE = LazyPattern(
    rf"""
    (?<!\S)(?:-[a-z]*[bmt]|--(?:message|body|notes|title)|echo(?:\s-\w+)*)[=\s]\s*(?:{QUOTED.source})""",
    _VERBOSE,
)
"""The message of a commit, an issue or a line of output."""
_ARGUMENT = LazyPattern(rf"(?P<shell>\b(?:ba|da|z)?sh(?:\s-\w+){{1,4}}\s)?(?:{QUOTED.source})", _VERBOSE)
"""Quoted text; if a shell reads it, it consists of commands."""
_HIDES_END = LazyPattern(r"\||;|\bcurl\b")
_LAST_CHARACTERS = 1500
"""Characters at the end of an output that show how it ended."""
_LONGEST_COMMAND = 4000
_MOST_WORDS = 12
_ARGUMENTS_READ = 3
"""Arguments after a runner that say what it does."""


def classify_check(command: str, output: str = "") -> Family | None:
    """Return what a shell command, or the last of its parts that checks anything, checks by running it.

    Naming a check, as `cat pytest.ini` or a commit message does, does not count. An unknown command counts as a test if its
    output ends as a test runner's output does.
    """
    command = command[:_LONGEST_COMMAND]
    if _SET_ASIDE.search(command):
        return None
    bare = _HEREDOC.sub(lambda found: found[0] if found["shell"] else " ", command)
    parts = reversed(_SEPARATORS.split(_ARGUMENT.sub(_unquote, _MESSAGE.sub(" ", bare))))
    family = _first(_find_family(part.split()[:_MOST_WORDS]) for part in parts if not _ASKS_PROGRAM.search(part))
    if family is None and _ASKS_PROGRAM.search(command):
        return None
    has_summary = bool(output) and _TEST_SUMMARY.search(output[-_LAST_CHARACTERS:])
    return family or ("test" if has_summary and not (command and is_read_only(command)) else None)


def _unquote(found: re.Match[str]) -> str:
    """Return the words of an argument; separators end a command only if a shell reads them."""
    shell = found["shell"] or ""
    words = found[0][len(shell) + 1 : -1]
    return f";{words};" if shell else _SEPARATORS.sub("_", words)


def hides_end(command: str) -> bool:
    """Check whether the exit code of a command may hide that a part of it failed, as that of a pipe does."""
    return _HIDES_END.search(command[:_LONGEST_COMMAND]) is not None


def hides_failure(command: str, output: str) -> bool:
    """Check whether the output shows a failure that the exit code hides."""
    return hides_end(command) and reports_failure(output)


def reports_failure(output: str) -> bool:
    """Check whether the last lines of an output report a failure, for commands without an exit code."""
    return bool(_FAILURE.search(output[-_LAST_CHARACTERS:].rstrip()))


def _find_family(words: list[str]) -> Family | None:
    while words and (
        words[0] in command_words("wrappers")
        or _ASSIGNMENT.match(words[0])
        or _DURATION.match(words[0])
        or _INTERPRETER.match(words[0])
    ):
        words = words[1:]
    if not words:
        return None
    program, arguments = words[0].rpartition("/")[2], [word for word in words[1:] if word not in ("run", "exec")]
    if program in _CONTAINERS:
        return (
            "build"
            if "build" in arguments[:2]
            else _first(_find_family(arguments[at:]) for at in range(len(arguments)))
        )
    is_runner = program in command_words("runners")
    if is_runner:
        parts = (part for word in arguments[:_ARGUMENTS_READ] for part in word.split(":"))
        if family := _first(_read_families("goals").get(part) for part in parts) or _find_family(arguments):
            return family
    goals = [word for word in arguments if not word.startswith("-") and not _ASSIGNMENT.match(word)]
    builds = not is_runner or not goals or goals[-1] not in command_words("no-build")
    return _read_families("programs").get(program) if builds else None


@cache
def _read_families(kind: str) -> Mapping[str, Family]:
    """Return the kind of check of each program or goal; the first of FAMILIES counts."""
    return {word: family for family in reversed(FAMILIES) for word in command_words(f"{family}-{kind}")}


def _first(found: Iterable[Family | None]) -> Family | None:
    return next((family for family in found if family), None)
