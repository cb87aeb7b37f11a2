"""`exclude`: keep files, folders and projects out of the memory."""

import glob
import os
import shlex
from collections.abc import Sequence

import click

from pastchats_memory.cli.asking import CommandResult, give_result
from pastchats_memory.config import exclusions, load
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.exclusion import make_pattern
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import counted, escape_path, one_line
from pastchats_memory.views.answers.settings import EXCLUDE, Exclusion


@give_result("exclude")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, help="A project, in all its conversations; repeatable."
)
@click.option("--list", "listed", is_flag=True, help="List what is excluded.")
@click.option("--remove", is_flag=True, help="Remove from the list, so that it is indexed again.")
def command(
    db: str | None, paths: tuple[str, ...], projects: tuple[str, ...], listed: bool, remove: bool
) -> CommandResult:
    """Keep files, folders or projects out of the memory: a list in your own pastchats-memory.toml.

    No index run reads them, and no turn of them is stored. Rows that are in the memory already stay until you forget them; the
    command prints their number.
    """
    named = [("source", path, make_pattern(path)) for path in paths]
    named += [("project", name, glob.escape(name)) for name in projects]
    if not named and not listed:
        raise UsageFault("nothing is named", "Name a path, or a project with --project; --list shows what is excluded.")
    patterns = [pattern for _, _, pattern in named]
    if named and not listed:
        (exclusions.include_again if remove else exclusions.exclude)(patterns)
    there = exclusions.excluded()
    stored = {} if listed or remove else _stored(db, named)
    verb = "No longer excluded" if remove else "Excluded"
    lines = map(escape_path, there) if listed else (f"{verb}: {escape_path(pattern)}" for pattern in patterns)
    return CommandResult(
        lambda: EXCLUDE.build([Exclusion(one, stored.get(one, 0)) for one in there]),
        lambda: "\n".join(lines),
        is_found=bool(there) or not listed,
        nothing="Nothing is excluded in your own file.",
        notes=[
            f"{counted(stored[pattern], 'row')} of it stay in the memory until you forget them: "
            f"pastchats-memory forget --{kind} {shlex.quote(one_line(name))}"
            for kind, name, pattern in named
            if stored.get(pattern)
        ],
        is_folded=True,
    )


def _stored(db: str | None, named: Sequence[tuple[str, str, str]]) -> dict[str, int]:
    config = load(db)
    if not os.path.lexists(config.database):
        return {}
    with Memory.open(config.database, create=False, config=config) as memory:
        return {pattern: memory.forget(**{kind: name}, dry_run=True).total for kind, name, pattern in named}
