"""Read agent threads of Zed, and its older text threads.

A database holds a document for each thread, as JSON or compressed with zstd.

The documents name roles in two ways: `User` and `Agent` as keys, or in older ones `role` with `segments`. Messages have no
times, so each turn gets the time of its thread.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path, PurePath

from pastchats_memory.files.archives import ZSTD
from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo, folder_of
from pastchats_memory.formats.base.source import LONGEST_LINE, SourceFile
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.values import BadJson, Json, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc

COLUMNS = (
    "id", "summary", "updated_at", "created_at", "data_type", "data", "parent_id", "folder_paths", "folder_paths_order",
)  # fmt: skip


def detect(source: SourceFile) -> int:
    """Return 90 for the document of a thread, 70 for the database of threads, else 0."""
    if source.shape == "sqlite":
        return 70 if source.tables.get("threads", frozenset()) >= {"id", "data_type", "data"} else 0
    return CERTAIN if source.shape == "json" and _is_thread(mapping_of(source.outline)) else 0


def _is_thread(document: Json) -> bool:
    keys = (("User", dict), ("Agent", dict), ("segments", list))
    messages = objects_of(document.get("messages"))
    is_known = any(isinstance(message.get(key), kind) for message in messages for key, kind in keys)
    return _is_text_thread(document) or ("version" in document and is_known)


def _is_text_thread(document: Json) -> bool:
    places = objects_of(document.get("messages"))
    has_text = isinstance(document.get("text"), str) and bool(places)
    return has_text and all(_start_of(place) is not None and "metadata" in place for place in places)


def _start_of(place: Json) -> int | None:
    start = place.get("start")
    return start if isinstance(start, int) and not isinstance(start, bool) and start >= 0 else None


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of each thread in order; a subagent's thread is a sidechain."""
    if source.shape == "sqlite":
        yield from source.from_database(lambda database: _read_database(database, str(source.path)))
    else:
        document = mapping_of(source.document)
        if _is_text_thread(document):
            yield from _read_text_thread(document, source.path.name.removesuffix(".json").removesuffix(".zed"))
        else:
            yield from _read_thread(document, {"id": source.path.stem})


def _read_text_thread(document: Json, name: str) -> Iterator[Row]:
    """Yield the turns of a text thread: parts of one text, from byte to byte."""
    metadata: Json = {"title": text_of(document.get("summary"))}
    builder = SessionBuilder(SessionInfo(text_of(document.get("id")) or name, metadata=metadata))
    text = text_of(document.get("text")).encode("utf-8", "replace")
    places = objects_of(document.get("messages"))
    starts = [_start_of(place) or 0 for place in places]
    for place, start, end in zip(places, starts, [*starts[1:], len(text)], strict=True):
        words = text[start:end].decode("utf-8", "replace").strip()
        if mapping_of(place.get("metadata")).get("role") == "assistant":
            builder.add_answer(words, Position(1))
        elif mapping_of(place.get("metadata")).get("role") == "user":
            builder.add_prompt(words, Position(1))
    yield from builder.queue.flush()


def _read_database(database: ForeignDatabase, path: str) -> Iterator[Row]:
    for row in database.rows("threads", COLUMNS, order=("created_at", "updated_at", "id")):
        thread: Json = dict(zip(COLUMNS, row, strict=True))
        document = _document(thread["data"], text_of(thread["data_type"]))
        if isinstance(document, dict):
            yield from _read_thread(document, thread)
        else:
            yield Unreadable(path, 0, f"thread {text_of(thread['id'])}: {document}")


def _document(data: object, data_type: str) -> Json | str:
    raw = data.encode() if isinstance(data, str) else data
    if not isinstance(raw, bytes):
        return "without data"
    try:
        value = parse_json(_decompress(raw) if data_type == "zstd" else raw)
    except ValueError as fault:
        return str(fault)
    if isinstance(value, dict):
        return value
    return f"not JSON: {value.reason}" if isinstance(value, BadJson) else "no object"


def _decompress(raw: bytes) -> bytes:
    """Return zstd data decompressed. Raises ValueError if it is broken, or longer than the longest record."""
    zstd = import_module(ZSTD)
    packed = zstd.ZstdDecompressor()
    try:
        data: bytes = packed.decompress(raw, LONGEST_LINE)
    except zstd.ZstdError as fault:
        raise ValueError(f"not zstd: {fault}") from fault
    if not packed.eof:
        raise ValueError("cut short, or too long")
    return data


def _read_thread(document: Json, thread: Json) -> Iterator[Row]:
    title = text_of(document.get("title")) or text_of(document.get("summary")) or text_of(thread.get("summary"))
    parent = text_of(thread.get("parent_id"))
    times = (thread.get("created_at"), thread.get("updated_at"), document.get("updated_at"))
    started = next((moment for time in times if (moment := iso_utc(time))), None)
    metadata: Json = {"title": title, "parent_conversation_id": parent, "ts_source": "session" if started else ""}
    named, cwd = text_of(thread.get("id")) or None, _folder(thread)
    builder = SessionBuilder(SessionInfo(named, cwd, None, started, metadata))
    builder.model = text_of(mapping_of(document.get("model")).get("model"))
    branch = "sidechain" if parent else "main"
    for message in objects_of(document.get("messages")):
        if "segments" in message:
            at = Position(1, branch=branch)
            segments = objects_of(message.get("segments"))
            text = "\n\n".join(text_of(segment.get("text")) for segment in segments if segment.get("type") == "text")
            if message.get("role") == "user":
                builder.add_prompt(text, at)
            elif message.get("role") == "assistant":
                builder.add_answer(text, at)
            for use in objects_of(message.get("tool_uses")):
                builder.add_call(text_of(use.get("id")), text_of(use.get("name")), use.get("input"))
            for result in objects_of(message.get("tool_results")):
                text = _result_text(result) or text_of(result.get("output"))
                output = ToolResult(text, failed=result.get("is_error") is True)
                builder.add_result(text_of(result.get("tool_use_id")), output, at)
        else:
            _add_message(builder, message, branch)
    yield from builder.flush()


def _folder(thread: Json) -> str | None:
    """Return the first folder of the window, from a JSON list or lines with their places."""
    paths = text_of(thread.get("folder_paths"))
    listed = parse_json(paths)
    if isinstance(listed, list):
        return folder_of(next(iter(listed), None))
    lines, places = paths.split("\n"), text_of(thread.get("folder_paths_order")).split(",")
    return folder_of(dict(zip(places, lines, strict=False)).get("0") or lines[0])


def _add_message(builder: SessionBuilder, message: Json, branch: str) -> None:
    user, agent = mapping_of(message.get("User")), mapping_of(message.get("Agent"))
    at = Position(1, native_id=text_of(user.get("id")), branch=branch)
    parts = objects_of(user.get("content"))
    builder.add_prompt(_prompt_text(parts), at, sum("Image" in part for part in parts))
    answer = objects_of(agent.get("content"))
    builder.add_answer("\n\n".join(text for part in answer if (text := text_of(part.get("Text")))), at)
    results = mapping_of(agent.get("tool_results"))
    for use in (mapping_of(part.get("ToolUse")) for part in answer if "ToolUse" in part):
        call_id = text_of(use.get("id"))
        builder.add_call(call_id, text_of(use.get("name")), use.get("input"))
        result = mapping_of(results.get(call_id))
        builder.add_result(call_id, ToolResult(_result_text(result), failed=result.get("is_error") is True), at)


def _prompt_text(parts: Sequence[Json]) -> str:
    """Return the text of a prompt, in which a mention stands inside a sentence."""
    words, follows_text = "", False
    for part in parts:
        text, mention = text_of(part.get("Text")), _name_of_mention(part)
        if text and follows_text:
            words += "\n\n"
        elif (mention and words[-1:].isalnum()) or (words and text[:1].isalnum()):
            words += " "
        words, follows_text = words + (text or mention), bool(text)
    return words


def _name_of_mention(part: Json) -> str:
    """Return the name of a mentioned file after `@`, without the copy of its contents."""
    uri = mapping_of(part.get("Mention")).get("uri")
    inner = mapping_of(next(iter(mapping_of(uri).values()), None))
    path = text_of(mapping_of(uri).get("File")) or text_of(uri) or text_of(inner.get("abs_path"))
    return f"@{PurePath(path).name}" if path else ""


def _result_text(result: Json) -> str:
    """Return the text of a tool result: one part or, since 2026, a list of parts."""
    content = result.get("content")
    parts = [mapping_of(part) for part in (content if isinstance(content, list) else [content])]
    return "\n".join(text for part in parts if (text := text_of(part.get("Text")))) or text_of_result(content)


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the database of the threads, then the folder of the text threads."""
    data = environment.local_data("zed", "Zed")
    if environment.platform == "darwin":
        data = environment.programs / "Zed"
    elif "FLATPAK_XDG_DATA_HOME" in environment.variables:
        data = environment.folder("FLATPAK_XDG_DATA_HOME", data) / "zed"
    yield data / "threads" / "threads.db"
    yield data / "conversations"


ZED = Format(name="zed", version=7, detect=detect, read=read, program="Zed", locations=locations)
