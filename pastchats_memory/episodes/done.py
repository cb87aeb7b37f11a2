"""What was done in an episode: the commands that were run and the files that were changed. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pastchats_memory.model import Item
from pastchats_memory.text.shell import is_editor, is_read_only, is_shell

MOST_COMMANDS, MOST_FILES = 3, 4
LONGEST_LINE = 120
PARTS_ELSEWHERE = 3
"""Of a path that lies in no project that is known: the file with two folders."""
FAILED = " (failed)"
CUT = "…"
"""Ends what was kept of a command or of a list of files in part."""
_GONE_TO = re.compile(r"\Acd [^\s;&|]+ *&& *")
"""What agents put before a command, which leaves little room for it."""
_REFUSED = "\nRefused; the user said:"
"""Below a command that the person did not let run."""
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


class Run(NamedTuple):
    """The last run of a command."""

    command: str
    """On one line, perhaps cut."""
    has_failed: bool
    turn: int
    """Id of the turn with which it was noted last."""


def done_in(episode: Sequence[Item]) -> tuple[str, ...]:
    """The last few commands that worked, as `$ make test`, and the files below the project's folder, each on one line.

    Where none worked those that failed are told, marked as such: it may have been run to see the fault.
    """
    runs = [(_GONE_TO.sub("", run.command), run.has_failed) for run in _last_runs(episode)]
    worked = {command for command, failed in runs if not failed}
    mark = "" if worked else FAILED
    latest = list(dict.fromkeys(command for command, _ in reversed(runs) if command in worked or not worked))[
        :MOST_COMMANDS
    ]
    shown = [_cut(f"$ {command}", LONGEST_LINE - len(mark)) + mark for command in reversed(latest)]
    if files := list(dict.fromkeys(name for turn in episode for name in _files(turn))):
        shown.append(_cut(_listed(files), LONGEST_LINE))
    return tuple(shown)


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}{CUT}"


def runs_of(episode: Sequence[Item]) -> list[Run]:
    """The commands whose last run did not fail, in the order of these runs, so that repeating them repeats what worked."""
    return [run for run in _last_runs(episode) if not run.has_failed]


def _last_runs(episode: Sequence[Item]) -> list[Run]:
    """The last run of each command, in the order of these.

    Those that only look around are left out. A call is noted with an answer in the place of its last run; what came of it has a
    row only where it failed, where that was mended, or where it was a check.
    """
    called = {subject for turn in episode for subject in _shell(turn)}
    told: dict[str, str] = {}
    turns: dict[str, int] = {}
    failed: set[str] = set()
    for turn in episode:
        for subject in _shell(turn):
            told[subject] = told.pop(subject, subject)
            turns[subject] = turn.id
        if turn.role == "tool" and turn.content.startswith("$ "):
            row = turn.content[2:]
            heading = row.partition("\n")[0].strip()
            command = _call_of(row, heading, called)
            if command not in called:
                told.pop(command, None)
            told[command] = heading if heading.startswith(command.removesuffix(CUT)) else command
            turns[command] = turn.id
            is_failure = turn.metadata.get("kind") == "error" or _REFUSED in row
            (failed.add if is_failure else failed.discard)(command)
    return [Run(line, command in failed, turns[command]) for command, line in told.items() if not is_read_only(line)]


def _call_of(row: str, heading: str, called: Collection[str]) -> str:
    """The call that the row of a command is of, noted on one line and perhaps cut; the heading where none is."""
    if heading in called:
        return heading
    line = " ".join(row.split())
    longer = (one for one in called if one.endswith(CUT) or len(one) > len(heading))
    return max((one for one in longer if line.startswith(one.removesuffix(CUT))), key=len, default=heading)


def _shell(turn: Item) -> list[str]:
    return [subject for tool, subject in _calls(turn) if subject and is_shell(tool)]


def _files(turn: Item) -> Iterator[str]:
    """Paths of the files that a turn changed, below the project's folder where they lie in it."""
    noted = turn.metadata.get("files")
    names = [str(name) for name in noted] if isinstance(noted, list) else []
    for tool, subject in _calls(turn):
        names += subject.split(", ") if is_editor(tool) else ()
    return (_within(turn.project, name) for name in names if name and not name.endswith(CUT))


def _within(project: str, name: str) -> str:
    """The path below the folder that the project has its name of, the end of one that lies elsewhere."""
    path = name.replace("\\", "/") if "\\" in name and "/" not in name else name
    if not _ABSOLUTE.match(path):
        return path.removeprefix("./")
    return path.partition(f"/{project}/")[2] or "/".join(path.split("/")[-PARTS_ELSEWHERE:])


def _listed(files: Sequence[str]) -> str:
    """The first few files on one line, as short as tells all of them apart where their paths leave no room."""
    more = len(files) - MOST_FILES
    rest = f" and {more} more" if more > 0 else ""
    line = ", ".join(files[:MOST_FILES]) + rest
    return line if len(line) <= LONGEST_LINE else ", ".join(_shortest(files)[:MOST_FILES]) + rest


def _shortest(files: Sequence[str]) -> list[str]:
    """The ends of the paths that no other path ends in."""
    ends = [
        ["/".join(parts[at:]) for at in reversed(range(len(parts)))] for parts in (file.split("/") for file in files)
    ]
    times = Counter(end for path in ends for end in path)
    return [next((end for end in path if times[end] == 1), path[-1]) for path in ends]


def _calls(turn: Item) -> Iterator[tuple[str, str]]:
    tools = turn.metadata.get("tools")
    for label in tools if isinstance(tools, list) else ():
        tool, _, subject = str(label).partition(" ")
        yield tool, subject.strip()
