"""Read sessions of QwenPaw, before CoPaw: a document with the memory of an agent of AgentScope.

Source: the tests of github.com/kenn-io/agentsview. Each entry of the memory is a message and a list of marks.
"""

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.chat_messages import add_message
from pastchats_memory.formats.base.format import CERTAIN, Format, confident
from pastchats_memory.formats.base.session import Position, SessionInfo
from pastchats_memory.formats.base.source import Element, Record, SourceFile
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of
from pastchats_memory.text.timestamps import LOCAL, iso_utc

MEMORY = ("agent", "memory", "content")
SESSIONS = "sessions"


class _Session(AgentSession):
    record_noun = "a message and its marks"
    list_keys = MEMORY

    def session_info(self) -> SessionInfo:
        above, _, _ = self.source.path.parent.as_posix().partition(f"/{SESSIONS}")
        project = above.rpartition("/")[2] if SESSIONS in self.source.path.parts else None
        return SessionInfo(self.source.path.stem, project=project)

    def add_item(self, item: Record | Element, _position: int = 0) -> None:
        super().add_item(Record(item.line, next(iter(list_of(item.value)), None)))

    def add_record(self, record: Json, line: int) -> None:
        moment = iso_utc(record.get("timestamp"), LOCAL)
        add_message(self.builder, record, Position(line, moment, text_of(record.get("id"))))


def matches(source: SourceFile) -> bool:
    """Return whether a document holds an agent's memory."""
    value = source.outline if source.shape == "json" else None
    for key in MEMORY:
        value = mapping_of(value).get(key)
    return any("role" in mapping_of(next(iter(list_of(entry)), None)) for entry in list_of(value))


QWENPAW = Format("qwenpaw", 2, confident(matches, CERTAIN), _Session.read, program="QwenPaw")
