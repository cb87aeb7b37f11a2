"""GitHub Copilot sessions: an event `{type, data, id, timestamp, parentId}` on each line.

The command line writes them, and the chat of VS Code since its version 0.51.
"""

import re

from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import has_record
from pastchats_memory.formats.base.session import BadRecord, Position, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling_json, recorded_cwd
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import split_exit_code, text_of_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of

EVENT_GROUPS = ("session", "user", "assistant", "tool", "system", "subagent", "hook", "skill")
"""The part of an event's type before the dot."""
MESSAGES = ("user.message", "assistant.message")
"""Events that are known without a place in the chain."""
APPENDED = ("current_datetime", "reminder", "system_reminder", "system-reminder", "system_notification")
PERSON = (None, "", "user", "autopilot-objective")
"""Sources of a prompt that a person typed. Skills, agents, schedules and the autopilot itself are other sources."""
TRANSCRIPTS = ("GitHub.copilot-chat", "transcripts")
"""The folder of the chat's transcripts, in the storage of a workspace."""
FLAGS = {"session.error": "api_error", "abort": "interrupted"}

_EXITED = re.compile(r"\n?<(?:exited with exit code|shellId: \d+ completed with exit code) (-?\d{1,9})>\s*\Z")


def _is_event(record: Json) -> bool:
    name = text_of(record.get("type"))
    kind, dot, _ = name.partition(".")
    chained = bool(dot) and kind in EVENT_GROUPS and "parentId" in record
    return (chained or name in MESSAGES) and isinstance(record.get("data"), dict)


has_events = has_record(_is_event)


def detect(source: SourceFile) -> int:
    """Return 90 for events of the command line, else 0."""
    return 0 if is_of_chat(source) else has_events(source)


def is_of_chat(source: SourceFile) -> bool:
    """Return whether a file has events of the chat in VS Code: by its folder, or by the editor's version in the first one."""
    first = source.sample[0] if source.shape == "jsonl" and source.sample else {}
    is_there = source.path.parts[-3:-1] == TRANSCRIPTS or "vscodeVersion" in mapping_of(first.get("data"))
    return is_there and has_events(source) > 0


class CopilotSession(AgentSession):
    """A session of Copilot CLI."""

    dialect = DIALECT
    record_noun = "an event"

    def session_info(self) -> SessionInfo:
        """Return the session by the name of the file or folder; a file beside has the cwd, or that of the workspace."""
        path = self.source.path
        if is_of_chat(self.source):
            workspace = mapping_of(read_sibling_json(path.parent.parent.parent / "workspace.json"))
            return SessionInfo(path.stem, folder_of(workspace.get("folder")))
        return SessionInfo(path.parent.name if path.stem == "events" else path.stem, recorded_cwd(path.parent))

    def add_record(self, record: Json, line: int) -> None:
        """Add one event."""
        kind, data = text_of(record.get("type")), mapping_of(record.get("data"))
        subagent = text_of(record.get("agentId")) or text_of(data.get("parentToolCallId"))
        at = Position(line, record.get("timestamp"), text_of(record.get("id")), aside=subagent)
        if kind.startswith("session."):
            self._add_session_event(kind, data, at)
        if kind in FLAGS:
            self.builder.queue.flag(FLAGS[kind])
        match kind:
            case "user.message":
                self._add_prompt(data, at)
            case "assistant.message":
                self.builder.add_answer(text_of(data.get("content")), at, text_of(data.get("model")))
                for request in objects_of(data.get("toolRequests")):
                    self._add_call(request, "name")
            case "tool.execution_start":
                self._add_call(data, "toolName")
            case "tool.user_requested":
                command = text_of(mapping_of(data.get("arguments")).get("command"))
                self.builder.add_prompt(f"! {command}" if command else "", at, kind="command")
                self._add_call(data, "toolName")
            case "tool.execution_complete":
                fault = text_of(mapping_of(data.get("error")).get("message"))
                text, failed = text_of_result(data.get("result")) or fault, data.get("success") is False
                output = split_exit_code(text, _EXITED, failed=failed)
                self.builder.add_result(text_of(data.get("toolCallId")), output, at)

    def _add_session_event(self, kind: str, data: Json, at: Position) -> None:
        """Set folder and model of the session, or add the summary of a compaction."""
        builder, info, context = self.builder, self.builder.info, mapping_of(data.get("context"))
        if kind in ("session.start", "session.resume"):
            info.conversation_id = text_of(data.get("sessionId")) or info.conversation_id
            info.cwd = folder_of(context.get("cwd")) or info.cwd
            info.metadata["git_branch"] = text_of(context.get("branch")) or info.metadata.get("git_branch")
        builder.model = text_of(data.get("selectedModel")) or text_of(data.get("newModel")) or builder.model
        if kind in ("session.compaction_complete", "session.handoff"):
            summary = text_of(data.get("summaryContent")) or text_of(data.get("summary"))
            builder.add_turn("system", "summary", summary, at)

    def _add_prompt(self, data: Json, at: Position) -> None:
        content = data.get("content")
        if not isinstance(content, str):
            raise BadRecord(f"content of a message is a {type(content).__name__}")
        is_from_program = data.get("isAutopilotContinuation") is True or "crossSession" in data
        if data.get("source") in PERSON and not is_from_program:
            images = len(list_of(data.get("attachments"))) if not content else 0
            self.builder.add_typed(self.dialect.parse_prompt(without_rim(content, APPENDED)).text, at, images)

    def _add_call(self, data: Json, name_key: str) -> None:
        self.builder.add_call(text_of(data.get("toolCallId")), text_of(data.get(name_key)), data.get("arguments"))
