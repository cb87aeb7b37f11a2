"""Measure a run before it begins: files, turns and seconds, without writing.

Every function that takes the database raises StoreFault if it cannot be read or written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.archives import expand_archives
from pastchats_memory.ingest.changes import Plan, plan_files
from pastchats_memory.ingest.detect import detect
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.forecast import estimate
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.read import read_turns
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_database


@dataclass(frozen=True, slots=True)
class Survey:
    """What a run would have to do."""

    files: int
    """Files that are new or changed."""
    bytes: int
    """Bytes in them that were never read."""
    turns: int
    """Turns to embed, estimated from a few files."""
    seconds: float


def survey_at(path: Path, inputs: Sequence[Path], options: IndexOptions, embedder: Embedder) -> Survey:
    """Measure a run into the database at a path, which need not exist.

    Raises:
        InputMissing: an input does not exist.
    """
    if not path.exists():
        return _survey(None, inputs, options, embedder)
    with open_database(path) as database:
        return _survey(database, inputs, options, embedder)


def _survey(database: Database | None, inputs: Sequence[Path], options: IndexOptions, embedder: Embedder) -> Survey:
    found, _ = discover_files(inputs, options.wanted)
    known = sources.known_sources(database) if database else {}
    found, _ = expand_archives(found, known, options, IndexReport(""))
    planned, _ = plan_files(found, known, options)
    todo = [plan for plan in planned if not plan.is_unchanged]
    if not todo:
        return Survey(0, 0, 0, 0.0)
    session = ModelSession(embedder)
    expected = estimate(session, todo, lambda plan: _sample_texts(plan, options), least_bytes=1)
    return Survey(len(todo), sum(plan.new_bytes for plan in todo), expected.turns, expected.seconds)


def _sample_texts(plan: Plan, options: IndexOptions) -> Iterator[str]:
    """Yield the texts of a file's turns; none of a file that cannot be read, which the run reports."""
    try:
        source, format_, _ = detect(plan, options)
        if format_ is not None:
            for turn in read_turns(source, format_, OpenFile(plan, format_.name), options):
                yield turn.content
    except OSError:
        return
