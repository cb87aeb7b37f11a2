"""`sources`: the histories on this machine, and what of them is in the memory."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, hanging, table
from pastchats_memory.config import from_home, load
from pastchats_memory.ingest.overview import SourceReport, overview_at
from pastchats_memory.memory.requests import found_histories, wanted_files
from pastchats_memory.text.display import one_line
from pastchats_memory.views.build_upkeep import build_sources

SHOWN = 10


@click.command(
    "sources",
    epilog="""\b
Examples:
  pastchats-memory sources
  pastchats-memory index --all
  pastchats-memory sources --json | jq '.results[] | select(.indexed == 0).path'
""",
)
@options.database
@options.as_json
def command(db: str | None, as_json: bool) -> int:
    """The histories that programs keep in their default places, with how much of each is indexed and what is gone."""
    config = load(db)
    found = overview_at(config.database, found_histories(), wanted_files(config))
    if as_json:
        emit_json(build_sources(found))
    elif found:
        click.echo(hanging(_text(found)))
    else:
        said = "No history was found in its default place; name a folder: pastchats-memory index PATH"
        click.echo(hanging(said, err=True), err=True)
    return DONE if found else NOTHING


def _text(found: list[SourceReport]) -> str:
    rows = [
        [
            report.program,
            f"{report.files:,}",
            f"{report.bytes / 1e6:,.1f}",
            f"{report.indexed:,}",
            f"{len(report.gone):,}" if report.gone else "",
            one_line(from_home(report.path) if report.path else "other places"),
        ]
        for report in found
    ]
    lines = [table(rows, ["program", "files", "MB", "indexed", "gone", "place"], stretch=5)]
    gone = [path for report in found for path in report.gone]
    if gone:
        lines.append(f"Gone, and kept in the memory: {counted(len(gone), 'file')}")
        lines += [f"  {one_line(from_home(path))}" for path in gone[:SHOWN]]
        lines += [f"  … and {len(gone) - SHOWN:,} more (all of them with --json)"] if len(gone) > SHOWN else []
    if excluded := sum(report.excluded for report in found):
        lines.append(f"Kept out: {excluded:,} of their files and folders; `index` says which, and why.")
    if any(report.files > report.indexed for report in found):
        lines.append("`pastchats-memory index --all` indexes what is new in them.")
    return "\n".join(lines)
