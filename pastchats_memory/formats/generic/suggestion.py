"""Suggest a map of keys for JSON of unknown shape, from the names and values of its columns.

A dry run prints the suggestion as a `--map` line. Nothing is read by it until the user gives that line.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pastchats_memory.formats.base.key_map import KeyMap
from pastchats_memory.formats.base.values import Json, mapping_of
from pastchats_memory.formats.generic import roles
from pastchats_memory.formats.generic.containers import Conversation
from pastchats_memory.formats.generic.exchange import FEWEST_WORDS, count_words, is_answer_key, is_question_key
from pastchats_memory.formats.generic.mapped_records import MappedRecords, read_word
from pastchats_memory.formats.generic.message import read_time

DEEPEST = 8
DEEPEST_KEY = 4
MOST_ROWS = 200
"""Rows of a table by which it is judged."""
MOST_COLUMNS = 60
MOST_WORDS = 12
"""Different words for speakers in a conversation."""
MOST_TRIED = 5
"""Maps that are tried on the whole value."""
PROSE_SHARE = 0.5
"""Share of a column's values that must be prose for it to hold texts."""
LETTER_SHARE = 0.7
WIDEST_ROW = 8
HEAD = 400
"""Characters of a text by which it is judged."""

_MARKUP_OR_CALL = re.compile(r"\s*(?:[{<\[].*[}>\]]|\$?[\w.]+\(.*\))\s*\Z", re.DOTALL)

Columns = Mapping[str, list[object]]
"""By dotted key the values of a table that are there, in the order of the file."""


def suggest_map(value: object, described: KeyMap | None, read: Sequence[Conversation]) -> KeyMap | None:
    """Suggest the first map by which no turn of a value is lost.

    `read` are the conversations that known keys give, and `described` is the map of those keys, which is tried first.
    """
    wanted = _count_texts(read)
    if described and not wanted - _count_texts(MappedRecords(described).find_conversations(value)):
        return described
    for key_map in islice(_suggest_for_tables(value), MOST_TRIED):
        found = _count_texts(MappedRecords(key_map).find_conversations(value))
        speakers = {role for role, _ in found}
        is_conversation = speakers >= roles.SIDES or (len(speakers) > 1 and not key_map.sides)
        if is_conversation and not wanted - found:
            return key_map
    return None


def _count_texts(conversations: Sequence[Conversation]) -> Counter[tuple[str, str]]:
    messages = (message for one in conversations for message in one.messages if message.text)
    return Counter((message.speaker.role, message.text) for message in messages)


def _suggest_for_tables(value: object) -> Iterator[KeyMap]:
    """Yield a map for each table, the largest first, that reads all its rows."""
    tables: dict[tuple[str, ...], list[Json]] = {}
    for place, rows in _walk(value, (), 0):
        if not any(roles.has_word(key, "other_list_words") for key in place):
            tables[place] = (tables.get(place, []) + rows)[:MOST_ROWS]
    for rows in sorted(tables.values(), key=len, reverse=True):
        key_map = _suggest_for_table(rows)
        rows_with_prose = [row for row in rows if any(map(is_prose, row.values()))]
        if key_map and all(map(MappedRecords(key_map).parse_item, rows_with_prose)):
            yield key_map


def _walk(value: object, place: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], list[Json]]]:
    """Yield the tables of a value with the keys down to them."""
    if depth > DEEPEST or not isinstance(value, dict | list):
        return
    if isinstance(value, list):
        yield place, _rows_of(value)
        for item in value:
            yield from _walk(item, place, depth + 1)
        return
    yield (*place, "#columns"), _rows_of_columns(value)
    yield (*place, "#values"), _rows_of([inner for inner in value.values() if isinstance(inner, dict)])
    for key, inner in value.items():
        yield from _walk(inner, (*place, key), depth + 1)


def _rows_of(items: Sequence[object]) -> list[Json]:
    sample = items[:MOST_ROWS]
    if all(isinstance(item, dict) for item in sample):
        return [_flatten(mapping_of(item)) for item in sample]
    lists = [item for item in sample if isinstance(item, list)]
    widths = {len(item) for item in lists}
    if len(lists) == len(sample) and len(widths) == 1 and 1 < max(widths) <= WIDEST_ROW:
        return [{str(place): value for place, value in enumerate(item)} for item in lists]
    return []


def _rows_of_columns(fields: Json) -> list[Json]:
    columns = {key: value for key, value in fields.items() if isinstance(value, list) and value}
    if len(columns) < len(("role", "text")) or len({len(column) for column in columns.values()}) > 1:
        return []
    rows = zip(*(column[:MOST_ROWS] for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _flatten(fields: Json, prefix: str = "", depth: int = 0) -> dict[str, object]:
    row: dict[str, object] = {}
    for key, value in fields.items():
        if isinstance(value, dict) and depth < DEEPEST_KEY:
            row |= _flatten(value, f"{prefix}{key}.", depth + 1)
        elif not isinstance(value, dict | list):
            row[prefix + key] = value
        if len(row) > MOST_COLUMNS:
            break
    return row


def _suggest_for_table(rows: list[Json]) -> KeyMap | None:
    keys = list(dict.fromkeys(key for row in rows for key in row))[:MOST_COLUMNS]
    columns = {key: [value for row in rows if (value := row.get(key)) is not None] for key in keys}
    texts = sorted((key for key in keys if _holds_texts(key, columns)), key=lambda key: _rank_text(key, columns))
    if not texts:
        return None
    times = [key for key in keys if key not in texts and columns[key] and all(map(read_time, columns[key]))]
    time = min(times, key=lambda key: not roles.has_word(_last(key), "time_key_words"), default="")
    rest = [key for key in keys if key not in (*texts, time)]
    conversation = next((key for key in rest if _names_threads(key, columns, len(rows))), "")
    for role in sorted(rest, key=lambda key: not (_names_speakers(key) or roles.is_doubtful_key(_last(key)))):
        if (words := _read_roles(role, columns, len(rows))) is not None:
            return KeyMap(role, texts[0], time, conversation if conversation != role else "", words=words)
    sides = _find_sides(texts)
    return KeyMap(time=time, conversation=conversation, sides=sides) if sides else None


def _holds_texts(key: str, columns: Columns) -> bool:
    texts = [value for value in columns[key] if isinstance(value, str) and value.strip()]
    is_named = not roles.has_word(_last(key), "not_text_key_words")
    return is_named and len(texts) == len(columns[key]) > 0 and sum(map(is_prose, texts)) >= PROSE_SHARE * len(texts)


def _rank_text(key: str, columns: Columns) -> tuple[bool, float]:
    """Return a sort key: names of texts first, then the columns with the longest texts."""
    is_named = roles.has_word(_last(key), "text_key_words") or _last(key) in roles.known("text_keys")
    return not is_named, -sum(len(str(value)) for value in columns[key]) / len(columns[key])


def _names_threads(key: str, columns: Columns, rows: int) -> bool:
    is_whole = len(columns[key]) == rows and all(read_word(value) is not None for value in columns[key])
    words = roles.split_words(_last(key))
    return is_whole and not roles.known("thread_words").isdisjoint((*words[:1], *words[-1:]))


def _names_speakers(key: str) -> bool:
    """Return whether a part of a dotted key names the speaker, whatever its value."""
    parts = key.split(".")
    is_named = any(map(roles.is_role_key, parts)) or not roles.known("name_keys").isdisjoint(parts)
    return is_named and not roles.has_word(parts[-1], "not_role_key_words")


def _read_roles(key: str, columns: Columns, rows: int) -> tuple[tuple[str, str], ...] | None:
    """Return the words of a column that need a role in the map; return None if it does not name the speakers."""
    words = [word.lower() for value in columns[key] if (word := read_word(value)) is not None]
    different = list(dict.fromkeys(words))
    most = min(MOST_WORDS, max(len(roles.SIDES), len(words) // 2))
    if len(words) * 2 < rows or len(different) > most or any(len(word) > roles.LONGEST_WORD for word in different):
        return None
    if {*different} <= {"0", "1"} or {*different} <= {"true", "false"}:
        side = _side_of(_last(key))
        yes_no = [
            (word, side if word in ("1", "true") else roles.OTHER_SIDE[side]) for word in sorted(different) if side
        ]
        return tuple(yes_no) or None
    by_word = {word: roles.role_of(word) or _side_of(word) for word in different}
    has_known_side = any(by_word.values()) and roles.is_doubtful_key(_last(key))
    are_speakers = len(different) > 1 and (_names_speakers(key) or has_known_side)
    if not are_speakers and not set(by_word.values()) >= roles.SIDES:
        return None
    return tuple((word, role) for word, role in by_word.items() if role and roles.role_of(word) is None)


def _side_of(name: str) -> str | None:
    sides = {role for word in roles.split_words(name) if (role := roles.role_of(word)) in roles.SIDES}
    if len(sides) == 1:
        return sides.pop()
    words = set(roles.split_words(name)) or {name}
    if words & roles.known("suggested_user_words") or is_question_key(name):
        return "user"
    return "assistant" if words & roles.known("suggested_assistant_words") or is_answer_key(name) else None


def _find_sides(texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the columns of a question and its answer: by their names, or as the two places of a list."""
    if sorted(texts) == ["0", "1"]:
        return (("user", "0"), ("assistant", "1"))
    sides: dict[str, str] = {}
    for key in sorted(texts):
        named = next((side for part in reversed(key.split(".")) if (side := _side_of(part)) in roles.SIDES), None)
        if named:
            sides.setdefault(named, key)
    rest = [key for key in texts if key not in sides.values()]
    if len(sides) == 1 and len(rest) == 1:
        sides[roles.OTHER_SIDE[next(iter(sides))]] = rest[0]
    return tuple(sorted(sides.items(), reverse=True)) if sides.keys() >= roles.SIDES else ()


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def is_prose(value: object) -> bool:
    """Return whether somebody may have said it: a few words, mostly of letters, no markup and no call of a function."""
    if not isinstance(value, str) or count_words(value) < FEWEST_WORDS:
        return False
    head = value[:HEAD]
    letters = sum(letter.isalpha() or letter.isspace() for letter in head)
    return letters >= LETTER_SHARE * len(head) and not _MARKUP_OR_CALL.match(head)
