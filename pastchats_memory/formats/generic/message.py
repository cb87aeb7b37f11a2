"""One message of unknown shape: its speaker, the text that a person saw, its ids, time and metadata.

An object is a message if it has a key for the speaker and a key for the text, or an exchange if it has a question and
its answer.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlparse

from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.formats.base.visible_words import visible_words
from pastchats_memory.formats.generic.roles import Speaker, find_speaker, has_word, kind_of, known, split_words
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.text.clean import IMAGE, clean
from pastchats_memory.text.timestamps import iso_utc

FEW_KEYS = 2
"""An object with at most so many keys may hold a message under any of them."""
TREE_KEYS = ("children", "childrenIds", "replies")
ORDER_KEYS = ("turn_index",)
CANDIDATE_ID_KEYS, CHOSEN_KEY = ("candidate_id", "id"), "primary_candidate_id"
UNIQUE_LENGTH = 16
"""Characters; a shorter id (`msg-1`, `7`) is not unique beyond its file."""
LONGEST_VALUE = 4096
"""Characters of JSON in a metadata value; longer values are tool arguments, token lists and pictures."""
DEEPEST_VALUE = 12
DEEPEST_PART = 6

_KIND = re.compile(r"[\w-]{1,32}")
_HIDDEN_PART = re.compile(r"tool|function|think|thought|reason|redacted|signature|budget", re.IGNORECASE)
_PICTURE = re.compile(r"image|picture", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GenericMessage:
    """One message; `text` is empty if it has only tool calls or hidden thoughts."""

    speaker: Speaker
    text: str
    first_piece: str
    """The first piece of the text as the file has it, by which its line is found."""
    own_id: str | None = None
    parent_id: str | None = None
    conversation_id: str | None = None
    timestamp: str | None = None
    """ISO 8601, UTC."""
    cwd: str | None = None
    project: str | None = None
    metadata: Mapping[str, object] | None = None
    """The keys that were not understood."""
    text_key: str = ""
    time_key: str = ""
    conversation_key: str = ""

    @property
    def native_id(self) -> str | None:
        """Return the own id if it is unlikely to occur in another file."""
        return self.own_id if self.own_id and len(self.own_id) >= UNIQUE_LENGTH and " " not in self.own_id else None


def parse_message(fields: Json) -> GenericMessage | None:
    """Parse an object as a message; return None if it has no speaker or no key for a text."""
    fields = _select_version(_unwrap(fields))
    speaker = find_speaker(fields)
    if speaker is None:
        return None
    text_key, pieces = find_text(fields, speaker)
    return None if text_key is None else build_message(merge_held(fields), speaker, text_key, pieces)


def build_message(
    fields: Json, speaker: Speaker, text_key: str, pieces: list[str], *, time: tuple[str, str | None] | None = None
) -> GenericMessage:
    """Build a message from its object, of which the keys that are not understood become metadata.

    `pieces` are those of the text as the file has them. `time` is the key of the time and the time, if they are known.
    """
    shown = [text for piece in pieces if (text := visible_words(clean(piece), speaker.role, any_dialect())).strip()]
    shown = [text for text in shown if text != IMAGE] or shown
    text = "\n\n".join(shown)
    time_key, timestamp = time or find_time(fields)
    own_key, own_id = find_value(fields, known("own_id_keys"))
    conversation_key, conversation_id = find_value(fields, known("conversation_id_keys"))
    cwd, project = find_place(fields)
    word_key = speaker.key if speaker.word == speaker.role else ""
    id_key = own_key if own_id is not None and len(own_id) >= UNIQUE_LENGTH else ""
    texts = {key: text_of(fields.get(key)) for key in (*known("cwd_keys"), *known("project_keys"))}
    place_keys = {key for key, one in texts.items() if one and (_read_path(one) or one.strip()) in (cwd, project)}
    understood = {text_key, word_key, conversation_key, time_key, id_key, *place_keys}
    first, parent = next((one for one in pieces if one.strip() and one != IMAGE), ""), known("parent_keys")
    return GenericMessage(
        speaker, text, first, own_id, find_value(fields, parent)[1], conversation_id, timestamp, cwd, project,
        _list_metadata(fields, understood, speaker, text), text_key, time_key, conversation_key,
    )  # fmt: skip


def find_value(fields: Json, keys: Iterable[str]) -> tuple[str, str | None]:
    """Return the first of the keys with a string that is not blank, or a whole number, and its text; else ("", None)."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return key, str(value)
        if isinstance(value, str) and value.strip():
            return key, clean(value)
    return "", None


def find_time(fields: Json) -> tuple[str, str | None]:
    """Return the key of the first value that is a time, and the time; else ("", None)."""
    holders = (inner for key in known("time_holder_keys") if isinstance(inner := fields.get(key), dict))
    for holder in (fields, *holders):
        for key in known("time_keys"):
            if moment := read_time(holder.get(key)):
                return key if holder is fields else "", moment
    named = (key for key in fields if has_word(key, "time_key_words"))
    return next(((key, moment) for key in named if (moment := read_time(fields[key]))), ("", None))


def read_time(value: object) -> str | None:
    """Return a time as ISO 8601 in UTC, or None; also within objects such as `{"$date": {"$numberLong": "…"}}`."""
    while isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))).startswith("$"):
        value = value[key]
    return iso_utc(value)


def find_place(fields: Json) -> tuple[str | None, str | None]:
    """Return working directory and project: a path is a directory, another text a project."""
    cwd = next((path for key in known("cwd_keys") if (path := _read_path(fields.get(key)))), None)
    for key in known("project_keys"):
        value = fields.get(key)
        name = value.get("name") if isinstance(value, dict) else value
        if isinstance(name, str) and name.strip() and not _read_path(name):
            return cwd, clean(name.strip())
    return cwd, None


def _read_path(value: object) -> str | None:
    if not isinstance(value, str) or not ("/" in value or "\\" in value):
        return None
    return clean(unquote(urlparse(value).path) if value.startswith("file://") else value)


def _unwrap(fields: Json) -> Json:
    """Return the message that a record holds, with the record's other keys; return any other object unchanged."""
    if isinstance(fields.get("lc"), int) and isinstance(inner := fields.get("kwargs"), dict):  # a dump of LangChain
        kind = list_of(fields.get("id"))[-1:]
        return {"type": kind[0], **inner} if kind else inner
    is_small = len(fields) <= FEW_KEYS
    wrappers = known("wrapper_keys")
    held = [inner for key, inner in fields.items() if isinstance(inner, dict) and (is_small or key in wrappers)]
    if len(held) != 1 or find_speaker(fields) is not None or (speaker := find_speaker(held[0])) is None:
        return fields
    if not speaker.certainty or not find_text(held[0], speaker)[1]:
        return fields
    return {key: value for key, value in fields.items() if value is not held[0]} | held[0]


def _select_version(fields: Json) -> Json:
    candidates = objects_of(fields.get("candidates"))
    if len(candidates) > 1:
        shown = [item for item in candidates if find_value(item, CANDIDATE_ID_KEYS)[1] == fields.get(CHOSEN_KEY)]
        return fields | {"candidates": (shown or candidates)[:1]}
    versions, selected = list_of(fields.get("versions")), fields.get("currentlySelected")
    if isinstance(selected, int) and 0 <= selected < len(versions):
        return mapping_of(versions[selected]) or fields
    return fields


def merge_held(fields: Json) -> Json:
    """Return the object with the keys of the message that it holds."""
    holder_keys = known("holder_keys")
    held = {key for key in holder_keys if isinstance(fields.get(key), dict)}
    inner = {name: value for key in holder_keys if key in held for name, value in mapping_of(fields[key]).items()}
    return inner | {key: value for key, value in fields.items() if key not in held}


def _list_metadata(fields: Json, understood: set[str], speaker: Speaker, text: str) -> Json:
    """Return the keys that were not understood, and the word for the speaker if it says more than the role."""
    dropped = {*understood, *TREE_KEYS, *ORDER_KEYS, *known("parent_keys")}
    rest = {key: value for key, value in fields.items() if key not in dropped}
    for key in known("text_keys"):
        value = rest.get(key)
        if isinstance(value, list | dict) or (isinstance(value, str) and clean(value).strip() in text):
            del rest[key]
    if rest.get("type") in (speaker.role, speaker.word, "message"):
        del rest["type"]
    if speaker.key:
        rest.pop(speaker.key, None)
    if speaker.key and speaker.word != speaker.role:
        rest[speaker.key] = speaker.word
    return {key: plain for key, value in rest.items() if (plain := _limit_value(value)) is not None}


def _limit_value(value: object) -> object:
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


# The text that a person saw


def find_text(fields: Json, speaker: Speaker) -> tuple[str | None, list[str]]:
    """Return the key of the text and its visible pieces; a key with visible text wins, and it is None without any."""
    if speaker.key == "":
        (key, value), *_ = fields.items()
        return key, list_pieces(value, is_tool=False)
    text_keys = known("text_keys")
    if _is_flagged_hidden(fields):
        return next((key for key in text_keys if key in fields), None), []
    listed = [key for key in text_keys if key != speaker.key and key in fields and _may_be_text(key, fields[key])]
    named = (key for key in fields if key != speaker.key and key not in text_keys and _is_text_key(key))
    for key in (*listed, *named):
        pieces = list_pieces(fields[key], is_tool=speaker.role == "tool")
        if any(piece.strip() for piece in pieces):
            return key, pieces + _list_attached_texts(fields)
    return next(iter(listed), None), _list_attached_texts(fields)


def _may_be_text(key: str, value: object) -> bool:
    if key == "data" and not isinstance(value, dict):
        return False
    return isinstance(value, str | list | dict | None)


def _is_text_key(key: str) -> bool:
    """Return whether a key of several words names a text that a person saw."""
    is_named = has_word(key, "text_key_words") and not has_word(key, "not_text_key_words")
    return is_named and not _HIDDEN_PART.search(key)


def _list_attached_texts(fields: Json) -> list[str]:
    """List the long texts that a person pasted and a chat kept as attachments."""
    attached = (mapping_of(item).get("extracted_content") for item in list_of(fields.get("attachments")))
    return [text for text in attached if isinstance(text, str)]


def list_pieces(value: object, *, is_tool: bool, depth: int = 0) -> list[str]:
    """List the visible pieces of a text, which may be a string, a list of parts or an object; of a tool all pieces."""
    if isinstance(value, str):
        return [value]
    if depth > DEEPEST_PART:
        return []
    if isinstance(value, list):
        parts = value if is_tool else _select_shown_parts(value)
        pieces = [piece for part in parts for piece in list_pieces(part, is_tool=is_tool, depth=depth + 1)]
        return ["".join(pieces)] if _is_running_text(value) else pieces
    return _list_pieces_of_part(value, is_tool=is_tool, depth=depth) if isinstance(value, dict) else []


def _select_shown_parts(parts: list[object]) -> list[object]:
    """Return the parts; if every part names its kind and some are text, only the kinds that a person sees."""
    objects = [part for part in parts if isinstance(part, dict)]
    if len(objects) < len(parts):
        return parts
    for key in objects[0] if objects else ():
        kinds = [kind for part in objects if isinstance(kind := part.get(key), str) and _KIND.fullmatch(kind)]
        if len(kinds) == len(parts) and any(has_word(kind, "shown_kind_words") for kind in kinds):
            return [part for part, kind in zip(parts, kinds, strict=True) if has_word(kind, "shown_kind_words")]
    return parts


def _list_pieces_of_part(part: Json, *, is_tool: bool, depth: int) -> list[str]:
    """List the pieces under a key for text, else in the only object that the part holds."""
    if _is_hidden(part) and not is_tool:
        return []
    held = [inner for inner in part.values() if isinstance(inner, dict)]
    for inner in (*(part.get(key) for key in known("part_keys")), held[0] if len(held) == 1 else None):
        pieces = list_pieces(inner, is_tool=is_tool, depth=depth + 1)
        if any(piece.strip() for piece in pieces):
            return pieces
    return [IMAGE] if _PICTURE.match(kind_of(part)) else []


def _is_running_text(parts: list[object]) -> bool:
    """Return whether the parts are one text with some words set off: `["see ", {"type": "bold", "text": "this"}]`."""
    objects = [part for part in parts if isinstance(part, dict)]
    return 0 < len(objects) < len(parts) and all(isinstance(part.get("text"), str) for part in objects)


def _is_flagged_hidden(fields: Json) -> bool:
    flags = known("hidden_flags")
    return any(value is True and key.replace("_", "").lower() in flags for key, value in fields.items())


def _is_hidden(part: Json) -> bool:
    kind = kind_of(part)
    words = split_words(kind)
    is_system_part = len(words) > 1 and "system" in words
    if _HIDDEN_PART.search(kind) or _is_flagged_hidden(part) or is_system_part:
        return True
    audience = mapping_of(part.get("annotations")).get("audience")
    return isinstance(audience, list) and "user" not in audience
