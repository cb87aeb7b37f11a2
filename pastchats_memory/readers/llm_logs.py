"""What the `llm` tool logged: its database, and what `llm logs` prints of it as JSON and as Markdown.

Each response has its prompt beside it; times are UTC without saying so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pastchats_memory.foreign import Database
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.llm_printed import entries
from pastchats_memory.readers.llm_store import rows_of
from pastchats_memory.readers.markdown import has_marks_of_its_own
from pastchats_memory.readers.places import Places
from pastchats_memory.readers.source import Element, Record, Source
from pastchats_memory.readers.telling import About, At, Telling
from pastchats_memory.readers.text import shortened
from pastchats_memory.readers.traffic import Output

FORMAT = "llm-logs"
VERSION = 4

ROW = frozenset({"prompt", "response", "model"})
LineOf = Callable[[str], int]
"""The line of what stands in a row under a key."""


def recognise(source: Source) -> bool:
    """Whether it is the tool's database or one of its two ways to print it."""
    if source.shape == "sqlite":
        return source.tables.get("responses", frozenset()) >= ROW | {"conversation_id"} or _is_early(source)
    if source.shape == "jsonl":
        return any(_is_row(record) for record in source.sample)
    if source.shape == "json":
        return any(_is_row(item) for item in list_of(source.outline))
    return source.shape == "markdown" and has_marks_of_its_own(source.head) and bool(list(entries(source.head)))


def _is_early(source: Source) -> bool:
    return source.tables.get("logs", source.tables.get("log", frozenset())) >= ROW


def _is_row(value: object) -> bool:
    fields = mapping_of(value)
    return fields.keys() >= ROW and "datetime_utc" in fields


def read(source: Source) -> Iterator[Turn | Unreadable]:
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
    yield from told.rest()


def _from_database(database: Database) -> Iterator[Turn]:
    told = _Told()
    for row in rows_of(database):
        yield from told.turns(row, lambda _: 1)
    yield from told.rest()


def _line_of(item: Record | Element) -> LineOf:
    places, row = Places(item.text if isinstance(item, Element) else "", item.line), mapping_of(item.value)
    return lambda key: places.line(text_of(row.get(key)))


class _Told:
    """The turns of the conversation that was told last."""

    def __init__(self) -> None:
        self._telling = Telling(About())
        self._systems: set[tuple[str | None, str]] = set()
        """System prompts of conversations: each response repeats them."""

    def rest(self) -> Iterator[Turn]:
        """What a further response could have added to."""
        yield from self._telling.drafts.rest()

    def turns(self, row: Json, line_of: LineOf) -> Iterator[Turn]:
        """The results of tools that were sent with the prompt, the prompt, the answer and its calls; a system prompt once."""
        conversation = text_of(row.get("conversation_id")) or text_of(row.get("id")) or None
        if conversation != self._telling.about.conversation_id:
            yield from self.rest()
            self._telling = Telling(About(conversation, metadata={"title": text_of(row.get("conversation_name"))}))
        telling, own_id = self._telling, text_of(row.get("id"))

        def at(key: str) -> At:
            return At(line_of(key), row.get("datetime_utc"), own_id)

        system = text_of(row.get("system"))
        if system and (conversation, system) not in self._systems:
            self._systems.add((conversation, system))
            telling.say("system", "prompt", system, at("system"))
        self._results(row)
        attached = [mapping_of(item) for item in list_of(row.get("attachments"))]
        pieces = [text_of(mapping_of(item).get("content")) for item in list_of(row.get("prompt_fragments"))]
        words = "\n\n".join([text_of(row.get("prompt")), *(shortened(piece) for piece in pieces)]).strip()
        telling.prompt(words, at("prompt"), sum(text_of(item.get("type")).startswith("image") for item in attached))
        model = text_of(row.get("resolved_model")) or text_of(row.get("model"))
        telling.answer(text_of(row.get("response")), at("response"), model)
        for call in map(mapping_of, list_of(row.get("tool_calls"))):
            telling.call(text_of(call.get("tool_call_id")), text_of(call.get("name")) or "tool", call.get("arguments"))
        yield from telling.drafts.ready(0)

    def _results(self, row: Json) -> None:
        for result in map(mapping_of, list_of(row.get("tool_results"))):
            call_id, fault = text_of(result.get("tool_call_id")), text_of(result.get("exception"))
            if not self._telling.awaits(call_id):
                self._telling.call(call_id, text_of(result.get("name")) or "tool", None)
            output = Output(text_of(result.get("output")) or fault, failed=bool(fault))
            self._telling.result(call_id, output, At(1, row.get("datetime_utc")))
