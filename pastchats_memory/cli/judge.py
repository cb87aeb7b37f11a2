"""`judge`: label the outcome of episodes."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory.requests import OUTCOMES
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.build import build_judge
from pastchats_memory.views.text import render_judgement, render_sheets


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
  pastchats-memory judge 16 worked --because 'With chunks it ran, peak 480 MB'
  pastchats-memory judge 18 unknown
  pastchats-memory judge --outcome failed
  pastchats-memory judge --judged --all
  pastchats-memory judge 16 --undo
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
@options.project
@click.option("--all", "everywhere", is_flag=True, help="All projects.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Episodes at most.")
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
    everywhere: bool,
    as_json: bool,
) -> int:
    """List the newest episodes with unknown outcome in your current project, or label the episode of ID.

    A label replaces the outcome of the rules, in recall and everywhere else. It ends when the episode changes: what was asked, the
    last answer, the next message, or the words that show the outcome. ID alone shows the episode.
    """
    if id_ is None:
        if because is not None or undo:
            raise UsageFault(
                "no episode is named", "Such as: pastchats-memory judge 16 worked --because 'words that show it'."
            )
        return _list(None if everywhere else project or ".", listed, limit, db, judged=judged, as_json=as_json)
    if listed is not None or judged or (outcome is not None and undo) or (outcome is None and because is not None):
        raise UsageFault(
            "say how it ended, or --undo", "Such as: pastchats-memory judge 16 worked --because 'words that show it'."
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
        emit_json(build_judge([] if sheet is None else [sheet], None, warnings))
    elif sheet is None:
        click.echo(f"There is no item {escape_name(id_)}. Ids stand in the output of search and recall.", err=True)
    else:
        click.echo(hanging(render_judgement(sheet) if outcome or undo else render_sheets([sheet])), nl=False)
    warn(warnings)
    return NOTHING if sheet is None else DONE


def _list(project: str | None, outcome: str | None, limit: int, db: str | None, *, judged: bool, as_json: bool) -> int:
    with options.open_memory(db) as memory:
        (sheets, left), warnings = memory.list_unjudged(project, outcome, limit, judged=judged)
    if as_json:
        emit_json(build_judge(sheets, left, warnings))
    elif sheets:
        click.echo(hanging(render_sheets(sheets)), nl=False)
        if left:
            click.echo(hanging(f"{left:,} more; --limit shows more of them.", err=True), err=True)
    else:
        further = "." if project is None else " here; --all looks in every project."
        click.echo(hanging(f"There is nothing {'judged' if judged else 'to judge'}{further}", err=True), err=True)
    warn(warnings)
    return DONE if sheets else NOTHING
