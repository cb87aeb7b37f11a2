"""`config`: show every setting and where its value comes from."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from pastchats_memory import config
from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.output import emit_json, table, warn
from pastchats_memory.text.display import one_line
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.build_upkeep import build_config

if TYPE_CHECKING:
    from pastchats_memory.views.schema import SettingView

SECRET = frozenset({"api_key", "chat_api_key", "judge_api_key", "server_token"})
NO_KEYS = frozenset({"origins", "warnings"})
ORIGIN_OF = {"caches": "cache"}


@click.command(
    "config",
    epilog="""\b
Examples:
  pastchats-memory config
  pastchats-memory config --json | jq '.results[] | select(.origin != "default")'
""",
)
@options.database
@options.as_json
def command(db: str | None, as_json: bool) -> int:
    """Show every setting with its value and its origin: a flag, a variable, a line of a file, or the default.

    The project's file is the nearest pastchats-memory.toml up to the root of your repository. Your own is
    pastchats-memory/pastchats-memory.toml in your configuration folder.
    """
    effective = config.load(db)
    rows: list[SettingView] = [
        {
            "key": key.name,
            "value": _shown(key.name, getattr(effective, key.name)),
            "origin": _origin(effective, key.name),
        }
        for key in fields(effective)
        if key.name not in NO_KEYS
    ]
    if as_json:
        emit_json(build_config(rows, effective.warnings))
    else:
        cells = [[row["key"], one_line(_text(row["value"])), one_line(str(row["origin"]))] for row in rows]
        click.echo(table(cells, ["key", "value", "from"], stretch=1))
        own = config.own_file()
        if own is not None and not own.exists():
            click.echo(f"Your own file would be {own}", err=True)
    warn(effective.warnings)
    return DONE


def _origin(effective: config.Config, key: str) -> str:
    return effective.origins.get(ORIGIN_OF.get(key, key), "default")


def _shown(key: str, value: Any) -> Any:
    """Return a value as JSON can hold it, without secrets."""
    if key in SECRET:
        return None if value is None else "(set)"
    if key in ("endpoint", "chat_endpoint") and value is not None and "@" in value:
        scheme, _, rest = value.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"
    if isinstance(value, tuple):
        return [_shown(key, one) for one in value]
    if isinstance(value, os.PathLike):
        return utf8(os.fspath(value))
    if hasattr(value, "items"):
        return {name: _shown(key, one) for name, one in value.items()}
    return value


def _text(value: Any) -> str:
    if value is None or value in ([], {}):
        return "–"
    if isinstance(value, bool):
        return str(value).lower()  # as TOML spells it
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
