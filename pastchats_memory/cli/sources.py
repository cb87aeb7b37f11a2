"""`sources`: list the histories on this machine, and how much of each is indexed."""

from pastchats_memory.cli.asking import CommandResult, give_result
from pastchats_memory.cli.output import counted, table
from pastchats_memory.config import from_home, load
from pastchats_memory.ingest.overview import SourceReport
from pastchats_memory.memory.indexing import find_histories, list_sources
from pastchats_memory.text.display import escape_name, escape_path
from pastchats_memory.views.answers.sources import SOURCES

SHOWN = 10
MOST_PLACES = 60
"""Places that are listed on a terminal."""


@give_result("sources")
def command(db: str | None) -> CommandResult:
    """List the histories of agents in their usual places, and other places from which files were indexed.

    For each it shows how much is indexed, and which files are gone.
    """
    found = list_sources(load(db), find_histories())
    return CommandResult(
        lambda: SOURCES.build(found),
        lambda: _text(found),
        is_found=bool(found),
        nothing="No history was found in a usual place; name a folder: pastchats-memory index PATH",
    )


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
