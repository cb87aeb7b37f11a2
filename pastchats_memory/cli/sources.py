"""`sources` and `formats`: list the histories on this machine, and the formats that `index` reads."""

from pathlib import Path

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.asking import CommandResult, give_result, list_found, make_command
from pastchats_memory.cli.output import echo_json, emit_json, table
from pastchats_memory.config import from_home, load
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.registry import FormatReport, detect_format, report_formats
from pastchats_memory.ingest.overview import SourceReport
from pastchats_memory.memory.indexing import find_environment, find_histories, list_sources
from pastchats_memory.text.display import counted, escape_name, escape_path
from pastchats_memory.views.answers.sources import FORMATS, SOURCES

SHOWN = 10
MOST_PLACES = 60
"""Places that are listed on a terminal."""


@give_result("sources")
def command(db: str | None) -> CommandResult:
    """List the histories of agents in their usual places, and other places from which files were indexed.

    For each it shows how much is indexed, and which files are gone.
    """
    found = list_sources(load(db), find_histories())
    nothing = "No history was found in a usual place; name a folder: pastchats-memory index PATH"
    return list_found(SOURCES, found, lambda: _text(found), nothing)


def _text(found: list[SourceReport]) -> str:
    rows = [
        [
            escape_name(report.program),
            f"{report.files:,}",
            f"{report.bytes / 1e6:,.1f}",
            f"{report.indexed:,}",
            f"{len(report.gone):,}" if report.gone else "",
            escape_path(from_home(report.path)),
        ]
        for report in found[:MOST_PLACES]
    ]
    lines = [table(rows, ["program", "files", "MB", "indexed", "gone", "place"], stretch=5)]
    if len(found) > MOST_PLACES:
        lines.append(f"… and {counted(len(found) - MOST_PLACES, 'more place')} (all of them with --json)")
    gone = [path for report in found for path in report.gone]
    if gone:
        lines.append(f"Gone from disk, kept in the memory: {counted(len(gone), 'file')}")
        lines += [f"  {escape_path(from_home(path))}" for path in gone[:SHOWN]]
        lines += [f"  … and {len(gone) - SHOWN:,} more (all of them with --json)"] if len(gone) > SHOWN else []
    if excluded := sum(report.excluded for report in found):
        lines.append(f"Excluded: {excluded:,} of their files and folders; `index` lists them with the reason.")
    if any(report.files > report.indexed for report in found):
        lines.append("`pastchats-memory index --all` indexes what is new in them.")
    return "\n".join(lines)


@make_command("formats")
@click.option(
    "--expected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Print the rows of a file as JSON, as a test of its format expects them.",
)
@options.unused_database
@options.as_json
def formats(expected: Path | None, as_json: bool) -> int:
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
    return "\n".join([*shown, *([f"and {counted(others, 'other place')}"] if others else [])])
