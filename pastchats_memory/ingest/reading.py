"""One file on its way from its bytes to rows: its reader, where that goes on, and what of its turns is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pastchats_memory.errors import UsageFault
from pastchats_memory.formats.generic import GENERIC, GenericFormat
from pastchats_memory.ingest.changes import Plan, has_still, recipe_of
from pastchats_memory.ingest.files import Candidate
from pastchats_memory.ingest.identity import Identities, project_of
from pastchats_memory.ingest.options import IndexOptions, ReadAs
from pastchats_memory.ingest.tasks import wrong_with
from pastchats_memory.ingest.turns import Placed, prompt_of_export, without_our_words, without_split_secrets
from pastchats_memory.ingest.writer import Reading
from pastchats_memory.model import Prompt, Task, Turn, Unreadable, utf8
from pastchats_memory.project import opted_out
from pastchats_memory.readers import FALLBACKS, READERS, Reader, TwoClaims, reader_for
from pastchats_memory.readers.resume import Checkpoint
from pastchats_memory.readers.source import BadJson, NotText, Source
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState

NOT_TAKEN = "no conversation found in it"
NOTHING_IN_IT = "an empty list or object"
TABLE = "a table; programs that export chats as one do so as JSON too, which is read"
TABLES = frozenset({".csv", ".tsv"})
NOTES_NOT_TAKEN = "Markdown that is no dialogue; name the file itself or use --notes to take it"
BY_FORMAT: dict[str, Reader] = {reader.FORMAT: reader for reader in (*READERS, *FALLBACKS)}


def opened(plan: Plan, options: IndexOptions) -> tuple[Source, Reader | None, str]:
    """Open a file; return it, its reader or None, and the reason for None. Raises OSError."""
    candidate = plan.candidate
    source = Source(
        candidate.path,
        named=candidate.named,
        notes=options.wants_notes_at(candidate.path),
        chunk_size=options.chunk_size,
        chunk_overlap=options.overlap,
        unpacked=candidate.unpacked,
    )
    try:
        reader = _choose_reader(source, plan.read_as, options)
        if reader is None and plan.read_as.format:
            return source, None, f"not of the format {plan.read_as.format}, which was named for it"
        reason = "" if reader is not None else _reason_against(source) if candidate.size else "empty"
    except (NotText, TwoClaims) as fault:
        return source, None, str(fault)
    return source, reader, reason


def _choose_reader(source: Source, read_as: ReadAs, options: IndexOptions) -> Reader | None:
    """Choose the reader that the user named, if the file is of its kind; else the one that knows the file.

    Raises NotText, TwoClaims, OSError.
    """
    if read_as.key_map is not None and (mapped := GenericFormat(read_as.key_map)).recognise(source):
        return mapped
    if read_as.format:
        key_map = options.maps.get(read_as.format)
        named = GenericFormat(key_map) if key_map else BY_FORMAT.get(read_as.format)
        if named is not None:
            return named if named.recognise(source) else None
    reader = reader_for(source)
    if reader in READERS:
        return reader
    mapped_readers = map(GenericFormat, options.maps.values())
    return next((mapped for mapped in mapped_readers if mapped.recognise(source)), reader)


def suggested_map(source: Source, reader: Reader | None) -> str | None:
    """Return the value of `--map` by which a file is read, or for a file that is not read one that fits it.

    None for a file of a known format, and for one that no map fits. Raises OSError.
    """
    if reader is not None and not isinstance(reader, GenericFormat):
        return None
    try:
        if source.shape not in ("json", "jsonl"):
            return None
        key_map = (reader or GENERIC).suggest_map(source)
    except NotText:
        return None
    return str(key_map) if key_map else None


def require_records(found: Sequence[Candidate], known: Mapping[str, SourceState], options: IndexOptions) -> None:
    """Require that the records of some file have the keys of the map that the user gave, if there is one.

    A map by which one of the files was read before is not checked again, so `--watch` outlives a deleted file.

    Raises:
        UsageFault: no file has such records; the message names a key that none has, and keys that are there.
    """
    if options.read_as.key_map is None:
        return
    named = options.read_as.to_json()
    if any(candidate.name in known and known[candidate.name].read_as == named for candidate in found):
        return
    mapped = GenericFormat(options.read_as.key_map)
    missing, is_fitting, seen = options.read_as.key_map.keys, False, ""
    for candidate in found:
        source = Source(candidate.path, unpacked=candidate.unpacked)
        try:
            if source.shape not in ("json", "jsonl"):
                continue
            missing = [key for key in missing if key in mapped.list_missing_keys(source)]
            is_fitting = is_fitting or mapped.recognise(source)
            if is_fitting and not missing:
                return
            seen = seen or f"The records of {candidate.name} have the keys {', '.join(mapped.list_keys(source))}."
        except (NotText, OSError):
            continue
    if not seen:
        raise UsageFault("--map: no JSON or JSONL file was found", "Name one: pastchats-memory index FILE --map ...")
    what = f"the key `{missing[0]}`" if missing else f"all the keys of `{options.read_as.key_map}`"
    raise UsageFault(f"--map: no record has {what}", f"{seen} `index --dry-run` suggests a map.")


def _reason_against(source: Source) -> str:
    """Why a file that no reader claims is left. Raises NotText, OSError."""
    if source.shape == "markdown":
        return NOTES_NOT_TAKEN
    if source.shape == "json" and isinstance(source.outline, BadJson):
        return f"not whole JSON: {source.outline.reason}"
    if source.shape == "json" and source.outline in ([], {}):
        return NOTHING_IN_IT
    return TABLE if source.path.suffix.lower() in TABLES else NOT_TAKEN


def resumed(database: Database, plan: Plan, options: IndexOptions) -> Source | None:
    """The file from where its reader left off, if it has only grown since and nothing else asks for the whole of it."""
    state = plan.state
    if state is None or state.format not in BY_FORMAT or options.force:
        return None
    if (state.project, state.read_as) != (plan.project, plan.read_as.to_json()):
        return None
    resume = (
        sources.resume_of(database, plan.candidate.name) if state.recipe == recipe_of(state.format, options) else None
    )
    if resume is None or plan.candidate.size <= state.size or not has_still(state, plan.candidate):
        return None
    known = json.loads(resume)
    checkpoint = Checkpoint(known["offset"], known["line"], known["state"])
    return Source(plan.candidate.path, named=plan.candidate.named, notes=options.notes, resumed=checkpoint)


def turns_of(source: Source, reader: Reader, file: Reading, options: IndexOptions) -> Iterator[Turn]:
    """The turns of a file, clean, without our own words, and not empty. Raises CannotResume before the first."""
    try:
        for item in reader.read(source):
            match item:
                case Unreadable():
                    file.unreadable.append(item)
                case Checkpoint():
                    file.reached(item)
                case Task() if (wrong := wrong_with(item)) is not None:
                    file.unreadable.append(Unreadable(file.plan.candidate.name, item.line, f"no proper {wrong!r}"))
                case Task() if item.cwd is not None and _is_kept_out(item.cwd, options):
                    file.is_opted_out = True
                case Task():
                    file.tasks.append(item)
                case Turn() if (turn := without_our_words(item)) is not None:
                    yield turn
    except OSError as fault:
        file.is_cut_short = True
        file.unreadable.append(Unreadable(file.plan.candidate.name, 0, fault.strerror or str(fault)))


def prompts_of(
    database: Database, source: Source, reader: Reader, file: Reading, options: IndexOptions
) -> Iterator[Prompt]:
    """The rows of a file's turns, without those of projects that are kept out. Raises CannotResume before the first."""
    name, project = file.plan.candidate.name, file.plan.project
    identities = Identities(utf8(source.path.name), copies=reader in READERS)
    if source.resumed is not None and (resume := sources.resume_of(database, name)) is not None:
        file.is_resumed = True
        file.places.update(dict(json.loads(resume)["places"]))
        identities.stands_before = lambda content_hash, line: sources.earlier_in(database, name, content_hash, line)
    before: Placed | None = None
    for turn in turns_of(source, reader, file, options):
        of = project or project_of(turn, source.path)
        if not is_wanted(turn, of, options):
            file.is_opted_out = True
            continue
        if turn.origin is not None:
            yield prompt_of_export(turn, turn.origin, project)
            continue
        placed = Placed(turn, of, file.places[turn.conversation_id], identities.of(turn))
        file.places[turn.conversation_id] += 1
        if before is not None:
            before, placed = without_split_secrets(before, placed)
            yield before.prompt(name, reader.FORMAT)
        before = placed
    if before is not None:
        yield before.prompt(name, reader.FORMAT)


def is_wanted(turn: Turn, project: str, options: IndexOptions) -> bool:
    """Whether the turn's project has not opted out: by the marker in its folder, or by a glob of the folder or the name."""
    if options.wanted.excludes(project):
        return False
    return turn.cwd is None or not _is_kept_out(turn.cwd, options)


def _is_kept_out(cwd: str, options: IndexOptions) -> bool:
    return opted_out(cwd) or options.wanted.excludes(cwd)
