"""Derive the outcome of an episode: worked, failed, mixed, stopped or unknown.

`RULES` is one table, ordered by strength. The first rule that finds evidence decides. Without evidence the outcome is
unknown, since a wrong answer is worse than none. The caller then gets the user's next message, which a reader can judge.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pastchats_memory.episodes import STOPPED
from pastchats_memory.episodes.outcome import answers, feedback
from pastchats_memory.episodes.outcome.checks import find_error, has_running_check, is_partly_rerun, standing_checks
from pastchats_memory.episodes.outcome.episode import (
    MAX_SCANNED,
    OPENING,
    Episode,
    EpisodeTurn,
    QuotedLine,
    Signal,
    cached,
    first_sentence,
    has_words,
    message_opening,
    quote_line,
    quote_message_start,
    quote_next_message,
    recorded_values,
)
from pastchats_memory.episodes.outcome.names import list_names, list_new_names
from pastchats_memory.episodes.outcome.patterns import EVIDENCE, EXPRESSIONS, GUARDS
from pastchats_memory.episodes.outcome.reply import Reply
from pastchats_memory.episodes.outcome.requests import is_greeting, is_inquiry, is_question
from pastchats_memory.model import REFUSED
from pastchats_memory.text.shell import classify_check, is_read_only, is_shell

__all__ = ["RULES", "EpisodeTurn", "OutcomeRule", "QuotedLine", "RuleOutcome", "Verdict", "derive_outcome"]

Verdict = Literal["worked", "failed", "mixed", "stopped", "unknown"]

UNFINISHED = frozenset({"pending", "in_progress", "blocked", "review"})
"""States of an open task."""
MIN_RESULT = 400
"""Characters of an answer that is a result by itself, such as a plan, a review or a comparison."""
INTERRUPTION = "[Request interrupted"
"""A client writes it where the user stopped a call without words."""
MAX_SHORT_ANSWER = 1000
"""Characters. A longer answer that begins by giving up goes on to do something else."""
_EXIT_CODE = re.compile(r"\AExit code \d+")
_CODE_BLOCK = re.compile(r"^ {0,3}```.*?(?:^ {0,3}```|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """How an episode ended."""

    verdict: Verdict
    confidence: float
    """Share of correct verdicts of the rule on labelled episodes, 0 to 1; 0 for unknown."""
    evidence: tuple[QuotedLine, ...] = ()
    """One or two quotations. For unknown, the user's next message, if any."""
    signal: str = ""
    """Name of the rule that decided; empty for unknown."""


class OutcomeRule(NamedTuple):
    """A signal, and what it shows."""

    name: str
    """Stored with the outcome; independent of the function's name."""
    verdict: Verdict
    confidence: float
    signal: Signal


def derive_outcome(
    turns: Sequence[EpisodeTurn], next_message: str = "", tasks: Sequence[str] = (), reply: Reply | None = None
) -> RuleOutcome:
    """Return the outcome of an episode.

    Args:
        turns: from the user's request to the last row before the user's next message.
        next_message: everything the user wrote before the next answer; empty at the end of the transcript.
        tasks: the last state of each task that changed meanwhile, of `model.STATUSES`.
        reply: meaning of the next message by the model; without it, its words alone decide.
    """
    episode = Episode(tuple(turns), next_message.strip(), tuple(tasks), reply)
    for rule in RULES:
        if evidence := rule.signal(episode):
            return RuleOutcome(rule.verdict, rule.confidence, evidence, rule.name)
    return RuleOutcome("unknown", 0.0, quote_message_start(episode))


def has_no_answer(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a request without an answer, because the user or the client stopped it."""
    dialogue = [
        (at, turn) for at, turn in enumerate(episode.turns) if turn.role in ("user", "assistant") and has_words(turn)
    ]
    last, turn = dialogue[-1] if dialogue else (0, EpisodeTurn("", "", ""))
    flags = frozenset().union(*(recorded_values(one, "flags") for one in episode.turns[last:]))
    is_cut = turn.role == "user" and not STOPPED.isdisjoint(flags)
    return (
        quote_line(turn.content, last)
        if is_cut and not (feedback.objects(episode) or feedback.objects_likely(episode))
        else ()
    )


def rejects_result(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find words that reject the result, or the answer if no work is visible.

    With visible work, a fault may concern a part only. After a question of the agent, the words are an answer.
    """
    if answers.ends_with_question(episode) and not feedback.is_sure_complaint(episode):
        return ()
    if refused := feedback.refuses_result(episode):
        return refused
    if not feedback.concerns_work(episode):
        return ()
    is_partly_good = _find_work(episode) and all(check.passed for check in standing_checks(episode))
    return (() if is_partly_good else feedback.finds_fault(episode) or feedback.objects(episode)) or _reports_trouble(
        episode
    )


def _reports_trouble(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a statement of trouble that concerns the request or the answer."""
    if not answers.get_last_answer(episode)[1] or answers.requests_input(episode):
        return ()
    trouble = feedback.states_trouble(episode)
    if trouble and (
        feedback.shares_request_word(episode, first_sentence(message_opening(episode))) or not _find_work(episode)
    ):
        return trouble
    return feedback.says_still(episode) if _find_work(episode) else ()


def accepts_result(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the user's praise, unless they only report a requested action, or a check that they ran with success."""
    is_report = answers.requests_input(episode) and feedback.says(episode, "user_report")
    return feedback.shows_success(episode) or (() if is_report else feedback.praises_result(episode))


def meets_objection(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an objection to visible work: a part of it may be good."""
    return (feedback.objects(episode) or feedback.objects_likely(episode)) if _find_work(episode) else ()


def breaks_off(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find work that was cut off from outside, unless the user judges it in the next message."""
    is_judged = feedback.praises_result(episode) and not feedback.says(episode, "go_ahead")
    if is_judged or ("api_error" not in episode.last_flags and feedback.complains(episode)):
        return ()
    return _find_interruption(episode) or _find_cut_block(episode) or _find_open_end(episode)


def _find_interruption(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an interruption, or an error of the service, that ended the work.

    An error outweighs earlier claims of the agent. An interruption shows nothing after a commit, at a dialog, or at the
    prompt after a complete answer. A call that the answer spells out is a proposal.
    """
    place = episode.last_place
    last = episode.turns[place]
    text = last.content.rstrip()
    if "api_error" in episode.last_flags:
        return quote_line(text, place, max(0, len(text) - 1))
    is_flagged = "interrupted" in episode.last_flags
    is_committed = answers.find_commit(episode) and not (
        is_flagged and any(at == place for at, _ in answers.list_commit_calls(episode))
    )
    if place == 0 or answers.awaits_decision(episode) or is_committed or answers.EXIT_KEY.match(text):
        return ()
    ending = text[-MAX_SHORT_ANSWER:] if last.role == "tool" or is_flagged else text if len(text) <= OPENING else ""
    if found := EXPRESSIONS["outcome.interrupted"].find_last(ending):
        return quote_line(ending, place, found.start())
    calls = (label.partition(" ")[2] for at, label in episode.calls() if at == place)
    has_open_call = any(not command or command not in text for command in calls)
    is_complete = answers.is_finished(episode) and not (
        EXPRESSIONS["outcome.mid_sentence"].search(text) or has_open_call
    )
    is_cut = is_flagged and not (last.role == "assistant" and is_complete)
    return quote_line(text, place, max(0, len(text) - 1)) if is_cut else ()


def _find_open_end(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a session that ends while the agent works, or an unfinished answer that the user lets go on."""
    place = episode.last_place
    last = episode.turns[place]
    if (
        last.role != "assistant"
        or last.kind == "plan"
        or answers.is_finished(episode)
        or answers.requests_input(episode)
    ):
        return ()
    is_at_work = not episode.next_message and (answers.has_tool_use(episode) or answers.announces_step(episode))
    text = last.content.rstrip()
    return quote_line(text, place, max(0, len(text) - 1)) if is_at_work or feedback.says(episode, "go_ahead") else ()


def _find_cut_block(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a last answer that stops within a code block."""
    place, text = answers.get_last_answer(episode)
    if not answers.is_cut_in_block(episode) or place != episode.last_place or answers.find_commit(episode):
        return ()
    return quote_line(text, place, len(text.rstrip()) - 1)


def fails_to_push(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a commit or push that failed, and that no later one made up for."""
    calls = answers.list_commit_calls(episode)
    is_commit = EXPRESSIONS["answers.commit_command"].search
    errors = ((at, row) for at, row in episode.tool_results() if row.kind == "error")
    failed = [(at, row) for at, row in errors if is_commit(f"Bash {_command_of(row)}")]
    names = ("feedback.commit_word", "feedback.git_word")
    is_wanted = any(EXPRESSIONS[name].search(episode.request) for name in names) and not answers.find_commit(episode)
    if not failed or not calls or not is_wanted or episode.is_repaired(failed[0][0]):
        return ()
    place, row = failed[0]
    return _quote_error(row, place) if episode.find_step(place)[0] >= calls[-1][0] else ()


def ends_in_error(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a last call that failed, unless it only reads, with no answer and no next message."""
    place = episode.last_place
    last = episode.turns[place]
    is_inspection = last.content.startswith("$ ") and is_read_only(_command_of(last))
    is_done = _is_fulfilled(episode) or answers.find_any_claim(episode) or _is_typed(episode, last)
    if episode.next_message or not _ends_in_error(episode) or is_inspection or is_done:
        return ()
    return _quote_error(last, place)


def refuses_call(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the reason that the user gives for refusing a call, which the client does not flag as an interruption."""
    is_refused = episode.turns[episode.last_place].content.endswith(REFUSED)
    ending = episode.turns[max(0, answers.get_last_answer(episode)[0] - 1) :]
    is_silent = any("interrupted" in recorded_values(one, "flags") or INTERRUPTION in one.content for one in ending)
    is_approved = feedback.approves(episode) or feedback.says(episode, "go_ahead")
    is_open = is_silent or is_approved or answers.awaits_decision(episode) or feedback.goes_on(episode)
    return quote_next_message(episode) if is_refused and not is_open else ()


def fails_repeatedly(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an error without an answer that came back after each try of the agent, with no edit in between."""
    place = episode.last_place
    is_last = _ends_in_error(episode) and not is_read_only(_command_of(episode.turns[place]))
    errors = [(at, row) for at, row in episode.tool_results() if row.kind == "error"]
    headings = Counter(row.content.partition("\n")[0] for _, row in errors)
    again = next(((at, row) for at, row in errors if headings[row.content.partition("\n")[0]] > 1), None)
    return _quote_error(again[1], again[0]) if is_last and again and _has_no_edit_after(episode, again[0]) else ()


def admits_partial_failure(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an answer that did something, and names something undone."""
    if answers.ends_with_question(episode):
        return ()
    undone = answers.find_admission(episode) or answers.find_remaining_work(episode)
    work = _find_work(episode) if undone else ()
    return work[:1] + undone if work else ()


def fails_check(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a red last check that the answer reports, or that nothing follows.

    Ignore a check that was meant to fail, one that the user ran, and one that passes in another folder.
    """
    checks = standing_checks(episode)
    place, text = answers.get_last_answer(episode)
    is_silent = bool(checks) and place < checks[0].place
    is_claimed = answers.find_claim(episode) and not answers.ends_with_question(episode)
    is_committed = place > checks[0].place and recorded_values(episode.turns[place], "commits") if checks else ()
    if not checks or checks[0].passed or is_committed or (is_claimed and not is_silent):
        return ()
    if GUARDS["expected_failure"].search(text[:OPENING]) or GUARDS["earlier_failure"].search(text):
        return ()
    if GUARDS["wanted_failure"].search(episode.request) or _is_typed(episode, episode.turns[checks[0].place]):
        return ()
    if any(check.passed and check.family == checks[0].family for check in checks):
        return ()
    is_unrepaired = bool(answers.list_edits(episode)) and _has_no_edit_after(episode, checks[0].place)
    prose = _CODE_BLOCK.sub("", text[:MAX_SCANNED])
    is_reported = not is_inquiry(episode) and (
        EXPRESSIONS["outcome.failure_word"].search(prose) or answers.ends_with_question(episode)
    )
    return checks[0].evidence if is_silent or is_unrepaired or is_reported else ()


def fails_command(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a failed last command that changes something, with no work after it.

    The answer must name the obstacle, or the request must name the command.
    """
    failed = _find_last_failure(episode)
    if not failed or (answers.find_claim(episode) and not answers.ends_with_question(episode)) or is_inquiry(episode):
        return ()
    place, row = failed[0]
    text = answers.get_last_answer(episode)[1]
    if GUARDS["wanted_refusal"].search(episode.request) or classify_check(_command_of(row)) or _is_typed(episode, row):
        return ()
    if _is_fulfilled(episode) and not feedback.shares_request_word(episode, _command_of(row)):
        return ()
    if len(text) > MAX_SHORT_ANSWER or GUARDS["expected_failure"].search(text[:OPENING]):
        return ()
    opening = text[: 2 * OPENING]
    is_reported = (
        EVIDENCE["obstacle"].search(opening)
        or EXPRESSIONS["outcome.failure_word"].search(opening)
        or answers.ends_with_question(episode)
    )
    output = _EXIT_CODE.sub("", row.content.partition("\n")[2])[-MAX_SCANNED:]
    is_requested = not episode.next_message and bool(find_error(output))
    is_requested = is_requested and feedback.shares_request_word(episode, _command_of(row))
    return _quote_error(row, place) if is_reported or is_requested else ()


def gives_up(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a short last answer that begins by saying that the work could not be done."""
    text = answers.get_last_answer(episode)[1]
    is_admission = EVIDENCE["admission"].search(text.lstrip().partition("\n\n")[0][:OPENING])
    return answers.find_admission(episode) if is_admission and len(text) <= MAX_SHORT_ANSWER else ()


def passes_checks(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find green checks after the last edit, unless the user doubts the work."""
    checks = _find_green_checks(episode)
    is_last = bool(checks) and (not answers.list_edits(episode) or _has_no_edit_after(episode, checks[0].place))
    return checks if is_last and feedback.complains_of_nothing(episode) and not _is_unfinished(episode) else ()


def commits_on_request(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the commit or push that was asked for. A complaint that names no commit is about the committed work."""
    is_named = EXPRESSIONS["feedback.commit_word"].search
    is_wanted = len(episode.request.split()) <= feedback.MAX_AGREEMENT_WORDS and is_named(episode.request)
    if not is_wanted or is_named(message_opening(episode).partition("\n")[0]) or answers.ends_with_question(episode):
        return ()
    return answers.find_commit(episode)


def commits_work(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a commit, a push or a pull request of the work, unless the user doubts it.

    A client that commits each edit by itself, such as aider, records the commit: nobody decided on it.
    """
    is_automatic = recorded_values(episode.turns[answers.get_last_answer(episode)[0]], "commits")
    return () if is_automatic or _is_open(episode) else answers.find_commit(episode)


def _is_open(episode: Episode) -> bool:
    """Return whether something speaks against finished work: an objection, damage, a task, an invitation to try."""
    return not feedback.goes_on(episode) or _is_unfinished(episode)


def _is_unfinished(episode: Episode) -> bool:
    """Return whether damage, an open task or an invitation to try is left, or nothing was asked for."""
    is_untried = not episode.next_message and _is_untried(episode)
    return bool(is_greeting(episode) or _is_damaged(episode) or is_untried)


def _is_untried(episode: Episode) -> bool:
    """Return whether a task is open, a command failed last, or the answer invites to try."""
    ending = answers.get_last_answer(episode)[1][-2 * OPENING :]
    is_open = not UNFINISHED.isdisjoint(episode.tasks) or _find_last_failure(episode)
    return bool(is_open or (not _find_green_checks(episode) and GUARDS["untried"].search(ending)))


def takes_work_up(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find visible work that the user agrees with, or names in the next request.

    A next request that names nothing of the work shows nothing, and neither does the agent's own word.
    """
    is_waiting = answers.requests_input(episode) or answers.awaits_decision(episode)
    is_there = (
        answers.find_commit(episode)
        or answers.find_final_edit(episode)
        or answers.find_last_edit(episode)
        or _find_green_checks(episode)
    )
    if is_waiting or not is_there or _is_open(episode):
        return ()
    accepts = feedback.continues_from_answer(episode) or feedback.agrees(episode) or feedback.picks_offer(episode)
    return quote_next_message(episode) if accepts or feedback.builds_on(episode, list_names(episode)) else ()


def is_approved(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a yes to the answer, a choice among its offers, or the wish to commit, with nothing against the work.

    A yes to a short answer without any work lets the agent begin, and shows nothing.
    """
    is_plan = episode.turns[episode.last_place].kind == "plan"
    has_answer = is_plan or len(answers.get_last_answer(episode)[1]) >= MIN_RESULT
    has_result = answers.has_tool_use(episode) or has_answer or feedback.asks_to_commit(episode)
    is_waiting = answers.requests_input(episode) and not answers.find_last_edit(episode)
    is_open = _is_damaged(episode) or is_greeting(episode) or is_waiting or not has_result
    return quote_next_message(episode) if feedback.approves(episode) and not is_open else ()


def builds_on_answer(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a next message that takes up the answer to a question.

    If the user wanted something done, an offer is a plan, and a yes to it shows nothing.
    """
    is_waiting = answers.requests_input(episode) or answers.awaits_decision(episode)
    if not is_question(episode) or not answers.is_finished(episode) or is_waiting or _ends_in_error(episode):
        return ()
    is_accepted = feedback.continues_from_answer(episode) or feedback.agrees(episode)
    is_used = not answers.ends_with_question(episode) and feedback.builds_on(episode, list_new_names(episode))
    return quote_next_message(episode) if is_accepted or is_used else ()


@cached
def _find_work(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a claim, a commit, an edit or a green check."""
    green = [check.evidence for check in standing_checks(episode) if check.passed]
    return (
        answers.find_claim(episode)
        or answers.find_commit(episode)
        or answers.find_final_edit(episode)
        or (green[0] if green else ())
        or (answers.find_any_claim(episode) if answers.has_tool_use(episode) else ())
    )


@cached
def _find_green_checks(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a complete answer after which the last run of every check is green."""
    checks = standing_checks(episode)
    return (
        checks[0].evidence if checks and all(check.passed for check in checks) and answers.is_finished(episode) else ()
    )


def _is_damaged(episode: Episode) -> bool:
    """Return whether a red check, an unanswered error or an undo follows the work."""
    return _has_red_check(episode) or _ends_in_error(episode) or bool(answers.find_own_revert(episode))


def _has_red_check(episode: Episode) -> bool:
    """Return whether a check is still red, ran again in part, or still runs."""
    red = [check for check in standing_checks(episode) if not check.passed]
    is_open = (_has_no_edit_after(episode, check.place) or is_partly_rerun(episode, check) for check in red)
    return has_running_check(episode) or any(is_open)


def _has_no_edit_after(episode: Episode, place: int) -> bool:
    """Return whether nothing was edited after the tool result at the place."""
    edits = answers.list_edits(episode)
    return not edits or episode.find_step(place) > edits[-1][0]


def _ends_in_error(episode: Episode) -> bool:
    """Return whether the last error has no answer."""
    last = episode.turns[episode.last_place]
    return last.kind == "error" and not answers.EXIT_KEY.match(last.content)


@cached
def _find_last_failure(episode: Episode) -> tuple[tuple[int, EpisodeTurn], ...]:
    """Return the last changing command, if it failed and no work follows."""
    commands = ((at, row) for at, row in episode.tool_results() if row.content.startswith("$ "))
    found = next(((at, row) for at, row in commands if not is_read_only(_command_of(row))), None)
    if found is None or found[1].kind != "error" or not _has_no_edit_after(episode, found[0]):
        return ()
    step = episode.find_step(found[0])
    return () if any(later > step and _changes_something(label) for later, label in episode.steps()) else (found,)


def _is_fulfilled(episode: Episode) -> bool:
    """Return whether work was committed, or passed a check. What fails behind it is another matter."""
    return bool(answers.find_commit(episode) or answers.find_commit_call(episode)) or any(
        check.passed for check in standing_checks(episode)
    )


def _is_typed(episode: Episode, row: EpisodeTurn) -> bool:
    """Return whether the user ran the command themselves."""
    return episode.request.lstrip().startswith("!") and _command_of(row) in episode.request


def _command_of(row: EpisodeTurn) -> str:
    return row.content.partition("\n")[0].removeprefix("$ ")


def _changes_something(label: str) -> bool:
    tool, _, subject = label.partition(" ")
    return answers.is_edit(label) or (is_shell(tool) and not is_read_only(subject) and "--abort" not in subject)


def _quote_error(row: EpisodeTurn, place: int) -> tuple[QuotedLine]:
    output = row.content.rstrip()[-MAX_SCANNED:]
    error = find_error(output)
    return quote_line(output, place, error.start() if error else output.rfind("\n") + 1)


RULES: tuple[OutcomeRule, ...] = (
    # Nothing was tried, so nothing can have failed.
    OutcomeRule("unanswered", "stopped", 0.94, has_no_answer),
    # The user's next words or actions outweigh all claims of the agent.
    OutcomeRule("undone", "failed", 0.96, feedback.takes_work_back),
    OutcomeRule("call_refused", "failed", 0.8, refuses_call),
    OutcomeRule("broke_off", "stopped", 0.8, breaks_off),
    OutcomeRule("committed_on_request", "worked", 0.8, commits_on_request),
    OutcomeRule("asked_again", "failed", 0.88, feedback.repeats_request),
    OutcomeRule("half_works", "mixed", 0.8, feedback.reports_partial_success),
    OutcomeRule("still_so", "failed", 0.94, feedback.reports_same_problem),
    OutcomeRule("other_error", "mixed", 0.8, feedback.pastes_other_error),
    OutcomeRule("error_pasted", "failed", 0.8, feedback.pastes_error_of_work),
    OutcomeRule("advice_erred", "failed", 0.67, feedback.pastes_error_of_advice),
    OutcomeRule("rejected", "failed", 0.96, rejects_result),
    OutcomeRule("accepted", "worked", 0.97, accepts_result),
    OutcomeRule("objected", "mixed", 0.8, meets_objection),
    # Reports of machines: the last one counts.
    OutcomeRule("admitted_in_part", "mixed", 0.70, admits_partial_failure),
    OutcomeRule("check_failed", "failed", 0.97, fails_check),
    OutcomeRule("command_failed", "failed", 0.97, fails_command),
    OutcomeRule("kept_failing", "failed", 0.8, fails_repeatedly),
    OutcomeRule("ended_in_error", "stopped", 0.8, ends_in_error),
    OutcomeRule("push_failed", "failed", 0.8, fails_to_push),
    OutcomeRule("gave_up", "failed", 0.93, gives_up),
    OutcomeRule("check_passed", "worked", 0.8, passes_checks),
    OutcomeRule("committed", "worked", 0.8, commits_work),
    OutcomeRule("taken_up", "worked", 0.8, takes_work_up),
    OutcomeRule("built_on", "worked", 0.8, builds_on_answer),
    OutcomeRule("approved", "worked", 0.8, is_approved),
)
"""The rules, the strongest first.

Confidences other than 0.8 come from sets that the rules were made with, so they are too high; 0.8 is an estimate for rules
that changed since. Rounds of unseen repositories will replace both.
"""
