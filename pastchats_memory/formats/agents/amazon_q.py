"""Amazon Q CLI's and Kiro CLI's conversations to turns: what `/save` writes, and the database that has one for every folder.

A history is of exchanges: what was sent, a prompt or what tools answered, and what came back, words with calls of tools or without.
What was summed up leaves the history and stays in the transcript, lines as they stood on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment, below_home
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of, read_session
from pastchats_memory.formats.base.sibling_files import read_sibling_field
from pastchats_memory.formats.base.source import (
    BadJson,
    Json,
    Places,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
)
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.model import Unreadable

FORMAT = "amazon-q"
VERSION = 3

TABLES = ("conversations", "conversations_v2")
"""Of the database: with one conversation a folder, and with several."""
PROMPT = "> "
NO_WORDS = "[tooluse]"

_CALLED = re.compile(r"\[Tool uses: ([^\]\n]{0,400})\]\s*+\Z")
_EXIT = re.compile(r"[0-9]{1,9}\Z")
_COMMAND = re.compile(r"/\w{1,40}\b")


def recognise(source: SourceFile) -> bool:
    """Whether the document is a conversation as it was saved, or it is the database."""
    if source.shape == "sqlite":
        return "auth_kv" in source.tables and any(
            source.tables.get(name, frozenset()) >= {"key", "value"} for name in TABLES
        )
    return source.shape == "json" and _is_conversation(mapping_of(source.outline))


def _is_conversation(fields: Json) -> bool:
    return "valid_history_range" in fields and all(
        isinstance(fields.get(key), list) for key in ("history", "transcript")
    )


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation, in its order."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
    elif isinstance(source.document, BadJson):
        yield Unreadable(str(source.path), 0, f"not JSON: {source.document.reason}")
    else:
        yield from _turns(mapping_of(source.document), Places(source.text), source.path.stem)


def _from_database(database: Database) -> Iterator[Row]:
    for name in TABLES:
        if name in database.tables:
            for folder, value in database.rows(name, ("key", "value"), order=("key",)):
                saved = mapping_of(parse_json(text_of(value)))
                if _is_conversation(saved):
                    yield from _turns(saved, Places(""), text_of(folder), folder_of(folder))


def _turns(saved: Json, places: Places, name: str, folder: str | None = None) -> Iterator[Row]:
    history = [_sides(entry) for entry in list_of(saved.get("history"))]
    cwd = folder or next(filter(None, (_folder(user) for user, _ in history)), None)
    builder = SessionBuilder(SessionInfo(text_of(saved.get("conversation_id")) or name, cwd))
    builder.model = text_of(mapping_of(saved.get("model_info")).get("model_id"))
    sent = [prompt for user, _ in history if (prompt := _prompt(user))]
    for line in takewhile(
        lambda line: not sent or line != f"{PROMPT}{sent[0]}", map(text_of, list_of(saved.get("transcript")))
    ):
        _tell_line(builder, line, Position(places.line(line)))
    if summary := text_of(next(iter(list_of(saved.get("latest_summary"))), None)):
        builder.add_turn("system", "summary", summary, Position(places.line(summary)))
    for user, assistant in history:
        _tell_sent(builder, user, places)
        _tell_answer(builder, assistant, places)
        yield from builder.queue.pop_complete(0)
    yield from builder.flush()


def _sides(entry: object) -> tuple[Json, Json]:
    """What was sent and what came back, of which older versions made a pair."""
    pair = list_of(entry)
    fields = mapping_of(entry)
    user, assistant = pair if len(pair) == len(("user", "assistant")) else (fields.get("user"), fields.get("assistant"))
    return mapping_of(user), mapping_of(assistant) | {"metadata": fields.get("request_metadata")}


def _prompt(user: Json) -> str:
    """What was typed: also when the tools that were asked for were refused with it."""
    return next(
        (
            text
            for held in mapping_of(user.get("content")).values()
            if (text := text_of(mapping_of(held).get("prompt")))
        ),
        "",
    )


def _tell_line(builder: SessionBuilder, line: str, at: Position) -> None:
    """Tell what stood on the screen, of which nothing says when, or what a tool answered."""
    if line.startswith(PROMPT):
        prompt = line.removeprefix(PROMPT)
        builder.add_prompt("" if _COMMAND.match(prompt) else prompt, at)
        return
    called = _CALLED.search(line)
    words = line[: called.start()].rstrip() if called else line
    builder.add_answer("" if words == NO_WORDS else words, at)
    for name in called[1].split(", ") if called and called[1] != "none" else ():
        builder.add_call("", name, {})


def _folder(user: Json) -> str | None:
    return folder_of(mapping_of(mapping_of(user.get("env_context")).get("env_state")).get("current_working_directory"))


def _tell_sent(builder: SessionBuilder, user: Json, places: Places) -> None:
    content, prompt, time = mapping_of(user.get("content")), _prompt(user), user.get("timestamp")
    for answer in map(mapping_of, list_of(mapping_of(content.get("ToolUseResults")).get("tool_use_results"))):
        call_id = text_of(answer.get("tool_use_id"))
        builder.add_result(call_id, _output(answer), Position(places.line(call_id), time))
    builder.add_prompt(prompt, Position(places.line(prompt), time), len(list_of(user.get("images"))))


def _output(answer: Json) -> ToolResult:
    """What a tool answered: text, or what a command printed and how it ended."""
    texts: list[str] = []
    code: int | None = None
    for part in map(mapping_of, list_of(answer.get("content"))):
        printed = mapping_of(part.get("Json"))
        texts += [text for key in ("stdout", "stderr") if (text := text_of(printed.get(key)))] or [
            text_of(part.get("Text"))
        ]
        status = text_of(printed.get("exit_status"))
        code = int(status) if _EXIT.match(status) else code
    return ToolResult("\n".join(texts), code, failed=answer.get("status") == "Error" or bool(code))


def _tell_answer(builder: SessionBuilder, assistant: Json, places: Places) -> None:
    metadata = mapping_of(assistant.get("metadata"))
    for kind in ("Response", "ToolUse"):
        answer = mapping_of(assistant.get(kind))
        text = text_of(answer.get("content"))
        own_id = text_of(answer.get("message_id"))
        at = Position(places.line(text), metadata.get("request_start_timestamp_ms"), own_id)
        builder.add_answer(text, at, text_of(metadata.get("model_id")))
        for call in map(mapping_of, list_of(answer.get("tool_uses"))):
            builder.add_call(text_of(call.get("id")), text_of(call.get("name")), call.get("args"))


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the databases of Amazon Q and of Kiro CLI, which replaced it."""
    for folder in (environment.data, environment.programs):
        yield from (folder / name / "data.sqlite3" for name in ("amazon-q", "kiro-cli"))


AMAZON_Q = Format(
    name="amazon-q",
    version=3,
    detect=confident(recognise, 90),
    read=read,
    program="Amazon Q, Kiro CLI",
    locations=locations,
)


# Sessions of Kiro CLI's second version to turns: prompts, answers and what tools answered, a record `{version, kind, data}` a line.
#
# Beside a session lies `<id>.json`, which tells the folder.

KIRO_FORMAT = "kiro-cli"

SESSIONS = ".kiro/sessions/cli"
KINDS = ("Prompt", "AssistantMessage", "ToolResults")
_KIRO_EXIT = re.compile(r"\d{1,9}\Z")


def recognise_kiro(source: SourceFile) -> bool:
    """Whether any of the first records is of such a kind and holds blocks."""
    return any(record.get("kind") in KINDS and _blocks(record) for record in source.sample)


def _blocks(record: Json) -> list[Json]:
    """The parts of a message: `{kind, data}`."""
    blocks = map(mapping_of, list_of(mapping_of(record.get("data")).get("content")))
    return [block for block in blocks if isinstance(block.get("kind"), str)]


def read_kiro(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no records."""
    path = source.path
    builder = SessionBuilder(SessionInfo(path.stem, read_sibling_field(path.with_suffix(".json"), "cwd") or None))
    yield from read_session(source, builder, lambda item: _take(builder, item))


def _take(builder: SessionBuilder, item: Record) -> str | None:
    """Add what the record says; the reason why it says nothing that can be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of a record"
    data, blocks = mapping_of(record.get("data")), _blocks(record)
    at = Position(item.line, mapping_of(data.get("meta")).get("timestamp"), text_of(data.get("message_id")))
    text = "\n\n".join(text for block in blocks if block["kind"] == "text" and (text := text_of(block.get("data"))))
    match record.get("kind"):
        case "Prompt":
            pictures = sum(block["kind"] == "image" for block in blocks)
            builder.add_prompt(text, at, pictures, kind="command" if _COMMAND.match(text) else "prompt")
        case "AssistantMessage":
            builder.add_answer(text, at)
    for block in blocks:
        inner = mapping_of(block.get("data"))
        match block["kind"]:
            case "toolUse":
                builder.add_call(text_of(inner.get("toolUseId")), text_of(inner.get("name")), inner.get("input"))
            case "toolResult":
                builder.add_result(text_of(inner.get("toolUseId")), _kiro_output(inner), at)
    return None


def _kiro_output(result: Json) -> ToolResult:
    """What a tool answered: text, or what a command printed and how it ended."""
    texts: list[str] = []
    code: int | None = None
    for part in map(mapping_of, list_of(result.get("content"))):
        printed = mapping_of(part.get("data"))
        texts += [text_of(printed.get(key)) for key in ("stdout", "stderr")] if printed else [text_of(part.get("data"))]
        found = _KIRO_EXIT.search(text_of(printed.get("exit_status")))
        code = int(found[0]) if found else code
    return ToolResult("\n".join(filter(None, texts)), code, failed=result.get("status") == "error" or bool(code))


KIRO_CLI = Format(
    name="kiro-cli",
    version=3,
    detect=confident(recognise_kiro, 90),
    read=read_kiro,
    program="Amazon Q, Kiro CLI",
    locations=below_home(".kiro/sessions/cli"),
    companions=ending_in(SESSIONS, ".json"),
)
