"""What was done in an episode: the commands that were run and the files that were changed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pastchats_memory.commands import is_editor, is_look, is_shell
from pastchats_memory.model import Item

MOST_COMMANDS, MOST_FILES = 3, 4
LONGEST_LINE = 120
_GONE_TO = re.compile(r"\Acd [^\s;&|]+ *&& *")
"""What agents put before a command, which leaves little room for it."""


def done_in(episode: Sequence[Item]) -> tuple[str, ...]:
    """The last few commands as `$ make test` and the files, each on one line; commands that failed are left out.

    What only looks at files tells nobody what was done.
    """
    commands = list(dict.fromkeys(_GONE_TO.sub("", line) for turn in episode for line in commands_of(turn)))
    files = list(dict.fromkeys(name for turn in episode for name in _files(turn)))
    shown = [f"$ {command}" for command in commands[-MOST_COMMANDS:]]
    if files:
        more = len(files) - MOST_FILES
        shown.append(", ".join(files[:MOST_FILES]) + (f" and {more} more" if more > 0 else ""))
    return tuple(line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…" for line in shown)


def commands_of(turn: Item) -> Iterator[str]:
    """The commands that a turn ran, but for those that look around and those that failed."""
    if turn.role == "tool":
        heading = turn.content.partition("\n")[0]
        if heading.startswith("$ ") and turn.metadata.get("kind") != "error" and not is_look(heading[2:]):
            yield heading[2:].strip()
        return
    for tool, subject in _calls(turn):
        if is_shell(tool) and subject and not is_look(subject):
            yield subject


def _files(turn: Item) -> Iterator[str]:
    listed = turn.metadata.get("files")
    if isinstance(listed, list):
        yield from (str(name).rpartition("/")[2] for name in listed)
    for tool, subject in _calls(turn):
        if is_editor(tool):
            yield from (name.rpartition("/")[2] for name in subject.split(", ") if name)


def _calls(turn: Item) -> Iterator[tuple[str, str]]:
    tools = turn.metadata.get("tools")
    for label in tools if isinstance(tools, list) else ():
        tool, _, subject = str(label).partition(" ")
        yield tool, subject.strip()
