"""Read sessions of Kiro CLI's second version.

A line is a record `{version, kind, data}`. `<id>.json` beside the file names the working directory. `/chat save` writes
one document with the same records under `log_entries`.
"""

from pastchats_memory.formats.agents.amazon_q.dialect import DIALECT, parse_parts
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.session import Position, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling_field
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of

SESSIONS = ".kiro/sessions/cli"
KINDS = ("Prompt", "AssistantMessage", "ToolResults")
SAVED, ENTRIES = "kiro-session-export-v1", "log_entries"
"""The format that a saved session names, and the key of its records."""


def detect(source: SourceFile) -> int:
    """Return 90 for a saved session, or if one of the first records has such a kind and holds blocks, else 0."""
    if _is_saved(source):
        return CERTAIN
    return CERTAIN if any(record.get("kind") in KINDS and _blocks_of(record) for record in source.sample) else 0


def _is_saved(source: SourceFile) -> bool:
    return source.shape == "json" and mapping_of(source.outline).get("format") == SAVED


def _blocks_of(record: Json) -> list[Json]:
    blocks = objects_of(mapping_of(record.get("data")).get("content"))
    return [block for block in blocks if isinstance(block.get("kind"), str)]


class _Session(AgentSession):
    dialect = DIALECT
    list_keys = (ENTRIES,)

    def session_info(self) -> SessionInfo:
        """Return the id by the file's name, and the folder by the file beside it; a saved session has both inside."""
        path = self.source.path
        if _is_saved(self.source):
            about = mapping_of(mapping_of(self.source.outline).get("metadata"))
            named = text_of(about.get("session_id")) or path.stem
            return SessionInfo(named, folder_of(about.get("cwd")), metadata={"title": text_of(about.get("title"))})
        sibling = path.with_suffix(".json")
        title = read_sibling_field(sibling, "title")
        return SessionInfo(path.stem, read_sibling_field(sibling, "cwd") or None, metadata={"title": title})

    def add_record(self, record: Json, line: int) -> None:
        data, blocks = mapping_of(record.get("data")), _blocks_of(record)
        at = Position(line, mapping_of(data.get("meta")).get("timestamp"), text_of(data.get("message_id")))
        text = "\n\n".join(text for block in blocks if block["kind"] == "text" and (text := text_of(block.get("data"))))
        match record.get("kind"):
            case "Prompt":
                self.builder.add_typed(text, at, sum(block["kind"] == "image" for block in blocks))
            case "AssistantMessage":
                self._add_answer(text, at)
        for block in blocks:
            inner = mapping_of(block.get("data"))
            call_id = text_of(inner.get("toolUseId"))
            if block["kind"] == "toolUse":
                self.builder.add_call(call_id, text_of(inner.get("name")), inner.get("input"))
            elif block["kind"] == "toolResult":
                parts = (part.get("data") for part in objects_of(inner.get("content")))
                self.builder.add_result(call_id, parse_parts(parts, failed=inner.get("status") == "error"), at)

    def _add_answer(self, text: str, at: Position) -> None:
        """Add an answer, or the next piece of it: the pieces of one answer have one id."""
        last = self.builder.queue.last_message
        if last is not None and last.role == "assistant" and at.native_id and last.native_id == at.native_id:
            last.texts[-1] += text
        else:
            self.builder.add_answer(text, at)


KIRO_CLI = Format(
    name="kiro-cli",
    version=6,
    detect=detect,
    read=_Session.read,
    program="Amazon Q, Kiro CLI",
    dialect=lambda: DIALECT,
    companions=ending_in(SESSIONS, ".json"),
    resume=resume_with("kiro-cli", "chat", "--resume-id"),  # kiro.dev/docs/cli/chat/session-management
)
