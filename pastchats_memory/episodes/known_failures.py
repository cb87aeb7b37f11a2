"""Find out whether a command or an edit failed before, and what cured it.

A hook asks this before and after an agent acts, so nothing here imports the model or NumPy.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from pastchats_memory.episodes.actions import changed_files, relative_path, shell_commands
from pastchats_memory.episodes.failed_calls import CHANGE, spell_command
from pastchats_memory.model import OUTSIDE
from pastchats_memory.store import failures
from pastchats_memory.store.database import Database
from pastchats_memory.store.failures import Failure, RecordedTurn, StoredFailure
from pastchats_memory.text import failed_commands
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.lazy_pattern import LazyPattern

MAX_KNOWN = 2000
"""The newest failures with a cure that are grouped."""
READERS = ("cat", "head", "less", "ls", "sed", "stat", "tail", "wc")
"""Programs to which a missing file is the same failure."""
_NO_FILE = LazyPattern(
    r"\bno such (?:file|dir)|\bcannot find the (?:file|path)|\bno matches found: [^\[]*\Z", re.IGNORECASE
)
MIN_ERROR = 16
"""Characters of an error line that tells which failure it is."""


class KnownFailure(NamedTuple):
    """An action that failed before, and what cured it."""

    what: str
    """As `name_failure` calls it."""
    times: int
    """Failed runs that are recorded."""
    when: str | None
    """Time of the newest one."""
    error: str
    """Line of its result; empty for a refusal."""
    kind: str
    """`refused`, `undone`, `instead` or `after`."""
    cure: str
    """The user's words, or what worked: instead of it, or before the same worked."""
    turn: int
    """Id of the turn that shows the cure."""
    path: str
    line: int | None
    """Place of that turn."""
    project: str


class PlannedCommand:
    """A command that is about to run, or that ran."""

    def __init__(self, command: str, project: str, *, is_outside: bool = False) -> None:
        self.project = project
        self.is_outside = is_outside
        self.command = command
        self.action = spell_command(command, project)
        self.folder = failed_commands.find_place(command, project)

    @property
    def programs(self) -> Collection[str]:
        """Return the names under which its failures are stored."""
        names = (
            name for part in failed_commands.split_command(self.command) for name in (part.program, *part.starters)
        )
        return list(dict.fromkeys([*names, *(mark for mark in failed_commands.MARKS if mark in self.command)]))

    def is_subject_of(self, failure: Failure) -> bool:
        """Check whether it does again what failed: it has the word that the error named, or is the same command."""
        is_anywhere = failure.is_missing or failure.word in (failed_commands.WRONG_FOLDER, *failed_commands.MARKS)
        if not is_anywhere and failure.folder and self.folder and failure.folder != self.folder:
            return False
        if failure.word:
            return failed_commands.is_subject(self.command, failure.program, failure.word, self.project)
        return bool(self.action) and failure.action == self.action

    def is_cure(self, failure: Failure) -> bool:
        """Check whether it is what cured a failure, or has what stood before the failed program in it."""
        if self.is_outside and failure.cure.startswith(OUTSIDE):
            return True
        before = [
            part.text
            for part in failed_commands.split_command(failure.cure)[:-1]
            if not failed_commands.calls(part, failure.program)
        ]
        has_them = before and set(before) <= {part.text for part in failed_commands.split_command(self.command)}
        return bool(has_them) or spell_command(failure.cure, self.project) == self.action != ""

    def is_called_in(self, turn: RecordedTurn, failure: Failure) -> bool:
        """Check whether a turn calls what failed."""
        return any(PlannedCommand(command, self.project).is_subject_of(failure) for command in shell_commands(turn))


class PlannedEdit:
    """A file that is about to be changed."""

    programs: Collection[str] = ("",)

    def __init__(self, path: str, project: str) -> None:
        self.action = relative_path(project, path)

    def is_subject_of(self, failure: Failure) -> bool:
        """Check whether a failure is about the file."""
        return failure.action == self.action

    def is_called_in(self, turn: RecordedTurn, failure: Failure) -> bool:
        """Check whether a turn changes the file."""
        return failure.action in changed_files(turn)


def find_before(
    database: Database, project: str, action: PlannedCommand | PlannedEdit, is_given: Callable[[StoredFailure], bool]
) -> KnownFailure | None:
    """Return what cured the failure of an action that is about to run.

    There is none if the newest run worked, if the action is the cure, or if no cure is known.

    Args:
        database: to be read.
        project: its name.
        action: what is about to happen.
        is_given: tells whether the session has a failure in its context already.
    """
    for program in action.programs:
        stored = failures.find_failures(database, program, project)
        groups = group_by_key(
            ((one.failure.word, one.failure.action if not one.failure.word else ""), one)
            for one in stored
            if not _is_past(one.failure) and action.is_subject_of(one.failure)
        )
        for group in groups.values():
            newest = group[0]
            if newest.failure.has_passed or is_given(newest) or _works_by_now(database, newest, action):
                continue
            if known := _make_known(database, group, is_given, action):
                return known
    return None


def _is_past(failure: Failure) -> bool:
    """Check whether a failure says nothing before the act: the program may run in another folder now, the file may be there."""
    return failure.word == failed_commands.WRONG_FOLDER or bool(failure.program and _NO_FILE.search(failure.error))


def find_after(
    database: Database, project: str, command: str, result: str, is_given: Callable[[StoredFailure], bool]
) -> KnownFailure | None:
    """Return what cured the failure of a command that has just failed, whatever came later.

    The same word of the same program makes it the same failure, or the same error.
    """
    cause = failed_commands.find_cause(command, result, project)
    if cause is None:
        return None
    error = failed_commands.simplify_error(cause.error)
    stored = failures.find_failures(database, cause.program, project)
    planned = PlannedCommand(command, project)
    named = [one for one in stored if one.failure.word == cause.word != "" and planned.is_subject_of(one.failure)]
    if not named and cause.program in READERS and cause.word:  # a file under a wrong name has it for all of them
        others = [one for program in READERS for one in failures.find_failures(database, program, project)]
        named = [one for one in others if one.failure.word == cause.word and one.failure.folder == planned.folder]
    equal = [
        one
        for one in stored
        if failed_commands.simplify_error(one.failure.error) == error
        and (one.failure.action == planned.action or (len(error) >= MIN_ERROR and _is_alike(one.failure, planned)))
    ]
    return _make_known(database, named, is_given, planned) or _make_known(database, equal, is_given, planned)


def _is_alike(failure: Failure, planned: PlannedCommand) -> bool:
    """Check whether the cure of an equal error may cure this one: another command needs the same subcommand, or the file."""
    if failure.cure.startswith(CHANGE):
        return failure.cure.rpartition("/")[2].rpartition(" ")[2] in f"{failure.error} {planned.command}"
    first, now = failure.action.split()[:2], planned.action.split()[:2]
    return failure.kind != "instead" or (first == now and now[1:] != [] and now[1][:1].isalpha())


def _make_known(
    database: Database,
    group: Sequence[StoredFailure],
    is_given: Callable[[StoredFailure], bool],
    action: PlannedCommand | PlannedEdit,
) -> KnownFailure | None:
    """Return the newest failure of a group whose cure is known and is not what is about to happen or has just failed."""
    for one in group:
        is_itself = isinstance(action, PlannedCommand) and action.is_cure(one.failure)
        if one.failure.kind and not is_itself and not is_given(one):
            return _describe(database, group, one)
    return None


def _describe(database: Database, group: Sequence[StoredFailure], cured: StoredFailure) -> KnownFailure:
    failure, turn = cured.failure, cured.failure.cure_turn or cured.failure.turn
    what, place = name_failure(failure), failures.find_place(database, turn)
    return KnownFailure(
        what, len(group), group[0].timestamp, failure.error, failure.kind, failure.cure, turn, *place, cured.project
    )


def _works_by_now(database: Database, newest: StoredFailure, action: PlannedCommand | PlannedEdit) -> bool:
    """Check whether a later conversation has run the same without a failure."""
    failure = newest.failure
    project = None if failure.is_missing else newest.project
    subject = failure.word.rpartition(" ")[2] or failure.action
    later = failures.find_later_calls(database, project, subject, newest.timestamp, newest.conversation_id)
    return any(action.is_called_in(turn, failure) for turn in later)


def group_cured(database: Database, project: str | None) -> list[list[StoredFailure]]:
    """Return the failures of a project, or of all, whose cure is known, those of the same thing together, the newest first."""
    cured = ((one, one.failure) for one in failures.list_cured(database, project, MAX_KNOWN))
    groups = group_by_key(
        ((what.program, what.word or what.action, "" if what.is_missing else one.project), one) for one, what in cured
    )
    return list(groups.values())


def list_known(database: Database, project: str | None, limit: int) -> list[KnownFailure]:
    """Return the failures whose cure is known, the most frequent first."""
    groups = sorted(group_cured(database, project), key=len, reverse=True)
    return [_describe(database, group, group[0]) for group in groups[:limit]]


def name_failure(failure: Failure) -> str:
    """Return the program with the word that its error names, a missing program, a command or a file."""
    if failure.word == failed_commands.WRONG_FOLDER:
        return failure.program
    what = f"{failure.program} {failure.word}" if failure.word not in ("", failure.program) else failure.word
    return what or failure.action
