"""`exclude`: keep files, folders and projects out of the memory."""

from __future__ import annotations

import glob
import os
from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import counted, emit_json
from pastchats_memory.config import load, toml
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.exclusion import make_pattern
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import escape_path
from pastchats_memory.views.answers.settings import EXCLUDE, Exclusion


@make_command(
    "exclude",
    "pastchats-memory exclude ~/work/secret",
    "pastchats-memory exclude --project acme",
    "pastchats-memory exclude --list",
    "pastchats-memory exclude --remove --project acme",
)
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, help="A project, in all its conversations; repeatable."
)
@click.option("--list", "listed", is_flag=True, help="List what is excluded.")
@click.option("--remove", is_flag=True, help="Remove from the list, so that it is indexed again.")
@options.database
@options.as_json
def command(
    paths: tuple[str, ...], projects: tuple[str, ...], listed: bool, remove: bool, db: str | None, as_json: bool
) -> int:
    """Keep files, folders or projects out of the memory: a list in your own pastchats-memory.toml.

    No index run reads them, and no turn of them is stored. Rows that are in the memory already stay until you forget them; the
    command prints their number.
    """
    named = {**{path: make_pattern(path) for path in paths}, **{name: glob.escape(name) for name in projects}}
    if not named and not listed:
        raise UsageFault("nothing is named", "Name a path, or a project with --project; --list shows what is excluded.")
    if named and not listed:
        (toml.include_again if remove else toml.exclude)([*named.values()])
    there = toml.excluded()
    stored = {} if listed or remove else _stored(db, paths, projects)
    if as_json:
        emit_json(EXCLUDE.build([Exclusion(one, stored.get(one, 0)) for one in there]))
    else:
        _print(there, named, stored, listed=listed, remove=remove)
    return NOTHING if listed and not there else DONE


def _stored(db: str | None, paths: tuple[str, ...], projects: tuple[str, ...]) -> dict[str, int]:
    """Return the number of stored rows of each pattern."""
    config = load(db)
    if not os.path.lexists(config.database):
        return {}
    with Memory.open(config.database, create=False, config=config) as memory:
        found: dict[str, Any] = {make_pattern(path): memory.forget(source=path, dry_run=True) for path in paths}
        found |= {glob.escape(name): memory.forget(project=name, dry_run=True) for name in projects}
    return {pattern: one.total for pattern, one in found.items()}


def _print(
    there: tuple[str, ...], named: dict[str, str], stored: dict[str, int], *, listed: bool, remove: bool
) -> None:
    if listed:
        click.echo(
            "\n".join(map(escape_path, there)) if there else "Nothing is excluded in your own file.", err=not there
        )
        return
    for pattern in named.values():
        click.echo(f"{'No longer excluded' if remove else 'Excluded'}: {escape_path(pattern)}")
        if stored.get(pattern):
            rows = counted(stored[pattern], "row")
            click.echo(f"{rows} of it stay in the memory until you forget them: `pastchats-memory forget`.", err=True)
