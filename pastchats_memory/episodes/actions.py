"""List what an episode did: its commands, and the files that it changed. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

from pastchats_memory.episodes import Utterance, list_recorded
from pastchats_memory.model import REFUSED, Item
from pastchats_memory.text.shell import is_editor, is_read_only, is_reader, is_shell

MAX_COMMANDS, MAX_FILES = 3, 4
MAX_LINE = 120
"""Characters."""
OUTSIDE_PARTS = 3
"""Parts of a path outside the project: the file with two folders."""
FAILED = " (failed)"
CUT = "…"
"""End of a shortened command or list of files."""
_CHANGE_FOLDER = re.compile(r"\Acd [^\s;&|]+ *&& *")
"""Prefix that agents add to a command; it leaves little room for the command."""
ABSOLUTE = re.compile(r"/|[A-Za-z]:/")
_DRIVE = re.compile(r"[A-Za-z]:\\")


class ProjectTurn(Utterance, Protocol):
    """A turn whose project is known."""

    @property
    def project(self) -> str:
        """The name of the project."""
        ...


class Run(NamedTuple):
    """The last run of a command."""

    command: str
    """On one line, perhaps shortened."""
    has_failed: bool
    turn: int
    """Id of the turn that records the run."""


def actions_of(episode: Sequence[Item]) -> tuple[str, ...]:
    """Return the last successful commands and the changed files, a line each.

    If no command succeeded, return the failed ones with a mark: they may have been run to see a fault.
    """
    runs = [(_CHANGE_FOLDER.sub("", run.command), run.has_failed) for run in last_runs(episode)]
    succeeded = {command for command, has_failed in runs if not has_failed}
    mark = "" if succeeded else FAILED
    newest_first = (command for command, _ in reversed(runs) if command in succeeded or not succeeded)
    latest = list(dict.fromkeys(newest_first))[:MAX_COMMANDS]
    lines = [_shorten(f"$ {command}", MAX_LINE - len(mark)) + mark for command in reversed(latest)]
    if files := list(dict.fromkeys(name for turn in episode for name in changed_files(turn))):
        lines.append(_shorten(_join_files(files), MAX_LINE))
    return tuple(lines)


def successful_runs(episode: Sequence[Item]) -> list[Run]:
    """Return the commands whose last run succeeded, in the order of these runs."""
    return [run for run in last_runs(episode) if not run.has_failed]


def last_runs(episode: Sequence[Item]) -> list[Run]:
    """Return the last run of each command in order, without those that only look around.

    A call is recorded with an answer. Its result has a row only if it failed, repaired a failure, or was a check.
    """
    called = {subject for turn in episode for subject in shell_commands(turn)}
    lines: dict[str, str] = {}
    turns: dict[str, int] = {}
    failed: set[str] = set()
    for turn in episode:
        for subject in shell_commands(turn):
            lines[subject] = lines.pop(subject, subject)
            turns[subject] = turn.id
        if turn.role == "tool" and turn.content.startswith("$ "):
            row = turn.content[2:]
            heading = row.partition("\n")[0].strip()
            command = _find_call(row, heading, called)
            if command not in called:
                lines.pop(command, None)
            lines[command] = heading if heading.startswith(command.removesuffix(CUT)) else command
            turns[command] = turn.id
            is_failure = turn.metadata.get("kind") == "error" or REFUSED in row
            (failed.add if is_failure else failed.discard)(command)
    return [Run(line, command in failed, turns[command]) for command, line in lines.items() if not is_read_only(line)]


def _find_call(row: str, heading: str, called: Collection[str]) -> str:
    """Return the recorded call of a result row, which may be shortened, or the heading if there is none."""
    if heading in called:
        return heading
    line = " ".join(row.split())
    longer = (one for one in called if one.endswith(CUT) or len(one) > len(heading))
    return max((one for one in longer if line.startswith(one.removesuffix(CUT))), key=len, default=heading)


def _shorten(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}{CUT}"


def shell_commands(turn: Utterance) -> list[str]:
    """Return the shell commands that the turn calls, each on one line and perhaps shortened."""
    return [subject for tool, subject in calls_of(turn) if subject and is_shell(tool)]


def changed_files(turn: ProjectTurn, outside: int | None = OUTSIDE_PARTS) -> Iterator[str]:
    """Return paths of the changed files, as `relative_path` writes them."""
    names = list_recorded(turn, "files")
    for tool, subject in calls_of(turn):
        names += subject.split(", ") if is_editor(tool) else ()
    return (relative_path(turn.project, name, outside) for name in names if name and not name.endswith(CUT))


def read_files(turn: ProjectTurn, outside: int | None = OUTSIDE_PARTS) -> Iterator[str]:
    """Return paths of the files that were read, as `relative_path` writes them."""
    names = (subject for tool, subject in calls_of(turn) if is_reader(tool))
    return (relative_path(turn.project, name, outside) for name in names if "." in name and not name.endswith(CUT))


def use_slashes(path: str) -> str:
    """Return a path of any system with slashes between its parts."""
    return path.replace("\\", "/") if "/" not in path or _DRIVE.match(path) else path


def relative_path(project: str, name: str, outside: int | None = OUTSIDE_PARTS) -> str:
    """Return the path below the project's folder; of a path elsewhere, return that many last parts, or all for None."""
    path = use_slashes(name)
    if not ABSOLUTE.match(path):
        return path.removeprefix("./")
    return path.partition(f"/{project}/")[2] or "/".join(path.split("/")[-(outside or 0) :])


def _join_files(files: Sequence[str]) -> str:
    more = len(files) - MAX_FILES
    rest = f" and {more} more" if more > 0 else ""
    line = ", ".join(files[:MAX_FILES]) + rest
    return line if len(line) <= MAX_LINE else ", ".join(_unique_ends(files)[:MAX_FILES]) + rest


def _unique_ends(files: Sequence[str]) -> list[str]:
    """Return the shortest end of each path that no other path shares."""
    ends = [
        ["/".join(parts[at:]) for at in reversed(range(len(parts)))] for parts in (file.split("/") for file in files)
    ]
    times = Counter(end for path in ends for end in path)
    return [next((end for end in path if times[end] == 1), path[-1]) for path in ends]


def calls_of(turn: Utterance) -> Iterator[tuple[str, str]]:
    """Yield tool and subject of each recorded call of a turn, in order."""
    for label in list_recorded(turn, "tools"):
        tool, _, subject = label.partition(" ")
        yield tool, subject.strip()
