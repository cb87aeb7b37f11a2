"""Read events of Claude Managed Agents, which their API lists: an event a line, or an answer with its list.

Source: https://platform.claude.com/docs/en/managed-agents/reference
"""

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.session import Position, SessionInfo, session_name, texts_of
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of

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


class _Session(AgentSession):
    record_noun = "an event"
    list_keys = (LIST,)

    def session_info(self) -> SessionInfo:
        return SessionInfo(session_name(self.source.path))

    def add_record(self, record: Json, line: int) -> None:
        kind, content, own_id = text_of(record.get("type")), record.get("content"), text_of(record.get("id"))
        at = Position(line, record.get("processed_at"), own_id)
        if kind == "user.message":
            self.builder.add_content(content, at)
        elif kind == "user.define_outcome":
            self.builder.add_prompt(text_of(record.get("description")), at)
        elif kind == "user.interrupt":
            self.builder.queue.flag("interrupted")
        elif kind == "agent.message":
            self.builder.add_answer(texts_of(content), at)
        elif kind in CALLS:
            self.builder.add_call(own_id, text_of(record.get("name")) or "tool", record.get("input"))
        elif kind in RESULTS:
            output = ToolResult(texts_of(content), failed=record.get("is_error") is True)
            self.builder.add_result(text_of(record.get(RESULTS[kind])), output, at)


MANAGED_AGENTS = Format("managed-agents", 2, detect, _Session.read, program="Claude Managed Agents")
