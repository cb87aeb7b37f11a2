"""Read the database of the `llm` tool as the rows that `llm logs --json` prints, grouped by conversation.

Three generations exist: one table of prompts; responses with tables around them; from 0.32 on messages, each with the one
before it, where a response stands between two of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.text.groups import group_by_key

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
    yield from _read_responses(database)
    yield from _read_turns(database)


def _read_table(
    database: ForeignDatabase, table: str, columns: Sequence[str], order: Sequence[str] = ()
) -> Iterator[Json]:
    return (dict(zip(columns, row, strict=True)) for row in database.rows(table, columns, order=order))


def _read_responses(database: ForeignDatabase) -> Iterator[Json]:
    """Yield each response of the second generation, with its rows in the tables of fragments, attachments and tools."""
    names: dict[object, object] = {row[0]: row[1] for row in database.rows("conversations", ("id", "name"))}
    calls = _group_rows(database, "tool_calls", ("name", "arguments", "tool_call_id"))
    results = _group_rows(database, "tool_results", ("name", "output", "tool_call_id", "exception"))
    fragments: defaultdict[object, list[Json]] = defaultdict(list)
    attachments: defaultdict[object, list[Json]] = defaultdict(list)
    order = ("response_id", "order")
    for response, fragment in database.rows("prompt_fragments", ("response_id", "fragment_id"), order=order):
        fragments[response] += _read_fragment(database, fragment)
    for response, attachment in database.rows("prompt_attachments", ("response_id", "attachment_id"), order=order):
        attachments[response] += _read_attachment(database, attachment)
    for row in _read_table(database, "responses", RESPONSE, ("conversation_id", "datetime_utc", "id")):
        own = row["id"]
        yield row | {
            "conversation_name": names.get(row["conversation_id"]),
            "prompt_fragments": fragments.pop(own, []),
            "attachments": attachments.pop(own, []),
            "tool_calls": calls.pop(own, []),
            "tool_results": results.pop(own, []),
        }


def _group_rows(database: ForeignDatabase, table: str, columns: tuple[str, ...]) -> dict[object, list[Json]]:
    """Return the rows of a table by response id, read at once since llm has no index by response."""
    rows = database.rows(table, ("response_id", *columns))
    return group_by_key((response, dict(zip(columns, row, strict=True))) for response, *row in rows)


def _read_turns(database: ForeignDatabase) -> Iterator[Json]:
    """Yield each response of the third generation; a system prompt comes with the first one.

    A response gets the messages down to its parent, and adds those down to its tip.
    """
    names: dict[object, object] = {row[0]: row[1] for row in database.rows("threads", ("id", "name"))}
    for row in _read_table(database, "turns", TURN, ("thread_id", "datetime_utc", "id")):
        parent = text_of(row["parent_message_hash"])
        prompt_parts: defaultdict[str, list[Json]] = defaultdict(list)
        for role, parts in _go_back(database, parent, ""):
            if role == "assistant":
                break
            prompt_parts[role][:0] = parts
        left: list[Json] = []
        for _, parts in _go_back(database, text_of(row["tip_message_hash"]), parent):
            left[:0] = parts
        typed = prompt_parts["user"]
        pieces = [piece.get("fragment") for part in typed for piece in objects_of(part.get("text_ref"))]
        attached = [text_of(mapping_of(part.get("attachment")).get("id")) for part in typed]
        yield row | {
            "conversation_id": row["thread_id"],
            "conversation_name": names.get(row["thread_id"]),
            "system": _text_of_parts(prompt_parts["system"]),
            "prompt": _text_of_parts(typed),
            "prompt_fragments": [
                each for name in pieces if isinstance(name, int) for each in _read_fragment(database, name)
            ],
            "attachments": [each for name in attached if name for each in _read_attachment(database, name)],
            "tool_results": [part for part in prompt_parts["tool"] if part["type"] == "tool_result"],
            "response": _text_of_parts(left),
            "tool_calls": [part for part in left if part["type"] == "tool_call"],
        }


def _go_back(database: ForeignDatabase, message: str, before: str) -> Iterator[tuple[str, list[Json]]]:
    """Yield role and parts of a message and of those before it, each once, up to an excluded one."""
    seen = {before, ""}
    while message not in seen and len(seen) < MOST_BACK:
        seen.add(message)
        found = database.rows("messages", ("parent_hash", "role"), where={"hash": message})
        parent, role = next(found, (None, None))
        columns = ("type", "text", "payload")
        rows = database.rows("parts", columns, where={"message_hash": message}, order=("position",))
        parts = [mapping_of(parse_json(text_of(data))) | {"type": kind, "text": text} for kind, text, data in rows]
        yield text_of(role), parts
        message = text_of(parent)


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
