"""`formats`: list every format that `index` reads, also those of other packages."""

from pathlib import Path

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.asking import make_command
from pastchats_memory.cli.output import echo_json, emit_json, table
from pastchats_memory.config import from_home
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.formats.registry import FormatReport, detect_format, report_formats
from pastchats_memory.memory.indexing import find_environment
from pastchats_memory.text.display import escape_path
from pastchats_memory.views.answers.sources import FORMATS


@make_command("formats")
@click.option(
    "--expected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Print the rows of a file as JSON, as a test of its format expects them.",
)
@options.unused_database
@options.as_json
def command(expected: Path | None, as_json: bool) -> int:
    """List every format with its version, its origin and the usual places of its files.

    `*` marks a place that exists on this machine. The origin is "built in", or the package that adds the format.
    The name of a format is the value of `metadata.format`; `index --format NAME FILE` reads a file as that format.
    """
    if expected is not None:
        echo_json(_dump_expected(expected))
        return DONE
    reports = report_formats(find_environment())
    if as_json:
        emit_json(FORMATS.build(reports))
    else:
        rows = [[report.format.name, report.format.version, report.origin, _list_places(report)] for report in reports]
        click.echo(table(rows, ["format", "version", "origin", "files"], stretch=3))
    return DONE


def _dump_expected(path: Path) -> str:
    from pastchats_memory.formats.base.source import NotText, SourceFile
    from pastchats_memory.formats.testing import dump_expected  # only authors of formats ask

    try:
        format_ = detect_format(SourceFile(path))
    except FileNotFoundError as fault:
        raise InputMissing(f"no such file: {path}", "Name a transcript.") from fault
    except (NotText, OSError) as fault:
        raise UsageFault(f"{path} cannot be read: {fault}", "Name a transcript.") from fault
    if format_ is None:
        raise UsageFault(f"no format recognises {path}", "`pastchats-memory formats` lists them.")
    return dump_expected(format_, path)


def _list_places(report: FormatReport) -> str:
    """Return the places that exist, else the first one, and the number of the others."""
    found = [f"* {escape_path(from_home(str(place.path)))}" for place in report.files if place.exists]
    shown = found or [escape_path(from_home(str(place.path))) for place in report.files[:1]]
    others = len(report.files) - len(shown)
    return "\n".join([*shown, *([f"and {others} other place{'s' if others > 1 else ''}"] if others else [])])
