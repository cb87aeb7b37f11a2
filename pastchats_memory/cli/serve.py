"""`serve` and `mcp`: answer over HTTP, and by the Model Context Protocol."""

from functools import partial

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import warn
from pastchats_memory.config import load


@make_command("serve")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address; every one but this machine's own needs a token."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8377, show_default=True, help="0 chooses a free one.")
@click.option("--token", metavar="TOKEN", help="Token of clients; PASTCHATS_MEMORY_TOKEN hides it from other users.")
@click.option(
    "--chat-endpoint", metavar="URL", help="Server that chats are forwarded to, such as http://localhost:11434/v1."
)
@click.option("--new-token", is_flag=True, help="Replace the token in the state folder; the old one stops at once.")
@click.option("--no-open", is_flag=True, help="Only print the link, at a terminal with a screen too.")
@options.database
def command(
    host: str, port: int, token: str | None, chat_endpoint: str | None, new_token: bool, no_open: bool, db: str | None,
) -> int:  # fmt: skip
    """Show the memory in a browser, answer programs over HTTP, and add context to chats on their way to a model.

    At a terminal it opens your browser. Elsewhere open the link that it prints: it works once, and opens a session in that
    browser. The server prints another link then.

    For programs, which send the token in the printed file as X-Memory-Token:
    GET /search, /recall, /context, /items/ID, /tasks, /api/v1/search/semantic and POST /v1/chat/completions, all described
    at /openapi.json.
    """
    from pastchats_memory.hooks.listening import listening
    from pastchats_memory.http import serve
    from pastchats_memory.http.opening import has_screen

    if token == "":  # empty, so no secret # nosec B105
        raise click.BadParameter("it is empty; is the variable that it comes from set?", param_hint="--token")
    config = load(db, flags={"server_token": token, "chat_endpoint": chat_endpoint})
    warn(config.warnings)
    with listening(config):
        opens = not no_open and has_screen()
        report = partial(click.echo, err=True)
        serve(config, host, port, report, with_new_token=new_token, opens_page=opens)
    return DONE


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
def mcp(port: int | None, allow_write: bool, db: str | None) -> int:
    """Answer agents over MCP, on stdin and stdout unless --http is given.

    For Claude Code: claude mcp add pastchats-memory -- pastchats-memory mcp
    """
    from pastchats_memory.hooks.listening import listening
    from pastchats_memory.mcp import serve

    config = load(db)
    with listening(config):
        serve(config, lambda line: click.echo(line, err=True), allow_write=allow_write, port=port)
    return DONE
