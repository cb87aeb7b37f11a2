"""Logs of the `llm` tool: its database, and what `llm logs` prints of it as JSON and as Markdown.

Each response has its prompt beside it. Times are UTC without an offset.
"""

from collections.abc import Callable, Iterator

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.format import CERTAIN, Format, confident
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import Element, Places, Record, SourceFile
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.formats.exports.llm.database import read_rows
from pastchats_memory.formats.exports.llm.printed import is_printed_log, parse_entries
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.truncate import truncate_middle

ROW = frozenset({"prompt", "response", "model"})
LineOf = Callable[[str], int]
"""Return the line of the value under a key of a row."""


def matches(source: SourceFile) -> bool:
    """Return whether a file is the tool's database, or one of its two printed forms."""
    if source.shape == "sqlite":
        early = source.tables.get("logs", source.tables.get("log", frozenset()))
        return early >= ROW or source.tables.get("responses", frozenset()) >= ROW | {"conversation_id"}
    if source.shape == "jsonl":
        return any(_is_row(record) for record in source.sample)
    if source.shape == "json":
        return any(_is_row(item) for item in list_of(source.outline))
    return source.shape == "markdown" and is_printed_log(source.head)


def _is_row(value: object) -> bool:
    fields = mapping_of(value)
    return fields.keys() >= ROW and "datetime_utc" in fields


def read(source: SourceFile) -> Iterator[Turn | Unreadable]:
    """Yield a prompt and its answer for each response, in logged order; from a database grouped by conversation."""
    if source.shape == "sqlite":
        yield from source.from_database(_read_database)
        return
    conversations = _Conversations()
    if source.shape == "markdown":
        for row in (entry.row() for entry in parse_entries(source.text)):
            lines = mapping_of(row["lines"])
            yield from conversations.turns(row, lambda key, lines=lines: lines[key])  # type: ignore[misc] # numbers, as `row` made them
    else:
        for item in source.records() if source.shape == "jsonl" else source.elements():
            if isinstance(item, Unreadable):
                yield item
            elif _is_row(item.value):
                yield from conversations.turns(mapping_of(item.value), _line_of(item))
            else:
                yield Unreadable(str(source.path), item.line, "no response of llm")
    yield from conversations.flush()


def _read_database(database: ForeignDatabase) -> Iterator[Turn]:
    conversations = _Conversations()
    for row in read_rows(database):
        yield from conversations.turns(row, lambda _: 1)
    yield from conversations.flush()


def _line_of(item: Record | Element) -> LineOf:
    places, row = Places(item.text if isinstance(item, Element) else "", item.line), mapping_of(item.value)
    return lambda key: places.line(text_of(row.get(key)))


class _Conversations:
    def __init__(self) -> None:
        self._builder = SessionBuilder(SessionInfo())
        self._systems: set[tuple[str | None, str]] = set()
        """System prompts that were added: each response repeats them."""

    def flush(self) -> Iterator[Turn]:
        """Yield the turns to which another response could have added."""
        yield from self._builder.queue.flush()

    def turns(self, row: Json, line_of: LineOf) -> Iterator[Turn]:
        """Yield the turns of a response: a new system prompt, tool results, the prompt, the answer with its calls."""
        conversation = text_of(row.get("conversation_id")) or text_of(row.get("id")) or None
        if conversation != self._builder.info.conversation_id:
            yield from self.flush()
            info = SessionInfo(conversation, metadata={"title": text_of(row.get("conversation_name"))})
            self._builder = SessionBuilder(info)
        builder, own_id = self._builder, text_of(row.get("id"))

        def at(key: str) -> Position:
            return Position(line_of(key), row.get("datetime_utc"), own_id)

        system = text_of(row.get("system"))
        if system and (conversation, system) not in self._systems:
            self._systems.add((conversation, system))
            builder.add_turn("system", "prompt", system, at("system"))
        self._results(row)
        attached = objects_of(row.get("attachments"))
        pieces = [text_of(mapping_of(item).get("content")) for item in list_of(row.get("prompt_fragments"))]
        words = "\n\n".join([text_of(row.get("prompt")), *(truncate_middle(piece) for piece in pieces)]).strip()
        builder.add_prompt(words, at("prompt"), sum(text_of(item.get("type")).startswith("image") for item in attached))
        model = text_of(row.get("resolved_model")) or text_of(row.get("model"))
        builder.add_answer(text_of(row.get("response")), at("response"), model)
        for call in objects_of(row.get("tool_calls")):
            name = text_of(call.get("name")) or "tool"
            builder.add_call(text_of(call.get("tool_call_id")), name, call.get("arguments"))
        yield from builder.queue.pop_complete(0)

    def _results(self, row: Json) -> None:
        for result in objects_of(row.get("tool_results")):
            call_id, fault = text_of(result.get("tool_call_id")), text_of(result.get("exception"))
            if not self._builder.awaits_result(call_id):
                self._builder.add_call(call_id, text_of(result.get("name")) or "tool", None)
            output = ToolResult(text_of(result.get("output")) or fault, failed=bool(fault))
            self._builder.add_result(call_id, output, Position(1, row.get("datetime_utc")))


LLM_LOGS = Format("llm-logs", 4, confident(matches, CERTAIN), read, service="llm", program="llm")
