"""What of a message object is its visible text: which key has it, and which of its parts a person saw."""

from __future__ import annotations

import re

from pastchats_memory.formats.base.source import Json
from pastchats_memory.formats.generic.shapes.naming import TEXT, has, words_of
from pastchats_memory.formats.generic.speakers import DOING, Speaker, kind_of
from pastchats_memory.text.clean import IMAGE

TEXT_KEYS = (
    "content", "text", "value", "message", "body", "parts", "segments", "steps", "mes", "utterance", "data", "items", "Items",
    "candidates", "blocks", "fragments",
)  # fmt: skip
HELD = ("items", "Items", "candidates", "blocks", "fragments")
"""Lists of other things too: they hold a text only where they hold objects with one."""
TEXT_PARTS = frozenset({
    "text", "txt", "content", "message", "msg", "body", "utterance", "said", "says", "say", "line", "transcript", "markdown", "speech", "payload",
})  # fmt: skip
"""A key of several words with one of these holds the text, if no listed one does."""
NOT_A_TEXT = frozenset({
    "id", "ids", "type", "count", "length", "size", "url", "ts", "at", "time", "hash", "role", "format", "number", "no", "idx", "index",
    "status", "context", "tokens", "height", "start", "end", "name", "key", "class", "style", "sender", "author",
})  # fmt: skip
PART_KEYS = (
    "text",
    "content",
    "value",
    "parts",
    "steps",
    "Text",
    "Content",
    "body",
    "raw_content",
    "plain",
    "fragments",
)
MARKUP = frozenset({
    "code", "codeblock", "html", "quote", "heading", "header", "list", "bullet", "table", "paragraph", "bold", "italic", "link", "mention",
    "emoji", "image", "picture", "refusal",
})  # fmt: skip
"""Words in the kind of a part that people see beside those that are text; others are progress, context, sources, searches."""
HIDDEN_FLAGS = frozenset({
    "synthetic", "ignored", "thought", "hidden", "isthought", "isthinking", "isreasoning", "ishidden", "isinternal",
})  # fmt: skip
"""Keys, without underscores, that are true of what nobody was shown."""
DEEPEST_PART = 6

_KIND = re.compile(r"[\w-]{1,32}")
_HIDDEN_PART = re.compile(r"tool|function|think|thought|reason|redacted|signature|budget", re.IGNORECASE)
_PICTURE = re.compile(r"image|picture", re.IGNORECASE)


def body_of(fields: Json, speaker: Speaker) -> tuple[str | None, list[str]]:
    """The text key with something visible, else one that is there but empty, and the visible pieces."""
    if speaker.key == "":
        (key, value), *_ = fields.items()
        return key, _pieces(value, tools=False)
    if _is_flagged_hidden(fields) or speaker.key == DOING:
        return next((key for key in TEXT_KEYS if key in fields), None), []
    present = None
    for key in TEXT_KEYS:
        value = fields.get(key)
        if (
            key not in fields
            or key == speaker.key
            or not isinstance(value, str | list | dict | None)
            or (key == "data" and not isinstance(value, dict))
            or (key in HELD and not _holds_objects(value))
        ):
            continue
        pieces = _pieces(value, tools=speaker.role == "tool")
        if any(piece.strip() for piece in pieces):
            return key, pieces + _pasted(fields)
        present = present or key
    for key in (key for key in fields if key != speaker.key and key not in TEXT_KEYS and _spells_a_text(key)):
        pieces = _pieces(fields[key], tools=speaker.role == "tool")
        if any(piece.strip() for piece in pieces):
            return key, pieces + _pasted(fields)
    return present, _pasted(fields)


def _spells_a_text(key: str) -> bool:
    """Whether a key of several words says that a person was shown what is under it."""
    return has(key, TEXT_PARTS) and not has(key, NOT_A_TEXT) and not _HIDDEN_PART.search(key)


def _holds_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _pasted(fields: Json) -> list[str]:
    """Long text that was pasted into a chat and kept as an attachment."""
    attached = fields.get("attachments")
    texts = (
        [item.get("extracted_content") for item in attached if isinstance(item, dict)]
        if isinstance(attached, list)
        else []
    )
    return [text for text in texts if isinstance(text, str)]


def _pieces(value: object, *, tools: bool, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > DEEPEST_PART:
        return []
    if isinstance(value, list):
        pieces = [
            piece
            for part in (value if tools else shown_parts(value))
            for piece in _pieces(part, tools=tools, depth=depth + 1)
        ]
        return ["".join(pieces)] if _is_running_text(value) else pieces
    return _pieces_of(value, tools=tools, depth=depth) if isinstance(value, dict) else []


def shown_parts(parts: list[object]) -> list[object]:
    """The parts of what is said; where some say, under any key, that they are text, without those of a kind that is not shown."""
    objects = [part for part in parts if isinstance(part, dict)]
    if len(objects) < len(parts):
        return parts
    for key in objects[0] if objects else ():
        kinds = [kind for part in objects if isinstance(kind := part.get(key), str) and _KIND.fullmatch(kind)]
        if len(kinds) == len(parts) and any(has(kind, TEXT) for kind in kinds):
            return [part for part, kind in zip(parts, kinds, strict=True) if has(kind, TEXT | MARKUP)]
    return parts


def _pieces_of(part: Json, *, tools: bool, depth: int) -> list[str]:
    """What an object shows: under a key for text, else in the only object that it holds."""
    if _is_hidden(part) and not tools:
        return []
    held = [inner for inner in part.values() if isinstance(inner, dict)]
    for inner in (*(part.get(key) for key in PART_KEYS), held[0] if len(held) == 1 else None):
        pieces = _pieces(inner, tools=tools, depth=depth + 1)
        if any(piece.strip() for piece in pieces):
            return pieces
    return [IMAGE] if _PICTURE.match(kind_of(part)) else []


def _is_running_text(parts: list[object]) -> bool:
    """Whether the parts are one text, of which some words are set off: `["see ", {"type": "bold", "text": "this"}]`."""
    marked = [part for part in parts if isinstance(part, dict)]
    return 0 < len(marked) < len(parts) and all(isinstance(part.get("text"), str) for part in marked)


def _is_flagged_hidden(fields: Json) -> bool:
    return any(value is True and key.replace("_", "").lower() in HIDDEN_FLAGS for key, value in fields.items())


def _is_a_system_s(part: Json) -> bool:
    """Whether a part of a message says of itself that it is the program's own instruction."""
    return len(words := words_of(kind_of(part))) > 1 and "system" in words


def _is_hidden(part: Json) -> bool:
    if _HIDDEN_PART.search(kind_of(part)) or _is_flagged_hidden(part) or _is_a_system_s(part):
        return True
    annotations = part.get("annotations")
    audience = annotations.get("audience") if isinstance(annotations, dict) else None
    return isinstance(audience, list) and "user" not in audience
