"""What the `llm` tool logged: its database, and what `llm logs` prints of it as JSON and as Markdown.

Each response has its prompt beside it; times are UTC without saying so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from pastchats_memory.foreign import Database
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.markdown import has_marks_of_its_own
from pastchats_memory.readers.places import Places
from pastchats_memory.readers.source import Element, Record, Source, parse_json
from pastchats_memory.readers.telling import About, At, Telling
from pastchats_memory.readers.text import shortened
from pastchats_memory.readers.traffic import Output

FORMAT = "llm-logs"
VERSION = 2

ROW = frozenset({"prompt", "response", "model"})
COLUMNS = ("id", "model", "prompt", "system", "response", "conversation_id", "datetime_utc", "resolved_model")
NODES = ("input_node_id", "output_node_id")
"""Where the chains of messages end that a response was asked with and that it left, in the tables of the latest versions."""
MOST_BACK = 100
"""Messages of one response that are looked through for calls of tools and their results."""
EARLY_COLUMNS = ("id", "model", "prompt", "system", "response", "chat_id", "timestamp")
NONE = "-- none --"

_ENTRY = re.compile(
    r"# (\d{4}-\d\d-\d\dT[\d:.]{8,20})(?:[ \t]+conversation:[ \t]*(\S+))?(?:[ \t]+id:[ \t]*(\S+))?[ \t]*\Z"
)
_MODEL = re.compile(r"Model: \*\*(.+?)\*\*")
_SECTION = re.compile(r"(?:##|###) ([A-Z][a-z ]++):?[ \t]*\Z")
SECTIONS = (
    "Prompt", "Prompt fragments", "Options", "System", "System fragments", "Schema", "Tools", "Tool results", "Attachments",
    "Reasoning", "Response", "Tool calls", "Token usage",
)  # fmt: skip
"""In the order in which they are printed: any other heading, and one out of order, belongs to the text."""
REACH = 6
"""Lines after an entry's heading within which its first section stands."""


def recognise(source: Source) -> bool:
    """Whether it is the tool's database or one of its two ways to print it."""
    if source.shape == "sqlite":
        own = ROW | {"conversation_id"}
        return any(source.tables.get(name, frozenset()) >= own for name in ("responses", "turns")) or _is_early(source)
    if source.shape == "jsonl":
        return any(_is_row(record) for record in source.sample)
    if source.shape == "json":
        return any(_is_row(item) for item in list_of(source.outline))
    return source.shape == "markdown" and has_marks_of_its_own(source.head) and bool(list(_entries(source.head)))


def _is_early(source: Source) -> bool:
    return source.tables.get("logs", source.tables.get("log", frozenset())) >= ROW


def _is_row(value: object) -> bool:
    fields = mapping_of(value)
    return fields.keys() >= ROW and "datetime_utc" in fields


def read(source: Source) -> Iterator[Turn | Unreadable]:
    """A prompt and its answer for each response, in the order in which they were logged."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
    elif source.shape == "markdown":
        for entry in _entries(source.text):
            yield from entry.turns()
    else:
        told = _Told()
        for item in source.records() if source.shape == "jsonl" else source.elements():
            if isinstance(item, Unreadable):
                yield item
            elif _is_row(item.value):
                yield from _turns(mapping_of(item.value), _places(item), told)
            else:
                yield Unreadable(str(source.path), item.line, "no response of llm")


def _places(item: Record | Element) -> Places:
    return Places(item.text if isinstance(item, Element) else "", item.line)


def _from_database(database: Database) -> Iterator[Turn]:
    names = {row[0]: row[1] for row in database.rows("conversations", ("id", "name"))}
    beside = _Beside(database)
    told = _Told()
    for row in database.rows("responses", COLUMNS, order=("datetime_utc", "id")):
        fields: Json = dict(zip(COLUMNS, row, strict=True))
        title = names.get(row[5])
        yield from _turns(fields | {"conversation_name": title} | beside.of(fields["id"]), Places(""), told)
    for row in database.rows("turns", COLUMNS + NODES, order=("datetime_utc", "id")):
        fields = dict(zip(COLUMNS + NODES, row, strict=True))
        title = names.get(row[5])
        yield from _turns(fields | {"conversation_name": title} | beside.of_turn(fields), Places(""), told)
    for table in ("logs", "log"):
        for row in database.rows(table, EARLY_COLUMNS, order=("id",)):
            fields = dict(zip((*COLUMNS[:5], "conversation_id", "datetime_utc"), row, strict=True))
            yield from _turns(fields, Places(""), told)


class _Beside:
    """What other tables say of a response: pieces of the prompt, attachments, calls and results of tools."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._fragments: defaultdict[object, list[object]] = defaultdict(list)
        self._attachments: defaultdict[object, list[object]] = defaultdict(list)
        self._calls = self._grouped("tool_calls", ("name", "arguments", "tool_call_id"))
        self._results = self._grouped("tool_results", ("name", "output", "tool_call_id", "exception"))
        self._note("prompt_fragments", "prompt_attachments", "response_id")
        self._note("turn_fragments", "turn_attachments", "turn_id")

    def _grouped(self, table: str, columns: tuple[str, ...]) -> defaultdict[object, list[object]]:
        """The rows of a table by the response that they are of, read once: llm has no index that leads from one to them."""
        found: defaultdict[object, list[object]] = defaultdict(list)
        for response, *row in self._database.rows(table, ("response_id", *columns)):
            found[response].append(dict(zip(columns, row, strict=True)))
        return found

    def _note(self, fragments: str, attachments: str, key: str) -> None:
        rows, order = self._database.rows, (key, "order")
        for response, fragment, kind in rows(fragments, (key, "fragment_id", "fragment_type"), order=order):
            for content, source in rows("fragments", ("content", "source"), where={"id": fragment}):
                if kind != "system":
                    self._fragments[response].append({"content": content, "source": source})
        for response, attachment in rows(attachments, (key, "attachment_id"), order=order):
            for sort, path, url in rows("attachments", ("type", "path", "url"), where={"id": attachment}):
                self._attachments[response].append({"type": sort, "path": path, "url": url})

    def of_turn(self, turn: Json) -> Json:
        """The same of a response whose messages are kept one by one, each with the one before it."""
        asked, left = text_of(turn.get("input_node_id")), text_of(turn.get("output_node_id"))
        answered: list[Json] = []
        for role, parts in self._back(asked, ""):
            if role == "assistant":
                break
            answered = [part for part in parts if part.get("type") == "tool_result"] + answered
        return {
            "prompt_fragments": self._fragments.pop(turn["id"], []),
            "attachments": self._attachments.pop(turn["id"], []),
            "tool_calls": [
                part
                for _, parts in reversed(list(self._back(left, asked)))
                for part in parts
                if part.get("type") == "tool_call"
            ],
            "tool_results": answered,
        }

    def _back(self, node: str, before: str) -> Iterator[tuple[object, list[Json]]]:
        """Role and parts of the message at a node and of those it follows, each once, up to one that is left out."""
        seen = {before, ""}
        while node not in seen and len(seen) < MOST_BACK:
            seen.add(node)
            found = self._database.rows("message_nodes", ("parent_id", "message_id"), where={"id": node})
            parent, message = next(found, (None, None))
            for role, parts in self._database.rows("messages", ("role", "parts"), where={"id": message}):
                yield role, [mapping_of(part) for part in list_of(parse_json(text_of(parts)))]
            node = text_of(parent)

    def of(self, response: object) -> Json:
        """The same keys as the JSON that the tool prints."""
        return {
            "prompt_fragments": self._fragments.pop(response, []),
            "attachments": self._attachments.pop(response, []),
            "tool_calls": self._calls.pop(response, []),
            "tool_results": self._results.pop(response, []),
        }


@dataclass(slots=True)
class _Told:
    """What earlier responses said that later ones lean on."""

    systems: set[tuple[str | None, str]] = field(default_factory=set)
    """System prompts of conversations: each response repeats them."""
    arguments: Json = field(default_factory=dict)
    """By call of a tool: its result comes with the next response."""


def _turns(row: Json, places: Places, told: _Told) -> Iterator[Turn]:
    """The results of tools that were sent with the prompt, the prompt, the calls and the answer; a system prompt once."""
    conversation = text_of(row.get("conversation_id")) or text_of(row.get("id")) or None
    telling = Telling(About(conversation, metadata={"title": text_of(row.get("conversation_name"))}))
    prompt, answer, own_id = (text_of(row.get(key)) for key in ("prompt", "response", "id"))

    def at(text: str) -> At:
        return At(places.line(text), row.get("datetime_utc"), own_id)

    system = text_of(row.get("system"))
    if system and (conversation, system) not in told.systems:
        told.systems.add((conversation, system))
        telling.say("system", "prompt", system, at(system))
    for result in map(mapping_of, list_of(row.get("tool_results"))):
        call_id, fault = text_of(result.get("tool_call_id")), text_of(result.get("exception"))
        telling.call(call_id, text_of(result.get("name")) or "tool", told.arguments.pop(call_id, None))
        telling.result(
            call_id, Output(text_of(result.get("output")) or fault, failed=bool(fault)), At(1, row.get("datetime_utc"))
        )
    attached = [mapping_of(item) for item in list_of(row.get("attachments"))]
    pieces = [text_of(mapping_of(item).get("content")) for item in list_of(row.get("prompt_fragments"))]
    words = "\n\n".join([prompt, *(shortened(piece) for piece in pieces)]).strip()
    telling.prompt(words, at(prompt), sum(text_of(item.get("type")).startswith("image") for item in attached))
    for call in map(mapping_of, list_of(row.get("tool_calls"))):
        call_id, arguments = text_of(call.get("tool_call_id")), call.get("arguments")
        telling.call(call_id, text_of(call.get("name")) or "tool", arguments)
        told.arguments[call_id] = arguments
    telling.answer(answer, at(answer), text_of(row.get("resolved_model")) or text_of(row.get("model")))
    yield from telling.drafts.rest()


@dataclass(slots=True)
class _Entry:
    """A response as `llm logs` prints it."""

    line: int
    time: str
    conversation: str | None
    own_id: str
    model: str = ""
    lines: dict[str, list[str]] = field(default_factory=dict)
    """By section."""
    starts: dict[str, int] = field(default_factory=dict)

    def turns(self) -> Iterator[Turn]:
        """System prompt, prompt and answer, each on the line of its section."""
        telling = Telling(About(self.conversation))
        telling.model = self.model
        telling.say("system", "prompt", self._text("System"), self._at("System"))
        telling.prompt(self._text("Prompt"), self._at("Prompt"))
        telling.answer(self._text("Response"), self._at("Response"))
        yield from telling.drafts.rest()

    def _at(self, section: str) -> At:
        return At(self.starts.get(section, self.line), self.time, self.own_id)

    def _text(self, section: str) -> str:
        text = "\n".join(self.lines.get(section, [])).strip()
        return "" if text == NONE else text


def _entries(text: str) -> Iterator[_Entry]:
    """Every response; in a conversation only the first one says which it is, and which model answers."""
    lines = text.split("\n")
    entry: _Entry | None = None
    section = ""
    for place, line in enumerate(lines):
        if (found := _ENTRY.match(line)) and _opens(lines, place):
            if entry:
                yield entry
            conversation = found[2] or (entry.conversation if entry else None)
            entry = _Entry(place + 1, found[1], conversation, found[3] or "", entry.model if entry else "")
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
