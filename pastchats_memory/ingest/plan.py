"""Plan a run: open archives, and compare all files with what is stored."""

from typing import NamedTuple

from pastchats_memory.ingest.archives import expand_archives
from pastchats_memory.ingest.changes import Plan, plan_files
from pastchats_memory.ingest.detect import require_records
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.store.known_secrets import key_of


class RunPlan(NamedTuple):
    """The files of a run."""

    files: list[Plan]
    moved: dict[str, Candidate]
    """Moved files by their old paths."""
    archives: list[Candidate]
    """Archives that were opened."""


def plan_run(database: Database | None, found: list[Candidate], options: IndexOptions, report: IndexReport) -> RunPlan:
    """Return what to do with the files that were found; archives that cannot be opened go into the report.

    Without a database, every file is new. Raises UsageFault if no record has the keys of the map.
    """
    known = sources.known_sources(database) if database else {}
    files, archives = expand_archives(found, known, options, report)
    require_records(files, known, options)
    return RunPlan(*plan_files(files, known, options, key_of(database) if database else b""), archives)
