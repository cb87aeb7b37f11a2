"""Detect the format of a file, and where to resume reading it."""

from __future__ import annotations

import json

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import BadJson, NotText, Source
from pastchats_memory.formats.registry import all_formats, detect_format
from pastchats_memory.ingest.changes import Plan, has_same_bytes, recipe_of
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database

NO_CONVERSATION = "no conversation found in it"
NO_CONTENT = "an empty list or object"
TABLE = "a table; programs that export chats as one do so as JSON too, which is read"
TABLES = frozenset({".csv", ".tsv"})
NOTES_SKIPPED = "Markdown that is no dialogue; name the file itself or use --notes to take it"
BY_FORMAT: dict[str, Format] = {reader.name: reader for reader in all_formats()}


def detect(candidate: Candidate, options: IndexOptions) -> tuple[Source, Format | None, str]:
    """Return the file as a source, its format or None, and the reason for None. Raises OSError."""
    source = Source(
        candidate.path,
        named=candidate.named,
        notes=options.wants_notes_at(candidate.path),
        chunk_size=options.chunk_size,
        chunk_overlap=options.overlap,
        unpacked=candidate.unpacked,
    )
    try:
        reader = detect_format(source)
        reason = "" if reader is not None else _explain_unclaimed(source) if candidate.size else "empty"
    except NotText as fault:
        return source, None, str(fault)
    return source, reader, reason


def _explain_unclaimed(source: Source) -> str:
    """Return why no format claims a file. Raises NotText, OSError."""
    if source.shape == "markdown":
        return NOTES_SKIPPED
    if source.shape == "json" and isinstance(source.outline, BadJson):
        return f"not whole JSON: {source.outline.reason}"
    if source.shape == "json" and source.outline in ([], {}):
        return NO_CONTENT
    return TABLE if source.path.suffix.lower() in TABLES else NO_CONVERSATION


def resume(database: Database, plan: Plan, options: IndexOptions) -> Source | None:
    """Return the file from its last checkpoint on, if it has only grown since; else None."""
    state = plan.state
    if state is None or state.format not in BY_FORMAT or options.force or state.project != plan.project:
        return None
    resume = (
        sources.resume_of(database, plan.candidate.name) if state.recipe == recipe_of(state.format, options) else None
    )
    if resume is None or plan.candidate.size <= state.size or not has_same_bytes(state, plan.candidate):
        return None
    known = json.loads(resume)
    checkpoint = Checkpoint(known["offset"], known["line"], known["state"])
    return Source(plan.candidate.path, named=plan.candidate.named, notes=options.notes, resumed=checkpoint)
