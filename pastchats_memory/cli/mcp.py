"""`mcp`: serve the memory to agents that speak the Model Context Protocol."""

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.config import load


@make_command("mcp")
@click.option(
    "--http",
    "port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="At http://127.0.0.1:PORT/mcp, for clients with the token.",
)
@click.option("--allow-write", is_flag=True, help="Offer store_turn, index_paths, unjudged and judge as well.")
@options.database
def command(port: int | None, allow_write: bool, db: str | None) -> int:
    """Answer agents over MCP, on stdin and stdout unless --http is given.

    For Claude Code: claude mcp add pastchats-memory -- pastchats-memory mcp
    """
    from pastchats_memory.hooks.listening import listening
    from pastchats_memory.mcp import serve

    config = load(db)
    with listening(config):
        serve(config, lambda line: click.echo(line, err=True), allow_write=allow_write, port=port)
    return DONE
