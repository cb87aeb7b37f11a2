"""What the `llm` tool logged: its database, and what `llm logs` prints of it as JSON and as Markdown.

Each response has its prompt beside it; times are UTC without saying so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.markdown import has_marks_of_its_own
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import (
    Element,
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
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import shortened

# The database in which the `llm` tool logs, as the rows that `llm logs --json` prints of it, the responses of a conversation together.
#
# Three generations: one table of prompts; responses with tables around them; from 0.32 on messages, each with the one before it,
# between two of which each response stands.

EARLY = {
    "id": "id", "model": "model", "prompt": "prompt", "system": "system", "response": "response", "chat_id": "conversation_id",
    "timestamp": "datetime_utc",
}  # fmt: skip
"""Columns of the first generation, and what they are called since."""
RESPONSE = ("id", "model", "resolved_model", "prompt", "system", "response", "conversation_id", "datetime_utc")
TURN = ("id", "model", "resolved_model", "thread_id", "parent_message_hash", "tip_message_hash", "datetime_utc")
MOST_BACK = 100
"""Messages of one response that are looked through."""


def rows_of(database: Database) -> Iterator[Json]:
    """Every response that was logged."""
    for table in ("logs", "log"):
        for early in _rows(database, table, tuple(EARLY), ("id",)):
            yield {EARLY[key]: value for key, value in early.items()}
    yield from _Responses(database).rows()
    yield from _Turns(database).rows()


def _rows(database: Database, table: str, columns: Sequence[str], order: Sequence[str] = ()) -> Iterator[Json]:
    for row in database.rows(table, columns, order=order):
        yield dict(zip(columns, row, strict=True))


class _Responses:
    """The second generation: pieces of the prompt, attachments, calls and results of tools stand in tables of their own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._calls = self._grouped("tool_calls", ("name", "arguments", "tool_call_id"))
        self._results = self._grouped("tool_results", ("name", "output", "tool_call_id", "exception"))
        self._fragments: defaultdict[object, list[object]] = defaultdict(list)
        self._attachments: defaultdict[object, list[object]] = defaultdict(list)
        order = ("response_id", "order")
        for response, fragment in database.rows("prompt_fragments", ("response_id", "fragment_id"), order=order):
            self._fragments[response] += _fragment(database, fragment)
        for response, attachment in database.rows("prompt_attachments", ("response_id", "attachment_id"), order=order):
            self._attachments[response] += _attachment(database, attachment)

    def _grouped(self, table: str, columns: tuple[str, ...]) -> defaultdict[object, list[object]]:
        """The rows of a table by the response that they are of, read once: llm has no index that leads from one to them."""
        found: defaultdict[object, list[object]] = defaultdict(list)
        for response, *row in self._database.rows(table, ("response_id", *columns)):
            found[response].append(dict(zip(columns, row, strict=True)))
        return found

    def rows(self) -> Iterator[Json]:
        """Each with what the tables around it say."""
        names: dict[object, object] = {row[0]: row[1] for row in self._database.rows("conversations", ("id", "name"))}
        for row in _rows(self._database, "responses", RESPONSE, ("conversation_id", "datetime_utc", "id")):
            own = row["id"]
            yield row | {
                "conversation_name": names.get(row["conversation_id"]),
                "prompt_fragments": self._fragments.pop(own, []),
                "attachments": self._attachments.pop(own, []),
                "tool_calls": self._calls.pop(own, []),
                "tool_results": self._results.pop(own, []),
            }


class _Turns:
    """The third generation: a response is asked with the messages down to its parent, and leaves those from there to its tip."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(self) -> Iterator[Json]:
        """Each with its own messages; a system prompt is said with the first."""
        names: dict[object, object] = {row[0]: row[1] for row in self._database.rows("threads", ("id", "name"))}
        for row in _rows(self._database, "turns", TURN, ("thread_id", "datetime_utc", "id")):
            parent = text_of(row["parent_message_hash"])
            asked: defaultdict[str, list[Json]] = defaultdict(list)
            for role, parts in self._back(parent, ""):
                if role == "assistant":
                    break
                asked[role][:0] = parts
            left: list[Json] = []
            for _, parts in self._back(text_of(row["tip_message_hash"]), parent):
                left[:0] = parts
            yield row | {
                "conversation_id": row["thread_id"],
                "conversation_name": names.get(row["thread_id"]),
                "system": _text(asked["system"]),
                "prompt": _text(asked["user"]),
                "prompt_fragments": [piece for part in asked["user"] for piece in self._borrowed(part)],
                "attachments": [kept for part in asked["user"] for kept in self._attached(part)],
                "tool_results": [part for part in asked["tool"] if part["type"] == "tool_result"],
                "response": _text(left),
                "tool_calls": [part for part in left if part["type"] == "tool_call"],
            }

    def _back(self, message: str, before: str) -> Iterator[tuple[str, list[Json]]]:
        """Role and parts of a message and of those it follows, each once, up to one that is left out."""
        seen = {before, ""}
        while message not in seen and len(seen) < MOST_BACK:
            seen.add(message)
            found = self._database.rows("messages", ("parent_hash", "role"), where={"hash": message})
            parent, role = next(found, (None, None))
            kept = self._database.rows(
                "parts", ("type", "text", "payload"), where={"message_hash": message}, order=("position",)
            )
            parts = [
                mapping_of(parse_json(text_of(payload))) | {"type": kind, "text": text} for kind, text, payload in kept
            ]
            yield text_of(role), parts
            message = text_of(parent)

    def _borrowed(self, part: Json) -> Iterator[object]:
        for piece in map(mapping_of, list_of(part.get("text_ref"))):
            if isinstance(fragment := piece.get("fragment"), int):
                yield from _fragment(self._database, fragment)

    def _attached(self, part: Json) -> Iterator[object]:
        if name := text_of(mapping_of(part.get("attachment")).get("id")):
            yield from _attachment(self._database, name)


def _text(parts: list[Json]) -> str:
    """What was typed or said, without the pieces that it borrows."""
    texts = [part for part in parts if part["type"] == "text"]
    return "".join(
        text_of(part["text"])
        or "".join(text_of(mapping_of(piece).get("literal")) for piece in list_of(part.get("text_ref")))
        for part in texts
    )


def _fragment(database: Database, fragment: str | float | bytes | None) -> list[Json]:
    return [{"content": row[0]} for row in database.rows("fragments", ("content",), where={"id": fragment})]


def _attachment(database: Database, attachment: str | float | bytes | None) -> list[Json]:
    return [{"type": row[0]} for row in database.rows("attachments", ("type",), where={"id": attachment})]


# What `llm logs` prints as Markdown, as the rows that it prints as JSON, each with the lines of its sections.

NONE = "-- none --"
SECTIONS = (
    "Prompt", "Prompt fragments", "Options", "System", "System fragments", "Schema", "Tools", "Tool results", "Attachments",
    "Reasoning", "Response", "Tool calls", "Token usage",
)  # fmt: skip
"""In the order in which they are printed: any other heading, and one out of order, belongs to the text."""
REACH = 6
"""Lines after an entry's heading within which its first section stands."""
INDENT = "    "

_ENTRY = re.compile(
    r"# (\d{4}-\d\d-\d\dT[\d:.]{8,20})(?:[ \t]+conversation:[ \t]*(\S+))?(?:[ \t]+id:[ \t]*(\S+))?[ \t]*\Z"
)
_MODEL = re.compile(r"Model: \*\*(.+?)\*\*")
_SECTION = re.compile(r"(?:##|###) ([A-Z][a-z ]++):?[ \t]*\Z")
_TOOL = re.compile(r"- \*\*(.+?)\*\*: `([^`]*)`[ \t]*\Z")
_FENCED = re.compile(r"^(`{3,})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
_ARGUMENT = re.compile(r"^(\w+):(?:\n(`{3,})\n(.*?)\n\2$| `(.*)`$)", re.MULTILINE | re.DOTALL)
_EXCEPTION = re.compile(r"^\*\*Error\*\*: (.*)\Z", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Entry:
    """A response as it was printed."""

    line: int
    time: str
    conversation: str | None
    own_id: str
    model: str = ""
    lines: dict[str, list[str]] = field(default_factory=dict)
    """By section."""
    starts: dict[str, int] = field(default_factory=dict)

    def row(self) -> Json:
        """Under the keys of the tool's JSON; `lines` tells where a text stands."""
        calls, after = _tools(self.lines.get("Tool calls", []))
        results, _ = _tools(self.lines.get("Tool results", []), to_the_end=True)
        return {
            "id": self.own_id,
            "conversation_id": self.conversation,
            "datetime_utc": self.time,
            "model": self.model,
            "system": self._text("System"),
            "prompt": self._text("Prompt"),
            "response": f"{self._text('Response')}\n\n{after}".strip(),
            "tool_calls": [_call(*call) for call in calls],
            "tool_results": [_result(*result) for result in results],
            "lines": {key: self.starts.get(key.title(), self.line) for key in ("system", "prompt", "response")},
        }

    def _text(self, section: str) -> str:
        text = "\n".join(self.lines.get(section, [])).strip()
        return "" if text == NONE else text


def _tools(lines: Sequence[str], *, to_the_end: bool = False) -> tuple[list[tuple[str, str, str]], str]:
    """Name, id and text of each tool of a list, and what stands below the list: of results the list is all there is."""
    tools: list[tuple[str, str, list[str]]] = []
    for place, line in enumerate(lines):
        if found := _TOOL.match(line):
            tools.append((found[1], found[2], []))
        elif tools and (to_the_end or not line.strip() or line.startswith(INDENT)):
            tools[-1][2].append(line)
        elif line.strip():
            return _dedented(tools), "\n".join(lines[place:]).strip()
    return _dedented(tools), ""


def _dedented(tools: list[tuple[str, str, list[str]]]) -> list[tuple[str, str, str]]:
    return [
        (name, own_id, "\n".join(line.removeprefix(INDENT) for line in body).strip()) for name, own_id, body in tools
    ]


def _call(name: str, own_id: str, text: str) -> Json:
    given = {key: fenced or inline for key, _, fenced, inline in _ARGUMENT.findall(text)}
    return {"name": name, "tool_call_id": own_id, "arguments": given}


def _result(name: str, own_id: str, text: str) -> Json:
    output, fault = _FENCED.search(text), _EXCEPTION.search(text)
    return {
        "name": name,
        "tool_call_id": own_id,
        "output": output[2].strip() if output else "",
        "exception": fault[1].strip() if fault else None,
    }


def entries(text: str) -> Iterator[Entry]:
    """Every response; in a conversation only the first one says which it is, and which model answers."""
    lines = text.split("\n")
    entry: Entry | None = None
    section = ""
    for place, line in enumerate(lines):
        if (found := _ENTRY.match(line)) and _opens(lines, place):
            if entry:
                yield entry
            conversation = found[2] or (entry.conversation if entry else None)
            entry = Entry(place + 1, found[1], conversation, found[3] or "", entry.model if entry else "")
            section = ""
        elif entry is not None and (name := _section(line, section)):
            section = name
            entry.starts[section], entry.lines[section] = place + 1, []
        elif entry is not None and section:
            entry.lines[section].append(line)
        elif entry is not None and (model := _MODEL.match(line)):
            entry.model = model[1]
    if entry:
        yield entry


def _opens(lines: list[str], place: int) -> bool:
    """Whether a heading with a time is an entry's: its first section follows."""
    return any(_section(line, "") == "Prompt" for line in lines[place + 1 : place + REACH])


def _section(line: str, current: str) -> str:
    """The section that the line opens, if it may follow the current one."""
    found = _SECTION.match(line)
    if found is None or found[1] not in SECTIONS:
        return ""
    return found[1] if not current or SECTIONS.index(found[1]) > SECTIONS.index(current) else ""


FORMAT = "llm-logs"
VERSION = 4

ROW = frozenset({"prompt", "response", "model"})
LineOf = Callable[[str], int]
"""The line of what stands in a row under a key."""


def recognise(source: SourceFile) -> bool:
    """Whether it is the tool's database or one of its two ways to print it."""
    if source.shape == "sqlite":
        return source.tables.get("responses", frozenset()) >= ROW | {"conversation_id"} or _is_early(source)
    if source.shape == "jsonl":
        return any(_is_row(record) for record in source.sample)
    if source.shape == "json":
        return any(_is_row(item) for item in list_of(source.outline))
    return source.shape == "markdown" and has_marks_of_its_own(source.head) and bool(list(entries(source.head)))


def _is_early(source: SourceFile) -> bool:
    return source.tables.get("logs", source.tables.get("log", frozenset())) >= ROW


def _is_row(value: object) -> bool:
    fields = mapping_of(value)
    return fields.keys() >= ROW and "datetime_utc" in fields


def read(source: SourceFile) -> Iterator[Turn | Unreadable]:
    """A prompt and its answer for each response, in the order in which they were logged, in the database by conversation."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
        return
    told = _Told()
    if source.shape == "markdown":
        for row in (entry.row() for entry in entries(source.text)):
            lines = mapping_of(row["lines"])
            yield from told.turns(row, lambda key, lines=lines: lines[key])  # type: ignore[misc] # numbers, as `row` made them
    else:
        for item in source.records() if source.shape == "jsonl" else source.elements():
            if isinstance(item, Unreadable):
                yield item
            elif _is_row(item.value):
                yield from told.turns(mapping_of(item.value), _line_of(item))
            else:
                yield Unreadable(str(source.path), item.line, "no response of llm")
    yield from told.flush()


def _from_database(database: Database) -> Iterator[Turn]:
    told = _Told()
    for row in rows_of(database):
        yield from told.turns(row, lambda _: 1)
    yield from told.flush()


def _line_of(item: Record | Element) -> LineOf:
    places, row = Places(item.text if isinstance(item, Element) else "", item.line), mapping_of(item.value)
    return lambda key: places.line(text_of(row.get(key)))


class _Told:
    """The turns of the conversation that was told last."""

    def __init__(self) -> None:
        self._telling = SessionBuilder(SessionInfo())
        self._systems: set[tuple[str | None, str]] = set()
        """System prompts of conversations: each response repeats them."""

    def flush(self) -> Iterator[Turn]:
        """What a further response could have added to."""
        yield from self._telling.queue.flush()

    def turns(self, row: Json, line_of: LineOf) -> Iterator[Turn]:
        """The results of tools that were sent with the prompt, the prompt, the answer and its calls; a system prompt once."""
        conversation = text_of(row.get("conversation_id")) or text_of(row.get("id")) or None
        if conversation != self._telling.info.conversation_id:
            yield from self.flush()
            self._telling = SessionBuilder(
                SessionInfo(conversation, metadata={"title": text_of(row.get("conversation_name"))})
            )
        builder, own_id = self._telling, text_of(row.get("id"))

        def at(key: str) -> Position:
            return Position(line_of(key), row.get("datetime_utc"), own_id)

        system = text_of(row.get("system"))
        if system and (conversation, system) not in self._systems:
            self._systems.add((conversation, system))
            builder.add_turn("system", "prompt", system, at("system"))
        self._results(row)
        attached = [mapping_of(item) for item in list_of(row.get("attachments"))]
        pieces = [text_of(mapping_of(item).get("content")) for item in list_of(row.get("prompt_fragments"))]
        words = "\n\n".join([text_of(row.get("prompt")), *(shortened(piece) for piece in pieces)]).strip()
        builder.add_prompt(words, at("prompt"), sum(text_of(item.get("type")).startswith("image") for item in attached))
        model = text_of(row.get("resolved_model")) or text_of(row.get("model"))
        builder.add_answer(text_of(row.get("response")), at("response"), model)
        for call in map(mapping_of, list_of(row.get("tool_calls"))):
            builder.add_call(
                text_of(call.get("tool_call_id")), text_of(call.get("name")) or "tool", call.get("arguments")
            )
        yield from builder.queue.pop_complete(0)

    def _results(self, row: Json) -> None:
        for result in map(mapping_of, list_of(row.get("tool_results"))):
            call_id, fault = text_of(result.get("tool_call_id")), text_of(result.get("exception"))
            if not self._telling.awaits_result(call_id):
                self._telling.add_call(call_id, text_of(result.get("name")) or "tool", None)
            output = ToolResult(text_of(result.get("output")) or fault, failed=bool(fault))
            self._telling.add_result(call_id, output, Position(1, row.get("datetime_utc")))


def locations(environment: Environment) -> Iterator[Path]:
    yield environment.folder("LLM_USER_PATH", environment.programs / "io.datasette.llm") / "logs.db"


LLM_LOGS = Format(
    name="llm-logs",
    version=4,
    detect=confident(recognise, 90),
    read=read,
    program="llm",
    locations=locations,
)
