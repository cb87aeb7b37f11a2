"""`mcp`: serve the memory to agents that speak the Model Context Protocol."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.config import load
from pastchats_memory.errors import MemoryFault


@click.command(
    "mcp",
    epilog="""\b
Examples:
  pastchats-memory mcp
  pastchats-memory mcp --allow-write
""",
)
@click.option("--http", "port", type=click.IntRange(1, 65535), metavar="PORT", help="At http://127.0.0.1:PORT/mcp.")
@click.option("--allow-write", is_flag=True, help="Offer store_turn, index_paths, unjudged and judge as well.")
@options.database
def command(port: int | None, allow_write: bool, db: str | None) -> int:
    """Answer agents over MCP, on stdin and stdout unless --http is given. Needs the extra `mcp`.

    For Claude Code: claude mcp add pastchats-memory -- pastchats-memory mcp
    """
    try:
        from pastchats_memory.mcp import serve
    except ModuleNotFoundError as fault:
        if (fault.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio", "pydantic"):
            raise
        hint = "Install it: pip install 'pastchats-memory[mcp]'."
        raise MemoryFault("the MCP server needs a package that is not installed", hint) from fault
    serve(load(db), allow_write=allow_write, port=port)
    return DONE
