"""Describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from pastchats_memory.ingest.identity import text_hash
from pastchats_memory.model import Origin, Prompt, Turn
from pastchats_memory.redact import redact, redact_json, redact_path, redact_split
from pastchats_memory.text.clean import clean_turn
from pastchats_memory.text.recall_block import strip_recall_blocks


def clean(turn: Turn) -> Turn | None:
    """The turn clean and without the recall blocks that it quotes; None where nothing else was said."""
    cleaned = clean_turn(turn)
    words = strip_recall_blocks(cleaned.content) if cleaned else ""
    return cleaned._replace(content=words) if cleaned and words else None


def build_row(
    turn: Turn, source_path: str, project: str, turn_index: int, format_: str, hashes: tuple[str, str | None]
) -> Prompt:
    """The turn as it is stored, without secrets; `hashes` are of its text as it was, so that better detectors make no second row."""
    safe = _redact(turn)
    metadata = {**redact_json(turn.metadata), "format": format_, "branch": turn.branch, "kind": turn.kind}
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
    """A turn that an export tells of as it was stored, without what is known for a secret by now."""
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
    )


@lru_cache(maxsize=64)
def _redact_name(text: str) -> str:
    """What many turns have alike: a role, a project, a conversation."""
    return redact(text).text


@dataclass(frozen=True, slots=True)
class IdentifiedTurn:
    """A turn with its place in the conversation and the hashes of its text as it was."""

    turn: Turn
    project: str
    index: int
    hashes: tuple[str, str | None]

    def prompt(self, name: str, format_: str) -> Prompt:
        """The row of it, in a file of that name and format."""
        return build_row(self.turn, name, self.project, self.index, format_, self.hashes)

    def saying(self, content: str) -> IdentifiedTurn:
        """The same turn with another text."""
        return replace(self, turn=self.turn._replace(content=content))


def redact_split_secret(before: IdentifiedTurn, after: IdentifiedTurn) -> tuple[IdentifiedTurn, IdentifiedTurn]:
    """Two turns without the secret that begins in one of them and ends in the other, as a stream's pieces may cut it."""
    if before.turn.conversation_id != after.turn.conversation_id:
        return before, after
    said = redact_split(before.turn.content, after.turn.content)
    return (before, after) if said is None else (before.saying(said[0]), after.saying(said[1]))
