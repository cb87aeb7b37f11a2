"""One message of a generic file: any object with a role-like and a text-like key, whatever they are called."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlparse

from pastchats_memory.formats.base.source import Json, list_of, mapping_of
from pastchats_memory.formats.generic.shapes.naming import has
from pastchats_memory.formats.generic.speakers import HOLDERS, Speaker, speaker_of
from pastchats_memory.formats.generic.visible import TEXT_KEYS, body_of, shown_of
from pastchats_memory.text.clean import IMAGE, clean
from pastchats_memory.text.timestamps import iso_utc

WRAPPERS = ("payload", "data", "utterance", "turn", "msg", "entry", "attributes", "record", "event", "node")
"""Keys under which a whole message stands, with what is said of it beside."""
MOST_AROUND = 2
"""An object with no more keys may hold a message under any of them."""
TIME_KEYS = (
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "created",
    "ts",
    "time",
    "date",
    "datetime",
    "sent_at",
    "sentAt",
    "datetime_utc",
)
TIME_PARTS = frozenset(
    {
        "time",
        "timestamp",
        "date",
        "datetime",
        "at",
        "ts",
        "stamp",
        "created",
        "sent",
        "started",
        "asked",
        "when",
        "posted",
    }
)
TIME_HOLDERS = ("time", "meta", "metadata", "info")
OWN_ID_KEYS = ("id", "uuid", "message_id", "messageId", "msg_id", "_id")
CONVERSATION_ID_KEYS = (
    "conversation_id", "conversationId", "session_id", "sessionId", "sessionID", "thread_id", "threadId", "chat_id", "chatId", "chatID",
    "dialogue_id", "dialog_id", "session",
)  # fmt: skip
CWD_KEYS = (
    "cwd",
    "working_dir",
    "workingDirectory",
    "workspaceDirectory",
    "workspace",
    "directory",
    "projectDirectory",
    "project",
)
PROJECT_KEYS = ("project", "project_name", "workspace")
PARENT_KEYS = ("parentMessageId", "parent_message_id", "parent_message_uuid", "parentId", "parent_id", "parent")
TREE_KEYS = ("children", "childrenIds", "replies")
ORDER_KEYS = ("turn_index",)
CANDIDATE_IDS, CHOSEN = ("candidate_id", "id"), "primary_candidate_id"
UNIQUE_LENGTH = 16
"""A shorter id (`msg-1`, `7`) is not unique beyond its file."""
LONGEST_VALUE = 4096
"""Characters of JSON that a metadata value may have: beyond are tool arguments, token lists and pictures."""
DEEPEST_VALUE = 12


@dataclass(frozen=True, slots=True)
class Message:
    """A message object taken apart; `text` is empty for one that has only tool calls or hidden thoughts."""

    speaker: Speaker
    text: str
    first_piece: str
    """The beginning of the text as it stands in the file, for finding its line."""
    own_id: str | None = None
    parent_id: str | None = None
    conversation_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    project: str | None = None
    metadata: Mapping[str, object] | None = None
    text_key: str = ""
    time_key: str = ""
    conversation_key: str = ""

    @property
    def native_id(self) -> str | None:
        """The message's own id, if it is unlikely to occur in another file."""
        return self.own_id if self.own_id and len(self.own_id) >= UNIQUE_LENGTH and " " not in self.own_id else None


def message_of(fields: Json, named_by: str = "") -> Message | None:
    """The message that the object is, or None for an object without a role (`named_by` as `speaker_of` has it) or place for text."""
    fields = _selected_version(_unwrapped(fields))
    time_key, timestamp = time_of(_nested(fields))
    speaker = speaker_of(fields, dated=timestamp is not None, named_by=named_by)
    if speaker is None:
        return None
    key, pieces = body_of(fields, speaker)
    if key is None:
        return None
    shown = [text for piece in pieces if (text := shown_of(clean(piece), speaker.role)).strip()]
    shown = [text for text in shown if text != IMAGE] or shown
    seen = _nested(fields)
    own_key, own_id = first_text(seen, OWN_ID_KEYS)
    conversation_key, conversation_id = first_text(seen, CONVERSATION_ID_KEYS)
    cwd, project = place_of(seen)
    long_enough = own_id is not None and len(own_id) >= UNIQUE_LENGTH
    understood = {
        key,
        speaker.key if speaker.word == speaker.role else "",
        conversation_key,
        time_key,
        own_key if long_enough else "",
    }
    text = "\n\n".join(shown)
    return Message(
        speaker=speaker,
        text=text,
        first_piece=next((piece for piece in pieces if piece.strip() and piece != IMAGE), ""),
        own_id=own_id,
        parent_id=first_text(seen, PARENT_KEYS)[1],
        conversation_id=conversation_id,
        timestamp=timestamp,
        cwd=cwd,
        project=project,
        metadata=_rest(seen, understood | _telling(seen, cwd, project), speaker, text),
        text_key=key,
        time_key=time_key,
        conversation_key=conversation_key,
    )


def first_text(fields: Json, keys: tuple[str, ...]) -> tuple[str, str | None]:
    """The first of the keys with a non-blank string or a whole number, and that as text; ("", None) without any."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return key, str(value)
        if isinstance(value, str) and value.strip():
            return key, clean(value)
    return "", None


def time_of(fields: Json) -> tuple[str, str | None]:
    """The key of the first value that is a time, and that time."""
    for holder in (fields, *(inner for key in TIME_HOLDERS if isinstance(inner := fields.get(key), dict))):
        for key in TIME_KEYS:
            if moment := iso_utc(_plain_time(holder.get(key))):
                return key if holder is fields else "", moment
    spelled = (key for key in fields if has(key, TIME_PARTS))
    return next(((key, moment) for key in spelled if (moment := iso_utc(_plain_time(fields[key])))), ("", None))


def _plain_time(value: object) -> object:
    """The time in the objects that databases write around one: `{"$date": {"$numberLong": "1738404000000"}}`."""
    while isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))).startswith("$"):
        value = value[key]
    return value


def place_of(fields: Json) -> tuple[str | None, str | None]:
    """Working directory and project: whichever of the two a path-like or a word-like value says."""
    cwd = next((path for key in CWD_KEYS if (path := _path(fields.get(key)))), None)
    for key in PROJECT_KEYS:
        value = fields.get(key)
        name = value.get("name") if isinstance(value, dict) else value
        if isinstance(name, str) and name.strip() and not _path(name):
            return cwd, clean(name.strip())
    return cwd, None


def _telling(fields: Json, cwd: str | None, project: str | None) -> set[str]:
    """The keys that said where it was."""
    return {
        key
        for key in (*CWD_KEYS, *PROJECT_KEYS)
        if isinstance(value := fields.get(key), str) and (_path(value) or value.strip()) in (cwd, project)
    }


def _path(value: object) -> str | None:
    if not isinstance(value, str) or not ("/" in value or "\\" in value):
        return None
    return clean(unquote(urlparse(value).path) if value.startswith("file://") else value)


def _unwrapped(fields: Json) -> Json:
    """The message that a record of something else holds, with what the record says beside it; else the object itself."""
    if isinstance(fields.get("lc"), int) and isinstance(inner := fields.get("kwargs"), dict):  # as LangChain dumps it
        kind = list_of(fields.get("id"))[-1:]
        return {"type": kind[0], **inner} if kind else inner
    alone = len(fields) <= MOST_AROUND
    held = [inner for key, inner in fields.items() if isinstance(inner, dict) and (alone or key in WRAPPERS)]
    if len(held) != 1 or speaker_of(fields) is not None or (speaker := speaker_of(held[0])) is None:
        return fields
    told = speaker.certainty > 0 and body_of(held[0], speaker)[1]
    return {key: value for key, value in fields.items() if value is not held[0]} | held[0] if told else fields


def _selected_version(fields: Json) -> Json:
    if len(candidates := list_of(fields.get("candidates"))) > 1:  # drafts of one answer, of which one was shown
        shown = [
            item for item in map(mapping_of, candidates) if first_text(item, CANDIDATE_IDS)[1] == fields.get(CHOSEN)
        ]
        return fields | {"candidates": (shown or candidates)[:1]}
    versions, chosen = list_of(fields.get("versions")), fields.get("currentlySelected")
    if isinstance(chosen, int) and 0 <= chosen < len(versions):
        return mapping_of(versions[chosen]) or fields
    return fields


def _nested(fields: Json) -> Json:
    held = [inner for key in HOLDERS if isinstance(inner := fields.get(key), dict)]
    return {key: value for inner in held for key, value in inner.items()} | {
        k: v for k, v in fields.items() if k not in HOLDERS or not isinstance(v, dict)
    }


def _rest(fields: Json, understood: set[str], speaker: Speaker, text: str) -> Json:
    """What was not understood, as it is; of the role the word, where it says more than the role."""
    kept = {
        key: value
        for key, value in fields.items()
        if key not in understood and key not in TREE_KEYS + ORDER_KEYS + PARENT_KEYS
    }
    for key in TEXT_KEYS:
        if _says_again(kept.get(key), text):
            del kept[key]
    if kept.get("type") in (speaker.role, speaker.word, "message"):
        del kept["type"]
    if speaker.key:
        kept.pop(speaker.key, None)
    if speaker.key and speaker.word != speaker.role:
        kept[speaker.key] = speaker.word
    return {key: plain for key, value in kept.items() if (plain := _plain(value)) is not None}


def _says_again(value: object, text: str) -> bool:
    """Whether it is the text, a part of it, or the parts of which the text was taken."""
    return isinstance(value, list | dict) or (isinstance(value, str) and clean(value).strip() in text)


def _plain(value: object) -> object:
    """The value if JSON can hold it and it is of a size to be kept; None else."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_VALUE else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, list | dict):
        return value
    if not value or not _is_flat(value, DEEPEST_VALUE):
        return None
    try:
        return value if len(json.dumps(value, allow_nan=False)) <= LONGEST_VALUE else None
    except ValueError:
        return None


def _is_flat(value: object, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(_is_flat(item, depth - 1) for item in inner)
