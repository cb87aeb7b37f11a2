"""`log`: list what the hooks gave to agents, when, and whether it was used."""

from textwrap import indent

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import sanitise
from pastchats_memory.views.recalled import render_log
from pastchats_memory.views.to_json import to_json


@ask_memory("log")
@click.option("--last", is_flag=True, help="Print the last one as the agent saw it.")
@click.option("--session", metavar="ID", help="Only what this session got.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Lines at most.")
def command(memory: Memory, last: bool, session: str | None, limit: int) -> CommandResult:
    """List what the hooks put into which session, the newest first.

    Each line has time, agent, kind, size, ids and the prompt's first words, and says whether the agent then used it: read or
    resumed an item, or named its file.
    """
    found = memory.log(session, 1 if last else limit)
    return CommandResult(
        lambda: to_json(found),
        lambda: indent(sanitise(found.results[0].content), "  ") if last else render_log(found),
        is_found=bool(found.results),
        nothing="No hook has given anything to an agent yet.",
    )
