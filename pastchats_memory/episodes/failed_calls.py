"""Derive failed commands and edits from the turns of a conversation, and what cured them. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pastchats_memory.episodes import is_user_turn
from pastchats_memory.episodes.actions import CUT, calls_of, changed_files, relative_path
from pastchats_memory.model import OUTSIDE, REFUSED
from pastchats_memory.store.failures import Failure, RecordedTurn
from pastchats_memory.text import shell
from pastchats_memory.text.commands import find_purpose, simplify_purpose, sort_options, strip_surroundings
from pastchats_memory.text.failed_commands import (
    MARKS,
    MOVES,
    NOT_RUN,
    WRONG_FOLDER,
    FailureCause,
    Part,
    find_cause,
    find_place,
    is_move,
    is_subject,
    split_command,
)
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern

REACH = 16
"""Calls after a failure among which its cure is looked for."""
MAX_CURE = 240
"""Characters of a cure."""
MAX_UNDONE = 3
"""Files of an answer that the user had undone as a whole; with more of them, the words do not tell which one was wrong."""
MIN_AIM = 2
"""Characters of an argument that tells what a command is for."""
LAST_CHARACTERS = 400
"""Characters at the end of a result that say why a command did not run."""
LEAST_CUT = 20
"""Characters of a shortened command that identify it."""
CHANGE = "a change of "
"""Words of a step that edits a file."""
_NAME = LazyPattern(r"[a-z][\w-]{2,}")
_ABSENT = read_pattern(__file__, "absent", re.IGNORECASE)
"""Errors about a file, a program or a module that is not there."""
_MISMATCH = read_pattern(__file__, "mismatch", re.IGNORECASE)
"""Results of an editor whose input does not fit the file."""
_ABOUT_OPTIONS = read_pattern(__file__, "about-options", re.IGNORECASE)
_UNREACHABLE = read_pattern(__file__, "unreachable", re.IGNORECASE)
"""Errors of a network or a right that is not there; whatever ran between a failure and a success did not bring it back."""
_TIMED_OUT = LazyPattern(r"\btimed out\b|\btimeout (?:of|after|exceeded)\b", re.IGNORECASE)
_ASKING = LazyPattern(r"\|\||(?:\A|[;&]\s*)(?:for|if|until|while)\s")
"""Commands that end well without the program that they name."""
_MAY_FAIL = LazyPattern(r"\|\|\s*(?:echo|printf|true|:)(?![^\s;&|])[^;&|]*\Z")
"""The end of a command that ends well even if its program fails."""
_LOOKS = read_pattern(__file__, "looks", re.IGNORECASE)
"""Commands that tell about programs, packages and services, and change none."""
_BEHIND = LazyPattern(r"\s*(?:\d?>|[|;&]|\Z)")
"""The end of a command with another one, or with a file, behind it: this one may have failed as well."""
_HIDES_SCRIPT = LazyPattern(r"<<|\A(?:[^'\"]|'[^']*'|\"[^\"]*\")*(?:'[^']*|\"[^\"]*)\Z")
"""Commands whose script goes on behind the recorded line, so that nothing tells what it does."""
_UNDO = read_pattern(__file__, "undo", re.IGNORECASE)
"""The start of a message that has the last change undone."""


class CallStep(NamedTuple):
    """A call in the order of a conversation."""

    turn: int
    """Id of the row that records it."""
    requests: int
    """User turns before it."""
    command: str
    """Perhaps shortened; empty for an edit."""
    words: str
    """The command without its surroundings, or the edit in words."""
    has_failed: bool
    """Whether the last run of an equal call with this answer failed."""
    result: str = ""

    @property
    def acts(self) -> bool:
        """Return whether it changes anything."""
        return not self.command or not all(
            shell.is_read_only(part.text.removeprefix("sudo ")) or _LOOKS.match(" ".join((part.program, *part.words)))
            for part in split_command(self.command)
        )

    @property
    def has_worked(self) -> bool:
        """Return whether its end shows that it worked."""
        return bool(self.words) and not self.has_failed and not _MAY_FAIL.search(shell.QUOTED.sub("", self.command))


class _Result(NamedTuple):
    turn: RecordedTurn
    step: int
    """Place of its call among the steps; of equal calls in one answer, the last one's."""
    is_last: bool
    """Whether no later result of an equal call stands with this answer."""
    requests: int
    reply: RecordedTurn | None
    """The user's words right behind it, which give the reason of a refusal."""


def derive_failures(turns: Sequence[RecordedTurn], project: str) -> list[Failure]:
    """Return the failed commands and edits of a conversation, each with its cure if the conversation shows one."""
    steps, results = _order_calls(turns)
    failures = [failure for result in results if (failure := _make_failure(result, steps, project))]
    return [*failures, *_find_undone(turns)]


def _order_calls(turns: Sequence[RecordedTurn]) -> tuple[list[CallStep], list[_Result]]:
    """Return the calls of a conversation in order, and the results with the places of their calls.

    An answer lists each call once, where it ran last. Results stand behind the answer that lists their call; those behind a
    request belong to the next answer.
    """
    steps: list[CallStep] = []
    results: list[_Result] = []
    replies = {turn.id: reply for turn, reply in pairwise(turns) if is_user_turn(reply)}
    for owner, rows, requests in _group_results(turns):
        first = len(steps)
        called = list(calls_of(owner)) if owner else []
        outcome: dict[int, bool] = {}
        matched = []
        for row in rows:
            place = _find_call(row, called)
            if place is None:
                place = len(called)
                tool, _, subject = row.content.partition("\n")[0].partition(" ")
                called.append(("bash" if tool == "$" else tool, subject))
            outcome[place] = has_failed(row)
            matched.append((row, place))
        for place, (tool, subject) in enumerate(called):
            result = next((row for row, at in reversed(matched) if at == place), None)
            whole = result.content[2:].partition("\n")[0] if result and result.content.startswith("$ ") else ""
            command = (whole or subject) if shell.is_shell(tool) else ""
            if subject and (command or shell.is_editor(tool)):
                words = strip_surroundings(command) if command else f"{CHANGE}{subject}"
            else:
                command = words = ""
            turn = result.id if result else owner.id if owner else rows[0].id
            steps.append(
                CallStep(turn, requests, command, words, outcome.get(place, False), result.content if result else "")
            )
        last = {place: row for row, place in matched}
        results += [
            _Result(row, first + place, last[place] is row, requests, replies.get(row.id)) for row, place in matched
        ]
    return steps, results


def _group_results(turns: Sequence[RecordedTurn]) -> Iterator[tuple[RecordedTurn | None, list[RecordedTurn], int]]:
    """Yield each turn that lists calls, the results of these calls, and the number of requests before."""
    owner: RecordedTurn | None = None
    rows: list[RecordedTurn] = []
    requests = 0
    for turn in turns:
        if turn.role == "tool":
            rows.append(turn)
        elif is_user_turn(turn):
            if owner or rows:
                yield owner, rows, requests
            owner, rows = (turn if turn.metadata.get("tools") else None), []
            requests += 1
        elif turn.role == "assistant":
            if owner is not None:
                yield owner, rows, requests
                rows = []
            owner = turn
    if owner or rows:
        yield owner, rows, requests


def has_failed(turn: RecordedTurn) -> bool:
    """Return whether a result is that of a failed or refused call, perhaps one whose exit code a pipe hides."""
    command, _, text = turn.content.removeprefix("$ ").partition("\n")
    return turn.metadata.get("kind") == "error" or REFUSED in turn.content or shows_failure(command, text)


def shows_failure(command: str, result: str) -> bool:
    """Check whether a result ends as that of a command that failed, or did not run, where a pipe hides the exit code."""
    if not shell.hides_end(command) or shell.is_read_only(command):
        return False
    return shell.reports_failure(result) or NOT_RUN.search(result[-LAST_CHARACTERS:]) is not None


def _find_call(row: RecordedTurn, called: Sequence[tuple[str, str]]) -> int | None:
    """Return the place of a result's call in a list of calls, which may be shortened."""
    text = " ".join(row.content[:600].split())
    found = []
    for place, (tool, subject) in enumerate(called):
        start = f"$ {subject}" if shell.is_shell(tool) else f"{tool} {subject}"
        bare = start.removesuffix(CUT)
        if text.startswith(bare) and (bare != start or text[len(bare) : len(bare) + 1] in ("", " ", CUT)):
            found.append((len(bare), place))
    return max(found)[1] if found else None  # a shorter call may begin as a longer one does


def _make_failure(result: _Result, steps: Sequence[CallStep], project: str) -> Failure | None:
    """Return the failure that a result shows; None if it shows none, or one that tells nothing about the call."""
    row = result.turn
    heading, _, text = row.content.partition("\n")
    command = heading[2:] if heading.startswith("$ ") else ""
    if not has_failed(row) or not (command or shell.is_editor(heading.partition(" ")[0])):
        return None
    action = spell_command(command, project) if command else relative_path(project, heading.partition(" ")[2].strip())
    folder = find_place(command, project)
    if REFUSED in row.content:
        program = next((part.program for part in reversed(split_command(command))), "")
        return _make_refusal(result, steps, FailureCause(program, "", "", Part("", (), action)), folder)
    cause = find_cause(command, text, project) if command else _find_cause_of_edit(text, action)
    if cause is None or not (cause.word or action):
        return None
    kind, step = _find_cure(result, cause, action, steps, project) or ("", None)
    has_passed = kind == "after" or _passes_later(result, steps, cause, action, step)
    return Failure(
        row.id, cause.program, cause.word, cause.is_missing, folder, action, cause.error, has_passed,
        kind, step.words[:MAX_CURE] if step else "", step.turn if step else None,
    )  # fmt: skip


def _find_cause_of_edit(text: str, action: str) -> FailureCause | None:
    """Return why an edit failed; None if its words do not fit the file."""
    if _MISMATCH.search(text):
        return None
    return FailureCause("", "", text.strip().partition("\n")[0][:MAX_CURE], Part("", (), action))


def _make_refusal(result: _Result, steps: Sequence[CallStep], cause: FailureCause, folder: str) -> Failure | None:
    """Return the refusal of a call with the user's reason; None without one."""
    row, action = result.turn, cause.part.text
    # The next message says how an edit should be; only words that were given with the refusal are about the file.
    if result.reply is None or not action or not (cause.program or result.reply.metadata.get("kind") == "answer"):
        return None
    reason = " ".join(result.reply.content.split())[:MAX_CURE]
    has_passed = _passes_later(result, steps, cause, action)
    return Failure(row.id, cause.program, "", False, folder, action, "", has_passed, "refused", reason, result.reply.id)


def spell_command(command: str, project: str) -> str:
    """Return a command in the spelling of `Failure.action`; empty if it only reads."""
    return sort_options(simplify_purpose(find_purpose(command), project))


def _is_same(step: CallStep, cause: FailureCause, action: str, project: str) -> bool:
    """Check whether a call does what failed: the same command, the same word, the missing program, or the same file."""
    if cause.program and cause.word:
        return is_subject(step.command, cause.program, cause.word, project)
    if not step.command:
        return step.words == f"{CHANGE}{action}" or step.words.endswith(f"/{action}")
    if step.command.endswith(CUT):
        start = simplify_purpose(find_purpose(step.command.removesuffix(CUT)), project)
        return len(start) >= LEAST_CUT and action.startswith(start)
    return bool(action) and spell_command(step.command, project) == action


def _passes_later(
    result: _Result, steps: Sequence[CallStep], cause: FailureCause, action: str, cure: CallStep | None = None
) -> bool:
    """Check whether the same works later in the conversation, in another way than its cure does."""
    project = result.turn.project
    later = steps[result.step + result.is_last :]
    is_outside = OUTSIDE in result.turn.content
    return any(
        step is not cure
        and not step.has_failed
        and (OUTSIDE in step.result) == is_outside
        and _is_same(step, cause, action, project)
        for step in later
    )


def _find_cure(
    result: _Result, cause: FailureCause, action: str, steps: Sequence[CallStep], project: str
) -> tuple[str, CallStep] | None:
    """Return what cured a failure: what worked instead, or what made the same work."""
    own = steps[result.step]
    outside = _find_outside(result, steps, cause, action, project)
    if outside or _UNREACHABLE.search(cause.error):
        return outside and ("instead", outside)
    if cause.word == WRONG_FOLDER:
        return _find_move(steps[result.step + result.is_last :][:REACH], cause, result)
    before = steps[max(0, result.step - REACH) : result.step] if not result.is_last else ()
    following = [step for step in steps[result.step + result.is_last :][:REACH] if step.requests <= result.requests + 1]
    prepared = [step for step in before if step.acts and step.requests == result.requests and step.has_worked]
    for step in (one for one in following if one.has_worked):
        if _is_same(step, cause, action, project):
            if found := _choose_preparation(prepared, cause, own):
                return "after", found
            return ("instead", step) if _is_wrapped(step, own, cause) else None
        if step.command and _is_instead(step, cause, own):
            is_here = find_place(step.command, project) == find_place(own.command, project) and cause.word not in MARKS
            return "instead", step if is_here else step._replace(words=" ".join(step.command.split()))
        if step.acts:
            prepared.append(step)
    return None


def _find_outside(
    result: _Result, steps: Sequence[CallStep], cause: FailureCause, action: str, project: str
) -> CallStep | None:
    """Return the run of the same command outside the sandbox, which hides no file; None if there is none that worked."""
    if OUTSIDE in result.turn.content or _ABSENT.search(cause.error):
        return None
    following = steps[result.step + result.is_last :][:REACH]
    again = (step for step in following if OUTSIDE in step.result and not step.has_failed)
    found = next((step for step in again if action and spell_command(step.command, project) == action), None)
    return found and found._replace(words=f"{OUTSIDE} {found.words}")


def _is_wrapped(step: CallStep, own: CallStep, cause: FailureCause) -> bool:
    """Check whether a command that works with the same word is the failed one with something about it.

    Otherwise the word is not why it failed, unless `--` or `-e` says now that it is no option, or another option was missing. That
    makes no file appear.
    """
    if not step.command or _BEHIND.match(step.words.removeprefix(own.words)):
        return False
    whole = " ".join(step.command.split())
    words, before = set(step.words.split()), set(own.words.split())
    has_option = (
        words > before and any(word.startswith("-") for word in words - before) and not _ABSENT.search(cause.error)
    )
    marks = {"--", "-e"} & (words - before)
    is_there = cause.is_missing and ("PATH=" in whole or not shell.command_words("set-up").isdisjoint(whole.split()))
    return not cause.word or is_there or bool(marks) or has_option or " ".join(own.words.split()) in whole


def _find_move(following: Sequence[CallStep], cause: FailureCause, result: _Result) -> tuple[str, CallStep] | None:
    """Return the change of folder with which, or after which, a program ran; None if there is none."""
    moved = None
    for step in following:
        if not step.command or step.requests > result.requests + 1 or not _is_in_place(step, result.turn.project):
            continue
        if is_move(step.command):
            moved = step._replace(words=" ".join(step.command.split()))
        if any(part.program == cause.program for part in split_command(step.command)):
            return moved and ("instead" if moved.turn == step.turn else "after", moved)
    return None


def _is_in_place(step: CallStep, project: str) -> bool:
    """Check whether a command ran in a folder that is right for it, whatever came of it there."""
    cause = find_cause(step.command, step.result.partition("\n")[2], project) if step.has_failed else None
    return cause is None or (cause.word != WRONG_FOLDER and cause.program not in MOVES)


def _choose_preparation(prepared: Sequence[CallStep], cause: FailureCause, own: CallStep) -> CallStep | None:
    """Return the last call before a success that has to do with the failure; None if chance alone connects them.

    An edit has to do with it if the error or the command names its file. A command is about the same program, or about what is not
    there, and has a word of either; or it sets up what is not there. Any other has a word of the error among its arguments.
    """
    error = f"{cause.word} {cause.error}".lower()
    text = f"{error} {own.command}".lower()
    programs = {part.program for part in split_command(own.command)} - {cause.word}
    vague = shell.command_words("error-words") | programs
    lacks = cause.is_missing or _ABSENT.search(cause.error) is not None
    for step in reversed(prepared):
        if not step.command:
            if not cause.is_missing and step.words.rpartition("/")[2].rpartition(" ")[2].lower() in text:
                return step
            continue
        parts = split_command(step.command)
        is_near = lacks or any(part.program in programs for part in parts)
        words = step.command if is_near else " ".join(word for part in parts for word in part.words)
        sets_up = lacks and not shell.command_words("set-up").isdisjoint(step.command.split())
        if sets_up or (set(_NAME.findall(text if is_near else error)) - vague) & set(_NAME.findall(words.lower())):
            return step
    return None


def _is_instead(step: CallStep, cause: FailureCause, own: CallStep) -> bool:
    """Check whether another command did what failed: with the same aim, and without what failed."""
    parts = split_command(step.command)
    if not cause.program:  # an edit
        return step.acts and any(word.endswith(cause.part.text) for part in parts for word in part.words)
    if cause.is_missing:
        source = own.command.partition("|")[0].strip()
        shows = cause.program in shell.command_words("filters") and cause.program not in source
        serves = any(_is_substitute(part, cause) for part in parts) and not _ASKING.search(
            shell.QUOTED.sub("", step.command)
        )
        return (shows and source in step.command) or serves
    if _TIMED_OUT.search(cause.error):
        return " ".join(own.words.split()) in " ".join(step.command.split())
    if cause.word in MARKS:
        named = cause.error.partition("/[")[2]
        return named in step.command.replace("\\", "") if named else parts[:1] == [cause.part]
    return any(_serves(part, cause, own) for part in parts) if cause.word else _is_nearly_equal(step, own, cause)


def _serves(part: Part, cause: FailureCause, own: CallStep) -> bool:
    """Check whether a command has more than the failed word, or most of the other words that tell what it is for.

    A file that is not there may be in another folder; what else a program reads says nothing of it.
    """
    value = cause.word.rpartition(" ")[2]
    aims = _list_aims(cause.part, cause.word)
    is_alike = sum(word in part.words for word in aims) * 2 > len(aims)
    others = (word for word in part.words if word != value)
    if part.program == value:  # without the program that does not know it
        return is_alike or not aims
    if part.program != cause.program:
        return is_alike and _starts_alike(part, cause.part)
    if (not own.acts or cause.program in MOVES) and _ABSENT.search(cause.error):
        return value.rstrip("/").rpartition("/")[2] in [word.rstrip("/").rpartition("/")[2] for word in others]
    is_goal = " " in cause.word and not cause.word.startswith("-")  # of a runner, which has others as well
    return is_alike or not (aims or is_goal) or any(value in word for word in others)


def _is_nearly_equal(step: CallStep, own: CallStep, cause: FailureCause) -> bool:
    """Check whether a command has all words of the failed one, or other options if the error is about them.

    The error names no word, so nothing else tells that both are about the same.
    """
    if _ABOUT_OPTIONS.search(cause.error):
        alike = [part for part in split_command(step.command) if _starts_alike(part, cause.part)]
        return any(_differs_in_options(set(cause.part.words), set(part.words)) for part in alike)
    if own.acts > step.acts or shell.classify_check(own.command) or _HIDES_SCRIPT.search(own.command):
        return False
    has_more = set(find_purpose(own.command).split()) < set(find_purpose(step.command).split())
    return has_more and not _BEHIND.match(step.words.removeprefix(own.words))


def _differs_in_options(failed: set[str], worked: set[str]) -> bool:
    """Check whether a command lacks options of another, or has one more."""
    removed, added = failed - worked, worked - failed
    return all(word.startswith("-") for word in removed) and any(word.startswith("-") for word in removed | added)


def _starts_alike(part: Part, other: Part) -> bool:
    return part.text.partition(" ")[0] == other.text.partition(" ")[0]


def _list_aims(part: Part, word: str) -> list[str]:
    """Return the arguments of a command that tell what it is for, without the one that failed."""
    named = word.split()
    return [one for one in part.words if one not in named and not one.startswith("-") and len(one) >= MIN_AIM]


def _is_substitute(part: Part, cause: FailureCause) -> bool:
    """Check whether a command runs a missing program in another way, or has its arguments."""
    name, spaced = re.escape(cause.program), cause.program.replace("-", " ")
    is_named = re.search(rf"(?<!\w){name}[\d.]*(?!\w)", "\n".join((part.program, *part.starters)))
    if is_named or (spaced != cause.program and spaced in part.text):
        return part.program == cause.program or part.program not in shell.command_words("installers")
    aims = _list_aims(cause.part, "")
    if not aims:
        return any({part.program, cause.program} <= alike for alike in shell.list_alike_programs())
    return sum(word in part.words for word in aims) * 2 > len(aims)


def _find_undone(turns: Sequence[RecordedTurn]) -> Iterator[Failure]:
    """Yield the edits of an answer that the user's next message has undone."""
    files: list[str] = []
    for turn in turns:
        if is_user_turn(turn):
            if files and len(set(files)) <= MAX_UNDONE and _UNDO.search(turn.content[:200].strip()):
                words = " ".join(turn.content.split())[:MAX_CURE]
                for file in dict.fromkeys(files):
                    yield Failure(turn.id, "", "", False, "", file, "", False, "undone", words, turn.id)
            files = []
        elif turn.role == "assistant":
            files += changed_files(turn)
