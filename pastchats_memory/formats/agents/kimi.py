"""Read sessions of Kimi's two command lines: an event a line.

The newer one writes `<session>/agents/<agent>/wire.jsonl` with `state.json` beside the agents. The older one writes
`<session>/wire.jsonl`, and beside it `context.jsonl`, the messages that the model received. That file is read if it is alone.
"""

import re
from hashlib import md5
from pathlib import Path

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, has_record, resume_with
from pastchats_memory.formats.base.session import Position, SessionInfo, count_images, folder_of, texts_of
from pastchats_memory.formats.base.sibling_files import read_sibling, read_sibling_field
from pastchats_memory.formats.base.tags import without_spans
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, parse_json, text_of

WIRE, SENT, AGENTS, STATE = "wire.jsonl", "context", "agents", "state.json"
EVENTS = ("turn.prompt", "turn.steer", "context.append_message", "context.append_loop_event")
OLDER = ("TurnBegin", "StepBegin", "ContentPart", "ToolCall", "ToolResult")
CHECKPOINT = "_checkpoint"
"""Role of a line without words, among the messages that the model received."""
NOTE, NOTE_ENDS = "<system>", "</system>"
PERSON = ("", "user")
"""Origins of a message that a person wrote. Other messages in the user's role come from a hook or a reminder."""
DELEGATED, CONTEXT = "subagent", "git-context"
"""The name of the origin of a subagent's task, and the tag around what the program says above it."""
FLAGS = {"cancelled": "interrupted", "error": "api_error", "failed": "api_error"}

MOST_UNSENT = 16

_EXIT = re.compile(r"(?:failed with |\A)exit code:? (\d{1,9})\b", re.IGNORECASE)


def _is_event(record: Json) -> bool:
    is_known = record.get("type") in EVENTS or _older_event(record)[0] in OLDER
    return is_known or record.get("role") == CHECKPOINT


def _older_event(record: Json) -> tuple[str, Json]:
    """Return kind and content of an event of the older command line; both may be empty."""
    message = mapping_of(record.get("message"))
    payload = message.get("payload")
    return (text_of(message.get("type")), payload) if isinstance(payload, dict) else ("", {})


class _Session(AgentSession):
    """A session of either command line, or the messages that its model received."""

    record_noun = "an event"
    state_names = ("unsent",)

    def start(self) -> None:
        self.unsent: list[str] = []
        """Typed prompts, until a message to the model repeats them."""

    def session_info(self) -> SessionInfo:
        """Return the session by the folders of a file; a subagent's names its parent."""
        path = self.source.path
        if path.name != WIRE and not path.stem.startswith(SENT):
            return SessionInfo(path.stem)
        agent, agents = path.parent, path.parent.parent
        session = agents.parent if agents.name == AGENTS else agent
        cwd = folder_of(read_sibling_field(session / STATE, "workDir", "cwd")) or _folder_by_digest(session.parent)
        if agents.name == AGENTS and agent.name != "main":
            return SessionInfo(f"{session.name}/{agent.name}", cwd, metadata={"parent_conversation_id": session.name})
        return SessionInfo(session.name or None, cwd)

    def add_record(self, record: Json, line: int) -> None:
        branch = "sidechain" if "parent_conversation_id" in self.builder.info.metadata else "main"
        at = Position(line, record.get("time") or record.get("timestamp"), branch=branch)
        match record.get("type"):
            case "turn.prompt" | "turn.steer":
                typed = self._add_prompt(record, record.get("input") or record.get("content"), at)
                self.unsent = [*self.unsent, typed][-MOST_UNSENT:] if typed else self.unsent
            case "context.append_message":
                self._add_message(mapping_of(record.get("message")), at)
            case "context.append_loop_event":
                event = mapping_of(record.get("event"))
                call_id = text_of(event.get("toolCallId"))
                match event.get("type"):
                    case "content.part":
                        self._add_part(mapping_of(event.get("part")), at)
                    case "tool.call":
                        self.builder.add_call(call_id, text_of(event.get("name")), event.get("args"))
                    case "tool.result":
                        result = mapping_of(event.get("result"))
                        output = _parse_result(texts_of(result.get("output")), failed=result.get("isError") is True)
                        self.builder.add_result(call_id, output, at)
                    case _:
                        self.builder.end_chunk()
            case "context.apply_compaction":
                self.builder.add_turn("system", "summary", text_of(record.get("summary")), at)
            case None if "role" in record:
                self._add_message(record, at)
            case None:
                self._add_older_event(*_older_event(record), at)
            case kind:
                self._apply_state(text_of(kind), record)

    def _apply_state(self, kind: str, record: Json) -> None:
        """Apply an event about the session: its model, its folder, the end of a turn."""
        match kind:
            case "config.update":
                self.builder.model = text_of(record.get("modelAlias")) or self.builder.model
                self.builder.info.cwd = self.builder.info.cwd or folder_of(record.get("cwd"))
            case "turn.cancel":
                self.builder.queue.flag("interrupted")
            case "turn.ended" if flag := FLAGS.get(text_of(record.get("reason"))):
                self.builder.queue.flag(flag)

    def _add_prompt(self, fields: Json, content: object, at: Position) -> str:
        """Add a prompt and return its text; return `""` if no person typed it."""
        text = texts_of(content).strip()
        origin = mapping_of(fields.get("origin"))
        if origin.get("name") == DELEGATED:
            self.builder.add_turn("system", "prompt", without_spans(text, (CONTEXT,)).strip(), at)
            return text
        if text_of(origin.get("kind")) not in PERSON:
            return ""
        self.builder.add_typed(text, at, count_images(content, ("image", "image_url")))
        return text

    def _add_message(self, message: Json, at: Position) -> None:
        """Add a message to the model, unless it repeats a typed prompt or the last answer."""
        content = message.get("content")
        text = texts_of(content)
        match message.get("role"):
            case "user" if text.strip() in self.unsent:
                self.unsent.remove(text.strip())
            case "user":
                self._add_prompt(message, content, at)
            case "assistant" if not self.builder.repeats_answer(text):
                self.builder.add_answer(text, at)
                for call in map(mapping_of, list_of(message.get("toolCalls")) or list_of(message.get("tool_calls"))):
                    self.builder.add_openai_call(call)
            case "tool":
                call_id = text_of(message.get("toolCallId")) or text_of(message.get("tool_call_id"))
                if self.builder.awaits_result(call_id):
                    self.builder.add_result(call_id, _parse_noted_result(text), at)

    def _add_part(self, part: Json, at: Position) -> None:
        if part.get("type") == "text" and (text := text_of(part.get("text"))):
            self.builder.add_chunk("assistant", text, at)
        else:
            self.builder.end_chunk()

    def _add_older_event(self, kind: str, payload: Json, at: Position) -> None:
        match kind:
            case "TurnBegin" | "SteerInput":
                self._add_prompt({}, payload.get("original_input") or payload.get("user_input"), at)
            case "ContentPart":
                self._add_part(payload, at)
            case "ToolCall":
                self.builder.add_openai_call(payload)
            case "ToolResult":
                result = mapping_of(payload.get("return_value"))
                text, note = texts_of(result.get("output")), text_of(result.get("message"))
                output = _parse_result(text, note, failed=result.get("is_error") is True)
                self.builder.add_result(text_of(payload.get("tool_call_id")), output, at)
            case "StepInterrupted":
                self.builder.queue.flag("interrupted")
            case _:
                self.builder.end_chunk()


def _folder_by_digest(group: Path) -> str | None:
    """Return the listed folder whose digest names a group of sessions, or None."""
    listed = mapping_of(parse_json(read_sibling(group.parent.parent / "kimi.json"))).get("work_dirs")
    paths = (text_of(mapping_of(folder).get("path")) for folder in list_of(listed))
    digests = ((path, md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()) for path in paths)
    return next((path for path, digest in digests if group.name == digest), None)


def _parse_noted_result(text: str) -> ToolResult:
    """Return a result from a message to the model, below the client's note."""
    note, closed, rest = text.removeprefix(NOTE).partition(NOTE_ENDS) if text.startswith(NOTE) else ("", "", "")
    return _parse_result(rest.strip(), note, failed=note.startswith("ERROR")) if closed else ToolResult(text)


def _parse_result(text: str, note: str = "", *, failed: bool) -> ToolResult:
    """Return a result, with a failed command's exit code from the note or the text."""
    found = _EXIT.search(note or text) if failed else None
    return ToolResult(text or note, int(found[1]) if found else None, failed=failed)


KIMI = Format(
    name="kimi",
    version=4,
    detect=has_record(_is_event),
    read=_Session.read,
    program="Kimi",
    companions=named_after({WIRE: (SENT,), AGENTS: (STATE,)}),
    resume=resume_with("kimi", "--session"),  # https://moonshotai.github.io/kimi-code/en/guides/sessions
)
