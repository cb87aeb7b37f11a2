"""The one JSON form in which turns, tasks and judgements leave a memory: build, check and parse it.

`export` writes it and reads it again, `sync` sends it between machines, and a row of a team becomes it before it is used.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from pastchats_memory.fields import OUTCOMES
from pastchats_memory.model import STATUSES, TURN_KINDS, TYPES, Origin, Place, Turn
from pastchats_memory.text.encoding import is_shallow
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.tracker_words import PRIORITIES

Body = dict[str, Any]
Checks = Mapping[str, Callable[[Any], bool]]
"""Check of each field of an object, by name."""

MAX_NUMBER = (1 << 63) - 1
"""Largest number of a column."""
HASH_CHARS = 64
BRANCHES = ("main", "abandoned", "sidechain")
_HEX = re.compile(r"[0-9a-f]*")
_SECOND = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")


def is_text(value: object) -> bool:
    """Check for a text."""
    return isinstance(value, str)


def is_number(value: object) -> bool:
    """Check for a number that fits into a column, from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_NUMBER


def is_hex(value: object, length: int = HASH_CHARS) -> bool:
    """Check for so many hexadecimal digits, by default those of a hash."""
    return isinstance(value, str) and len(value) == length and _HEX.fullmatch(value) is not None


def is_time(value: object) -> bool:
    """Check for a time in any form of ISO 8601."""
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        return False
    return True


def is_second(value: object) -> bool:
    """Check for a time such as `2026-01-31 08:15:00`."""
    return isinstance(value, str) and _SECOND.fullmatch(value) is not None


def or_nothing(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check that lets null pass as well."""
    return lambda value: value is None or check(value)


def list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check of a list and its items."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def find_wrong_field(body: Mapping[str, Any], checks: Checks) -> str | None:
    """Return the first wrong field, or None. A missing field counts as null."""
    return next((name for name, check in checks.items() if not check(body.get(name))), None)


# Turns


def _is_visible(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_metadata(value: object) -> bool:
    """Check for a shallow object whose branch and kind, if present, are known words."""
    return (
        isinstance(value, dict)
        and value.get("branch", "main") in BRANCHES
        and value.get("kind", "prompt") in TURN_KINDS
        and is_shallow(value)
    )


def _is_place(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == len(Place._fields)
        and is_text(value[0])
        and is_number(value[1])
        and or_nothing(is_number)(value[2])
    )


TURN: Checks = {
    "role": _is_visible,
    "content": _is_visible,
    "source_path": is_text,
    "source_project": is_text,
    "conversation_id": or_nothing(is_text),
    "turn_index": is_number,
    "timestamp": or_nothing(lambda value: is_text(value) and iso_utc(value) == value),
    "content_hash": is_hex,
    "echo_hash": or_nothing(is_hex),
    "metadata": _is_metadata,
    "places": list_of(_is_place),
    "folder": or_nothing(is_text),
    "is_private": lambda value: isinstance(value, bool),
}
"""Fields of a turn, in the order in which they are written."""
STORED_FIELDS = tuple(TURN)[:10]
"""Fields of a turn that are columns of its row; `metadata` is JSON there."""


def build_turn(
    stored: Sequence[Any], places: list[Any], folder: str | None = None, *, is_private: bool = False
) -> Body:
    """Return a turn from its STORED_FIELDS and its places."""
    *values, metadata = stored
    body = dict(zip(STORED_FIELDS, [*values, orjson.loads(metadata or "{}")], strict=True))
    return body | {"places": places, "folder": folder, "is_private": is_private}


def parse_turn(body: Mapping[str, Any], line: int) -> Turn:
    """Return the turn of a checked object that stands on a line."""
    metadata = body["metadata"]
    return Turn(
        role=body["role"],
        content=body["content"],
        line=line,
        conversation_id=body.get("conversation_id") or None,
        timestamp=body.get("timestamp"),
        cwd=body.get("folder") or None,
        project=body["source_project"],
        native_id=body["content_hash"],
        branch=metadata.get("branch", "main"),
        kind=metadata.get("kind", "prompt"),
        metadata=metadata,
        origin=Origin(
            source_path=body["source_path"],
            turn_index=body["turn_index"],
            hashes=(body["content_hash"], body.get("echo_hash")),
            places=tuple(Place(*place) for place in body["places"]),
            is_private=body["is_private"],
        ),
    )


def is_vector(value: object) -> bool:
    """Check for a stored vector: the JSON text of an array of numbers."""
    try:
        numbers = orjson.loads(value) if isinstance(value, str) else None
    except orjson.JSONDecodeError:
        return False
    return list_of(lambda one: isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one))(
        numbers
    )


# Tasks


def _is_time_text(value: object) -> bool:
    return isinstance(value, str) and is_time(value)


def _is_by_hand(value: object) -> bool:
    return isinstance(value, bool) or is_number(value)


TASK: Checks = {
    "key": _is_visible,
    "identity": _is_visible,
    "tags": list_of(is_text),
    "metadata": lambda value: isinstance(value, dict) and is_shallow(value),
    "native_id": is_text,
    "title": is_text,
    "description": is_text,
    "type": TYPES.__contains__,
    "status": STATUSES.__contains__,
    "status_raw": is_text,
    "priority": or_nothing(lambda value: is_number(value) and value < len(PRIORITIES)),
    "project": is_text,
    "source_path": is_text,
    "source_line": or_nothing(is_number),
    **dict.fromkeys(("created_at", "updated_at", "closed_at", "due_at"), or_nothing(_is_time_text)),
}
"""Fields of a task."""
TASK_PARTS: Mapping[str, Checks] = {
    "links": {"kind": is_text, "target": is_text, "name": is_text, "by_hand": _is_by_hand},
    "states": {"status": STATUSES.__contains__, "status_raw": is_text, "at": or_nothing(_is_time_text)},
    "conversations": {"conversation_id": is_text},
    "comments": {
        "identity": _is_visible,
        "author": is_text,
        "content": is_text,
        "created_at": or_nothing(_is_time_text),
        "by_hand": _is_by_hand,
    },
    "attachments": {
        "name": is_text,
        "size": is_number,
        "sha256": is_text,
        "content": or_nothing(is_text),
        "created_at": or_nothing(_is_time_text),
    },
}
"""Fields of each item in the lists of a task, in the order in which they are written."""


def find_wrong_task_field(body: Mapping[str, Any]) -> str | None:
    """Return the first missing or wrong field or list of a task, or None."""
    missing = next((name for name in (*TASK, *TASK_PARTS) if name not in body), None)
    return missing or find_wrong_field(
        body, {**TASK, **{name: list_of(_is_part(fields)) for name, fields in TASK_PARTS.items()}}
    )


def _is_part(fields: Checks) -> Callable[[Any], bool]:
    def check(part: object) -> bool:
        return isinstance(part, dict) and part.keys() == fields.keys() and find_wrong_field(part, fields) is None

    return check


# Judgements

JUDGEMENT: Checks = {
    "verdict": OUTCOMES.__contains__,
    "judged_at": is_second,
    "shown_in": or_nothing(is_hex),
    "shown_from": is_number,
    "shown_length": is_number,
    "read": list_of(is_hex),
}
"""Fields of a judgement. It names turns by their hashes."""
