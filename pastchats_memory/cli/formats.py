"""`formats`: list every format that `index` reads, also those of other packages."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import emit_json, table
from pastchats_memory.config import from_home
from pastchats_memory.formats.registry import FormatReport, report_formats
from pastchats_memory.memory.requests import find_environment
from pastchats_memory.text.display import escape_path
from pastchats_memory.views.answers.sources import FORMATS


@make_command(
    "formats",
    "pastchats-memory formats",
    "pastchats-memory formats --json | jq -r '.results[] | select(.origin != \"built in\").name'",
    "pastchats-memory index --format claude-code ~/.claude/projects",
)
@options.unused_database
@options.as_json
def command(as_json: bool) -> int:
    """List every format with its version, its origin and the usual places of its files.

    `*` marks a place that exists on this machine. The origin is "built in", or the package that adds the format.
    The name of a format is the value of `metadata.format`; `index --format NAME FILE` reads a file as that format.
    """
    reports = report_formats(find_environment())
    if as_json:
        emit_json(FORMATS.build(reports))
    else:
        rows = [[report.format.name, report.format.version, report.origin, _list_places(report)] for report in reports]
        click.echo(table(rows, ["format", "version", "origin", "files"], stretch=3))
    return DONE


def _list_places(report: FormatReport) -> str:
    """Return the places that exist, else the first one, and the number of the others."""
    found = [f"* {escape_path(from_home(str(place.path)))}" for place in report.files if place.exists]
    shown = found or [escape_path(from_home(str(place.path))) for place in report.files[:1]]
    others = len(report.files) - len(shown)
    return "\n".join([*shown, *([f"and {others} other place{'s' if others > 1 else ''}"] if others else [])])
