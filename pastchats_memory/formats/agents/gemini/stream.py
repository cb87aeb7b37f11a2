"""Read what `gemini --output-format stream-json` prints: a session's start, pieces of messages, tool calls and results.

Names and fields are those of `packages/core/src/output/types.ts` in Gemini CLI.
"""

from pastchats_memory.formats.agents.gemini.content import strip_context
from pastchats_memory.formats.agents.gemini.dialect import DIALECT
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.agent_spellings import parse_gemini_output
from pastchats_memory.formats.base.session import BadRecord, Position, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json, mapping_of, text_of


def is_stream(source: SourceFile) -> bool:
    """Return whether one of the first lines starts a session."""
    return source.shape == "jsonl" and any(map(_is_start, source.sample))


def _is_start(record: Json) -> bool:
    return record.get("type") == "init" and all(isinstance(record.get(key), str) for key in ("session_id", "model"))


class PrintedSession(AgentSession):
    """A session that was printed while it took place."""

    dialect = DIALECT

    def session_info(self) -> SessionInfo:
        """Return the session's id, which a line before the start does not have."""
        start = next(filter(_is_start, self.source.sample), {})
        return SessionInfo(text_of(start.get("session_id")) or self.source.path.stem)

    def add_record(self, record: Json, line: int) -> None:
        """Add one record."""
        at = Position(line, record.get("timestamp") or record.get("ts"))
        call_id = text_of(record.get("tool_id"))
        match record.get("type"):
            case "init":
                self.builder.model = text_of(record.get("model"))
                self.builder.info.conversation_id = text_of(record.get("session_id")) or self.source.path.stem
            case "message" if not isinstance(record.get("content"), str):
                raise BadRecord("a message without a text")
            case "message" if record.get("role") == "user":
                self.builder.add_prompt(strip_context(text_of(record["content"])), at)
            case "message":
                self.builder.add_chunk("assistant", text_of(record["content"]), at)
            case "tool_use":
                self.builder.add_call(call_id, text_of(record.get("tool_name")) or "tool", record.get("parameters"))
            case "tool_result":
                error = text_of(mapping_of(record.get("error")).get("message"))
                output = text_of(record.get("output"))
                failed = record.get("status") == "error"
                self.builder.add_result(call_id, parse_gemini_output(error or output, failed=failed), at)
