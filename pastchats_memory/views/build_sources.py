"""Build the JSON views of indexing, formats and sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from pastchats_memory.files.command_line import join_command
from pastchats_memory.text.encoding import utf8

if TYPE_CHECKING:
    from pastchats_memory.episodes.resumption import Resumption
    from pastchats_memory.formats.registry import FormatReport
    from pastchats_memory.ingest.dry_run import DryRunFile
    from pastchats_memory.ingest.overview import SourceReport
    from pastchats_memory.ingest.report import FileReport, IndexReport
    from pastchats_memory.views.schema import sources as views


def build_index(report: IndexReport) -> views.IndexBody:
    """Build `index/1` of a run."""
    counts = report.counts()
    return {
        "schema": "index/1",
        "outcome": report.outcome,
        "model": report.model,
        "duration_s": report.duration_s,
        "files_unchanged": report.files_unchanged,
        "moved": report.moved,
        "embedded": report.embedded,
        "cached": report.cached,
        "pending_vectors": report.pending_vectors,
        "superseded": report.superseded,
        "files_scanned": counts["files_scanned"],
        "turns_added": counts["turns_added"],
        "turns_skipped": counts["turns_skipped"],
        "unreadable": counts["unreadable"],
        "tasks_added": report.tasks,
        "forgotten": report.forgotten,
        "results": [_build_file(file) for file in report.files],
    }


def build_index_preview(files: Iterable[DryRunFile]) -> views.IndexPreviewBody:
    """Build `index/1` of a dry run."""
    results: list[views.PreviewedFileView] = [
        {
            **_build_file(report),
            "turns": turns,
            "project": project,
            "keys": cast("views.MessageKeys", dict(report.keys)),
            "map": report.map,
        }
        for report, turns, project in files
    ]
    return {"schema": "index/1", "results": results}


def _build_file(file: FileReport) -> views.IndexedFileView:
    return {
        "source_path": file.path,
        "format": file.format,
        "added": file.added,
        "updated": file.updated,
        "skipped": file.skipped,
        "forgotten": file.forgotten,
        "unchanged": file.is_unchanged,
        "reason": file.reason,
        "unreadable": [{"line": line.line, "reason": line.reason} for line in file.unreadable],
    }


def build_formats(reports: Sequence[FormatReport]) -> views.FormatsBody:
    """Build `formats/1`."""
    return {
        "schema": "formats/1",
        "results": [
            {
                "name": report.format.name,
                "version": report.format.version,
                "origin": report.origin,
                "program": report.format.program,
                "kinds": sorted(report.format.kinds),
                "files": [{"path": utf8(str(place.path)), "exists": place.exists} for place in report.files],
            }
            for report in reports
        ],
    }


def build_open(opened: Sequence[views.OpenedView]) -> views.OpenBody:
    """Build `open/1`."""
    return {"schema": "open/1", "results": list(opened)}


def build_resume(found: Sequence[Resumption]) -> views.ResumeBody:
    """Build `resume/1`."""
    return {
        "schema": "resume/1",
        "results": [
            {
                "program": one.program,
                "command": list(one.command),
                "folder": one.folder,
                "line": join_command(one.command, one.folder) if one.command else None,
                "reason": one.reason or None,
            }
            for one in found
        ],
    }


def build_sources(reports: Sequence[SourceReport]) -> views.SourcesBody:
    """Build `sources/1`."""
    return {"schema": "sources/1", "results": [cast("views.SourceView", asdict(report)) for report in reports]}
