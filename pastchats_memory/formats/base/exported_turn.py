"""Check and parse the turns of an export: a JSON object each, as `export` writes it and `sync` sends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.model import TURN_KINDS, Origin, Place, Turn
from pastchats_memory.text.encoding import is_shallow
from pastchats_memory.text.timestamps import iso_utc

_HASH = re.compile(r"[0-9a-f]{64}")
LARGEST = (1 << 63) - 1
BRANCHES = ("main", "abandoned", "sidechain")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_nothing(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_metadata(value: object) -> bool:
    """Return whether a value is a shallow object whose branch and kind, if present, are known words."""
    metadata = mapping_of(value)
    is_known = metadata.get("branch", "main") in BRANCHES and metadata.get("kind", "prompt") in TURN_KINDS
    return isinstance(value, dict) and is_known and is_shallow(value)


def _are_places(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(place, list)
        and len(place) == len(("path", "line", "end_line"))
        and _is_text(place[0])
        and _is_number(place[1])
        and (place[2] is None or _is_number(place[2]))
        for place in value
    )


CHECKS: Mapping[str, Callable[[object], bool]] = {
    "role": lambda value: bool(text_of(value).strip()),
    "content": lambda value: bool(text_of(value).strip()),
    "source_path": _is_text,
    "source_project": _is_text,
    "conversation_id": _is_text_or_nothing,
    "turn_index": _is_number,
    "timestamp": lambda value: value is None or (_is_text(value) and iso_utc(value) == value),
    "content_hash": _is_hash,
    "echo_hash": lambda value: value is None or _is_hash(value),
    "metadata": _is_metadata,
    "places": _are_places,
    "folder": _is_text_or_nothing,
    "is_private": lambda value: isinstance(value, bool),
}
"""The check of each key of a turn."""


def find_wrong_field(fields: Json) -> str | None:
    """Return the first key of a turn with a wrong value, or None."""
    return next((key for key, is_proper in CHECKS.items() if not is_proper(fields.get(key))), None)


def parse_turn(fields: Json, line: int) -> Turn:
    """Return the turn of a line of an export.

    `find_wrong_field` must have found nothing.
    """
    metadata = mapping_of(fields["metadata"])
    places = [list_of(place) for place in list_of(fields["places"])]
    origin = Origin(
        source_path=text_of(fields["source_path"]),
        turn_index=int(str(fields["turn_index"])),
        hashes=(text_of(fields["content_hash"]), text_of(fields.get("echo_hash")) or None),
        places=tuple(Place(*place) for place in places),  # type: ignore[arg-type] # as _are_places found them
        is_private=bool(fields["is_private"]),
    )
    return Turn(
        role=text_of(fields["role"]),
        content=text_of(fields["content"]),
        line=line,
        conversation_id=text_of(fields.get("conversation_id")) or None,
        timestamp=text_of(fields.get("timestamp")) or None,
        cwd=text_of(fields.get("folder")) or None,
        project=text_of(fields["source_project"]),
        native_id=origin.hashes[0],
        branch=text_of(metadata.get("branch")) or "main",
        kind=text_of(metadata.get("kind")) or "prompt",
        metadata=metadata,
        origin=origin,
    )
