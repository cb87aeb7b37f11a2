"""Read the sessions of scribe: one JSON object a line, for a prompt, an answer, a tool call or its result."""

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import CERTAIN, Format, has_record
from pastchats_memory.formats.base.locations import places
from pastchats_memory.formats.base.session import BadRecord, Position
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json


class Scribe(AgentSession):
    """One session of scribe."""

    def add_record(self, record: Json, line: int) -> None:
        """Add one record to the session. Raises BadRecord if it cannot be read."""
        at = Position(line, record.get("at"))
        match record:
            case {"who": "me", "text": str(text)}:
                self.builder.add_prompt(text, at)
            case {"who": "bot", "text": str(text)}:
                self.builder.add_answer(text, at)
            case {"call": str(call), "tool": str(tool), "input": dict(arguments)}:
                self.builder.add_call(call, tool, arguments, at)
            case {"result": str(call), "output": str(output), "code": int(code)}:
                self.builder.add_result(call, ToolResult(output, code), at)
            case _:
                raise BadRecord("no record of scribe")


SCRIBE = Format(
    name="scribe",
    version=1,
    detect=has_record(lambda record: "scribe" in record, CERTAIN),
    read=Scribe.read,
    locations=places("{home}/.scribe/sessions"),
    program="Scribe",
)
