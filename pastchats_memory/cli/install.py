"""`install` and `uninstall`: change an agent's settings so that it calls our hooks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, is_terminal
from pastchats_memory.config import state_folder
from pastchats_memory.hooks.install import TARGETS, Change, advice, plan_install, plan_uninstall, write
from pastchats_memory.views.build_upkeep import build_install, build_uninstall

if TYPE_CHECKING:
    from pastchats_memory.views.schema import FileChangeView


@click.command(
    "install",
    epilog="""\b
Examples:
  pastchats-memory install claude-code
  pastchats-memory install codex --print
  pastchats-memory install gemini --yes
""",
)
@click.argument("target", type=click.Choice(TARGETS))
@click.option("--print", "only_print", is_flag=True, help="Show what would be changed and change nothing.")
@options.yes
@options.no
@options.database
@options.as_json
def install(target: str, only_print: bool, yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Add hooks to a coding agent: recall before each prompt, index after each session.

    Shows the change to the agent's settings as a diff, keeps a copy of the original file next to it, and leaves everything
    else in it alone. `pastchats-memory uninstall TARGET` removes exactly the hooks. At a terminal it asks first; without one
    it makes the change, unless --no or --print is given.
    """
    changes = plan_install(target, db, state_folder())
    if not changes and not as_json:
        click.echo(f"{target} has our hooks already.", err=True)
    answer = True if yes else not (no or only_print) and None
    code = apply_changes("install", target, changes, answer=answer, as_json=as_json)
    if code == DONE and not as_json:
        text = (
            f"Its next sessions recall before each prompt; `pastchats-memory uninstall {target}` takes this out again."
        )
        click.echo(hanging(text, err=True), err=True)
    if not as_json and (code == DONE or not changes):
        for sentence in advice(target):
            click.echo(sentence, err=True)
    return DONE if only_print or not changes else code


def apply_changes(verb: str, target: str, changes: list[Change], *, answer: bool | None, as_json: bool) -> int:
    """Show the changes, make them if the answer is yes, and return the exit code.

    The answer None asks at a terminal, and is yes elsewhere.
    """
    if not as_json:
        click.echo("".join(change.diff for change in changes), nl=False)
    if answer is None:
        asks = bool(changes) and is_terminal(sys.stdin)
        answer = not asks or click.confirm("Make this change?", err=True)
    copies = write(target, changes, state_folder(), is_install=verb == "install") if answer and changes else {}
    if as_json:
        results: list[FileChangeView] = [
            {"path": str(change.path), "diff": change.diff, "is_changed": answer, "copy": copies.get(change.path)}
            for change in changes
        ]
        emit_json(build_install(results) if verb == "install" else build_uninstall(results))
    elif changes:
        for copy in copies.values():
            click.echo(f"The file as it was: {copy}", err=True)
        if not answer:
            click.echo("Nothing was changed.", err=True)
    return DONE if answer and changes else NOTHING


# `uninstall`: our hooks out of an agent's settings.


@click.command(
    "uninstall",
    epilog="""\b
Examples:
  pastchats-memory uninstall claude-code
  pastchats-memory uninstall codex --yes
""",
)
@click.argument("target", type=click.Choice(TARGETS))
@options.yes
@options.no
@options.as_json
def uninstall(target: str, yes: bool, no: bool, as_json: bool) -> int:
    """Remove from an agent's settings what `install` added, and nothing else.

    At a terminal it asks first; without one it makes the change, unless --no is given.
    """
    changes = plan_uninstall(target, state_folder())
    if not changes and not as_json:
        click.echo(f"{target} has no hooks of ours.", err=True)
    return apply_changes("uninstall", target, changes, answer=True if yes else not no and None, as_json=as_json)
