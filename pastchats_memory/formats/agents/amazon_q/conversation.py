"""Read conversations of Amazon Q CLI and of the first Kiro CLI.

The sources are files that `/save` writes, and the programs' database.

A history consists of exchanges: a prompt or tool results, then an answer with or without tool calls. A compaction removes
exchanges from the history. The transcript keeps them, as the lines that stood on the screen.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.agents.amazon_q.dialect import DIALECT, parse_parts
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.source import Places, SourceFile
from pastchats_memory.formats.base.values import BadJson, Json, list_of, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.model import Unreadable

TABLES = ("conversations", "conversations_v2")
"""Tables of the database: one conversation for each folder, then several."""
PROMPT = "> "
NO_WORDS = "[tooluse]"

_CALLED = re.compile(r"\[Tool uses: ([^\]\n]{0,400})\]\s*+\Z")
_COMMAND = re.compile(r"/\w{1,40}\b")


def detect(source: SourceFile) -> int:
    """Return 90 for a saved conversation, 70 for the database, else 0."""
    if source.shape == "sqlite":
        columns = (source.tables.get(name, frozenset()) for name in TABLES)
        return 70 if "auth_kv" in source.tables and any(found >= {"key", "value"} for found in columns) else 0
    return CERTAIN if source.shape == "json" and _is_conversation(mapping_of(source.outline)) else 0


def _is_conversation(fields: Json) -> bool:
    has_lists = all(isinstance(fields.get(key), list) for key in ("history", "transcript"))
    return has_lists and "valid_history_range" in fields


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of each conversation in order."""
    if source.shape == "sqlite":
        yield from source.from_database(_read_database)
    elif isinstance(source.document, BadJson):
        yield Unreadable(str(source.path), 0, f"not JSON: {source.document.reason}")
    else:
        yield from _read_conversation(mapping_of(source.document), Places(source.text), source.path.stem)


def _read_database(database: ForeignDatabase) -> Iterator[Row]:
    for folder, value in (row for name in TABLES for row in database.rows(name, ("key", "value"), order=("key",))):
        saved = mapping_of(parse_json(text_of(value)))
        if _is_conversation(saved):
            yield from _read_conversation(saved, Places(""), text_of(folder), folder_of(folder))


def _read_conversation(saved: Json, places: Places, name: str, folder: str | None = None) -> Iterator[Row]:
    history = [_split_exchange(entry) for entry in list_of(saved.get("history"))]
    states = (mapping_of(mapping_of(user.get("env_context")).get("env_state")) for user, _ in history)
    cwd = folder or next(filter(None, (folder_of(state.get("current_working_directory")) for state in states)), None)
    builder = SessionBuilder(SessionInfo(text_of(saved.get("conversation_id")) or name, cwd), DIALECT)
    builder.model = text_of(mapping_of(saved.get("model_info")).get("model_id"))
    prompts = [prompt for user, _ in history if (prompt := _prompt_of(user))]
    lines = map(text_of, list_of(saved.get("transcript")))
    for line in takewhile(lambda line: not prompts or line != f"{PROMPT}{prompts[0]}", lines):
        _add_screen_line(builder, line, Position(places.line(line)))
    if summary := text_of(next(iter(list_of(saved.get("latest_summary"))), None)):
        builder.add_turn("system", "summary", summary, Position(places.line(summary)))
    for user, assistant in history:
        _add_user_side(builder, user, places)
        _add_answer(builder, assistant, places)
        yield from builder.queue.pop_complete(0)
    yield from builder.flush()


def _split_exchange(entry: object) -> tuple[Json, Json]:
    """Return the user's and the assistant's side of an exchange, in older versions a pair."""
    pair = list_of(entry)
    fields = mapping_of(entry)
    user, assistant = pair if len(pair) == len(("user", "assistant")) else (fields.get("user"), fields.get("assistant"))
    return mapping_of(user), mapping_of(assistant) | {"metadata": fields.get("request_metadata")}


def _prompt_of(user: Json) -> str:
    """Return what a person typed, also beside results of refused calls, else `""`."""
    contents = mapping_of(user.get("content")).values()
    return next((text for each in contents if (text := text_of(mapping_of(each).get("prompt")))), "")


def _add_screen_line(builder: SessionBuilder, line: str, at: Position) -> None:
    """Add a prompt or an answer of the screen, which shows no times and no results."""
    if line.startswith(PROMPT):
        prompt = line.removeprefix(PROMPT)
        builder.add_prompt("" if _COMMAND.match(prompt) else prompt, at)
        return
    called = _CALLED.search(line)
    words = line[: called.start()].rstrip() if called else line
    builder.add_answer("" if words == NO_WORDS else words, at)
    for name in called[1].split(", ") if called and called[1] != "none" else ():
        builder.add_call("", name, {})


def _add_user_side(builder: SessionBuilder, user: Json, places: Places) -> None:
    content, prompt, time = mapping_of(user.get("content")), _prompt_of(user), user.get("timestamp")
    for result in objects_of(mapping_of(content.get("ToolUseResults")).get("tool_use_results")):
        call_id = text_of(result.get("tool_use_id"))
        parts = (part.get("Json") or part.get("Text") for part in objects_of(result.get("content")))
        output = parse_parts(parts, failed=result.get("status") == "Error")
        builder.add_result(call_id, output, Position(places.line(call_id), time))
    builder.add_prompt(prompt, Position(places.line(prompt), time), len(list_of(user.get("images"))))


def _add_answer(builder: SessionBuilder, assistant: Json, places: Places) -> None:
    metadata = mapping_of(assistant.get("metadata"))
    for kind in ("Response", "ToolUse"):
        answer = mapping_of(assistant.get(kind))
        text = text_of(answer.get("content"))
        at = Position(places.line(text), metadata.get("request_start_timestamp_ms"), text_of(answer.get("message_id")))
        builder.add_answer(text, at, text_of(metadata.get("model_id")))
        for call in objects_of(answer.get("tool_uses")):
            builder.add_call(text_of(call.get("id")), text_of(call.get("name")), call.get("args"))


AMAZON_Q = Format("amazon-q", 3, detect, read, program="Amazon Q, Kiro CLI", dialect=lambda: DIALECT)
