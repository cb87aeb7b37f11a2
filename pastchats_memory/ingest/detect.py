"""Detect the format of a file, and where to resume reading it."""

import json
from collections.abc import Mapping, Sequence

from pastchats_memory.errors import UsageFault
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.key_map import list_record_keys
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.base.values import BadJson
from pastchats_memory.formats.registry import all_formats, detect_format, mapped_format
from pastchats_memory.ingest.changes import Plan, has_same_bytes, recipe_of
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.ingest.options import IndexOptions, ReadAs
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import EMPTY, SourceState

NO_CONVERSATION = "no conversation found in it"
NO_CONTENT = "an empty list or object"
TABLE = "a table; programs that export chats as one do so as JSON too, which is read"
TABLES = frozenset({".csv", ".tsv"})
NOTES_SKIPPED = "Markdown that is no dialogue; name the file itself or use --notes to take it"
BY_FORMAT: dict[str, Format] = {known.name: known for known in all_formats()}


def detect(plan: Plan, options: IndexOptions) -> tuple[SourceFile, Format | None, str]:
    """Open a file; return it, its format or None, and the reason for None. Raises OSError."""
    candidate = plan.candidate
    source = SourceFile(
        candidate.path,
        named=candidate.named,
        notes=options.wants_notes_at(candidate.path),
        chunk_size=options.chunk_size,
        chunk_overlap=options.overlap,
        unpacked=candidate.unpacked,
    )
    try:
        format_ = _choose_format(source, plan.read_as, options)
        if format_ is None and plan.read_as.format:
            return source, None, f"not of the format {plan.read_as.format}, which was named for it"
        reason = "" if format_ is not None else _explain_unclaimed(source) if candidate.size else EMPTY
    except NotText as fault:
        return source, None, str(fault)
    return source, format_, reason


def _choose_format(source: SourceFile, read_as: ReadAs, options: IndexOptions) -> Format | None:
    """Choose the format or map that the user named, else the most confident format.

    A named format reads every file that was named with it. Of a folder it reads the files of its kind.

    Raises NotText, OSError.
    """
    if read_as.key_map is not None and (mapped := mapped_format(read_as.key_map)).detect(source):
        return mapped
    if read_as.format:
        key_map = options.maps.get(read_as.format)
        named = mapped_format(key_map) if key_map else BY_FORMAT.get(read_as.format)
        if named is not None:
            return named if named.detect(source) or source.named else None
    detected = detect_format(source)
    if detected is not None and detected.is_specific:
        return detected
    configured = map(mapped_format, options.maps.values())
    return next((mapped for mapped in configured if mapped.detect(source)), detected)


def _explain_unclaimed(source: SourceFile) -> str:
    """Return why no format claims a file. Raises NotText, OSError."""
    if source.shape == "markdown":
        return NO_CONVERSATION if source.named else NOTES_SKIPPED
    if source.shape == "json" and isinstance(source.outline, BadJson):
        return f"not whole JSON: {source.outline.reason}"
    if source.shape == "json" and source.outline in ([], {}):
        return NO_CONTENT
    return TABLE if source.path.suffix.lower() in TABLES else NO_CONVERSATION


def resume(database: Database, plan: Plan, options: IndexOptions) -> SourceFile | None:
    """Return the file from its last checkpoint on if it has only grown since, else None."""
    state = plan.state
    if state is None or state.format not in BY_FORMAT or options.force:
        return None
    if (state.project, state.read_as) != (plan.project, plan.read_as.to_json()):
        return None
    resume = (
        sources.reading_state(database, plan.candidate.name)
        if state.recipe == recipe_of(state.format, options)
        else None
    )
    if resume is None or plan.candidate.size <= state.size or not has_same_bytes(state, plan.candidate, plan.key):
        return None
    known = json.loads(resume)
    checkpoint = Checkpoint(known["offset"], known["line"], known["state"])
    return SourceFile(plan.candidate.path, named=plan.candidate.named, notes=options.notes, resumed=checkpoint)


def suggest_map(source: SourceFile, format_: Format | None) -> str | None:
    """Return the value of `--map` that reads a file; None for a known format, or if none fits. Raises OSError."""
    suggest = (format_ or mapped_format()).suggest_map
    try:
        return suggest(source) if suggest else None
    except NotText:
        return None


def require_records(found: Sequence[Candidate], known: Mapping[str, SourceState], options: IndexOptions) -> None:
    """Require that some file has records with the keys of the user's map.

    A map by which one of the files was read before is not checked again, so `--watch` outlives a deleted file. Raises
    UsageFault if no file has such records; the message names a key that none has, and keys that are there.
    """
    key_map, named = options.read_as.key_map, options.read_as.to_json()
    if key_map is None or any(one.name in known and known[one.name].read_as == named for one in found):
        return
    mapped, missing, is_fitting, seen = mapped_format(key_map), key_map.keys, False, ""
    for candidate in found:
        source = SourceFile(candidate.path, unpacked=candidate.unpacked)
        try:
            if source.shape not in ("json", "jsonl"):
                continue
            missing = [key for key in missing if key in key_map.list_missing(source.example)]
            is_fitting = is_fitting or mapped.detect(source) > 0
            if is_fitting and not missing:
                return
            seen = (
                seen or f"The records of {candidate.name} have the keys {', '.join(list_record_keys(source.example))}."
            )
        except (NotText, OSError):
            continue
    if not seen:
        raise UsageFault("--map: no JSON or JSONL file was found", "Name one: pastchats-memory index FILE --map ...")
    what = f"the key `{missing[0]}`" if missing else f"all the keys of `{key_map}`"
    raise UsageFault(f"--map: no record has {what}", f"{seen} `index --dry-run` suggests a map.")
