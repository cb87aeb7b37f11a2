"""GitHub Copilot CLI sessions to turns: an event a line, `{type, data, id, timestamp, parentId}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.base.markdown import blocks, in_code
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.sibling_files import recorded_cwd
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of, value_of
from pastchats_memory.formats.base.tags import without_rim
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc, parse_handwritten, to_the_minute

KINDS = ("session", "user", "assistant", "tool", "system", "subagent", "hook", "skill")
"""What stands before the dot in an event's type."""
SPOKEN = ("user.message", "assistant.message")
"""Events that need no place in the chain to be known."""
APPENDED = ("current_datetime", "reminder", "system_reminder", "system-reminder", "system_notification")
FLAGS = {"session.error": "api_error", "abort": "interrupted"}

_EXITED = re.compile(r"\n?<(?:exited with exit code|shellId: \d+ completed with exit code) (-?\d{1,9})>\s*\Z")


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records is an event with a dotted type, data and a place in the chain."""
    return any(_is_event(record) for record in source.sample)


def _is_event(record: Json) -> bool:
    name = text_of(record.get("type"))
    kind, dot, _ = name.partition(".")
    chained = bool(dot) and kind in KINDS and "parentId" in record
    return (chained or name in SPOKEN) and isinstance(record.get("data"), dict)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no events."""
    path = source.path  # of versions whose events do not tell the working directory, a file beside them does
    builder = SessionBuilder(
        SessionInfo(path.parent.name if path.stem == "events" else path.stem, recorded_cwd(path.parent)),
        DIALECT,
    )
    yield from read_session(source, builder, lambda item: _take(builder, item))


def _take(builder: SessionBuilder, item: Record) -> str | None:
    """Add what the event says; the reason why it says nothing that can be read, else None."""
    event = item.value
    if not isinstance(event, dict):
        return f"a {type(event).__name__} instead of an event"
    kind, data = text_of(event.get("type")), mapping_of(event.get("data"))
    aside = text_of(event.get("agentId")) or text_of(data.get("parentToolCallId"))
    at = Position(item.line, event.get("timestamp"), text_of(event.get("id")), aside=aside)
    if kind.startswith("session."):
        _session(builder, kind, data, at)
    if kind in FLAGS:
        builder.queue.flag(FLAGS[kind])
    match kind:
        case "user.message":
            return _prompt(builder, data, at)
        case "assistant.message":
            builder.add_answer(text_of(data.get("content")), at, text_of(data.get("model")))
            for request in map(mapping_of, list_of(data.get("toolRequests"))):
                _call(builder, request, "name")
        case "tool.execution_start":
            _call(builder, data, "toolName")
        case "tool.user_requested":
            command = text_of(mapping_of(data.get("arguments")).get("command"))
            builder.add_prompt(f"! {command}" if command else "", at, kind="command")
            _call(builder, data, "toolName")
        case "tool.execution_complete":
            builder.add_result(text_of(data.get("toolCallId")), _output(data), at)
    return None


def _session(builder: SessionBuilder, kind: str, data: Json, at: Position) -> None:
    """What the session says of itself: where it runs, which model answers, what a compaction made of it."""
    about, context = builder.info, mapping_of(data.get("context"))
    if kind in ("session.start", "session.resume"):
        about.conversation_id = text_of(data.get("sessionId")) or about.conversation_id
        about.cwd = folder_of(context.get("cwd")) or about.cwd
        about.metadata["git_branch"] = text_of(context.get("branch")) or about.metadata.get("git_branch")
    builder.model = text_of(data.get("selectedModel")) or text_of(data.get("newModel")) or builder.model
    if kind in ("session.compaction_complete", "session.handoff"):
        builder.add_turn("system", "summary", text_of(data.get("summaryContent")) or text_of(data.get("summary")), at)


def _prompt(builder: SessionBuilder, data: Json, at: Position) -> str | None:
    content = data.get("content")
    if not isinstance(content, str):
        return f"content of a message is a {type(content).__name__}"
    sent_by_program = data.get("isAutopilotContinuation") is True or "crossSession" in data
    if data.get("source") in (None, "", "user") and not sent_by_program:
        builder.add_prompt(
            without_rim(content, APPENDED), at, len(list_of(data.get("attachments"))) if not content else 0
        )
    return None


def _call(builder: SessionBuilder, data: Json, name: str) -> None:
    builder.add_call(text_of(data.get("toolCallId")), text_of(data.get(name)), data.get("arguments"))


def _output(data: Json) -> ToolResult:
    """What a tool answered; a shell says at the end with which code its command exited."""
    text = text_of_result(data.get("result")) or text_of(mapping_of(data.get("error")).get("message"))
    failed = data.get("success") is False
    exited = _EXITED.search(text[-200:])
    if not exited:
        return ToolResult(text, failed=failed)
    code = int(exited[1])
    return ToolResult(text[: -len(exited[0])], code, failed=failed or code != 0)


# What Copilot CLI writes when a session is shared as Markdown: a section for every message and for every call of a tool.
#
# A section begins with the time since the session began, in small print, and a heading: a role, or the name of a tool as code. A line quoted
# from another such file stands in a fence.


_TITLE = re.compile(r"\s*#\s+(?:[^\w\s]{1,8}\s*)?Copilot CLI Session\s*$", re.MULTILINE)
_FACT = re.compile(r"> - \*\*(Session ID|Started):\*\* `?([^`\n]{1,100}?)`?\s*\Z")
_SINCE = re.compile(r"<sub>\W{0,8}(?:(\d{1,4})h )?(?:(\d{1,4})m )?(\d{1,6})s</sub>\s*\Z")
_HEADING = re.compile(r"###\s+(?P<sign>[^\w\s`]{1,8}\s+)?(?:`(?P<tool>[^`\n]{1,100})`|(?P<who>\w[\w ]{0,40}))\s*\Z")
_RULE = "---"
_FAILED = "❌"
_FENCE = "```"
_COMMAND = "$ "
_MARKUP = ("**", "<")
"""How lines of a call begin that are not what it was about: its description, folds."""
_EXIT = re.compile(r"<(?:shellId: \S{1,40} completed|exited) with exit code (-?\d{1,9})>\s*\Z")
_ARGUMENTS = "Arguments</summary>"
_DAY = 10
"""Characters of a date at the beginning of a time."""


def recognise_share(source: SourceFile) -> bool:
    """Whether it begins as such a file, with the id of the session."""
    return source.shape == "markdown" and _TITLE.match(source.head) is not None and "**Session ID:**" in source.head


def read_share(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """The turns in the order of the file, and what the tools answered that is worth a row."""
    lines = source.text.split("\n")
    facts = {fact[1]: fact[2] for line in lines[:20] if (fact := _FACT.match(line))}
    told = facts.get("Started", "")
    began = parse_handwritten(told) or iso_utc(told[:_DAY], LOCAL)
    builder = SessionBuilder(SessionInfo(facts.get("Session ID"), started=to_the_minute(began)), DIALECT)
    for section in _sections(lines):
        at = Position(section.line, _moment(began, section.since))
        if section.tool:
            called, output = _share_call(section)
            builder.add_call("", section.tool, called)
            builder.add_result("", output, at)
        elif section.who == "User":
            builder.add_prompt("\n".join(section.body), at)
        elif section.who == "Copilot":
            builder.add_answer("\n".join(section.body), at)
    yield from builder.flush()


@dataclass(frozen=True, slots=True)
class _Section:
    line: int
    """1-based, of the heading."""
    since: int
    """Seconds since the session began."""
    who: str
    tool: str
    failed: bool
    body: Sequence[str]


def _sections(lines: Sequence[str]) -> Iterator[_Section]:
    """What stands under each heading below a time, without the rule before the next one."""
    code = in_code(lines)
    begun = [
        (place, since, heading)
        for place, line in enumerate(lines)
        if not code[place]
        and (since := _SINCE.match(line))
        and (heading := _HEADING.match("".join(lines[place + 1 : place + 3])))
    ]
    for number, (place, since, heading) in enumerate(begun, start=1):
        following = begun[number][0] if number < len(begun) else len(lines)
        rules = (at for at in range(following - 1, place, -1) if lines[at].strip() == _RULE and not code[at])
        hours, minutes, seconds = (int(part or 0) for part in since.groups())
        yield _Section(
            line=place + 3,
            since=hours * 3600 + minutes * 60 + seconds,
            who=heading["who"] or "",
            tool=heading["tool"] or "",
            failed=_FAILED in (heading["sign"] or ""),
            body=lines[place + 3 : next(rules, following)],
        )


def _moment(began: str | None, since: int) -> str | None:
    """To the minute, since that is what is known of when the session began."""
    if began is None:
        return None
    return to_the_minute(iso_utc((datetime.fromisoformat(began) + timedelta(seconds=since)).isoformat()))


def _share_call(section: _Section) -> tuple[object, ToolResult]:
    """What the tool was given, and what it answered: the last fence that does not hold the arguments."""
    fences = list(_fences(section.body))
    given = next((value_of(inside) for is_given, inside in fences if is_given), None)
    answered = next((inside for is_given, inside in reversed(fences) if not is_given), "")
    above = takewhile(lambda line: not line.startswith(_FENCE), section.body)
    shown = next((line for line in above if line and not line.startswith(_MARKUP)), "")
    if given is None:
        key = "command" if shown.startswith(_COMMAND) else "path"
        given = {key: shown.removeprefix(_COMMAND)}
    code = _EXIT.search(answered)
    number = int(code[1]) if code else None
    return given, ToolResult(
        answered[: code.start()] if code else answered, number, failed=section.failed or bool(number)
    )


def _fences(body: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Of every fenced block whether it holds the arguments, and its text."""
    above, given = 0, False
    for _, first, last in blocks(body):
        for line in body[above:first]:
            given = line.endswith(_ARGUMENTS) or (given and not line.startswith("</details>"))
        yield given, "\n".join(body[first + 1 : last])
        above = last + 1
