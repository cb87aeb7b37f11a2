"""Read events of Claude Managed Agents, which their API lists: an event a line, or an answer with its list.

Source: https://platform.claude.com/docs/en/managed-agents/reference
"""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    read_items,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.session_names import session_name
from pastchats_memory.formats.base.source import Element, Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import ToolResult

ID = "sevt_"
"""Beginning of an event's id."""
DOMAINS = ("user.", "agent.", "session.", "span.", "system.")
CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""The key of the call's id by the type of a result."""
LIST = "data"


def detect(source: SourceFile) -> int:
    """Return 90 if one of the first records is an event, else 0."""
    listed = list_of(mapping_of(source.outline).get(LIST)) if source.shape == "json" else source.sample
    return CERTAIN if any(_is_event(mapping_of(item)) for item in listed) else 0


def _is_event(record: Json) -> bool:
    return text_of(record.get("id")).startswith(ID) and text_of(record.get("type")).startswith(DOMAINS)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order, and the lines that are no events."""
    builder = SessionBuilder(SessionInfo(session_name(source.path)))
    if source.shape != "json":
        yield from read_session(source, builder, lambda item: _add_event(builder, item))
        return
    yield from read_items(source, builder, source.elements(LIST), lambda item: _add_event(builder, item))
    yield from builder.flush()


def _add_event(builder: SessionBuilder, item: Record | Element) -> str | None:
    """Add the turn, call or result of an event; return why it cannot be read, else None."""
    event = item.value
    if not isinstance(event, dict):
        return f"a {type(event).__name__} instead of an event"
    kind, content, own_id = text_of(event.get("type")), event.get("content"), text_of(event.get("id"))
    at = Position(item.line, event.get("processed_at"), own_id)
    if kind == "user.message":
        builder.add_prompt(texts_of(content), at, count_images(content))
    elif kind == "user.define_outcome":
        builder.add_prompt(text_of(event.get("description")), at)
    elif kind == "agent.message":
        builder.add_answer(texts_of(content), at)
    elif kind in CALLS:
        builder.add_call(own_id, text_of(event.get("name")) or "tool", event.get("input"))
    elif kind in RESULTS:
        failed = event.get("is_error") is True
        builder.add_result(text_of(event.get(RESULTS[kind])), ToolResult(texts_of(content), failed=failed), at)
    return None


MANAGED_AGENTS = Format(
    name="managed-agents", version=1, detect=detect, read=read, program="Claude Managed Agents", verified="2026-11"
)
