"""Read threads of Amp: a document for each, with tool results in the user's role."""

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.session import BadRecord, Position, SessionInfo, folder_of, texts_of
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.values import Json, mapping_of, number_of, objects_of, text_of

THREAD = "T-"
INFO, SHELL = "info", "manual_bash_invocation"
FLAGS = {"cancelled": "interrupted", "error": "api_error"}


def detect(source: SourceFile) -> int:
    """Return 90 for a thread, else 0: messages and its id, or a version and a thread's environment or file name."""
    thread = mapping_of(source.outline) if source.shape == "json" else {}
    has_id = text_of(thread.get("id")).startswith(THREAD)
    has_version = "v" in thread and ("env" in thread or source.path.stem.startswith(THREAD))
    return CERTAIN if isinstance(thread.get("messages"), list) and (has_id or has_version) else 0


class _Session(AgentSession):
    record_noun = ""
    list_keys = ("messages",)

    def session_info(self) -> SessionInfo:
        thread = mapping_of(self.source.outline)
        initial = mapping_of(mapping_of(thread.get("env")).get("initial"))
        trees = objects_of(initial.get("trees"))
        names = [name for tree in trees if (name := text_of(tree.get("displayName")))]
        cwd = next((path for tree in trees if (path := folder_of(tree.get("uri")))), folder_of(initial.get("cwd")))
        parent = text_of(thread.get("mainThreadID")) or text_of(thread.get("originThreadID"))
        metadata: Json = {"title": text_of(thread.get("title")), "parent_conversation_id": parent}
        own_id, project = text_of(thread.get("id")), None if cwd else next(iter(names), None)
        return SessionInfo(own_id or self.source.path.stem, cwd, project, thread.get("created"), metadata)

    def add_record(self, record: Json, line: int) -> None:
        content, role, number = record.get("content"), record.get("role"), record.get("messageId")
        if role not in ("user", "assistant", INFO):
            raise BadRecord("a message without a role")
        if not isinstance(content, str | list):
            raise BadRecord(f"content of a message is a {type(content).__name__}")
        time = mapping_of(record.get("meta")).get("sentAt") or mapping_of(record.get("usage")).get("timestamp")
        own_id = f"{self.builder.info.conversation_id}:{number}" if isinstance(number, int | str) else ""
        at = Position(line, time, own_id)
        blocks = objects_of(content)
        if role == INFO:
            self._add_info(blocks, at)
            return
        shown = content if isinstance(content, str) else [block for block in blocks if block.get("hidden") is not True]
        if role == "assistant":
            self.builder.add_answer(texts_of(shown), at, text_of(mapping_of(record.get("usage")).get("model")))
        elif not any(block.get("type") == "tool_result" for block in blocks):
            self.builder.add_content(shown, at)
        for block in blocks:
            if block.get("type") == "tool_use":
                self.builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
            elif block.get("type") == "tool_result":
                call_id = text_of(block.get("toolUseID")) or text_of(block.get("tool_use_id"))
                self.builder.add_result(call_id, _parse_result(block), at)
        if flag := FLAGS.get(text_of(mapping_of(record.get("state")).get("type"))):
            self.builder.queue.flag(flag)

    def _add_info(self, blocks: list[Json], at: Position) -> None:
        """Add the shell commands of the person and the summaries between the messages."""
        for block in blocks:
            command = text_of(mapping_of(block.get("args")).get("cmd"))
            if block.get("type") == SHELL and command and block.get("hidden") is not True:
                self.builder.add_typed_command(command, _parse_result({"run": block.get("toolRun")}), at, "Bash")
            summary = mapping_of(block.get("summary"))
            self.builder.add_turn("system", "summary", text_of(summary.get("summary")), at)


def _parse_result(block: Json) -> ToolResult:
    """Return a result from `run` or, in older threads, from a block of Anthropic's API."""
    run = mapping_of(block.get("run"))
    result = run.get("result", block.get("content"))
    number = number_of(mapping_of(result).get("exitCode"))
    failed = run.get("status") == "error" or block.get("is_error") is True or bool(number)
    fault = mapping_of(run.get("error")).get("message") or run.get("error")
    return ToolResult(text_of_result(result) or text_of(fault), number, failed=failed)


# github.com/coder/registry/issues/748
AMP = Format(
    "amp", 5, detect, _Session.read, program="Amp", keeps_mtime=False, resume=resume_with("amp", "threads", "continue")
)
