"""One file on its way from its bytes to rows: its reader, where that goes on, and what of its turns is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pastchats_memory.errors import UsageFault
from pastchats_memory.files.project import opted_out
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import BadJson, NotText, SourceFile
from pastchats_memory.formats.generic import MESSAGES, list_keys, list_missing_keys, mapped_format
from pastchats_memory.formats.registry import all_formats, detect_format
from pastchats_memory.ingest.changes import Plan, has_still, recipe_of
from pastchats_memory.ingest.discover import Candidate, IndexOptions, ReadAs
from pastchats_memory.ingest.identity import Identities, project_of, text_hash
from pastchats_memory.ingest.writer import Reading, wrong_with
from pastchats_memory.model import Origin, Prompt, Task, Turn, Unreadable, utf8
from pastchats_memory.redact import redact, redact_json, redact_path, redact_split
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState
from pastchats_memory.text.clean import clean_turn
from pastchats_memory.text.recall_block import without_echoes

# What becomes of a turn between its reader and the table, whichever way it came.


def without_our_words(turn: Turn) -> Turn | None:
    """The turn clean and without the recall blocks that it quotes; None where nothing else was said."""
    cleaned = clean_turn(turn)
    words = without_echoes(cleaned.content) if cleaned else ""
    return cleaned._replace(content=words) if cleaned and words else None


def prompt_of(
    turn: Turn, source_path: str, project: str, turn_index: int, format_: str, hashes: tuple[str, str | None]
) -> Prompt:
    """The turn as it is stored, without secrets; `hashes` are of its text as it was, so that better detectors make no second row."""
    safe = _safe(turn)
    metadata = {**redact_json(turn.metadata), "format": format_, "branch": turn.branch, "kind": turn.kind}
    metadata |= {} if safe.native_id is None else {"native_id": safe.native_id}
    return Prompt(
        source_path=source_path,
        project=_name(project),
        turn_index=turn_index,
        turn=safe,
        content_hash=hashes[0],
        echo_hash=hashes[1],
        text_hash=text_hash(safe.content),
        metadata=metadata,
    )


def prompt_of_export(turn: Turn, origin: Origin, project: str | None) -> Prompt:
    """A turn that an export tells of as it was stored, without what is known for a secret by now."""
    safe = _safe(turn)
    places = tuple(place._replace(path=redact_path(place.path)) for place in origin.places)
    return Prompt(
        source_path=redact_path(origin.source_path),
        project=_name(project or turn.project or ""),
        turn_index=origin.turn_index,
        turn=safe._replace(origin=origin._replace(places=places)),
        content_hash=origin.hashes[0],
        echo_hash=origin.hashes[1],
        text_hash=text_hash(safe.content),
        metadata=redact_json(dict(turn.metadata)),
    )


def _safe(turn: Turn) -> Turn:
    return turn._replace(
        role=_name(turn.role),
        content=redact(turn.content).text,
        conversation_id=None if turn.conversation_id is None else _name(turn.conversation_id),
        native_id=None if turn.native_id is None else redact(turn.native_id).text,
        cwd=None if turn.cwd is None else redact_path(turn.cwd),
    )


@lru_cache(maxsize=64)
def _name(text: str) -> str:
    """What many turns have alike: a role, a project, a conversation."""
    return redact(text).text


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn with its place in the conversation and the hashes of its text as it was."""

    turn: Turn
    project: str
    index: int
    hashes: tuple[str, str | None]

    def prompt(self, name: str, format_: str) -> Prompt:
        """The row of it, in a file of that name and format."""
        return prompt_of(self.turn, name, self.project, self.index, format_, self.hashes)

    def saying(self, content: str) -> Placed:
        """The same turn with another text."""
        return replace(self, turn=self.turn._replace(content=content))


def without_split_secrets(before: Placed, after: Placed) -> tuple[Placed, Placed]:
    """Two turns without the secret that begins in one of them and ends in the other, as a stream's pieces may cut it."""
    if before.turn.conversation_id != after.turn.conversation_id:
        return before, after
    said = redact_split(before.turn.content, after.turn.content)
    return (before, after) if said is None else (before.saying(said[0]), after.saying(said[1]))


NOT_TAKEN = "no conversation found in it"
NOTHING_IN_IT = "an empty list or object"
TABLE = "a table; programs that export chats as one do so as JSON too, which is read"
TABLES = frozenset({".csv", ".tsv"})
NOTES_NOT_TAKEN = "Markdown that is no dialogue; name the file itself or use --notes to take it"
BY_FORMAT: dict[str, Format] = {reader.name: reader for reader in all_formats()}


def opened(plan: Plan, options: IndexOptions) -> tuple[SourceFile, Format | None, str]:
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
        reader = _choose_format(source, plan.read_as, options)
        if reader is None and plan.read_as.format:
            return source, None, f"not of the format {plan.read_as.format}, which was named for it"
        reason = "" if reader is not None else _reason_against(source) if candidate.size else "empty"
    except NotText as fault:
        return source, None, str(fault)
    return source, reader, reason


def _choose_format(source: SourceFile, read_as: ReadAs, options: IndexOptions) -> Format | None:
    """Choose the format or map that the user named, if the file is of its kind; else the most confident format.

    Raises NotText, OSError.
    """
    if read_as.key_map is not None and (mapped := mapped_format(read_as.key_map)).detect(source):
        return mapped
    if read_as.format:
        key_map = options.maps.get(read_as.format)
        named = mapped_format(key_map) if key_map else BY_FORMAT.get(read_as.format)
        if named is not None:
            return named if named.detect(source) else None
    detected = detect_format(source)
    if detected is not None and detected.is_specific:
        return detected
    configured = map(mapped_format, options.maps.values())
    return next((mapped for mapped in configured if mapped.detect(source)), detected)


def suggested_map(source: SourceFile, reader: Format | None) -> str | None:
    """Return the value of `--map` by which a file is read, or for a file that is not read one that fits it.

    None for a file of a known format, and for one that no map fits. Raises OSError.
    """
    suggest = (reader or MESSAGES).suggest_map
    try:
        return suggest(source) if suggest else None
    except NotText:
        return None


def require_records(found: Sequence[Candidate], known: Mapping[str, SourceState], options: IndexOptions) -> None:
    """Require that the records of some file have the keys of the map that the user gave, if there is one.

    A map by which one of the files was read before is not checked again, so `--watch` outlives a deleted file.

    Raises:
        UsageFault: no file has such records; the message names a key that none has, and keys that are there.
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
            missing = [key for key in missing if key in list_missing_keys(key_map, source)]
            is_fitting = is_fitting or mapped.detect(source) > 0
            if is_fitting and not missing:
                return
            seen = seen or f"The records of {candidate.name} have the keys {', '.join(list_keys(source))}."
        except (NotText, OSError):
            continue
    if not seen:
        raise UsageFault("--map: no JSON or JSONL file was found", "Name one: pastchats-memory index FILE --map ...")
    what = f"the key `{missing[0]}`" if missing else f"all the keys of `{key_map}`"
    raise UsageFault(f"--map: no record has {what}", f"{seen} `index --dry-run` suggests a map.")


def _reason_against(source: SourceFile) -> str:
    """Why a file that no reader claims is left. Raises NotText, OSError."""
    if source.shape == "markdown":
        return NOTES_NOT_TAKEN
    if source.shape == "json" and isinstance(source.outline, BadJson):
        return f"not whole JSON: {source.outline.reason}"
    if source.shape == "json" and source.outline in ([], {}):
        return NOTHING_IN_IT
    return TABLE if source.path.suffix.lower() in TABLES else NOT_TAKEN


def resumed(database: Database, plan: Plan, options: IndexOptions) -> SourceFile | None:
    """The file from where its reader left off, if it has only grown since and nothing else asks for the whole of it."""
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
    if resume is None or plan.candidate.size <= state.size or not has_still(state, plan.candidate):
        return None
    known = json.loads(resume)
    checkpoint = Checkpoint(known["offset"], known["line"], known["state"])
    return SourceFile(plan.candidate.path, named=plan.candidate.named, notes=options.notes, resumed=checkpoint)


def turns_of(source: SourceFile, reader: Format, file: Reading, options: IndexOptions) -> Iterator[Turn]:
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
    database: Database, source: SourceFile, reader: Format, file: Reading, options: IndexOptions
) -> Iterator[Prompt]:
    """The rows of a file's turns, without those of projects that are kept out. Raises CannotResume before the first."""
    name, project = file.plan.candidate.name, file.plan.project
    identities = Identities(utf8(source.path.name), copies=reader.is_specific)
    if source.resumed is not None and (resume := sources.reading_state(database, name)) is not None:
        file.is_resumed = True
        file.places.update(dict(json.loads(resume)["places"]))
        identities.stands_before = lambda content_hash, line: sources.occurs_before(database, name, content_hash, line)
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
            yield before.prompt(name, reader.name)
        before = placed
    if before is not None:
        yield before.prompt(name, reader.name)


def is_wanted(turn: Turn, project: str, options: IndexOptions) -> bool:
    """Whether the turn's project has not opted out: by the marker in its folder, or by a glob of the folder or the name."""
    if options.wanted.excludes(project):
        return False
    return turn.cwd is None or not _is_kept_out(turn.cwd, options)


def _is_kept_out(cwd: str, options: IndexOptions) -> bool:
    return opted_out(cwd) or options.wanted.excludes(cwd)
