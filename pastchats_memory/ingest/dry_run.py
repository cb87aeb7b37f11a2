"""Look at a run without writing: what it would make of files, and how long it would take."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.ingest.detect import detect, suggest_map
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.forecast import Forecast, Pieces, cut_pieces, estimate
from pastchats_memory.ingest.identity import project_of
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.plan import plan_run
from pastchats_memory.ingest.read import is_wanted, read_turns
from pastchats_memory.ingest.report import FileReport, IndexReport, report_failed, report_refused, report_unchanged
from pastchats_memory.store.database import open_existing
from pastchats_memory.store.tasks import texts_to_come

DryRunFile = tuple[FileReport, int, str | None]
"""The report of a file, its number of turns, and its project if all turns have the same."""


def dry_run(path: Path, inputs: Sequence[Path], options: IndexOptions) -> list[DryRunFile]:
    """Return each file with its number of turns; unchanged files have none. There need not be a database at the path.

    Raises:
        InputMissing: an input does not exist.
        UsageFault: no record has the keys of the map.
    """
    found, faults = discover_files(inputs, options.wanted)
    report = IndexReport("", files=list(map(report_refused, faults)))
    with open_existing(path) as database:
        planned = plan_run(database, found, options, report).files
        return [*((left, 0, None) for left in report.files), *(_dry_run_file(plan, options) for plan in planned)]


def _dry_run_file(plan: Plan, options: IndexOptions) -> DryRunFile:
    if plan.is_unchanged and plan.state is not None and plan.state.format is not None:  # else a map may fit
        return report_unchanged(plan), 0, plan.project
    try:
        source, format_, reason = detect(plan, options)
    except OSError as fault:
        return report_failed(plan.candidate, fault), 0, None
    if format_ is None:
        return FileReport(plan.candidate.name, None, reason=reason, map=suggest_map(source, format_)), 0, None
    file = OpenFile(plan, format_.name)
    projects = Counter(
        name
        for turn in read_turns(source, format_, file, options)
        if is_wanted(turn, name := plan.project or project_of(turn, source.path, format_.service), options)
    )
    report = FileReport(
        plan.candidate.name,
        format_.name,
        unreadable=tuple(file.unreadable),
        keys=format_.explain(source) if format_.explain else {},
        map=suggest_map(source, format_),
    )
    project = next(iter(projects)) if len(projects) == 1 else None
    return report, projects.total() + len(file.tasks), project


def survey_at(path: Path, inputs: Sequence[Path], options: IndexOptions, embedder: Embedder) -> Forecast:
    """Measure a run into the database at a path, which need not exist. Raises InputMissing."""
    found, _ = discover_files(inputs, options.wanted)
    with open_existing(path) as database:
        planned = plan_run(database, found, options, IndexReport("")).files
    todo = [plan for plan in planned if not plan.is_unchanged]
    return estimate(ModelSession(embedder), todo, lambda one: sample_pieces(one, options, embedder.name), least_bytes=1)


def sample_pieces(plan: Plan, options: IndexOptions, model: str) -> Iterator[Pieces]:
    """Yield the pieces that a model embeds of a file's turns and tasks; none of an unreadable file, which the run reports."""
    try:
        source, format_, _ = detect(plan, options)
        if format_ is not None:
            file = OpenFile(plan, format_.name)
            has_middle = model == PackagedEmbedder.name  # a model that is gone has a name, but no version
            yield from (cut_pieces(turn, has_middle=has_middle) for turn in read_turns(source, format_, file, options))
            yield from (tuple(texts_to_come([task])) for task in file.tasks)
    except OSError:
        return
