"""Measure a run before it begins: files, turns and seconds, without writing."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.ingest.detect import detect
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.forecast import Forecast, estimate
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.plan import plan_run
from pastchats_memory.ingest.read import read_turns
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.store.database import open_existing


def survey_at(path: Path, inputs: Sequence[Path], options: IndexOptions, embedder: Embedder) -> Forecast:
    """Measure a run into the database at a path, which need not exist. Raises InputMissing."""
    found, _ = discover_files(inputs, options.wanted)
    with open_existing(path) as database:
        planned = plan_run(database, found, options, IndexReport("")).files
    todo = [plan for plan in planned if not plan.is_unchanged]
    return estimate(ModelSession(embedder), todo, lambda plan: _sample_texts(plan, options), least_bytes=1)


def _sample_texts(plan: Plan, options: IndexOptions) -> Iterator[str]:
    """Yield the texts of a file's turns; none of a file that cannot be read, which the run reports."""
    try:
        source, format_, _ = detect(plan, options)
        if format_ is not None:
            for turn in read_turns(source, format_, OpenFile(plan, format_.name), options):
                yield turn.content
    except OSError:
        return
