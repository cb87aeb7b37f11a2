"""`judge`: label the outcome of episodes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, hanging, notify, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory.requests import OUTCOMES
from pastchats_memory.text.display import escape_name, one_line
from pastchats_memory.views.answers.search import JudgeBody
from pastchats_memory.views.text import render_judgement, render_sheets
from pastchats_memory.views.to_json import to_json

if TYPE_CHECKING:
    from pastchats_memory.episodes.auto_judge import AutoJudged


@click.command(
    "judge",
    epilog="""
Worked: the requested result exists, and something shows it: a check that passed, the edit or the result itself, or the user's next
message, which counts more than the answer. Failed: the last check failed, the answer gives up, the work was stopped or undone, or the
next message complains or repeats the request. Mixed: both are shown. Unknown: nothing shows it, such as an answer without a reply or a
plan without approval. Quote a line, or a telling part of one, in its own upper and lower case.

\b
Examples:
  pastchats-memory judge
  pastchats-memory judge --all --limit 50 --json
  pastchats-memory judge 100 worked --because 'With chunks it ran, peak 480 MB'
  pastchats-memory judge 102 unknown
  pastchats-memory judge --outcome failed
  pastchats-memory judge --judged --all
  pastchats-memory judge --auto --limit 20
  pastchats-memory judge 100 --undo
""",
)
@click.argument("id_", metavar="[ID]", required=False)
@click.argument("outcome", metavar="[OUTCOME]", type=options.Choice(OUTCOMES, case_sensitive=False), required=False)
@click.option(
    "--because", metavar="WORDS", help="Words of the answer, of a result or of the next message that show it."
)
@click.option("--undo", is_flag=True, help="Remove the label; the rules decide again.")
@click.option("--outcome", "listed", metavar="A,B", help="List episodes with these outcomes [default: unknown].")
@click.option("--judged", is_flag=True, help="List judged episodes.")
@click.option("--auto", is_flag=True, help="Let the configured model label the episodes with unknown outcome.")
@options.project
@click.option("--all", "everywhere", is_flag=True, help="All projects.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Episodes at most.")
@options.yes
@options.database
@options.as_json
def command(
    id_: str | None,
    outcome: str | None,
    because: str | None,
    listed: str | None,
    project: str | None,
    limit: int,
    db: str | None,
    *,
    undo: bool,
    judged: bool,
    auto: bool,
    yes: bool,
    everywhere: bool,
    as_json: bool,
) -> int:
    """List the newest episodes with unknown outcome in your current project, or label the episode of ID.

    A label replaces the outcome of the rules, in recall and everywhere else. It ends when the episode changes: what was asked, the
    last answer, the next message, or the words that show the outcome. ID alone shows the episode.

    With --auto, the model that you have configured reads the episodes. The command first states the number of calls and tokens, and asks
    at a terminal. Without a terminal and without --yes nothing is sent, exit code 1. A label counts only if its words stand there.
    """
    if auto:
        if id_ is not None or because is not None or undo or listed is not None or judged:
            raise UsageFault(
                "--auto takes no episode and no label", "Such as: pastchats-memory judge --auto --limit 20"
            )
        return _judge_automatically(None if everywhere else project or ".", limit, db, yes=yes, as_json=as_json)
    if id_ is None:
        if because is not None or undo:
            raise UsageFault(
                "no episode is named", "Such as: pastchats-memory judge 100 worked --because 'words that show it'."
            )
        return _list(None if everywhere else project or ".", listed, limit, db, judged=judged, as_json=as_json)
    if listed is not None or judged or (outcome is not None and undo) or (outcome is None and because is not None):
        raise UsageFault(
            "say how it ended, or --undo", "Such as: pastchats-memory judge 100 worked --because 'words that show it'."
        )
    warnings: tuple[str, ...] = ()
    with options.open_memory(db) as memory:
        if outcome is not None:
            sheet, warnings = memory.judge(id_, outcome, because)
        elif undo:
            sheet, warnings = memory.unjudge(id_)
        else:
            sheet = memory.load_episode(id_)
    if as_json:
        emit_json(to_json(JudgeBody(None, [] if sheet is None else [sheet], warnings)))
    elif sheet is None:
        notify(f"There is no item {escape_name(id_)}. Ids stand in the output of search and recall.")
    else:
        click.echo(hanging(render_judgement(sheet) if outcome or undo else render_sheets([sheet])), nl=False)
    warn(warnings)
    return NOTHING if sheet is None else DONE


def _judge_automatically(project: str | None, limit: int, db: str | None, *, yes: bool, as_json: bool) -> int:
    """Let the configured judge label episodes, with the cost before and after on stderr."""
    with options.open_memory(db) as memory:
        plan = memory.plan_judging(project, limit)
        if plan.sheets:
            cost = f"{counted(len(plan.sheets), 'call')} to {one_line(plan.judge.name)}, at most {plan.tokens:,} tokens of text."
            click.echo(hanging(cost, err=True), err=True)
        else:
            click.echo("There is nothing to judge.", err=True)
        agreed = bool(plan.sheets) and options.agree("Send them?", yes=yes, no=False)
        if plan.sheets and not agreed:
            click.echo("Nothing was sent; --yes sends them.", err=True)
        done = memory.judge_automatically(plan) if agreed else None
    sheets = done.sheets if done else []
    if as_json:
        emit_json(to_json(JudgeBody(len(plan.sheets) - len(sheets), sheets, plan.warnings)))
    else:
        click.echo(hanging("".join(map(render_judgement, sheets))), nl=False)
    if done is not None:
        click.echo(hanging(_describe(done), err=True), err=True)
        warn(done.warnings)
    warn(plan.warnings)
    return DONE if sheets else NOTHING


def _describe(done: AutoJudged) -> str:
    """Return what a run cost and gave, in a line for each reason why an answer gave no label."""
    labels = Counter(sheet.outcome.verdict for sheet in done.sheets)
    given = ", ".join(f"{labels[outcome]} {outcome}" for outcome in OUTCOMES if labels[outcome]) or "no label"
    refused = [f"{number} without a label: {one_line(reason)}" for reason, number in done.refused.most_common()]
    return "\n".join([f"{counted(done.calls, 'call')}, {done.tokens:,} tokens: {given}.", *refused])


def _list(project: str | None, outcome: str | None, limit: int, db: str | None, *, judged: bool, as_json: bool) -> int:
    with options.open_memory(db) as memory:
        (sheets, left), warnings = memory.list_unjudged(project, outcome, limit, judged=judged)
    if as_json:
        emit_json(to_json(JudgeBody(left, sheets, warnings)))
    elif sheets:
        click.echo(hanging(render_sheets(sheets)), nl=False)
        if left:
            click.echo(hanging(f"{left:,} more; --limit shows more of them.", err=True), err=True)
    else:
        further = "." if project is None else " here; --all looks in every project."
        click.echo(hanging(f"There is nothing {'judged' if judged else 'to judge'}{further}", err=True), err=True)
    warn(warnings)
    return DONE if sheets else NOTHING
