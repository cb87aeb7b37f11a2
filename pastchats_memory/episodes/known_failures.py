"""Find out whether a command or an edit failed in a project before, and how that ended.

A hook asks this before an agent acts, so nothing here imports the model or NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pastchats_memory.episodes import is_user_turn
from pastchats_memory.episodes.actions import CUT, calls_of, changed_files, relative_path, shell_commands
from pastchats_memory.model import REFUSED, Item
from pastchats_memory.store import outcomes, recorded_calls
from pastchats_memory.store.database import Database
from pastchats_memory.store.recorded_calls import RecordedTurn
from pastchats_memory.text.commands import (
    find_folder,
    find_purpose,
    is_related,
    is_variant,
    simplify_purpose,
    sort_options,
    strip_surroundings,
)
from pastchats_memory.text.shell import NO_SUCH_COMMAND, classify_check, is_editor, is_shell

REACH = 60
"""Turns on each side of a failure that are searched for its end."""
MAX_FAILURES = 3
"""The latest failures whose end is looked up."""
LEAST_CUT = 20
"""Characters of a shortened command that identify it."""
MIN_CONVERSATIONS = 2
"""Conversations in which a command failed that works by now, so that it counts as one that fails often."""
_NEVER_RAN = re.compile(
    NO_SUCH_COMMAND
    + r"""
    |^Exit\ code\ 12[67]$|\bcommand\ not\ found\b|:\ No\ module\ named\ |\bmissing\ script\b|\bdenied\b|\bEACCES\b
    |\b(?:unknown|unrecogni[sz]ed|invalid|no\ such)\ (?:option|argument|flag|command|subcommand|target)
    |\bE(?:CONNREFUSED|ADDRINUSE)\b|\bconnection\ refused\b|\baddress\ already\ in\ use\b|\bcould\ not\ resolve\ host\b
    |\bno\ rule\ to\ make\ target\b|\bcould\ not\ find\ gem\b|\bexecutable\ does(?:n't|\ not)\ exist\b|\bdirectory\ not\ found:
    |\bdoes\ not\ (?:contain|have)\ (?:the\ |this\ )?feature\b|\bno\ tests?\ (?:ran|found|to\ run|files|collected)\b|^usage:\ """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
"""Results of a check that tell about the command, and not about the checked work."""
_MISMATCH = re.compile(
    r"""
    \bstring\ to\ replace\b|\bnot\ been\ read\ yet\b|\bmodified\ since\ read\b|\breplace_all\b|\bSEARCH/REPLACE\b|\bdoes\ not\ exist\b
    |\bno\ (?:match|occurrences?|changes?)\b|\bfailed\ to\ (?:apply|find)\b|\bcould\ not\ find\b|\bold_string\b|\bnot\ unique\b
    |\bcontext\b|\bhunk\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Results of an editor whose input does not fit the file."""
_EXIT_CODE = re.compile(r"\AExit code -?\d+\Z")


class KnownFailure(NamedTuple):
    """An action that failed before, and the end of that."""

    times: int
    """Failed runs that are recorded."""
    when: str | None
    """Time of the last one."""
    error: str
    """Line of its result."""
    kind: str
    """How it ended: `refused`, `instead`, `after`, `worked` or `failed`."""
    end: str
    """The user's words, the command that worked, or the line that shows the outcome."""
    turn: int
    """Id of the turn that shows the end."""
    path: str
    line: int | None
    """Place of that turn."""


class _Run(NamedTuple):
    """A recorded run of an action."""

    turn: RecordedTurn
    has_failed: bool
    result: str = ""
    """Its result below the call; empty for one without a row."""

    @property
    def when(self) -> tuple[str, int]:
        return self.turn.timestamp or "", self.turn.id

    @property
    def is_refused(self) -> bool:
        return REFUSED in f"\n{self.result}"


class _End(NamedTuple):
    """The end of a failure: the fields of `KnownFailure`."""

    kind: str
    words: str
    turn: int


class PlannedCommand:
    """A command that is about to run."""

    def __init__(self, command: str, project: str) -> None:
        self._project = project
        self._whole_purpose = find_purpose(command)
        self.purpose = simplify_purpose(self._whole_purpose, project)
        self._key = sort_options(self.purpose)
        self._folder = find_folder(command, project)
        self._lines = command.strip()
        self._is_check = classify_check(command) is not None

    def find_result(self, turn: RecordedTurn) -> str | None:
        """Return what stands below the command in a result; None for another call's."""
        if not turn.content.startswith("$ "):
            return None
        heading, _, result = turn.content[2:].partition("\n")
        if self._is_same(heading):
            return result
        is_same = "\n" in self._lines and turn.content[2:].startswith(self._lines)
        return turn.content[2 + len(self._lines) :].strip("\n") if is_same else None

    def is_called_in(self, turn: RecordedTurn) -> bool:
        """Check whether a turn calls it."""
        return any(map(self._is_same, shell_commands(turn)))

    def _is_same(self, recorded: str) -> bool:
        folder = find_folder(recorded, self._project)
        if folder and self._folder and folder != self._folder:
            return False
        if not recorded.endswith(CUT):
            return sort_options(simplify_purpose(find_purpose(recorded), self._project)) == self._key
        start = find_purpose(recorded.removesuffix(CUT))
        return len(start) >= LEAST_CUT and self._whole_purpose.startswith(start)

    def find_recorded_purpose(self, turn: RecordedTurn) -> str:
        """Return the purpose of the command in a result, which may be spelled otherwise than this one."""
        heading = turn.content[2:].partition("\n")[0]
        return self._whole_purpose if heading.endswith(CUT) or not self._is_same(heading) else find_purpose(heading)

    def is_own_failure(self, result: str) -> bool:
        """Check whether a failure is the command's own.

        A check that reports faults of the checked work did not fail. An exit code without a word is an answer, as of `test -f`.
        """
        return bool(_find_error_line(result)) and (not self._is_check or _NEVER_RAN.search(result) is not None)


class PlannedEdit:
    """A file that is about to be changed."""

    def __init__(self, path: str, project: str) -> None:
        self._project = project
        self.purpose = relative_path(project, path)

    def find_result(self, turn: RecordedTurn) -> str | None:
        """Return what stands below the call in a result; None for another call's."""
        heading, _, result = turn.content.partition("\n")
        tool, _, path = heading.partition(" ")
        is_same = is_editor(tool) and relative_path(self._project, path.strip()) == self.purpose
        return result if is_same else None

    def is_called_in(self, turn: RecordedTurn) -> bool:
        """Check whether a turn changes the file."""
        return self.purpose in changed_files(turn)

    def is_own_failure(self, result: str) -> bool:
        """Check whether a failure is about the file, and not about the words that an editor was to replace."""
        return not _MISMATCH.search(result)


def find_known_failure(
    database: Database, project: str, action: PlannedCommand | PlannedEdit, not_conversation: str | None
) -> KnownFailure | None:
    """Return how the last failure of an action ended; None if it works by now, or if the end is unknown.

    The agent of a conversation knows its own failures, so `not_conversation` is left out.
    """
    if not action.purpose:
        return None
    turns = recorded_calls.find_calls(database, project, action.purpose, not_conversation)
    runs = sorted(_find_runs(turns, action), key=lambda run: run.when)
    failed = [run for run in runs if run.is_refused or (run.has_failed and action.is_own_failure(run.result))]
    conversations = {run.turn.conversation_id for run in failed}
    fails_often = isinstance(action, PlannedCommand) and len(conversations) >= MIN_CONVERSATIONS
    if not failed or not (runs[-1].has_failed or fails_often):
        return None
    for run in failed[: -MAX_FAILURES - 1 : -1]:
        if end := _find_end(database, run, action):
            path, line = recorded_calls.find_place(database, end.turn)
            error = _find_error_line(run.result)
            return KnownFailure(len(failed), failed[-1].turn.timestamp, error, *end, path, line)
    return None


def _find_runs(turns: Sequence[RecordedTurn], action: PlannedCommand | PlannedEdit) -> Iterator[_Run]:
    """Yield the runs of an action that have a result; of a conversation without one, the last call.

    A result has a row if it failed, repaired a failure, or was a check. So a call without any result succeeded.
    """
    called: dict[str, _Run] = {}
    with_result: set[str] = set()
    for turn in sorted(turns, key=lambda turn: turn.turn_index):
        result = action.find_result(turn) if turn.role == "tool" else None
        if result is not None:
            with_result.add(turn.conversation_id)
            run = _Run(turn, has_failed=turn.metadata.get("kind") == "error", result=result)
            yield run._replace(has_failed=run.has_failed or run.is_refused)
        if action.is_called_in(turn):
            called[turn.conversation_id] = _Run(turn, has_failed=False)
    yield from (run for conversation, run in called.items() if conversation not in with_result)


def _find_end(database: Database, run: _Run, action: PlannedCommand | PlannedEdit) -> _End | None:
    """Return how a failure ended: the user's reason, the command that worked, or the outcome of its episode."""
    if run.is_refused:
        after = recorded_calls.read_around(database, run.turn, 1)[-1]
        return _End("refused", after.content, after.id) if is_user_turn(after) else None
    turn = run.turn
    purpose = action.find_recorded_purpose(turn) if isinstance(action, PlannedCommand) else ""
    following = _list_following(database, turn, purpose) if purpose else []
    if end := _find_repair(following, purpose):
        return end
    item = Item(turn.id, "", turn.project, turn.conversation_id, turn.turn_index, turn.role, "", turn.timestamp, {}, ())
    ending = outcomes.of_turn(database, item)
    if ending is None or ending.outcome not in ("worked", "failed") or not ending.shown_by:
        return None
    if ending.evidence[-1].id == turn.id:  # the failure itself, and not what came of it
        return None
    if ending.outcome == "worked":
        for call in reversed(following):
            if not call.has_failed and is_related(purpose, call.purpose):
                return _End("instead", call.words, call.turn)
    return _End(ending.outcome, ending.shown_by, ending.evidence[-1].id)


class _Call(NamedTuple):
    """A call in the order of a conversation."""

    turn: int
    requests: int
    """User turns before it, within the turns that are looked at."""
    purpose: str
    """Of a command; empty for a change of a file."""
    words: str
    has_failed: bool = False
    """Whether the last run of the same command failed."""


def _find_repair(following: Sequence[_Call], purpose: str) -> _End | None:
    """Return the variant of a failed command that worked next, or what made the same command work."""
    prepared: _Call | None = None
    for call in following:
        if call.has_failed:
            continue
        if call.purpose == purpose:
            return prepared and _End("after", prepared.words, prepared.turn)
        if call.purpose and is_variant(purpose, call.purpose):
            return _End("instead", call.words, call.turn)
        prepared = call
    return None


def _list_following(database: Database, failure: RecordedTurn, purpose: str) -> list[_Call]:
    """Return the calls after a failed command, up to the end of the next request.

    A call may be recorded with an answer that stands below its result.
    """
    around = recorded_calls.read_around(database, failure, REACH)
    runs = [
        (find_purpose(turn.content[2:].partition("\n")[0]), turn) for turn in around if turn.content.startswith("$ ")
    ]
    failed = {
        one for one, turn in dict(runs).items() if turn.metadata.get("kind") == "error" or REFUSED in turn.content
    }
    calls = [call._replace(has_failed=call.purpose in failed) for call in _list_calls(around)]
    own = [place for place, call in enumerate(calls) if call.purpose == purpose]
    if not own:
        return []
    later = sum(one == purpose and turn.turn_index > failure.turn_index for one, turn in runs)
    # Of equal calls in one turn only the last is recorded. Then the failure lies before all calls of that turn.
    in_turn = next(place for place, call in enumerate(calls) if call.turn == calls[own[0]].turn)
    start = own[-1 - later] + 1 if later < len(own) else in_turn
    last = calls[start - 1 if later < len(own) else in_turn].requests + 1
    return [call for call in calls[start:] if call.requests <= last]


def _list_calls(turns: Sequence[RecordedTurn]) -> Iterator[_Call]:
    """Yield the commands that do something, and the changes of files."""
    requests = 0
    for turn in turns:
        requests += is_user_turn(turn)
        for tool, subject in calls_of(turn):
            purpose = find_purpose(subject) if is_shell(tool) else ""
            if purpose:
                yield _Call(turn.id, requests, purpose, strip_surroundings(subject))
            elif subject and is_editor(tool):
                yield _Call(turn.id, requests, "", f"a change of {subject}")


def _find_error_line(result: str) -> str:
    """Return the line of a result that says most: the first with an error, else the first."""
    lines = [line.strip() for line in result.split("\n") if line.strip() and not _EXIT_CODE.match(line.strip())]
    wanted = (
        line for line in lines if re.search(r"error|fatal|denied|not found|no such|cannot|unable", line, re.IGNORECASE)
    )
    return next(wanted, lines[0] if lines else "")
