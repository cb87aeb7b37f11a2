"""One line of a Codex rollout in any of its three generations, brought to the shape of the latest."""

from __future__ import annotations

from dataclasses import dataclass

from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.injected import injected_in_codex, typed_in_codex

LINE_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
ITEM_TYPES = (
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call",
)  # fmt: skip
MEDIA_ONLY = "[image]"
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
    """The words of a `user_message` event, `[image]` for pictures alone, `""` for every other entry."""
    payload = entry.payload
    if entry.kind != EVENT or entry.type != "user_message" or payload.get("kind", "plain") not in ("plain", None):
        return ""
    pictures = list_of(payload.get("images")) or list_of(payload.get("local_images"))
    return text_of(payload.get("message")).strip() or (MEDIA_ONLY if pictures else "")


def sent_by_user(entry: Entry) -> bool:
    """Whether the entry is a message item in the user's role, typed or injected."""
    return entry.kind == ITEM and entry.type == "message" and entry.payload.get("role") == "user"


def human_parts(payload: Json) -> list[str]:
    """The parts of a user item that no wrapper marks as injected: the test for files without `user_message` events."""
    return [text for part in parts_of(payload) if (text := typed_in_codex(part)) and not injected_in_codex(part)]


def subagent_of(meta: Json) -> tuple[bool, str]:
    """Whether a session was started by an agent, and the id of the session that did where it is told."""
    subagent = mapping_of(meta.get("source")).get("subagent")
    spawn = mapping_of(mapping_of(subagent).get("thread_spawn"))
    return bool(subagent) or meta.get("thread_source") == "subagent", text_of(spawn.get("parent_thread_id"))
