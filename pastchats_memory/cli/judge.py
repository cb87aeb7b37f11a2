"""`judge`: label the outcome of episodes."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import notify
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.memory import Memory, questions
from pastchats_memory.text.display import counted, escape_name, one_line
from pastchats_memory.views.answers.search import JudgeBody
from pastchats_memory.views.text import render_judgement, render_sheets
from pastchats_memory.views.to_json import to_json

if TYPE_CHECKING:
    from pastchats_memory.episodes.auto_judge import AutoJudged


CRITERIA = """
Worked: the requested result exists, and something shows it: a check that passed, a commit, or the user's next
message, which counts more than the answer. Failed: the last check failed, the answer gives up, the work was undone, or the
next message complains or repeats the request. Mixed: both are shown. Stopped: it was cut off from outside, such as by a limit, an error of
the service, Esc without a complaint, or the end of the session. Unknown: nothing shows it, such as an answer without a reply or a
plan without approval. Quote a line, or a telling part of one, in its own upper and lower case.
"""
AN_EXAMPLE = "Such as: pastchats-memory judge 100 worked --because 'words that show it'."


def _check(*, auto: bool, undo: bool, judged: bool, **given: Any) -> None:
    is_named, is_labelled, is_quoted = (given[name] is not None for name in ("id_", "verdict", "because"))
    is_list = given["outcome"] is not None or judged
    if auto and (is_named or is_quoted or undo or is_list):
        raise UsageFault("--auto takes no episode and no label", "Such as: pastchats-memory judge --auto --limit 20")
    if not (auto or is_named) and (is_quoted or undo):
        raise UsageFault("no episode is named", AN_EXAMPLE)
    if is_named and (is_list or (is_labelled and undo) or (is_quoted and not is_labelled)):
        raise UsageFault("say how it ended, or --undo", AN_EXAMPLE)


@ask_memory("judge", above=CRITERIA, check=_check)
@click.argument("id_", metavar="[ID]", required=False)
@click.argument("verdict", metavar="[OUTCOME]", type=options.Choice(OUTCOMES, case_sensitive=False), required=False)
@click.option(
    "--because", metavar="WORDS", help="Words of the answer, of a result or of the next message that show it."
)
@click.option("--undo", is_flag=True, help="Remove the label; the rules decide again.")
@click.option("--auto", is_flag=True, help="Let the configured model label the episodes with unknown outcome.")
@ask_for(questions.UNJUDGED)
@options.yes
def command(
    memory: Memory,
    id_: str | None,
    verdict: str | None,
    because: str | None,
    outcome: str | None,
    project: str | None,
    limit: int,
    *,
    undo: bool,
    judged: bool,
    auto: bool,
) -> CommandResult:
    """List the newest episodes with unknown outcome in your current project, or label the episode of ID.

    A label replaces the outcome of the rules, in recall and everywhere else. It ends when the episode changes: what was asked, the
    last answer, the next message, or the words that show the outcome. ID alone shows the episode.

    With --auto, the model that you have configured reads the episodes. The command first states the number of calls and tokens, and asks
    at a terminal. Without a terminal and without --yes nothing is sent, exit code 1. A label counts only if its words stand there.
    """
    if auto:
        return _judge_automatically(memory, project, limit)
    if id_ is None:
        (listed, left), warnings = memory.list_unjudged(project, outcome, limit, judged=judged)
        return CommandResult(
            lambda: to_json(JudgeBody(left, listed, warnings)),
            lambda: render_sheets(listed),
            is_found=bool(listed),
            nothing=f"There is nothing {'judged' if judged else 'to judge'}{options.hint_at_all(project)}",
            notes=[f"{left:,} more; --limit shows more of them."] if left else [],
            warnings=warnings,
        )
    warnings = ()
    if verdict is not None:
        sheet, warnings = memory.judge(id_, verdict, because)
    elif undo:
        sheet, warnings = memory.unjudge(id_)
    else:
        sheet = memory.load_episode(id_)
    sheets = [] if sheet is None else [sheet]
    return CommandResult(
        lambda: to_json(JudgeBody(None, sheets, warnings)),
        lambda: "".join(map(render_judgement, sheets)) if verdict or undo else render_sheets(sheets),
        is_found=sheet is not None,
        nothing=f"There is no item {escape_name(id_)}. Ids stand in the output of search and recall.",
        warnings=warnings,
    )


def _judge_automatically(memory: Memory, project: str | None, limit: int) -> CommandResult:
    """Let the configured judge label episodes, with the cost before and after on stderr."""
    plan = memory.plan_judging(project, limit)
    if plan.sheets:
        notify(
            f"{counted(len(plan.sheets), 'call')} to {one_line(plan.judge.name)}, about {plan.tokens:,} tokens with the answers."
        )
    else:
        notify(f"There is nothing to judge{options.hint_at_all(project)}")
    agreed = bool(plan.sheets) and options.agree("Send them?")
    if plan.sheets and not agreed:
        notify("Nothing was sent; --yes sends them.")
    done = memory.judge_automatically(plan) if agreed else None
    sheets = done.sheets if done else []
    if done is not None:
        notify(describe_labels(done))
    return CommandResult(
        lambda: to_json(JudgeBody(len(plan.sheets) - len(sheets), sheets, plan.warnings)),
        lambda: "".join(map(render_judgement, sheets)),
        is_found=bool(sheets),
        warnings=[*(done.warnings if done else ()), *plan.warnings],
    )


def describe_labels(done: "AutoJudged") -> str:
    """Return what a run cost and gave, in a line for each reason why an answer gave no label."""
    labels = Counter(sheet.outcome.verdict for sheet in done.sheets)
    given = ", ".join(f"{labels[outcome]} {outcome}" for outcome in OUTCOMES if labels[outcome]) or "no label"
    refused = [f"{number} without a label: {one_line(reason)}" for reason, number in done.refused.most_common()]
    return "\n".join([f"{counted(done.calls, 'call')}, {done.tokens:,} tokens: {given}.", *refused])
