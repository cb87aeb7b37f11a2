"""What becomes of a turn between its reader and the table, whichever way it came."""

from __future__ import annotations

from pastchats_memory.echo import without_echoes
from pastchats_memory.ingest.identity import text_hash
from pastchats_memory.model import Origin, Prompt, Turn
from pastchats_memory.readers.clean import clean
from pastchats_memory.redact import redact, redacted_value


def without_our_words(turn: Turn) -> Turn | None:
    """The turn clean and without the recall blocks that it quotes; None where nothing else was said."""
    cleaned = clean(turn)
    words = without_echoes(cleaned.content) if cleaned else ""
    return cleaned._replace(content=words) if cleaned and words else None


def prompt_of(
    turn: Turn, source_path: str, project: str, turn_index: int, format_: str, hashes: tuple[str, str | None]
) -> Prompt:
    """The turn as it is stored, without secrets; `hashes` are of its text as it was, so that better detectors make no second row."""
    content = redact(turn.content).text
    metadata = {**redacted_value(turn.metadata), "format": format_, "branch": turn.branch, "kind": turn.kind}
    metadata |= {} if turn.native_id is None else {"native_id": turn.native_id}
    return Prompt(
        source_path=source_path,
        project=project,
        turn_index=turn_index,
        turn=turn._replace(content=content),
        content_hash=hashes[0],
        echo_hash=hashes[1],
        text_hash=text_hash(content),
        metadata=metadata,
    )


def prompt_of_export(turn: Turn, origin: Origin, project: str | None) -> Prompt:
    """A turn that an export tells of as it was stored, without what is known for a secret by now."""
    content = redact(turn.content).text
    return Prompt(
        source_path=origin.source_path,
        project=project or turn.project or "",
        turn_index=origin.turn_index,
        turn=turn._replace(content=content),
        content_hash=origin.hashes[0],
        echo_hash=origin.hashes[1],
        text_hash=text_hash(content),
        metadata=redacted_value(dict(turn.metadata)),
    )
