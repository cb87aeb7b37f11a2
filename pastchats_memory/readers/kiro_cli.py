"""Sessions of Kiro CLI's second version to turns: prompts, answers and what tools answered, a record `{version, kind, data}` a line.

Beside a session lies `<id>.json`, which tells the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.readers.beside import field_beside
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.source import Record, Source
from pastchats_memory.readers.telling import About, At, Row, Telling, told
from pastchats_memory.readers.traffic import Output

FORMAT = "kiro-cli"
VERSION = 3

SESSIONS = ".kiro/sessions/cli"
KINDS = ("Prompt", "AssistantMessage", "ToolResults")
_EXIT = re.compile(r"\d{1,9}\Z")
_COMMAND = re.compile(r"/\w{1,40}\b")


def recognise(source: Source) -> bool:
    """Whether any of the first records is of such a kind and holds blocks."""
    return any(record.get("kind") in KINDS and _blocks(record) for record in source.sample)


def _blocks(record: Json) -> list[Json]:
    """The parts of a message: `{kind, data}`."""
    blocks = map(mapping_of, list_of(mapping_of(record.get("data")).get("content")))
    return [block for block in blocks if isinstance(block.get("kind"), str)]


def read(source: Source) -> Iterator[Row]:
    """The turns in file order; lines that are no records."""
    path = source.path
    telling = Telling(About(path.stem, field_beside(path.with_suffix(".json"), "cwd") or None))
    yield from told(source, telling, lambda item: _take(telling, item))


def _take(telling: Telling, item: Record) -> str | None:
    """Add what the record says; the reason why it says nothing that can be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of a record"
    data, blocks = mapping_of(record.get("data")), _blocks(record)
    at = At(item.line, mapping_of(data.get("meta")).get("timestamp"), text_of(data.get("message_id")))
    text = "\n\n".join(text for block in blocks if block["kind"] == "text" and (text := text_of(block.get("data"))))
    match record.get("kind"):
        case "Prompt":
            pictures = sum(block["kind"] == "image" for block in blocks)
            telling.prompt(text, at, pictures, kind="command" if _COMMAND.match(text) else "prompt")
        case "AssistantMessage":
            telling.answer(text, at)
    for block in blocks:
        inner = mapping_of(block.get("data"))
        match block["kind"]:
            case "toolUse":
                telling.call(text_of(inner.get("toolUseId")), text_of(inner.get("name")), inner.get("input"))
            case "toolResult":
                telling.result(text_of(inner.get("toolUseId")), _output(inner), at)
    return None


def _output(result: Json) -> Output:
    """What a tool answered: text, or what a command printed and how it ended."""
    texts: list[str] = []
    code: int | None = None
    for part in map(mapping_of, list_of(result.get("content"))):
        printed = mapping_of(part.get("data"))
        texts += [text_of(printed.get(key)) for key in ("stdout", "stderr")] if printed else [text_of(part.get("data"))]
        found = _EXIT.search(text_of(printed.get("exit_status")))
        code = int(found[0]) if found else code
    return Output("\n".join(filter(None, texts)), code, failed=result.get("status") == "error" or bool(code))
