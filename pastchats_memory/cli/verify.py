"""`verify`: check whether every citation still holds."""

import click

from pastchats_memory.cli import options, questions
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import bar, ending, table, width
from pastchats_memory.episodes.cite import BrokenCitation, Verified
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import counted, escape_name, escape_path
from pastchats_memory.views.to_json import to_json

MOST_SHOWN = 20
MEANINGS = {
    "holds": "the text stands on the line that is cited",
    "moved": "it stands on another line of the file",
    "changed": "the line has other text now; the stored text is kept",
    "gone": "the file is gone; the stored text is kept",
    "unchecked": "the file was changed and could not be checked",
}


@ask_memory("verify")
@questions.project
@click.option("--source", metavar="PATH", help="Only text from this file or from below this folder.")
def command(memory: Memory, project: str | None, source: str | None) -> CommandResult:
    """Check the citation of every memory: the file, the line and the text on it; exit 1 if one does not hold.

    Nothing is changed. Moved text is cited on its new line once its file is indexed again.
    """
    options.be_nice()
    with bar("files", "Checking") as progress:
        found = memory.verify(project=project, source=source, progress=progress)
    return CommandResult(
        lambda: to_json(found),
        lambda: _text(found),
        is_found=bool(found.total) and not found.failed,
        nothing="" if found.total else "There is no memory that cites a file.",
    )


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
    before, after = f"  {failed.state:9}  ", f"{line}{moved} · id {escape_name(failed.id)}"
    return f"{before}{escape_path(ending(failed.source_path, max(20, width() - len(before) - len(after))))}{after}"
