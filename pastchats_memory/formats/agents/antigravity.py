"""Transcripts of Google's Antigravity to turns: a step a line, with what the person asked in tags and calls before their results.

Source: `brain/<id>/.system_generated/logs/transcript.jsonl` below its folder in `~/.gemini`, which the command line and the
editor write alike; `transcript_full.jsonl` beside it is the same at length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import Format, confident
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

FORMAT = "antigravity"
VERSION = 2

PERSON, MODEL = "USER_EXPLICIT", "MODEL"
SHORT, FULL = "transcript.jsonl", "transcript_full"
REQUEST, BESIDE = "USER_REQUEST", ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE")
"""Tags around what was typed, and around what the client tells."""
GENERATED = ".system_generated"
UNFINISHED = ("RUNNING", "IN_PROGRESS", "PENDING")
SPOKEN = ("PLANNER_RESPONSE", "NOTIFY_USER")
UNCALLED = (*SPOKEN, "CHECKPOINT", "ERROR_MESSAGE")
"""Steps that answer no call, but for an error while one waits."""
INPUTS = {
    "CommandLine": "command", "TargetFile": "file_path", "AbsolutePath": "path", "DirectoryPath": "path", "SearchPath": "path",
    "Query": "query", "Url": "url",
}  # fmt: skip
"""What of a call's arguments tells what it was about, and how other agents name that."""

_MODEL = re.compile(r"`Model Selection` from .{1,80}? to (.{1,80}?)\.(?:\s|\Z)")
_HEAD = re.compile(
    r"\A(?:Created At: [^\n]*\n)?(?:Completed At: [^\n]*\n)?"
    r"(?:\s*The command (?:completed successfully|(?:failed|exited) with (?:exit )?code:? ?(?P<code>\d{1,9}))\.?\s*?\n(?:\s*Output:[ \t]*(?:\n|\Z))?)?"
)
"""What stands above a result."""


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records is a step of the person or of the model."""
    return any(_is_step(record) for record in source.sample)


def _is_step(record: Json) -> bool:
    return record.get("source") in (PERSON, MODEL) and "step_index" in record and isinstance(record.get("type"), str)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no steps."""
    generated = source.path.parent.parent
    is_in_place = generated.name == GENERATED
    builder = SessionBuilder(SessionInfo(generated.parent.name if is_in_place else source.path.stem))
    waiting = list_of(source.resumed.state.get("waiting")) if source.resumed else []
    yield from read_session(source, builder, lambda item: _take(builder, item, waiting), {"waiting": waiting})


def _take(builder: SessionBuilder, item: Record, waiting: list[object]) -> str | None:
    """Add what the step says; the reason why it says nothing that can be read, else None.

    Args:
        telling: the turns.
        item: the record.
        waiting: names of the calls that nothing answered yet, the first one first: a result does not say whose it is.
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
            builder.add_prompt(_asked(text), at)
        case "CHECKPOINT":
            builder.add_turn("system", "summary", text, at)
        case "ERROR_MESSAGE" if not waiting:
            builder.queue.flag("api_error")
        case name if name in SPOKEN:
            builder.add_answer(text, at)
    for place, call in enumerate(map(mapping_of, list_of(step.get("tool_calls")))):
        _call(builder, call, f"{own_id}.{place}")
        waiting.append(f"{own_id}.{place}")
    if (step.get("source") == MODEL and kind not in UNCALLED) or (kind == "ERROR_MESSAGE" and waiting):
        builder.add_result(str(waiting.pop(0)) if waiting else "", _output(step, text), at)
    return None


def _asked(text: str) -> str:
    """What was typed, without what the client tells of the machine and its settings."""
    return "\n\n".join(spans(text, REQUEST)) or without_spans(text, BESIDE).strip()


def _call(builder: SessionBuilder, call: Json, call_id: str) -> None:
    """Note a call; each of its arguments is JSON of its own."""
    given = {key: value_of(value) for key, value in mapping_of(call.get("args")).items()}
    builder.info.cwd = builder.info.cwd or folder_of(given.get("Cwd"))
    known = {name: given[key] for key, name in INPUTS.items() if key in given}
    builder.add_call(call_id, text_of(call.get("name")), given | known)


def _output(step: Json, text: str) -> ToolResult:
    """What a tool answered, without when it did; of a command with the exit code, which some versions tell only in words."""
    head = _HEAD.match(text)
    told_code = head["code"] if head else None
    code = number_of(step.get("exit_code"))
    code = int(told_code) if code is None and told_code else code
    failed = step.get("status") == "ERROR" or step.get("type") == "ERROR_MESSAGE" or bool(code)
    return ToolResult(text[head.end() :] if head else text, code, failed=failed)


ANTIGRAVITY = Format(
    name="antigravity",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="Antigravity",
    locations=below_home(*(f".gemini/{name}/brain" for name in ("antigravity-cli", "antigravity", "antigravity-ide"))),
    companions=named_after({SHORT: (FULL,)}),
)
