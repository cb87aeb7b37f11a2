"""Read the database of the `llm` tool as the rows that `llm logs --json` prints, grouped by conversation.

Three generations exist: one table of prompts; responses with tables around them; from 0.32 on messages, each with the one
before it, where a response stands between two of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, parse_json, text_of

EARLY = {
    "id": "id", "model": "model", "prompt": "prompt", "system": "system", "response": "response", "chat_id": "conversation_id",
    "timestamp": "datetime_utc",
}  # fmt: skip
"""Columns of the first generation, with their later names."""
RESPONSE = ("id", "model", "resolved_model", "prompt", "system", "response", "conversation_id", "datetime_utc")
TURN = ("id", "model", "resolved_model", "thread_id", "parent_message_hash", "tip_message_hash", "datetime_utc")
MOST_BACK = 100
"""The most messages of one response that are followed."""


def read_rows(database: ForeignDatabase) -> Iterator[Json]:
    """Yield each response."""
    for table in ("logs", "log"):
        for early in _read_table(database, table, tuple(EARLY), ("id",)):
            yield {EARLY[key]: value for key, value in early.items()}
    yield from _Responses(database).rows()
    yield from _Turns(database).rows()


def _read_table(
    database: ForeignDatabase, table: str, columns: Sequence[str], order: Sequence[str] = ()
) -> Iterator[Json]:
    return (dict(zip(columns, row, strict=True)) for row in database.rows(table, columns, order=order))


class _Responses:
    """The second generation: fragments, attachments, tool calls and results have tables of their own."""

    def __init__(self, database: ForeignDatabase) -> None:
        self._database = database
        self._calls = self._grouped("tool_calls", ("name", "arguments", "tool_call_id"))
        self._results = self._grouped("tool_results", ("name", "output", "tool_call_id", "exception"))
        self._fragments: defaultdict[object, list[object]] = defaultdict(list)
        self._attachments: defaultdict[object, list[object]] = defaultdict(list)
        order = ("response_id", "order")
        for response, fragment in database.rows("prompt_fragments", ("response_id", "fragment_id"), order=order):
            self._fragments[response] += _read_fragment(database, fragment)
        for response, attachment in database.rows("prompt_attachments", ("response_id", "attachment_id"), order=order):
            self._attachments[response] += _read_attachment(database, attachment)

    def _grouped(self, table: str, columns: tuple[str, ...]) -> defaultdict[object, list[object]]:
        """Return the rows of a table by response id, read at once since llm has no index by response."""
        found: defaultdict[object, list[object]] = defaultdict(list)
        for response, *row in self._database.rows(table, ("response_id", *columns)):
            found[response].append(dict(zip(columns, row, strict=True)))
        return found

    def rows(self) -> Iterator[Json]:
        """Yield each response with the rows of the tables around it."""
        names: dict[object, object] = {row[0]: row[1] for row in self._database.rows("conversations", ("id", "name"))}
        for row in _read_table(self._database, "responses", RESPONSE, ("conversation_id", "datetime_utc", "id")):
            own = row["id"]
            yield row | {
                "conversation_name": names.get(row["conversation_id"]),
                "prompt_fragments": self._fragments.pop(own, []),
                "attachments": self._attachments.pop(own, []),
                "tool_calls": self._calls.pop(own, []),
                "tool_results": self._results.pop(own, []),
            }


class _Turns:
    """The third generation: a response gets the messages down to its parent, and adds those down to its tip."""

    def __init__(self, database: ForeignDatabase) -> None:
        self._database = database

    def rows(self) -> Iterator[Json]:
        """Yield each response with its messages; a system prompt comes with the first one."""
        names: dict[object, object] = {row[0]: row[1] for row in self._database.rows("threads", ("id", "name"))}
        for row in _read_table(self._database, "turns", TURN, ("thread_id", "datetime_utc", "id")):
            parent = text_of(row["parent_message_hash"])
            prompt_parts: defaultdict[str, list[Json]] = defaultdict(list)
            for role, parts in self._back(parent, ""):
                if role == "assistant":
                    break
                prompt_parts[role][:0] = parts
            left: list[Json] = []
            for _, parts in self._back(text_of(row["tip_message_hash"]), parent):
                left[:0] = parts
            yield row | {
                "conversation_id": row["thread_id"],
                "conversation_name": names.get(row["thread_id"]),
                "system": _text_of_parts(prompt_parts["system"]),
                "prompt": _text_of_parts(prompt_parts["user"]),
                "prompt_fragments": [piece for part in prompt_parts["user"] for piece in self._borrowed(part)],
                "attachments": [attachment for part in prompt_parts["user"] for attachment in self._attached(part)],
                "tool_results": [part for part in prompt_parts["tool"] if part["type"] == "tool_result"],
                "response": _text_of_parts(left),
                "tool_calls": [part for part in left if part["type"] == "tool_call"],
            }

    def _back(self, message: str, before: str) -> Iterator[tuple[str, list[Json]]]:
        """Yield role and parts of a message and of those before it, each once, up to an excluded one."""
        seen = {before, ""}
        while message not in seen and len(seen) < MOST_BACK:
            seen.add(message)
            found = self._database.rows("messages", ("parent_hash", "role"), where={"hash": message})
            parent, role = next(found, (None, None))
            columns = ("type", "text", "payload")
            rows = self._database.rows("parts", columns, where={"message_hash": message}, order=("position",))
            parts = [mapping_of(parse_json(text_of(data))) | {"type": kind, "text": text} for kind, text, data in rows]
            yield text_of(role), parts
            message = text_of(parent)

    def _borrowed(self, part: Json) -> Iterator[object]:
        named = (piece.get("fragment") for piece in objects_of(part.get("text_ref")))
        return (row for name in named if isinstance(name, int) for row in _read_fragment(self._database, name))

    def _attached(self, part: Json) -> Iterator[object]:
        if name := text_of(mapping_of(part.get("attachment")).get("id")):
            yield from _read_attachment(self._database, name)


def _text_of_parts(parts: list[Json]) -> str:
    """Return the text of the parts, without the fragments that it refers to."""
    texts = [part for part in parts if part["type"] == "text"]
    pieces = ((part, objects_of(part.get("text_ref"))) for part in texts)
    return "".join(
        text_of(part["text"]) or "".join(text_of(one.get("literal")) for one in refs) for part, refs in pieces
    )


def _read_fragment(database: ForeignDatabase, fragment: str | float | bytes | None) -> list[Json]:
    return [{"content": row[0]} for row in database.rows("fragments", ("content",), where={"id": fragment})]


def _read_attachment(database: ForeignDatabase, attachment: str | float | bytes | None) -> list[Json]:
    return [{"type": row[0]} for row in database.rows("attachments", ("type",), where={"id": attachment})]
