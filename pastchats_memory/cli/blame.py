"""`blame`: list the episodes that changed a file, or that wrote one of its lines."""

import re
from pathlib import Path

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.memory import Memory
from pastchats_memory.views.answers.blame import build_blame
from pastchats_memory.views.blame import render_blame

_WITH_LINE = re.compile(r"(?s)(.+):([1-9]\d{0,8})")


@ask_memory("blame")
@click.argument("file", metavar="FILE[:LINE]")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Episodes at most.")
def command(memory: Memory, file: str, limit: int) -> CommandResult:
    """List the episodes that changed FILE, the newest first, each with its prompt, outcome and source.

    With LINE, list those whose edit contains the present text of that line. Former names that git knows count, too, and
    sessions in another clone, in a worktree or on another machine.
    """
    path, line = _split(file)
    found = memory.blame(path, line, limit)
    return CommandResult(
        lambda: build_blame(found, memory.resume_lines(one.turn for one in found)),
        lambda: render_blame(found),
        is_found=bool(found),
        nothing="No known session has changed it by a recorded edit.",
        leads_back=True,
    )


def _split(file: str) -> tuple[Path, int | None]:
    """Return the path and the line that an argument names; a file may have a colon in its name."""
    found = _WITH_LINE.fullmatch(file)
    if found is None or Path(file).exists():
        return Path(file), None
    return Path(found[1]), int(found[2])
