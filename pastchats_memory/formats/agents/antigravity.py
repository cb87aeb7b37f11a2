"""Read transcripts of Google's Antigravity: a step a line.

Prompts stand in tags, and tool calls before their results.

Source: `brain/<id>/.system_generated/logs/transcript.jsonl` below its folder in `~/.gemini`. The command line and the editor
write it alike. `transcript_full.jsonl` beside it holds the same steps with longer texts.
"""

import re

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, has_record
from pastchats_memory.formats.base.locations import places
from pastchats_memory.formats.base.session import Position, SessionInfo, folder_of
from pastchats_memory.formats.base.tags import spans, without_spans
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, objects_of, text_of, value_of

PERSON, MODEL = "USER_EXPLICIT", "MODEL"
SHORT, FULL = "transcript.jsonl", "transcript_full"
REQUEST, CLIENT_WRAPPERS = "USER_REQUEST", ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE")
"""Tags around the person's words, and around text that the client adds."""
GENERATED = ".system_generated"
UNFINISHED = ("RUNNING", "IN_PROGRESS", "PENDING")
ANSWERS = ("PLANNER_RESPONSE", "NOTIFY_USER")
NO_RESULTS = (*ANSWERS, "CHECKPOINT", "ERROR_MESSAGE")
"""Steps that are no tool results. An error is one while a call waits."""
INPUTS = {
    "CommandLine": "command", "TargetFile": "file_path", "AbsolutePath": "path", "DirectoryPath": "path", "SearchPath": "path",
    "Query": "query", "Url": "url",
}  # fmt: skip
"""Arguments that name the subject of a call, and the names that other agents give them."""

_ACTION = re.compile(r"The USER performed the following action:\nCommand: (?P<command>[^\n]+)\nCWD: (?P<cwd>[^\n]+)\n")
"""The head of a command that the person ran in the editor's terminal, above its result."""
_MODEL = re.compile(r"`Model Selection` from .{1,80}? to (.{1,80}?)\.(?:\s|\Z)")
_HEAD = re.compile(
    r"\A(?:Created At: [^\n]*\n)?(?:Completed At: [^\n]*\n)?"
    r"(?:\s*The command (?:completed successfully|(?:failed|exited) with (?:exit )?code:? ?(?P<code>\d{1,9}))\.?\s*?\n(?:\s*Output:[ \t]*(?:\n|\Z))?)?"
)
"""The lines above a tool result."""


def _is_step(record: Json) -> bool:
    """Return whether a record is a step: by its number, or by a kind that only Antigravity writes."""
    kind = text_of(record.get("type"))
    is_numbered = "step_index" in record and bool(kind)
    return record.get("source") in (PERSON, MODEL) and (is_numbered or kind in ("USER_INPUT", *ANSWERS))


class _Session(AgentSession):
    """A session of Antigravity. A tool result does not name its call. Results follow the order of the calls."""

    record_noun = "a step"

    def session_info(self) -> SessionInfo:
        """Return the id: the folder's or a copied file's name. Raises CannotResume if the folder was not known."""
        generated = self.source.path.parent.parent
        name = generated.parent.name if generated.name == GENERATED else self.source.path.stem
        cwd = next(filter(None, map(_cwd_of, self.source.sample)), None)
        before = self.source.resumed
        if before is not None and cwd and not mapping_of(before.state.get("info")).get("cwd"):
            raise CannotResume("where the session runs was not known before")
        return SessionInfo(name, cwd)

    def add_record(self, record: Json, line: int) -> None:
        if record.get("status") in UNFINISHED:
            return
        index = number_of(record.get("step_index"))
        own_id = "" if index is None else str(index)
        at = Position(line, record.get("created_at"), own_id)
        text, kind = text_of(record.get("content")), text_of(record.get("type"))
        self.builder.info.cwd = self.builder.info.cwd or _cwd_of(record)
        if record.get("source") == PERSON and (action := _ACTION.match(text)):
            output = _parse_result(record, text[action.end() :].lstrip("\n"))
            self.builder.add_typed_command(action["command"], output, at)
            return
        match kind:
            case "USER_INPUT":
                self.builder.forget_calls()
                self.builder.model = found[1] if (found := _MODEL.search(text)) else self.builder.model
                words = "\n\n".join(spans(text, REQUEST)) or without_spans(text, CLIENT_WRAPPERS).strip()
                self.builder.add_prompt(words, at)
            case "CHECKPOINT":
                self.builder.add_turn("system", "summary", text, at)
            case "ERROR_MESSAGE" if not self.builder.waiting:
                self.builder.queue.flag("api_error")
            case name if name in ANSWERS:
                self.builder.add_answer(text, at)
        for place, call in enumerate(objects_of(record.get("tool_calls"))):
            self._add_call(call, f"{own_id or line}.{place}")
        is_result = record.get("source") == MODEL and kind not in NO_RESULTS
        if is_result or (kind == "ERROR_MESSAGE" and self.builder.waiting):
            self.builder.add_result(next(iter(self.builder.waiting), ""), _parse_result(record, text), at)

    def _add_call(self, call: Json, call_id: str) -> None:
        """Add a tool call; each of its arguments is encoded as JSON of its own."""
        arguments = {key: value_of(value) for key, value in mapping_of(call.get("args")).items()}
        known = {name: arguments[key] for key, name in INPUTS.items() if key in arguments}
        self.builder.add_call(call_id, text_of(call.get("name")), arguments | known)


def _cwd_of(record: Json) -> str | None:
    """Return the folder in which a step runs a command, or None."""
    action = _ACTION.match(text_of(record.get("content")))
    calls = (mapping_of(mapping_of(call).get("args")) for call in list_of(record.get("tool_calls")))
    folders = (folder_of(value_of(arguments.get("Cwd"))) for arguments in calls)
    return action["cwd"].strip() if action else next(filter(None, folders), None)


def _parse_result(step: Json, text: str) -> ToolResult:
    """Return a result without its times; some versions write the exit code in words."""
    head = _HEAD.match(text)
    code_in_words = head["code"] if head else None
    code = number_of(step.get("exit_code"))
    code = int(code_in_words) if code is None and code_in_words else code
    failed = step.get("status") == "ERROR" or step.get("type") == "ERROR_MESSAGE" or bool(code)
    return ToolResult(text[head.end() :] if head else text, code, failed=failed)


ANTIGRAVITY = Format(
    name="antigravity",
    version=4,
    detect=has_record(_is_step),
    read=_Session.read,
    program="Antigravity",
    locations=places(
        *(f"{{home}}/.gemini/{name}/brain" for name in ("antigravity-cli", "antigravity", "antigravity-ide"))
    ),
    companions=named_after({SHORT: (FULL,)}),
)
