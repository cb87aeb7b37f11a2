"""Read sessions of Continue: a document for each, with the editor's prompts.

A session has no times. The list of sessions beside it says when each began.
"""

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.session import BadRecord, Position, SessionInfo, count_images, folder_of, texts_of
from pastchats_memory.formats.base.sibling_files import read_sibling_json
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import BadJson, Json, list_of, mapping_of, objects_of, parse_json, text_of

FAILED = ("errored",)
COMMAND_FAILED = "Command failed"
"""Beginning of a terminal's status for a command that failed. The call itself counts as done."""
BLOCKS = ("paragraph", "codeBlock", "heading", "listItem", "blockquote")
NAMED = {"mention": "@", "slashcommand": "/", "slash-command": "/"}
"""Nodes of the editor that stand for a name, and the sign before that name."""
DEEPEST = 50


def detect(source: SourceFile) -> int:
    """Return 90 for a session whose history has items with messages, else 0."""
    session = mapping_of(source.outline) if source.shape == "json" else {}
    history = session.get("history")
    if not isinstance(history, list) or not _id_of(session):
        return 0
    return CERTAIN if not history or any("message" in mapping_of(item) for item in history) else 0


def _id_of(session: Json) -> str:
    return text_of(session.get("sessionId")) or text_of(session.get("session_id"))


class _Session(AgentSession):
    record_noun = ""
    list_keys = ("history",)

    def session_info(self) -> SessionInfo:
        session, own_id = self._document, _id_of(self._document)
        cwd, started = folder_of(session.get("workspaceDirectory")), _start_of(own_id, self.source.path.parent)
        return SessionInfo(own_id, cwd, started=started, metadata={"title": text_of(session.get("title"))})

    def start(self) -> None:
        self.builder.model = text_of(self._document.get("chatModelTitle"))

    @property
    def _document(self) -> Json:
        return mapping_of(self.source.outline)

    def add_record(self, record: Json, line: int) -> None:
        message = mapping_of(record.get("message"))
        content, at = message.get("content"), Position(line, native_id=text_of(message.get("id")))
        if not message:
            raise BadRecord("an item without a message")
        if not isinstance(content, str | list | None):
            raise BadRecord(f"content of a message is a {type(content).__name__}")
        match message.get("role"):
            case "user":
                text = text_of_editor(record.get("editorState")) or texts_of(content)
                self.builder.add_prompt(text, at, count_images(content, ("imageUrl",)))
            case "assistant":
                titles = [text_of(mapping_of(log).get("modelTitle")) for log in list_of(record.get("promptLogs"))]
                self.builder.add_answer(texts_of(content), at, next(iter(titles[-1:]), ""))
                self._add_tools(record, at)
            case "tool":
                self.builder.add_result(text_of(message.get("toolCallId")), ToolResult(texts_of(content)), at)
        if summary := text_of(record.get("conversationSummary")):
            self.builder.add_turn("system", "summary", summary, at)

    def _add_tools(self, item: Json, at: Position) -> None:
        """Add the calls of an answer, and their failures if the item has their states."""
        for call in objects_of(mapping_of(item.get("message")).get("toolCalls")):
            self.builder.add_openai_call(call)
        for state in objects_of(item.get("toolCallStates")):
            parts = objects_of(state.get("output"))
            has_failed = any(text_of(part.get("status")).startswith(COMMAND_FAILED) for part in parts)
            if has_failed or state.get("status") in FAILED:
                texts = [text_of(part.get("content")) for part in parts]
                self.builder.add_result(text_of(state.get("toolCallId")), ToolResult("\n".join(texts), failed=True), at)


def _start_of(session_id: str, folder: Path) -> object:
    entries = objects_of(read_sibling_json(folder / "sessions.json"))
    dates = (entry.get("dateCreated") for entry in entries if entry.get("sessionId") == session_id)
    return next(dates, None)


def text_of_editor(state: object) -> str:
    """Return what a person typed by the editor's state: text or nodes, also as JSON text."""
    value = parse_json(state) if isinstance(state, str) and state.startswith("{") else state
    if isinstance(value, str | BadJson):
        return text_of(state)
    return "".join(_texts_of_node(mapping_of(value), 0)).strip()


def _texts_of_node(node: Json, depth: int) -> Iterator[str]:
    kind, attributes = text_of(node.get("type")), mapping_of(node.get("attrs"))
    if kind == "text":
        yield text_of(node.get("text"))
    elif kind == "hardBreak":
        yield "\n"
    elif kind in NAMED:
        yield NAMED[kind] + (text_of(attributes.get("label")) or text_of(attributes.get("id")))
    elif depth < DEEPEST:
        for child in list_of(node.get("content")):
            yield from _texts_of_node(mapping_of(child), depth + 1)
        yield "\n" if kind in BLOCKS else ""


COMPANIONS = ending_in("/.continue/sessions", "", "sessions.json")
CONTINUE_DEV = Format("continue", 6, detect, _Session.read, program="Continue", companions=COMPANIONS)
