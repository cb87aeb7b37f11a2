"""A format: how its files are found, detected and read, and what its program offers besides.

A hook loads the format of its agent at every prompt. So this module imports little: named tuples, no dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pastchats_memory.formats.base.locations import Locations, no_locations

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.dialect import Dialect
    from pastchats_memory.formats.base.hooks import HookDialect
    from pastchats_memory.formats.base.key_map import KeyMap
    from pastchats_memory.formats.base.session import Row
    from pastchats_memory.formats.base.source import SourceFile
    from pastchats_memory.formats.base.values import Json

CERTAIN, TABLE_LAYOUT, SHAPE, DIALOGUE, NOTES = 90, 70, 50, 20, 10
"""Confidences: of a unique marker, which ends the search; of tables; of a shape; of a likely dialogue; of notes."""

TRANSCRIPT, EXPORT, COPY, PROMPTS = 3, 2, 1, 0
"""Fidelity of a format: a program's own record, a text made from one, a copy by hand, a list of prompts."""


class StoredSession(NamedTuple):
    """A stored session, for the command that resumes it."""

    conversation_id: str
    path: Path
    folder: str | None
    """The working directory of the session."""


class Companions(NamedTuple):
    """The files of a conversation that a program keeps in several."""

    prefixes: tuple[str, ...] = ()
    """Beginnings of the names of files that are read together with others."""
    read_with: Callable[[Path], Iterator[Path]] = lambda _: iter(())
    """Yield the other files whose change is a change of this one. Raises OSError."""
    hidden_in: Callable[[str, Collection[str]], Collection[str]] = lambda _folder, _names: ()
    """Return the names in a folder of files that are read with another file only. Raises OSError."""


class Format(NamedTuple):
    """Everything that is known about one file format."""

    name: str
    """What `metadata.format` says, such as `claude-code`."""
    version: int
    """Raise it whenever the same file gives other turns: files read by a lower version are read again."""
    detect: Callable[[SourceFile], int]
    """Return a confidence from 0 (not this format) to 100, from the file's head, sample or outline.

    90 is a unique marker, 70 a table layout, 50 a shape, 20 looks like a dialogue, 10 is for notes. Raises NotText, OSError.
    """
    read: Callable[[SourceFile], Iterator[Row]]
    """Yield the turns of each conversation in order, the tasks, and the lines that cannot be read.

    A reader that can resume yields a Checkpoint after the last whole line, and resumes from `source.resumed`.
    Raises CannotResume before the first turn if appended lines change earlier turns; OSError.
    """
    kinds: frozenset[str] = frozenset({"conversation"})
    """What a file holds: "conversation", "notes", "tasks"."""
    program: str = ""
    """The name of the program as people write it; empty for a format of many programs."""
    locations: Locations = no_locations
    """Yield the files and folders in which the program keeps its history; they need not exist."""
    companions: Companions | None = None
    service: str = ""
    """The service whose export this is: the project of turns whose file names none."""
    fidelity: int = TRANSCRIPT
    """How close a file is to the conversation: of two copies of a turn, the one of higher fidelity is kept."""
    keeps_mtime: bool = True
    """Whether the program changes a file's time with its content; otherwise the file is hashed to see a change."""
    verified: str = ""
    """The program's version and the month when the reader was last compared with real files, such as `2.1.34, 2026-11`."""
    dialect: Callable[[], Dialect] | None = None
    """Return the program's spellings of tools and wrappers; a call, since a hook must not import them."""
    is_specific: bool = True
    """Whether the format has marks of its own. A later release may know a file of another format better."""
    hooks: HookDialect | None = None
    resume: Callable[[StoredSession], list[str]] | None = None
    """Return the program's own command that resumes a session, as a list of arguments."""
    packed: str = ""
    """The suffix of a session's file that the program itself packed, and still resumes."""
    explain: Callable[[SourceFile], Mapping[str, str]] | None = None
    """Return the keys that were taken for role, text, time and conversation, for a format without fixed keys. Raises OSError."""
    suggest_map: Callable[[SourceFile], str | None] | None = None
    """Return the value of `--map` by which a file without fixed keys is read, or that fits it. Raises NotText, OSError."""
    with_map: Callable[[KeyMap | None], Format] | None = None
    """Return the format of files that have the keys of a map; without a map, the format itself."""

    def __repr__(self) -> str:
        """Return the name: test ids and messages show it."""
        return f"Format({self.name!r})"

    def __hash__(self) -> int:
        """Return a hash of the name, which is unique."""
        return hash(self.name)


task_format = partial(Format, kinds=frozenset({"tasks"}))
"""The format of files that hold tasks alone."""


def resume_with(*command: str) -> Callable[[StoredSession], list[str]]:
    """Return a `resume` whose command ends in the session's id. A subagent resumes the session that called it."""
    return lambda session: [*command, session.conversation_id.partition("/")[0]]


def confident(matches: Callable[[SourceFile], bool], confidence: int) -> Callable[[SourceFile], int]:
    """Return a `detect` that has this confidence in every file for which a predicate holds."""
    return lambda source: confidence if matches(source) else 0


def has_record(is_known: Callable[[Json], object], confidence: int = CERTAIN) -> Callable[[SourceFile], int]:
    """Return a `detect` that has this confidence in JSONL with a known record among the first ones."""
    return confident(lambda source: any(map(is_known, source.sample)), confidence)


def load(place: str) -> Any:
    """Return what a module of a format defines, such as `agents.codex.reader:read`."""
    module, _, name = place.partition(":")
    return attrgetter(name)(import_module(f"pastchats_memory.formats.{module}"))


def deferred(place: str) -> Callable[..., Any]:
    """Return a function that is imported at its first call: a hook needs no reader."""

    def call(*arguments: object) -> Any:
        return load(place)(*arguments)

    return call
