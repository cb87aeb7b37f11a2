"""`judge`: how episodes ended, by whoever reads them."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory.requests import OUTCOMES
from pastchats_memory.text.display import one_line
from pastchats_memory.views.build import build_judge
from pastchats_memory.views.text import render_judgement, render_sheets


@click.command(
    "judge",
    epilog="""
Worked: what was asked for is there, and something says so: a check that passed, the edit or the result itself, or the person's next
words, which beat what the answer says of itself. Failed: the last check failed, the answer gives up, the work was stopped or taken
back, or the next words find fault or ask the same again. Mixed: a part of each is shown. Unknown: nothing shows it, as where nobody
took an answer up or a plan waits for a go. A quotation is a line, or enough of one to tell something, in upper and lower case as it stands.

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
@click.argument("outcome", metavar="[OUTCOME]", type=click.Choice(OUTCOMES, case_sensitive=False), required=False)
@click.option(
    "--because", metavar="WORDS", help="Words of the answer, of a result, or of what was said next, that show it."
)
@click.option("--undo", is_flag=True, help="Let the rules say again how it ended.")
@click.option("--outcome", "listed", metavar="A,B", help="List what ended so [default: unknown].")
@click.option("--judged", is_flag=True, help="List what somebody has judged.")
@options.project
@click.option("--all", "everywhere", is_flag=True, help="Of every project.")
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
    """List the newest episodes of the project you are in whose end no rule knows, or say how that of ID ended: worked, failed, mixed, unknown.

    A judgement stands in the place of what the rules say, in recall and everywhere else, until more is said or what it rests on
    changes: what was asked, the last answer, what was said next, and the words that show it. ID alone lays that episode out.
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
            sheet = memory.laid_out(id_)
    if as_json:
        emit_json(build_judge([] if sheet is None else [sheet], None, warnings))
    elif sheet is None:
        click.echo(f"There is no item {one_line(id_)}. Ids stand in the output of search and recall.", err=True)
    else:
        click.echo(hanging(render_judgement(sheet) if outcome or undo else render_sheets([sheet])), nl=False)
    warn(warnings)
    return NOTHING if sheet is None else DONE


def _list(project: str | None, outcome: str | None, limit: int, db: str | None, *, judged: bool, as_json: bool) -> int:
    with options.open_memory(db) as memory:
        (sheets, left), warnings = memory.unjudged(project, outcome, limit, judged=judged)
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
