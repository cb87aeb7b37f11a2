"""One line of a Codex rollout in any of its three generations, brought to the shape of the latest."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pastchats_memory.formats.agents.codex.dialect import is_injected, strip_context
from pastchats_memory.formats.base.source import Json, list_of, mapping_of, text_of
from pastchats_memory.text.clean import IMAGE

LINE_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
ITEM_TYPES = (
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call",
)  # fmt: skip
TYPED, UNKNOWN = "user.", "unknown"
"""Kinds of parts: a person's begin so; of a word that Codex itself does not know nothing follows."""
AGENTS = ("subagent", "guardian_review")
"""Sources of a thread that no person began."""
META_KEYS = ("id", "session_id", "timestamp", "git", "source", "thread_source", "originator", "forked_from_id")
"""What a session's meta says of its turns."""
META, CONTEXT, EVENT, ITEM = "session_meta", "turn_context", "event_msg", "response_item"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line says, whichever generation wrote it."""

    kind: str
    """One of LINE_TYPES, or another word."""
    payload: Json
    timestamp: object = None

    @property
    def type(self) -> str:
        """The payload's own type; a bare `role` and `content` make a message."""
        bare = "message" if "role" in self.payload and "content" in self.payload else ""
        return text_of(self.payload.get("type")) or bare


def entry_of(value: object) -> Entry | str | None:
    """The entry; the reason why a line is none; or None for a line that has nothing to say."""
    if not isinstance(value, dict):
        return f"a {type(value).__name__} instead of a record"
    kind, payload, time = text_of(value.get("type")), value.get("payload"), value.get("timestamp")
    if isinstance(payload, dict):
        return Entry(kind, payload, time)
    if kind in LINE_TYPES:
        return f"{kind} without a payload object"
    if is_bare_meta(value):
        return Entry(META, value, time)
    if kind in ITEM_TYPES or (not kind and "role" in value and "content" in value):
        return Entry(ITEM, value, time)
    return None


def is_bare_meta(record: Json) -> bool:
    """Whether this is the first line of a rollout of mid 2025, which had no types yet."""
    return (
        "type" not in record
        and "id" in record
        and "timestamp" in record
        and ("instructions" in record or "git" in record)
    )


def parts_of(payload: Json) -> list[str]:
    """The texts of a message item, part by part."""
    content = payload.get("content")
    if isinstance(content, str):
        return [content]
    return [text for part in map(mapping_of, list_of(content)) if (text := text_of(part.get("text")))]


def typed_event(entry: Entry) -> str:
    """The words of an event that shows what a person sent, `[image]` for pictures alone, `""` for every other entry.

    Before version 0.145 that was `user_message`, then a completed item of the kind `UserMessage`.
    """
    payload, item = entry.payload, completed(entry)
    if item.get("type") == "UserMessage":
        parts = list(map(mapping_of, list_of(item.get("content"))))
        text = "".join(text_of(part.get("text")) for part in parts)
        pictures = any(part.get("type") != "text" for part in parts)
    elif entry.kind == EVENT and entry.type == "user_message" and payload.get("kind", "plain") in ("plain", None):
        text = text_of(payload.get("message"))
        pictures = bool(list_of(payload.get("images")) or list_of(payload.get("local_images")))
    else:
        return ""
    return text.strip() if bare(text) or not pictures else IMAGE


def completed(entry: Entry) -> Json:
    """The item that an event shows as completed; nothing for every other entry."""
    shown = entry.kind == EVENT and entry.type == "item_completed"
    return mapping_of(entry.payload.get("item")) if shown else {}


def shown_answer(entry: Entry) -> str:
    """The words of an event that shows an answer, which mostly is the echo of an item; `""` for every other entry."""
    item = completed(entry)
    if item.get("type") == "AgentMessage":
        return "".join(parts_of(item))
    shown = entry.kind == EVENT and entry.type == "agent_message"
    return text_of(entry.payload.get("message")) if shown else ""


def bare(text: str) -> str:
    """The words without the marks of pictures among them, which items and events put in different places."""
    return _PICTURE.sub("", text).strip()


def sent_by_user(entry: Entry) -> bool:
    """Whether the entry is a message item in the user's role, typed or injected."""
    return entry.kind == ITEM and entry.type == "message" and entry.payload.get("role") == "user"


def has_pictures(payload: Json) -> bool:
    """Whether a message item shows pictures beside its words."""
    return any(mapping_of(part).get("type") == "input_image" for part in list_of(payload.get("content")))


def human_parts(payload: Json) -> list[str]:
    """The parts of a user item that a person typed: by the kinds that newer versions note, else those that no wrapper marks as injected."""
    parts = parts_of(payload)
    kinds = kinds_of(payload)
    if kinds:
        parts = [part for part, kind in zip(parts, kinds, strict=True) if kind.startswith(TYPED)]
    return [text for part in parts if (text := strip_context(part)) and (kinds or not is_injected(part))]


def kinds_of(payload: Json) -> list[str]:
    """What each part with text is, such as `user.text` or `agents_md.instructions`; nothing where that is not noted of all."""
    noted = mapping_of(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds, parts = list(map(text_of, list_of(noted))), list(map(mapping_of, list_of(payload.get("content"))))
    if len(kinds) != len(parts) or UNKNOWN in kinds:
        return []
    return [kind for kind, part in zip(kinds, parts, strict=True) if text_of(part.get("text"))]


def subagent_of(meta: Json) -> tuple[bool, str]:
    """Whether a session was started by an agent, and the id of the session that did where it is told."""
    subagent = mapping_of(meta.get("source")).get("subagent")
    spawn = mapping_of(mapping_of(subagent).get("thread_spawn"))
    return bool(subagent) or meta.get("thread_source") in AGENTS, text_of(spawn.get("parent_thread_id"))


_PICTURE = re.compile(r"\[Image #\d{1,4}\]")
