"""Turn the turns of a file into rows: redact each turn, and identify it.

The identity of a turn with a secret is made of the redacted text: else a copied database would let the secret be guessed.
A row that has the identity of the text before redaction keeps it, so better rules make no second row.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.ingest.identity import Identities, project_of
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.read import begins_judging, is_wanted, read_turns
from pastchats_memory.model import Origin, Prompt, Turn
from pastchats_memory.redact import redact, redact_by_rules, redact_json, redact_path, redact_split
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.hashes import text_hash
from pastchats_memory.text.stored_text import LEFT_OUT_KEY, limit_text, name_media, reduce_values

Hashes = tuple[str, str | None]
"""What identifies a turn, and what its copies have in common (`ingest.identity`)."""


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn with its project and its place in the conversation."""

    turn: Turn
    project: str
    index: int
    original: Turn
    """The turn before any redaction."""

    def with_content(self, content: str) -> "PlacedTurn":
        """Return the same turn with another text."""
        return replace(self, turn=self.turn._replace(content=content))


def read_rows(
    database: Database, source: SourceFile, format_: Format, file: OpenFile, options: IndexOptions
) -> Iterator[Prompt]:
    """Read, clean, redact and identify the turns of a file, without those of excluded projects.

    Raises CannotResume before the first row, if the file does not continue what was read of it.
    """
    name = file.plan.candidate.name
    identities = Identities(utf8(source.path.name), copies=format_.is_specific)
    if source.resumed is not None and (resume := sources.reading_state(database, name)) is not None:
        file.is_resumed = True
        file.places.update(dict(json.loads(resume)["places"]))
        identities.stands_before = lambda content_hash, line: sources.occurs_before(database, name, content_hash, line)

    def build(placed: PlacedTurn) -> Prompt:
        row = build_row(placed.turn, name, placed.project, placed.index, format_.name)
        content_hash, echo_hash = _identify(
            database, identities, placed, has_secret=sources.REDACTED in row.turn.content
        )
        return row._replace(content_hash=content_hash, echo_hash=echo_hash)

    before: PlacedTurn | None = None
    for placed in _place(source, format_, file, options):
        if placed.turn.origin is not None:
            yield build_exported_row(placed.turn, placed.turn.origin, file.plan.project)
            continue
        current = placed
        if before is not None:
            before, current = redact_split_secret(before, current)
            yield build(before)
        before = current
    if before is not None:
        yield build(before)


def _identify(database: Database, identities: Identities, placed: PlacedTurn, *, has_secret: bool) -> Hashes:
    """Return the hashes of a turn, made without its secrets unless a row has the others."""
    found, turn = identities.of(placed.original), placed.turn
    if not has_secret:
        return found
    content_hash, echo_hash = identities.of(turn._replace(content=redact_by_rules(_shorten(turn.content)[0])))
    is_known = found[0] != content_hash and sources.has_turn(database, found[0])
    return found[0] if is_known else content_hash, echo_hash


def _shorten(content: str) -> tuple[str, int]:
    return limit_text(name_media(content))


def _place(source: SourceFile, format_: Format, file: OpenFile, options: IndexOptions) -> Iterator[PlacedTurn]:
    """Yield the wanted turns of a file with their places."""
    for turn in read_turns(source, format_, file, options):
        if begins_judging(turn):
            file.judging.add(turn.conversation_id)
        if turn.conversation_id in file.judging:
            continue
        project = file.plan.project or project_of(turn, source.path, format_.service)
        if not is_wanted(turn, project, options):
            file.is_opted_out = True
        elif turn.origin is not None:
            yield PlacedTurn(turn, project, turn.origin.turn_index, turn)
        else:
            index = file.places[turn.conversation_id]
            file.places[turn.conversation_id] += 1
            yield PlacedTurn(turn, project, index, turn)


def redact_split_secret(before: PlacedTurn, after: PlacedTurn) -> tuple[PlacedTurn, PlacedTurn]:
    """Redact a secret that begins in one turn and ends in the next, as a stream may cut it."""
    if before.turn.conversation_id != after.turn.conversation_id:
        return before, after
    redacted = redact_split(before.turn.content, after.turn.content)
    return (before, after) if redacted is None else (before.with_content(redacted[0]), after.with_content(redacted[1]))


def build_row(
    turn: Turn, source_path: str, project: str, turn_index: int, format_: str, hashes: Hashes = ("", None)
) -> Prompt:
    """Return the redacted row of a turn. `hashes` are those of `Identities.of`."""
    content, left_out = _shorten(turn.content)
    safe = _redact(turn._replace(content=content))
    more: dict[str, object] = {LEFT_OUT_KEY: left_out} if left_out else {}
    stored = redact_json({key: reduce_values(value) for key, value in turn.metadata.items()})
    metadata = {**stored, **more, "format": format_, "branch": turn.branch, "kind": turn.kind}
    metadata |= {} if safe.native_id is None else {"native_id": safe.native_id}
    return Prompt(
        source_path=source_path,
        project=_redact_name(project),
        turn_index=turn_index,
        turn=safe,
        content_hash=hashes[0],
        echo_hash=hashes[1],
        text_hash=text_hash(safe.content),
        metadata=metadata,
    )


def build_exported_row(turn: Turn, origin: Origin, project: str | None) -> Prompt:
    """Return the row of an exported turn: its stored identity, redacted anew."""
    safe = _redact(turn)
    places = tuple(place._replace(path=redact_path(place.path)) for place in origin.places)
    return Prompt(
        source_path=redact_path(origin.source_path),
        project=_redact_name(project or turn.project or ""),
        turn_index=origin.turn_index,
        turn=safe._replace(origin=origin._replace(places=places)),
        content_hash=origin.hashes[0],
        echo_hash=origin.hashes[1],
        text_hash=text_hash(safe.content),
        metadata=redact_json(dict(turn.metadata)),
    )


def _redact(turn: Turn) -> Turn:
    return turn._replace(
        role=_redact_name(turn.role),
        content=redact(turn.content).text,
        conversation_id=None if turn.conversation_id is None else _redact_name(turn.conversation_id),
        native_id=None if turn.native_id is None else redact(turn.native_id).text,
        cwd=None if turn.cwd is None else redact_path(turn.cwd),
        calls=(),  # a batch need not hold whole files in memory
    )


@lru_cache(maxsize=64)
def _redact_name(text: str) -> str:
    """Redact a role, project or conversation, which many turns share."""
    return redact(text).text
