"""Signals that weigh what was done against what was said of it, by either side."""

from __future__ import annotations

import re

from pastchats_memory.outcome.answers import (
    LEAVING,
    admitted,
    asks_back,
    claimed,
    claimed_before,
    commits,
    committed,
    could_not,
    edit_made,
    edited,
    edits,
    ends_asking,
    is_edit,
    is_finished,
    is_torn,
    last_answer,
    left_open,
    taken_back,
    worked_on,
)
from pastchats_memory.outcome.checks import is_awaited, is_narrowed, last_checks, noise_in
from pastchats_memory.outcome.next_words import (
    agreed,
    did_as_asked,
    doubted,
    finds_fault,
    goes_on,
    is_about_request,
    is_at_length,
    names_request,
    picked,
    refuses,
    still_goes_on,
    tells_trouble,
    thanked,
    went_on,
)
from pastchats_memory.outcome.requests import is_greeting, is_inquiry, is_question
from pastchats_memory.outcome.rows import (
    LONGEST,
    OPENING,
    QUOTED,
    Episode,
    Evidence,
    Pattern,
    Row,
    listed,
    once,
    quoted,
)
from pastchats_memory.outcome.said import next_words, opening
from pastchats_memory.text.shell import classify_check, is_read_only, is_shell

_INTERRUPTED = Pattern(
    r"""
    \[Request\ interrupted|KeyboardInterrupt|\binterrupted\ by\ (?:the\ )?user\b|^API\ Error
    |\b(?:rate|usage)\ limit\b[^\n]{0,20}\b(?:reached|exceeded)|\bcontext\ (?:length|window)\ exceeded
    |\boverloaded_error\b|^Credit\ balance\ is\ too\ low|^Prompt\ is\ too\ long|^Request\ timed\ out
    |\byou've\ (?:hit|reached)\ your\b[^\n]{0,20}\blimit\b"""
)
UNFINISHED = frozenset({"pending", "in_progress", "blocked", "review"})
"""States of a task that is still to be done."""
SHORT = 1000
"""Characters up to which an answer that begins by giving up does nothing else."""
_WITHIN = Pattern(r"[\w,;(\[{]\Z")
"""How a text ends that was cut off within a sentence."""
_HINDERED = Pattern(
    r"""
    \b(?:
        can(?:no|')t|could(?:n't|\ not)|(?:is|are|was|were|do|does|did|has|have)(?:n't|\ not)|unable
        |not\ (?:found|installed|available|allowed|reachable|set|there|yet)|missing|denied|rejected|refus\w+
        |timed\ out|killed|crash\w*|needs?\ to\ be|requires?|already\ (?:exists?|in\ use|taken)|conflicts?
        |out\ of\ date|lacks?|without|(?:fix|install|start|add|set|create|run|log\ in|provide)\b[^.\n]{0,60}\bfirst
        |exit(?:ed|s)?\ (?:with\ )?(?:code|status)\ [1-9]\d*|(?:ran|runs?)\ out\ of
        |no\ (?:\w+\ )?(?:network|access|permission|such|space|internet|credentials|connection)
    )\b"""
)
"""What stands in the way."""
_REPRODUCED = Pattern(
    r"\breproduce[sd]?\b|\bfails?\ as\ expected\b|\bas\ (?:you\ )?(?:asked|wanted|intended|designed|it\ should)\b"
)
"""A check or a command that was to fail."""
_FAILED_BEFORE = Pattern(
    r"""
    \bfail\w*\ (?:\w+\ ){0,3}?before\b|\bpre-?existing\b|\bunrelated\b|\balready\ (?:fail\w+|red|broken)\b
    |\bon\ (?:main|master)\ (?:too|as\ well|already)\b"""
)
"""A check that was red all along."""
_WANTS_REFUSAL = Pattern(
    r"\b(?:must\ not|should\ not|not\ be\ able|cannot|nobody|refus\w+|reject\w*|forbid\w*|den(?:y|ies|ied)|prevent\w*|block\w*|protect\w*)\b"
)
"""Something was to fail."""
_FAILING = Pattern(
    r"\b(?:fail\w*|errors?|broken|not\ pass\w*|does(?:n't|\ not)\ work|stuck)\b|не\ проход|ошибк|失败|报错"
)

_LEFT_TO_TRY = Pattern(
    r"""
    \bshould\ (?:now\ )?(?:work|pass|succeed|build|compile|be\ (?:fixed|resolved|gone))\b|\bif\ (?:this|it|that)\ still\b
    |\b(?:try|run)\ (?:it\ |that\ |running\ (?:it\ )?)?again\b|\bre-?run\ (?:it|the|should)\b"""
)
"""Nobody has seen it work yet."""
_EXIT_CODE = re.compile(r"\AExit code \d+")
_CODE = re.compile(r"^ {0,3}```.*?(?:^ {0,3}```|\Z)", re.DOTALL | re.MULTILINE)


@once
def _reached(episode: Episode) -> tuple[Evidence, ...]:
    """What shows that work was done: a claim, a commit, an edit or a green check."""
    green = [check.evidence for check in last_checks(episode) if check.passed]
    return (
        claimed(episode)
        or committed(episode)
        or edit_made(episode)
        or (green[0] if green else ())
        or (claimed_before(episode) if worked_on(episode) else ())
    )


def rejected(episode: Episode) -> tuple[Evidence, ...]:
    """The person's next words say that nothing of it is right, or what is wrong with what was asked for or with an answer without work in sight.

    With work in sight, a fault may be one of a part; after a question, it is an answer.
    """
    if ends_asking(episode):
        return ()
    return refuses(episode) or (() if _reached(episode) else finds_fault(episode)) or _in_trouble(episode)


def _in_trouble(episode: Episode) -> tuple[Evidence, ...]:
    is_meant = last_answer(episode)[1] and not asks_back(episode)
    trouble = tells_trouble(episode) if is_meant else ()
    if trouble and (is_about_request(episode) or not _reached(episode)):
        return trouble
    return still_goes_on(episode) if is_meant and _reached(episode) else ()


def accepted(episode: Episode) -> tuple[Evidence, ...]:
    """The person's next words say that it is good."""
    return () if asks_back(episode) and did_as_asked(episode) else thanked(episode)


def built_on(episode: Episode) -> tuple[Evidence, ...]:
    """A question was answered, and the person takes up what came of it, or what the answer offers at its end.

    Where something was to be done, an offer is a plan and a yes to it shows nothing.
    """
    is_told = is_question(episode) and is_finished(episode) and not asks_back(episode)
    taken_up = is_told and not _ends_in_error(episode) and (goes_on(episode) or agreed(episode))
    return next_words(episode) if taken_up else ()


@once
def _green(episode: Episode) -> tuple[Evidence, ...]:
    """The last run of every kind of check was green, and the answer after it is an end."""
    checks = last_checks(episode)
    return checks[0].evidence if checks and all(check.passed for check in checks) and is_finished(episode) else ()


def check_passed(episode: Episode) -> tuple[Evidence, ...]:
    """The last run of every kind of check was green, and the person goes on from it or says nothing more."""
    return _green(episode) if moved_on(episode) or stands(episode) else ()


def moved_on(episode: Episode) -> tuple[Evidence, ...]:
    """Work is in sight, and the person asks for something else, goes on from it or into something at length, or picks what comes next; where the answer asks something, more than a claim is.

    Clients that note words and calls apart put last what was announced first: an edit counts whatever the answer ends with. Some note
    no calls: there a claim counts, but not as the answer to a question.
    """
    is_kept = bool(listed(episode.turns[last_answer(episode)[0]], "commits"))
    waits = asks_back(episode) or (ends_asking(episode) and not is_shown(episode))
    shown = is_shown(episode) and (is_at_length(episode) or picked(episode))
    went = went_on(episode) or goes_on(episode) or agreed(episode) or shown
    if not went or (waits and not is_kept) or _is_hurt(episode) or is_greeting(episode):
        return ()
    is_told = is_finished(episode) and not is_inquiry(episode)
    claim = claimed_before(episode) if is_told else ()
    return _done(episode) or edited(episode) or (() if claim and _breaks_after(episode, claim[0].place) else claim)


def _breaks_after(episode: Episode, place: int) -> bool:
    """Whether something that was to change something failed after the place, and was not mended."""
    failed = (at for at, row in episode.traffic() if row.kind == "error" and not is_read_only(_command(row)))
    return any(at > place and not episode.is_mended(at) for at in failed)


def stands(episode: Episode) -> tuple[Evidence, ...]:
    """Work is in sight that is more than a claim, nobody says anything after it, no task of it is open, and the answer leaves no try to others."""
    is_untried = not _green(episode) and _LEFT_TO_TRY.search(last_answer(episode)[1][-2 * OPENING :])
    is_open = (
        opening(episode)
        or is_greeting(episode)
        or is_untried
        or _is_hurt(episode)
        or _last_failed(episode)
        or not UNFINISHED.isdisjoint(episode.tasks)
    )
    return _done(episode) if is_shown(episode) and not is_open else ()


def is_shown(episode: Episode) -> bool:
    """Whether more than the assistant's word stands for the work: a commit, an edit or a green check."""
    return bool(committed(episode) or edit_made(episode) or edits(episode) or _green(episode))


def _done(episode: Episode) -> tuple[Evidence, ...]:
    """Checks that are green, a commit, a claim after steps in sight, or an edit."""
    return _green(episode) or committed(episode) or claimed(episode) or edit_made(episode)


def _is_hurt(episode: Episode) -> bool:
    """Whether a red check or an unanswered error comes after the work, or the work was taken back."""
    return _red(episode) or _ends_in_error(episode) or bool(taken_back(episode))


def _ends_in_error(episode: Episode) -> bool:
    """Whether nobody answered the last error."""
    last = episode.turns[-1]
    return last.kind == "error" and not LEAVING.match(last.content)


def check_failed(episode: Episode) -> tuple[Evidence, ...]:
    """The last check was red, and nothing follows, or an answer that says so; not where it was to be red, nor where another folder is green."""
    checks = last_checks(episode)
    place, text = last_answer(episode)
    silent = bool(checks) and place < checks[0].place
    if not checks or checks[0].passed or (claimed(episode) and not ends_asking(episode) and not silent):
        return ()
    if _REPRODUCED.search(text[:OPENING]) or _FAILED_BEFORE.search(text):
        return ()
    if any(check.passed and check.family == checks[0].family for check in checks):
        return ()
    unmended = bool(edits(episode)) and _is_open(episode, checks[0].place)
    told = not is_inquiry(episode) and (_FAILING.search(_CODE.sub("", text[:LONGEST])) or ends_asking(episode))
    return checks[0].evidence if silent or unmended or told else ()


def command_failed(episode: Episode) -> tuple[Evidence, ...]:
    """The last command that was to change something failed, nothing was done after it, and the answer says what stands in the way, or it is what was asked for."""
    failed = _last_failed(episode)
    if not failed or (claimed(episode) and not ends_asking(episode)) or is_inquiry(episode):
        return ()
    if _WANTS_REFUSAL.search(episode.asked) or classify_check(_command(failed[0][1])):
        return ()
    place, row = failed[0]
    text = last_answer(episode)[1]
    if len(text) > SHORT or _REPRODUCED.search(text[:OPENING]):
        return ()
    opening = text[: 2 * OPENING]
    told = _HINDERED.search(opening) or _FAILING.search(opening) or ends_asking(episode)
    output = _EXIT_CODE.sub("", row.content.partition("\n")[2])[-LONGEST:]
    asked_for = not episode.following and bool(noise_in(output)) and names_request(episode, _command(row))
    return _told(row, place) if told or asked_for else ()


@once
def _last_failed(episode: Episode) -> tuple[tuple[int, Row], ...]:
    """Place and row of the last command that was to change something, if it failed and nothing was done after it."""
    done = ((at, row) for at, row in episode.traffic() if row.content.startswith("$ "))
    found = next(((at, row) for at, row in done if not is_read_only(_command(row))), None)
    if found is None or found[1].kind != "error" or not _is_open(episode, found[0]):
        return ()
    step = episode.step_of(found[0])
    return () if any(later > step and _acts(label) for later, label in episode.steps()) else (found,)


def _command(row: Row) -> str:
    return row.content.partition("\n")[0].removeprefix("$ ")


def _acts(label: str) -> bool:
    """Whether a call changes something, as far as its name and its command tell."""
    tool, _, subject = label.partition(" ")
    return is_edit(label) or (is_shell(tool) and not is_read_only(subject) and "--abort" not in subject)


def _told(row: Row, place: int) -> tuple[Evidence]:
    """The line of an output that tells of an error, else its last one."""
    output = row.content.rstrip()[-LONGEST:]
    red = noise_in(output)
    return quoted(output, place, red.start() if red else output.rfind("\n") + 1)


def _red(episode: Episode) -> bool:
    """Whether a check was red and nothing was edited after it, or it was tried again only in part, or one goes on."""
    reds = [check for check in last_checks(episode) if not check.passed]
    return is_awaited(episode) or any(_is_open(episode, check.place) or is_narrowed(episode, check) for check in reds)


def _is_open(episode: Episode, place: int) -> bool:
    """Whether nothing was edited after what failed at the place."""
    made = edits(episode)
    return not made or episode.step_of(place) > made[-1][0]


def task_completed(episode: Episode) -> tuple[Evidence, ...]:
    """The task that was worked on was completed in the meantime, and nobody doubts it.

    What was said last is quoted, not the task: a quotation goes with the turn that it is of.
    """
    if set(episode.tasks) != {"completed"} or doubted(episode) or _red(episode):
        return ()
    place = len(episode.turns) - 1
    said = episode.turns[place].content.rstrip()
    return quoted(said, place, max(0, len(said) - 1))


def gave_up(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer says that it could not be done, before it says anything else, and does not go on to do something else at length."""
    text = last_answer(episode)[1]
    return admitted(episode) if len(text) <= SHORT and could_not(text.lstrip().partition("\n\n")[0]) else ()


def admitted_in_part(episode: Episode) -> tuple[Evidence, ...]:
    """Something was reached and something, in the same answer, could not be or is left."""
    lacking = admitted(episode) or left_open(episode)
    reached = _reached(episode) if lacking else ()
    return reached[:1] + lacking if reached else ()


def _torn(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer stops in the middle of a block, and nobody takes it as it is."""
    place, text = last_answer(episode)
    is_last = place == len(episode.turns) - 1 and bool(episode.following)
    if not is_torn(episode) or not is_last or committed(episode) or thanked(episode):
        return ()
    return quoted(text, place, len(text.rstrip()) - 1)


def _cut_short(episode: Episode) -> bool:
    """Whether an error ended the last answer, or the person did, at work or in the middle; at the next prompt the same key only leaves the program."""
    last = episode.turns[-1]
    flags = listed(last, "flags") if last.role == "assistant" else frozenset()
    is_whole = is_finished(episode) and not _WITHIN.search(last.content.rstrip()) and not listed(last, "tools")
    return "api_error" in flags or ("interrupted" in flags and not is_whole)


def unanswered(episode: Episode) -> tuple[Evidence, ...]:
    """Nothing was answered, since the person or the client stopped it."""
    spoken = [(at, turn) for at, turn in enumerate(episode.turns) if turn.role in ("user", "assistant")]
    last, turn = spoken[-1] if spoken else (0, Row("", "", ""))
    if turn.role != "user" or not {"interrupted", "api_error"} & listed(turn, "flags"):
        return ()
    return quoted(turn.content, last)


def broke_off(episode: Episode) -> tuple[Evidence, ...]:
    """The episode ends in an interruption or in an error that nobody answered, and nothing had been reached before, or in the middle of a block."""
    return _cut_off(episode) or _torn(episode)


def _cut_off(episode: Episode) -> tuple[Evidence, ...]:
    place = len(episode.turns) - 1
    last = episode.turns[place]
    asking = any(at == place and label.startswith("AskUserQuestion") for at, label in episode.calls())
    if place == 0 or asking or claimed_before(episode) or commits(episode) or committed(episode):
        return ()
    text = last.content.rstrip()
    if LEAVING.match(text):
        return ()
    if _cut_short(episode):
        return quoted(text, place, len(text) - 1)
    looked = text.startswith("$ ") and is_read_only(_command(last))
    if last.role == "tool" and last.kind == "error" and not looked:
        return quoted(text, place, max(0, len(text) - 1 - QUOTED // 2))
    told = text[-SHORT:] if last.role == "tool" else text if len(text) <= OPENING else ""
    found = _INTERRUPTED.last(told)
    return quoted(told, place, found.start()) if found else ()
