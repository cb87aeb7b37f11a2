"""One line of a Codex rollout of any of the three generations, in the form of the latest."""

import re
from dataclasses import dataclass

from pastchats_memory.formats.agents.codex.dialect import is_injected, strip_context
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.text.clean import IMAGE

LINE_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
ITEM_TYPES = (
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call",
)  # fmt: skip
CALL_TYPES = ("function_call", "custom_tool_call", "local_shell_call")
COMMAND, FILE_CHANGE = "CommandExecution", "FileChange"
"""Types of completed items, which repeat the items of tool calls or stand in their place."""
TYPED, UNKNOWN = "user.", "unknown"
"""Kinds of parts: the beginning of a person's, and the kind of which nothing is known."""
AGENTS = ("subagent", "guardian_review")
"""Sources of a thread that no person started."""
OWN_FROM = "subagent_history_start_ordinal"
"""The key of the ordinal from which on a rollout is the subagent's own."""
META_KEYS = (
    "id", "session_id", "timestamp", "git", "source", "thread_source", "originator", "forked_from_id", "parent_thread_id", OWN_FROM,
)  # fmt: skip
"""Keys of a session's meta that its turns take over."""
BETWEEN_AGENTS = ("inter_agent_communication", "inter_agent_communication_metadata", "agent_message")
"""Types of lines and of items with a message from one agent to another."""
HANDOVER, CUT = "Another language model started to solve this problem", "tokens truncated…"
"""In messages that a compaction made: the beginning of its summary, and the mark of what it cut out of a prompt."""
_FOLDER = re.compile(r"<cwd>([^<]*)</cwd>|Current working directory: (.*)")
META, CONTEXT, EVENT, ITEM = "session_meta", "turn_context", "event_msg", "response_item"


@dataclass(frozen=True, slots=True)
class RolloutEntry:
    """A line of a rollout of any generation."""

    kind: str
    """One of LINE_TYPES, or another word."""
    payload: Json
    timestamp: object = None
    ordinal: object = None
    """Its number in the session, in newer versions."""

    @property
    def type(self) -> str:
        """Return the payload's type; one with `role` and `content` alone is a message."""
        return text_of(self.payload.get("type")) or ("message" if {"role", "content"} <= self.payload.keys() else "")


def parse_entry(value: object) -> RolloutEntry | str | None:
    """Return the entry of a line, the reason why it is unreadable, or None for an empty one."""
    if not isinstance(value, dict):
        return f"a {type(value).__name__} instead of a record"
    kind, payload, time = text_of(value.get("type")), value.get("payload"), value.get("timestamp")
    if isinstance(payload, dict):
        return RolloutEntry(kind, payload, time, value.get("ordinal"))
    if kind in LINE_TYPES:
        return f"{kind} without a payload object"
    if is_bare_meta(value):
        return RolloutEntry(META, value, time)
    if kind in ITEM_TYPES or (not kind and "role" in value and "content" in value):
        return RolloutEntry(ITEM, value, time)
    return None


def is_bare_meta(record: Json) -> bool:
    """Return whether this is the first line of a rollout of mid 2025, which has no types."""
    has_facts = {"id", "timestamp"} <= record.keys() and ("instructions" in record or "git" in record)
    return has_facts and {"type", "prompt"}.isdisjoint(record)


def parts_of(payload: Json) -> list[str]:
    """Return the texts of the parts of a message item."""
    content = payload.get("content")
    if isinstance(content, str):
        return [content]
    return [text for part in objects_of(content) if (text := text_of(part.get("text")))]


def folder_of_context(payload: Json) -> str:
    """Return the working directory that the client wrote before a prompt of 2025, when the session's record had none."""
    texts = (text for text in parts_of(payload) if text.lstrip().startswith("<environment_context>"))
    return next(((found[1] or found[2]).strip() for text in texts if (found := _FOLDER.search(text))), "")


def prompt_of_event(entry: RolloutEntry) -> str:
    """Return the text of an event with a prompt, `[image]` for pictures alone, `""` for other entries.

    Before version 0.145 the event is `user_message`, later a completed item of the kind `UserMessage`.
    """
    payload, item = entry.payload, completed_item(entry)
    if item.get("type") == "UserMessage":
        parts = objects_of(item.get("content"))
        texts = [text_of(part.get("text")) for part in parts]
        text = "".join(text for text in texts if len(texts) == 1 or not is_injected(text.strip()))
        pictures = any(part.get("type") != "text" for part in parts)
    elif entry.kind == EVENT and entry.type == "user_message" and payload.get("kind", "plain") in ("plain", None):
        text = text_of(payload.get("message") or payload.get("text"))
        pictures = bool(list_of(payload.get("images")) or list_of(payload.get("local_images")))
    else:
        return ""
    return text.strip() if strip_pictures(text) or not pictures else IMAGE


def completed_item(entry: RolloutEntry) -> Json:
    """Return the item that an event completes; empty for other entries."""
    shown = entry.kind == EVENT and entry.type == "item_completed"
    return mapping_of(entry.payload.get("item")) if shown else {}


def answer_of_event(entry: RolloutEntry) -> str:
    """Return the text of an event with an answer, which mostly repeats an item, or `""`."""
    item = completed_item(entry)
    if item.get("type") == "AgentMessage":
        return "".join(parts_of(item))
    shown = entry.kind == EVENT and entry.type == "agent_message"
    return text_of(entry.payload.get("message") or entry.payload.get("text")) if shown else ""


def is_message_between_agents(entry: RolloutEntry) -> bool:
    """Return whether one agent wrote an entry to another."""
    return entry.kind in BETWEEN_AGENTS or (entry.kind == ITEM and entry.type in BETWEEN_AGENTS)


def text_between_agents(entry: RolloutEntry) -> str:
    """Return what one agent wrote to another, without the lines above it that name sender and kind."""
    text = text_of(entry.payload.get("content")) or "\n\n".join(parts_of(entry.payload))
    head, mark, payload = text.partition("Payload:")
    return (payload if mark and head.startswith("Message Type:") else text).strip()


def strip_pictures(text: str) -> str:
    """Return a text without marks of pictures, which are in different places in items and events."""
    return _PICTURE.sub("", text).strip()


def sent_by_user(entry: RolloutEntry) -> bool:
    """Return whether an entry is a message item in the user's role, typed or context."""
    return entry.kind == ITEM and entry.type == "message" and entry.payload.get("role") == "user"


def has_pictures(payload: Json) -> bool:
    """Return whether a message item has pictures."""
    return any(mapping_of(part).get("type") == "input_image" for part in list_of(payload.get("content")))


def human_parts(payload: Json) -> list[str]:
    """Return the typed parts of a user item: by the kinds of newer versions, else those without a wrapper."""
    parts = parts_of(payload)
    kinds = kinds_of(payload)
    if kinds:
        parts = [part for part, kind in zip(parts, kinds, strict=True) if kind.startswith(TYPED)]
    return [text for part in parts if (text := strip_context(part)) and (kinds or not is_injected(part))]


def kinds_of(payload: Json) -> list[str]:
    """Return the kinds of all parts, such as `user.text`; none if a part has none."""
    noted = mapping_of(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds, parts = list(map(text_of, list_of(noted))), objects_of(payload.get("content"))
    if len(kinds) != len(parts) or UNKNOWN in kinds:
        return []
    return [kind for kind, part in zip(kinds, parts, strict=True) if text_of(part.get("text"))]


def subagent_of(meta: Json) -> tuple[bool, str]:
    """Return whether an agent started a session, and that agent's session if it is named."""
    subagent = mapping_of(meta.get("source")).get("subagent")
    spawn = mapping_of(mapping_of(subagent).get("thread_spawn"))
    parent = text_of(spawn.get("parent_thread_id")) or text_of(meta.get("parent_thread_id"))
    return bool(subagent) or meta.get("thread_source") in AGENTS, parent


_PICTURE = re.compile(r"\[Image #\d{1,4}\]")
