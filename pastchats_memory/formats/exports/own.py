"""What `export` wrote: turns and tasks as they were stored, a line of JSON each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.model import EXPORT, TURN_KINDS, Origin, Place, Task, Turn, Unreadable
from pastchats_memory.text.timestamps import iso_utc

_HASH = re.compile(r"[0-9a-f]{64}")
LARGEST = (1 << 63) - 1


def detect(source: SourceFile) -> int:
    """Return 90 if the first record is a line of an export, else 0."""
    return CERTAIN if source.sample and source.sample[0].get("schema") == EXPORT else 0


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """Yield each turn and each task in the order in which they were stored."""
    for item in source.records():
        if isinstance(item, Unreadable):
            yield item
            continue
        fields = mapping_of(item.value)
        wrong = find_wrong_field(fields)
        if wrong is not None:
            yield Unreadable(str(source.path), item.line, f"no proper {wrong!r}")
        elif fields["kind"] == "turn":
            yield parse_turn(fields, item.line)
        else:
            yield _task(fields, item)


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
    """Return whether a value is an object whose branch and kind, if present, are known words."""
    metadata = mapping_of(value)
    is_known = metadata.get("branch", "main") in BRANCHES and metadata.get("kind", "prompt") in TURN_KINDS
    return isinstance(value, dict) and is_known


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
    """Return the first key with a wrong value, or None.

    The store checks the other keys of a task.
    """
    if fields.get("schema") != EXPORT:
        return "schema"
    match fields.get("kind"):
        case "turn":
            return next((key for key, is_proper in CHECKS.items() if not is_proper(fields.get(key))), None)
        case "task":
            named = ("key", "native_id", "title")
            return next((key for key in named if not text_of(fields.get(key)).strip()), None)
        case _:
            return "kind"


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


def _task(fields: Json, item: Record) -> Task:
    return Task(
        native_id=text_of(fields["native_id"]),
        title=text_of(fields["title"]),
        line=item.line,
        cwd=text_of(fields.get("folder")) or None,
        project=text_of(fields.get("project")),
        metadata=mapping_of(fields.get("metadata")),
        exported={key: value for key, value in fields.items() if key not in ("schema", "kind", "folder")},
    )


OWN_EXPORT = Format(
    name="export",
    version=1,
    detect=detect,
    read=read,
)
