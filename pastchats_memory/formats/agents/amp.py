"""Amp threads to turns: one document a thread, messages in blocks, results of tools in the user's role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_items,
    texts_of,
)
from pastchats_memory.formats.base.source import Json, SourceFile, list_of, mapping_of, number_of, text_of
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

FORMAT = "amp"
VERSION = 5

THREAD = "T-"
INFO, SHELL = "info", "manual_bash_invocation"
FLAGS = {"cancelled": "interrupted", "error": "api_error"}


def recognise(source: SourceFile) -> bool:
    """Whether the document has messages and the id of a thread, or a version and a thread's environment or name."""
    thread = mapping_of(source.outline) if source.shape == "json" else {}
    named = text_of(thread.get("id")).startswith(THREAD)
    versioned = "v" in thread and ("env" in thread or source.path.stem.startswith(THREAD))
    return isinstance(thread.get("messages"), list) and (named or versioned)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in the order of the file; messages that are none."""
    builder = SessionBuilder(_about(mapping_of(source.outline), source.path.stem))
    messages = source.elements("messages")
    yield from read_items(source, builder, messages, lambda item: _take(builder, mapping_of(item.value), item.line))
    yield from builder.flush()


def _about(thread: Json, stem: str) -> SessionInfo:
    initial = mapping_of(mapping_of(thread.get("env")).get("initial"))
    trees = [mapping_of(tree) for tree in list_of(initial.get("trees"))]
    named = [name for tree in trees if (name := text_of(tree.get("displayName")))]
    cwd = next((path for tree in trees if (path := folder_of(tree.get("uri")))), folder_of(initial.get("cwd")))
    return SessionInfo(
        text_of(thread.get("id")) or stem,
        cwd,
        None if cwd else next(iter(named), None),
        started=to_the_minute(iso_utc(thread.get("created"))),
        metadata={
            "title": text_of(thread.get("title")),
            "parent_conversation_id": text_of(thread.get("mainThreadID")) or text_of(thread.get("originThreadID")),
        },
    )


def _take(builder: SessionBuilder, message: Json, line: int) -> str | None:
    """Add what the message says; the reason why it says nothing that can be read, else None."""
    content, role, number = message.get("content"), message.get("role"), message.get("messageId")
    if role not in ("user", "assistant", INFO):
        return "a message without a role"
    if not isinstance(content, str | list):
        return f"content of a message is a {type(content).__name__}"
    time = mapping_of(message.get("meta")).get("sentAt") or mapping_of(message.get("usage")).get("timestamp")
    own_id = f"{builder.info.conversation_id}:{number}" if isinstance(number, int | str) else ""
    at = Position(line, time, own_id)
    blocks = [mapping_of(block) for block in list_of(content)]
    if role == INFO:
        _inform(builder, blocks, at)
        return None
    shown = content if isinstance(content, str) else [block for block in blocks if block.get("hidden") is not True]
    if role == "assistant":
        builder.add_answer(texts_of(shown), at, text_of(mapping_of(message.get("usage")).get("model")))
    elif not any(block.get("type") == "tool_result" for block in blocks):
        builder.add_prompt(texts_of(shown), at, count_images(shown))
    for block in blocks:
        if block.get("type") == "tool_use":
            builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
        elif block.get("type") == "tool_result":
            call_id = text_of(block.get("toolUseID")) or text_of(block.get("tool_use_id"))
            builder.add_result(call_id, _output(block), at)
    if flag := FLAGS.get(text_of(mapping_of(message.get("state")).get("type"))):
        builder.queue.flag(flag)
    return None


def _inform(builder: SessionBuilder, blocks: list[Json], at: Position) -> None:
    """What Amp noted between the messages: commands that the person ran, and what it summed up."""
    for block in blocks:
        command = text_of(mapping_of(block.get("args")).get("cmd"))
        if block.get("type") == SHELL and command and block.get("hidden") is not True:
            builder.add_prompt(f"! {command}", at, kind="command")
            builder.add_call(at.native_id, "Bash", {"command": command})
            builder.add_result(at.native_id, _output({"run": block.get("toolRun")}), at)
        summary = mapping_of(block.get("summary"))
        builder.add_turn("system", "summary", text_of(summary.get("summary")), at)


def _output(block: Json) -> ToolResult:
    """What a tool answered, in a `run` or, in older threads, as Anthropic's API has it."""
    run = mapping_of(block.get("run"))
    result = run.get("result", block.get("content"))
    number = number_of(mapping_of(result).get("exitCode"))
    failed = run.get("status") == "error" or block.get("is_error") is True or bool(number)
    fault = mapping_of(run.get("error")).get("message") or run.get("error")
    return ToolResult(text_of_result(result) or text_of(fault), number, failed=failed)


def locations(environment: Environment) -> Iterator[Path]:
    yield environment.folder("AMP_DATA_DIR", environment.data / "amp") / "threads"
    yield from (editor / "globalStorage" / "sourcegraph.amp" for editor in environment.editors)


AMP = Format(
    name="amp",
    version=5,
    detect=confident(recognise, 90),
    read=read,
    program="Amp",
    locations=locations,
    keeps_mtime=False,
)
