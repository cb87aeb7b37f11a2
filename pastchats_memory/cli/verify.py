"""`verify`: do all memories still stand in their sources as they were read?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pastchats_memory import cli
from pastchats_memory.cli import DONE, NOTHING, bar, counted, emit_json, ending, table, width
from pastchats_memory.render import one_line

if TYPE_CHECKING:
    from pastchats_memory.episodes.cite import BrokenCitation, Verified

MOST_SHOWN = 20
MEANINGS = {
    "holds": "the text stands on the line that is cited",
    "moved": "it stands on another line of the file",
    "changed": "the line has other text now; what was stored is kept",
    "gone": "the file is gone; what was stored is kept",
    "unchecked": "the file was changed and could not be looked into",
}


@click.command(
    "verify",
    epilog="""\b
Examples:
  pastchats-memory verify
  pastchats-memory verify --project . --source ~/.claude/projects
  pastchats-memory verify --json | jq '.results[] | select(.state == "changed")'
""",
)
@cli.project
@click.option("--source", metavar="PATH", help="Only what was read from this file or below this folder.")
@cli.database
@cli.as_json
def command(project: str | None, source: str | None, db: str | None, as_json: bool) -> int:
    """Check every memory's citation: the file, the line and the text on it; exit 1 where one does not hold.

    Nothing is changed. What has moved is cited on its new line once its file is indexed again.
    """
    cli.be_nice()
    with cli.open_memory(db) as memory, bar("files", "Checking") as progress:
        found = memory.verify(project=project, source=source, progress=progress)
    if as_json:
        results = [failed._asdict() for failed in found.failed]
        emit_json({"schema": "verify/1", "checked": found.total, "states": found.states, "results": results})
    elif found.total:
        click.echo(_text(found))
    else:
        click.echo("There is no memory that cites a file.", err=True)
    return DONE if found.total and not found.failed else NOTHING


def _text(found: Verified) -> str:
    rows = [(state, f"{count:,}", MEANINGS[state]) for state, count in found.states.items() if count]
    shown = [_line(failed) for failed in found.failed[:MOST_SHOWN]]
    left = len(found.failed) - len(shown)
    further = [f"… and {left:,} more (all of them with --json)"] if left else []
    head = f"{counted(found.total, 'citation')} checked"
    return "\n".join(
        [head, "", table(rows, ("state", "memories", ""), stretch=2), *([""] if shown else []), *shown, *further]
    )


def _line(failed: BrokenCitation) -> str:
    line = f":{failed.source_line}" if failed.source_line else ""
    moved = f" → line {failed.line}" if failed.state == "moved" else ""
    before, after = f"  {failed.state:9}  ", f"{line}{moved} · id {failed.id}"
    return f"{before}{ending(one_line(failed.source_path), max(20, width() - len(before) - len(after)))}{after}"
