"""The one JSON form in which turns, tasks and judgements leave a memory: declare, build, check and parse it.

`export` writes it and reads it again, `sync` sends it between machines, and a row of a team becomes it before it is used.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import orjson

from pastchats_memory.fields import OUTCOMES, Count, OpenMetadata, View, answer
from pastchats_memory.model import STATUSES, TURN_KINDS, TYPES, Origin, Place, Turn
from pastchats_memory.text.encoding import is_shallow
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.tracker_words import PRIORITIES

Body = dict[str, Any]
Check = Callable[[Any], bool]
Checks = Mapping[str, Check]
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


def or_nothing(check: Check) -> Check:
    """Return a check that lets null pass as well."""
    return lambda value: value is None or check(value)


def list_of(check: Check) -> Check:
    """Return a check of a list and its items."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def find_wrong_field(body: Mapping[str, Any], checks: Checks) -> str | None:
    """Return the first wrong field, or None. A missing field counts as null."""
    return next((name for name, check in checks.items() if not check(body.get(name))), None)


class Checked(NamedTuple):
    """The field has to pass a check, in place of that of its type."""

    check: Check


def make_checks(view: type[View], *but: str) -> Checks:
    """Return the check of each field that a form of JSON declares, but some."""
    return {name: _make_check(kind) for name, kind in view.__annotations__.items() if name not in but}


def _make_check(annotation: Any) -> Check:
    bare, *details = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    for detail in details:
        if isinstance(detail, Checked):
            return detail.check
    if get_origin(bare) is list:
        return list_of(_make_check(get_args(bare)[0]))
    if isinstance(bare, UnionType):
        return or_nothing(_make_check(get_args(bare)[0]))
    if issubclass(bare, View):
        fields = make_checks(bare)
        return lambda part: (
            isinstance(part, dict) and part.keys() == fields.keys() and find_wrong_field(part, fields) is None
        )
    return _CHECKS[bare]


_CHECKS: Mapping[type, Check] = {str: is_text, int: is_number, bool: lambda value: isinstance(value, bool)}


# Turns


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


Visible = Annotated[str, Checked(lambda value: is_text(value) and bool(value.strip()))]


@answer("export/1")
class ExportedTurnView(View):
    """A turn as a line of an export."""

    kind: Literal["turn"]
    role: Visible
    content: Visible
    source_path: str
    source_project: str
    conversation_id: str | None
    turn_index: Count
    timestamp: Annotated[str | None, Checked(or_nothing(lambda value: is_text(value) and iso_utc(value) == value))]
    content_hash: Annotated[str, {"pattern": "^[0-9a-f]{64}$"}, "Identity of the turn.", Checked(is_hex)]
    echo_hash: Annotated[str | None, Checked(or_nothing(is_hex))]
    metadata: Annotated[OpenMetadata, Checked(_is_metadata)]
    places: Annotated[
        list[tuple[str, Count, int | None]],
        "Places where the turn was seen: path, first line, and last line or null.",
        Checked(list_of(_is_place)),
    ]
    folder: Annotated[str | None, "Folder of the project."]
    is_private: Annotated[bool, "True: text of the project is recalled only inside it."]


TURN = make_checks(ExportedTurnView, "kind")
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


SomeTime = Annotated[str | None, Checked(or_nothing(lambda value: is_text(value) and is_time(value)))]
ByHand = Annotated[int, {"enum": [0, 1]}, Checked(lambda value: isinstance(value, bool) or is_number(value))]


class ExportedLinkView(View):
    """A link of an exported task."""

    kind: str
    target: str
    name: str
    by_hand: ByHand


class ExportedStateView(View):
    """A step in the history of an exported task."""

    status: Annotated[str, Checked(STATUSES.__contains__)]
    status_raw: str
    at: SomeTime


class ExportedConversationView(View):
    """A conversation that worked on an exported task."""

    conversation_id: str


class ExportedCommentView(View):
    """A comment on an exported task."""

    identity: Visible
    author: str
    content: str
    created_at: SomeTime
    by_hand: ByHand


class ExportedAttachmentView(View):
    """An attachment of an exported task."""

    name: str
    size: Count
    sha256: str
    content: str | None
    created_at: SomeTime


@answer("export/1")
class ExportedTaskView(View):
    """A task as a line of an export."""

    kind: Literal["task"]
    key: Visible
    identity: Visible
    tags: list[str]
    metadata: Annotated[OpenMetadata, Checked(lambda value: isinstance(value, dict) and is_shallow(value))]
    native_id: str
    title: str
    description: str
    type: Annotated[str, Checked(TYPES.__contains__)]
    status: Annotated[str, Checked(STATUSES.__contains__)]
    status_raw: str
    priority: Annotated[
        int | None,
        {"minimum": 0, "maximum": 4},
        Checked(or_nothing(lambda value: is_number(value) and value < len(PRIORITIES))),
    ]
    project: str
    source_path: str
    source_line: int | None
    created_at: SomeTime
    updated_at: SomeTime
    closed_at: SomeTime
    due_at: SomeTime
    links: list[ExportedLinkView]
    states: list[ExportedStateView]
    conversations: list[ExportedConversationView]
    comments: list[ExportedCommentView]
    attachments: list[ExportedAttachmentView]
    folder: str | None
    is_private: bool


TASK = make_checks(ExportedTaskView, "kind", "folder", "is_private")
"""Fields of a task that has to have all of them, and its lists."""
TASK_PARTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(item.__annotations__)
    for name, annotation in ExportedTaskView.__annotations__.items()
    for item in get_args(annotation)[:1]
    if isinstance(item, type) and issubclass(item, View)
}
"""Fields of each item in the lists of a task, in the order in which they are written."""


def find_wrong_task_field(body: Mapping[str, Any]) -> str | None:
    """Return the first missing or wrong field or list of a task, or None."""
    return next((name for name in TASK if name not in body), None) or find_wrong_field(body, TASK)


# Judgements

JUDGEMENT: Checks = {
    "verdict": OUTCOMES.__contains__,
    "judged_at": lambda value: is_text(value) and _SECOND.fullmatch(value) is not None,
    "shown_in": or_nothing(is_hex),
    "shown_from": is_number,
    "shown_length": is_number,
    "read": list_of(is_hex),
}
"""Fields of a judgement. It names turns by their hashes."""
