"""Read sessions of xAI's Grok Build: a protocol update a line, or without them the messages that the model received.

The updates are those of the Agent Client Protocol between agent and editor.

Sources: https://agentclientprotocol.com/protocol/session-setup for the updates; `docs/user-guide/17-sessions.md` of the program
for the folder; github.com/xai-org/grok-build for the messages. `sessions/<percent-encoded cwd>/<session>/updates.jsonl` is the
conversation. `chat_history.jsonl` beside it is read if it is alone.
"""

import re
from dataclasses import replace
from urllib.parse import unquote

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.chat_messages import add_message
from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import CERTAIN, Format, confident, resume_with
from pastchats_memory.formats.base.session import Position, SessionInfo, count_images, texts_of
from pastchats_memory.formats.base.sibling_files import read_sibling, read_sibling_json
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import spans, without_spans
from pastchats_memory.formats.base.tools import ToolResult, parse_printed
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, text_of

UPDATES, SENT, SUMMARY = "updates.jsonl", "chat_history", "summary.json"
CHUNKS = {"user_message_chunk": "user", "agent_message_chunk": "assistant"}
KNOWN = ("kind", "title", "rawInput", "locations", "is_added")
"""Keys of a call that later updates may leave out."""
ENDED = ("completed", "failed")
KINDS = frozenset({"system", "user", "assistant", "reasoning", "tool", "tool_result", "backend_tool_call"})
"""Types of messages, and roles of older ones."""
MARKS = frozenset({"prompt_index", "synthetic_reason", "model_id"})
TYPED = "interjection"
"""The reason of a message that a person typed while the agent worked. Any other marks a message of the program."""
QUERY, WRAPPERS = "user_query", ("user_info", "git_status", "system-reminder", "agent_skills", "mcp_servers")
"""Tags around a person's words, and around text of the program."""

_INSTRUCTIONS = re.compile(r"# (?:AGENTS|CLAUDE|GROK)\.md\b", re.IGNORECASE)
"""The head of a project's instructions, which older messages do not mark. They precede the first prompt."""
_FOLDER = re.compile(r"/|[A-Za-z]:[/\\]")


def _update_of(record: Json) -> Json:
    update = mapping_of(mapping_of(record.get("params")).get("update"))
    is_other_call = "method" in record and not text_of(record["method"]).endswith("session/update")
    return update if isinstance(update.get("sessionUpdate"), str) and not is_other_call else {}


class _Session(AgentSession):
    record_noun = "a notification"
    state_names = ("open",)

    def start(self) -> None:
        self.open: Json = {}
        """The known fields of each call that has not ended, by its id."""

    def session_info(self) -> SessionInfo:
        """Return the session by its folder's name, and the working directory by the folder above, if long by a file."""
        folder = self.source.path.parent
        summary = mapping_of(read_sibling_json(folder / SUMMARY))
        known = mapping_of(summary.get("info"))
        path = text_of(known.get("cwd")) or read_sibling(folder.parent / ".cwd").strip() or unquote(folder.parent.name)
        title = text_of(summary.get("generated_title")) or text_of(summary.get("session_summary"))
        own_id, cwd = text_of(known.get("id")) or folder.name or None, path if _FOLDER.match(path) else None
        return SessionInfo(own_id, cwd, None, summary.get("created_at"), {"title": title})

    def add_record(self, record: Json, line: int) -> None:
        update, params = _update_of(record), mapping_of(record.get("params"))
        metas = mapping_of(params.get("_meta")), mapping_of(update.get("_meta"))
        time = next((meta["agentTimestampMs"] for meta in metas if "agentTimestampMs" in meta), record.get("timestamp"))
        at = Position(line, time)
        info = self.builder.info
        info.conversation_id = text_of(params.get("sessionId")) or info.conversation_id
        self.builder.model = text_of(metas[1].get("modelId")) or self.builder.model
        match update.get("sessionUpdate"):
            case str(kind) if kind in CHUNKS:
                content = mapping_of(update.get("content"))
                document = text_of(mapping_of(content.get("resource")).get("text"))
                text = text_of(content.get("text")) or (f"{document}\n\n" if document else "")
                self.builder.add_chunk(CHUNKS[kind], text, at, pictures=int(content.get("type") == "image"))
            case "tool_call" | "tool_call_update":
                self._add_call(update, at)
            case "plan":
                self.builder.queue.add_todo_call("update_plan", {"plan": update.get("entries")})
            case _:
                self.builder.end_chunk()

    def _add_call(self, update: Json, at: Position) -> None:
        """Merge an update into its call, which counts once its input is known or it ended."""
        call_id = text_of(update.get("toolCallId"))
        known = mapping_of(self.open.get(call_id))
        call = known | {key: value for key, value in update.items() if value not in (None, "", [], {})}
        has_ended = call.get("status") in ENDED
        if not known.get("is_added") and (call.get("rawInput") or has_ended):
            name = text_of(call.get("kind")) or text_of(call.get("title")) or "tool"
            self.builder.add_call(call_id, name, _input_of(call))
            call["is_added"] = True
        self.open[call_id] = {key: call[key] for key in KNOWN if key in call}
        if has_ended:
            self.builder.add_result(call_id, _parse_result(call), at)
            del self.open[call_id]


class _SentMessages(_Session):
    """The messages that the model received: since format version 1 by their type, before it by their role."""

    record_noun = "a message"
    state_names = ("has_prompt",)

    def start(self) -> None:
        self.has_prompt = False

    def add_record(self, record: Json, line: int) -> None:
        at = Position(line)
        self.builder.model = text_of(record.get("model_id")) or self.builder.model
        match _kind_of(record):
            case "user":
                self._add_prompt(record, at)
            case "backend_tool_call":
                call = mapping_of(record.get("kind"))
                self.builder.add_call(text_of(call.get("id")), text_of(call.get("tool_type")), call.get("action"))
            case kind:
                add_message(self.builder, record | {"role": kind.removesuffix("_result")}, at)

    def _add_prompt(self, record: Json, at: Position) -> None:
        """Add a message in the user's place, unless the program put it there."""
        text = texts_of(record.get("content"))
        words = "\n\n".join(spans(text, QUERY)) or without_spans(text, WRAPPERS).strip()
        is_marked = record.get("synthetic_reason") not in (None, TYPED)
        if not (is_marked or (not self.has_prompt and _INSTRUCTIONS.match(words))):
            self.builder.add_prompt(words, at, count_images(record.get("content")))
            self.has_prompt = True


def _kind_of(record: Json) -> str:
    """Return the type of a message, or the role of an older one."""
    return text_of(record.get("type")) or text_of(record.get("role"))


def _is_sent(source: SourceFile) -> bool:
    """Return whether a file is a list of messages that the model received."""
    if any(MARKS.intersection(record) and record.get("type") in KINDS for record in source.sample):
        return True
    return source.path.name == f"{SENT}.jsonl" and any(_kind_of(record) in KINDS for record in source.sample)


def _input_of(call: Json) -> Json:
    """Return the input of a call; without one, its title or its first place."""
    given = mapping_of(call.get("rawInput"))
    places = [text_of(mapping_of(place).get("path")) for place in list_of(call.get("locations"))]
    title = text_of(call.get("title")).strip("`")
    return given or ({"command": title} if call.get("kind") == "execute" else {"path": next(iter(places), title)})


def _parse_result(call: Json) -> ToolResult:
    """Return a tool result: the text that was shown, else the raw output."""
    raw = call.get("rawOutput")
    shown = (mapping_of(mapping_of(part).get("content")) for part in list_of(call.get("content")))
    text = "\n".join(text for part in shown if (text := text_of(part.get("text"))))
    printed = parse_printed(mapping_of(raw), failed=call.get("status") == "failed")
    return replace(printed, text=text or text_of(raw) or printed.text)


GROK = Format(
    name="grok",
    version=4,
    detect=confident(lambda source: any(map(_update_of, source.sample)) or _is_sent(source), CERTAIN),
    read=lambda source: (_SentMessages if _is_sent(source) else _Session).read(source),
    program="Grok Build",
    companions=named_after({UPDATES: (SENT, SUMMARY)}),
    resume=resume_with("grok", "--resume"),  # https://docs.x.ai/build/features/sessions
)
