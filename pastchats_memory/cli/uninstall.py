"""`uninstall`: our hooks out of an agent's settings."""

from __future__ import annotations

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.install import settle
from pastchats_memory.config import state_folder
from pastchats_memory.hooks.install import TARGETS, uninstalling


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
def command(target: str, yes: bool, no: bool, as_json: bool) -> int:
    """Take out of an agent's settings what `install` put in, and nothing else.

    At a terminal it asks first; without one it makes the change, unless --no is given.
    """
    changes = uninstalling(target, state_folder())
    if not changes and not as_json:
        click.echo(f"{target} has no hooks of ours.", err=True)
    return settle("uninstall", target, changes, answer=True if yes else not no and None, as_json=as_json)
