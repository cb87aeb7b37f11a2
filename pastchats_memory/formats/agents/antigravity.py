"""Read transcripts of Google's Antigravity: a step a line, prompts in tags, tool calls before their results.

Source: `brain/<id>/.system_generated/logs/transcript.jsonl` below its folder in `~/.gemini`. The command line and the editor
write it alike. `transcript_full.jsonl` beside it holds the same steps with longer texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.source import (
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    number_of,
    text_of,
    value_of,
)
from pastchats_memory.formats.base.tags import spans, without_spans
from pastchats_memory.formats.base.tools import ToolResult

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

_MODEL = re.compile(r"`Model Selection` from .{1,80}? to (.{1,80}?)\.(?:\s|\Z)")
_HEAD = re.compile(
    r"\A(?:Created At: [^\n]*\n)?(?:Completed At: [^\n]*\n)?"
    r"(?:\s*The command (?:completed successfully|(?:failed|exited) with (?:exit )?code:? ?(?P<code>\d{1,9}))\.?\s*?\n(?:\s*Output:[ \t]*(?:\n|\Z))?)?"
)
"""The lines above a tool result."""


def detect(source: SourceFile) -> int:
    """Return 90 if one of the first records is a step of the person or of the model, else 0."""
    return CERTAIN if any(map(_is_step, source.sample)) else 0


def _is_step(record: Json) -> bool:
    return record.get("source") in (PERSON, MODEL) and "step_index" in record and isinstance(record.get("type"), str)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in file order, and the lines that are no steps."""
    generated = source.path.parent.parent
    is_in_place = generated.name == GENERATED
    builder = SessionBuilder(SessionInfo(generated.parent.name if is_in_place else source.path.stem))
    waiting = list_of(source.resumed.state.get("waiting")) if source.resumed else []
    yield from read_session(source, builder, lambda item: _add_step(builder, item, waiting), {"waiting": waiting})


def _add_step(builder: SessionBuilder, item: Record, waiting: list[object]) -> str | None:
    """Add the turns of a step; return why it cannot be read, else None.

    Args:
        builder: the session.
        item: the record.
        waiting: ids of the calls without a result, oldest first. A result does not name its call.
    """
    step = item.value
    if not isinstance(step, dict):
        return f"a {type(step).__name__} instead of a step"
    if step.get("status") in UNFINISHED:
        return None
    own_id = str(number_of(step.get("step_index")))
    at = Position(item.line, step.get("created_at"), own_id)
    text, kind = text_of(step.get("content")), text_of(step.get("type"))
    match kind:
        case "USER_INPUT":
            waiting.clear()
            builder.model = found[1] if (found := _MODEL.search(text)) else builder.model
            builder.add_prompt(_unwrap(text), at)
        case "CHECKPOINT":
            builder.add_turn("system", "summary", text, at)
        case "ERROR_MESSAGE" if not waiting:
            builder.queue.flag("api_error")
        case name if name in ANSWERS:
            builder.add_answer(text, at)
    for place, call in enumerate(map(mapping_of, list_of(step.get("tool_calls")))):
        _add_call(builder, call, f"{own_id}.{place}")
        waiting.append(f"{own_id}.{place}")
    if (step.get("source") == MODEL and kind not in NO_RESULTS) or (kind == "ERROR_MESSAGE" and waiting):
        builder.add_result(str(waiting.pop(0)) if waiting else "", _parse_result(step, text), at)
    return None


def _unwrap(text: str) -> str:
    """Return what the person typed, without the client's notes about the machine and its settings."""
    return "\n\n".join(spans(text, REQUEST)) or without_spans(text, CLIENT_WRAPPERS).strip()


def _add_call(builder: SessionBuilder, call: Json, call_id: str) -> None:
    """Add a tool call; each of its arguments is encoded as JSON of its own."""
    arguments = {key: value_of(value) for key, value in mapping_of(call.get("args")).items()}
    builder.info.cwd = builder.info.cwd or folder_of(arguments.get("Cwd"))
    known = {name: arguments[key] for key, name in INPUTS.items() if key in arguments}
    builder.add_call(call_id, text_of(call.get("name")), arguments | known)


def _parse_result(step: Json, text: str) -> ToolResult:
    """Return a tool result without its times; some versions write the exit code in words only."""
    head = _HEAD.match(text)
    code_in_words = head["code"] if head else None
    code = number_of(step.get("exit_code"))
    code = int(code_in_words) if code is None and code_in_words else code
    failed = step.get("status") == "ERROR" or step.get("type") == "ERROR_MESSAGE" or bool(code)
    return ToolResult(text[head.end() :] if head else text, code, failed=failed)


ANTIGRAVITY = Format(
    name="antigravity",
    version=2,
    detect=detect,
    read=read,
    program="Antigravity",
    locations=below_home(*(f".gemini/{name}/brain" for name in ("antigravity-cli", "antigravity", "antigravity-ide"))),
    companions=named_after({SHORT: (FULL,)}),
)
