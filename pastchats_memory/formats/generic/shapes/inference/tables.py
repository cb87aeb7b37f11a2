"""Any JSON value as tables of records: lists, maps, columns, rows, chains, pages of text and JSON within strings, all made alike.

Lists that stand at the same place of a repeated object are one table, so that what a column is can be told from all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from pastchats_memory.formats.base.source import Json, day_by_day, days_joined, in_number_order, list_of, mapping_of
from pastchats_memory.formats.generic.shapes.inference.bylines import of_two_lists, with_bylines
from pastchats_memory.formats.generic.shapes.inference.columns import MADE, row_of
from pastchats_memory.formats.generic.shapes.inference.pages import (
    MOST_SPEAKERS,
    marked_texts,
    spoken_page,
    taking_turns,
)
from pastchats_memory.formats.generic.shapes.naming import (
    CURRENT,
    GONE,
    PAGES,
    SIDES,
    SPEAKER,
    TALK,
    TEXT,
    has,
    letter_side,
    side_of,
    side_of_path,
)
from pastchats_memory.formats.generic.shapes.values import is_prose
from pastchats_memory.text.timestamps import iso_utc

TURN = "#turn"
"""In a list of plain texts the column with whose turn it would be of two."""
KEY = MADE + "key"
"""Under this key a record of a map has the key that it stood under."""
STORE = "#store"
"""Last in the place of a table that has texts for other tables, and says nothing by itself."""
DEEPEST = 24
DEEPEST_ANSWER = 3
FEWEST = 3
"""Rows with their head, links of a chain or marked texts, below which two things merely stand side by side."""
SPOKEN_IN = frozenset({
    "transcript", "transcripts", "conversation", "conversations", "chat", "chats", "dialogue", "utterances", "turns", "gesprach", "verlauf",
})  # fmt: skip
"""Names of nothing but talks; a `dialog` may be a window, `lines` a song's."""
FEWEST_NUMBERED = 4
"""Keys such as `user_1`: two of each side."""
SAMPLED = 40
MOST_CHAINED = 10_000
MOST_KEYS = 40
"""An object with more is no record of a few words."""
NAMING = ("name", "key", "id", "field", "title", "label", "column")

_COUNTED = re.compile(r"\d+")
_NUMBERED = re.compile(r"(?P<name>[^\W\d]+?)[_\W]?\d{1,4}\Z|\d{1,4}[_\W]?(?P<after>[^\W\d]+)\Z")


@dataclass(slots=True)
class Instance:
    """One list of records, and what is said beside it and around."""

    records: list[Json]
    around: Json
    """Plain values of all objects around, inner ones before outer ones of the same name."""
    holder: Json
    """Plain values of the object in which the list stands."""
    is_joined: bool = False
    """It stood in several pages."""


@dataclass(slots=True)
class Table:
    """The lists at one place of repeated objects."""

    place: tuple[str, ...]
    """The keys down to it, without those of lists and maps."""
    instances: list[Instance] = field(default_factory=list)


def tables_of(document: object) -> list[Table]:
    """Every table of the document, outer ones before inner ones."""
    tables: dict[tuple[str, ...], Table] = {}
    for place, instance in _instances(document, (), ({}, {}), set(), 0):
        tables.setdefault(place, Table(place)).instances.append(instance)
    return [replace(table, instances=_joined(table.instances)) for table in tables.values()]


def _joined(instances: list[Instance]) -> list[Instance]:
    """The lists, those that say that they are pages of one put together."""
    if not all(any(has(key, PAGES) for key in each.holder) for each in instances):
        return instances
    records = [record for each in instances for record in each.records]
    return [replace(instances[0], records=records, is_joined=len(instances) > 1)]


def _instances(
    value: object, place: tuple[str, ...], said: tuple[Json, Json], nested: set[int], depth: int
) -> Iterator[tuple[tuple[str, ...], Instance]]:
    """Tables with their places.

    Args:
        value: where to look.
        place: the keys down to it.
        said: the plain values of all objects around, and of the innermost.
        nested: by identity, what is a record of a table already; grows.
        depth: of lists and objects.

    """
    if depth > DEEPEST or not isinstance(value, dict | list):
        return
    value = day_by_day(mapping_of(value)) or value
    if isinstance(value, list):
        made = [_of_list(value, place, nested)]
        inner = [("", item) for item in value]
    else:
        value = _in_order_of_edges(_with_those_beside(_with_its_answer(days_joined(value))))
        facts = {key: item for key, item in value.items() if not isinstance(item, dict | list)}
        said = (said[0] | facts, facts)
        made = list(_of_object(value, nested, is_talk=bool(place) and has(place[-1], SPOKEN_IN)))
        is_map = any(kind == "" for kind, _ in made)
        inner = [("" if is_map else _COUNTED.sub("#", key), item) for key, item in value.items()]
    for kind, records in made:
        if records:
            yield (*place, kind) if kind else place, Instance(records, *said)
    for key, item in inner:
        if isinstance(item, dict | list) and id(item) not in nested:
            yield from _instances(item, (*place, key) if key else place, said, nested, depth + 1)


def _with_those_beside(fields: Json) -> Json:
    """The object with each list of records also holding those of their kind that stand before or behind it: what opened it, the last answer."""
    objects = {key: mapping_of(value) for key, value in fields.items() if isinstance(value, dict)}
    if not objects or len(fields) > MOST_KEYS:
        return fields
    keys = list(fields)
    made: Json = {}
    for place, key in enumerate(keys):
        common = _common_keys(list_of(fields[key]))
        alike = [other for other, value in objects.items() if common and common <= value.keys()]
        before = [fields[other] for other in alike if other in keys[:place]]
        after = [fields[other] for other in alike if other in keys[place:]]
        made[key] = [*before, *list_of(fields[key]), *after] if alike else fields[key]
    return made


def _with_its_answer(fields: Json) -> Json:
    """The object; where one of two in it, such as a request, has a list of records, and the other one record of their kind, with that behind the list."""
    held = [key for key, value in fields.items() if isinstance(value, dict)]
    if len(fields) > MOST_KEYS or len(held) < len(("asked", "answered")):
        return fields
    asked = [(key, path, common) for key in held for path, common in _lists_in(fields[key], 0)]
    if len(asked) != 1:
        return fields
    (key, path, common), *_ = asked
    answers = [found for other in held if other != key for found in _alone_in(fields[other], common, 0)]
    return {**fields, key: _put(mapping_of(fields[key]), path, answers[0])} if len(answers) == 1 else fields


def _lists_in(value: object, depth: int) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """The keys down to each list of records that is not in one itself, and the keys which those have in common."""
    fields = mapping_of(value)
    for key, inner in fields.items() if depth < DEEPEST_ANSWER and len(fields) <= MOST_KEYS else ():
        if common := _common_keys(list_of(inner)):
            yield (key,), common
        yield from (((key, *path), keys) for path, keys in _lists_in(inner, depth + 1))


def _alone_in(value: object, common: set[str], depth: int) -> Iterator[Json]:
    fields = mapping_of(value)
    if common <= fields.keys():
        yield fields
    elif depth < DEEPEST_ANSWER and len(fields) <= MOST_KEYS:
        for inner in fields.values():
            yield from _alone_in(inner, common, depth + 1)


def _put(fields: Json, path: tuple[str, ...], last: Json) -> Json:
    key, *rest = path
    if rest:
        return {**fields, key: _put(mapping_of(fields[key]), tuple(rest), last)}
    items = list_of(fields[key])
    return {**fields, key: items if last in items else [*items, last]}


def _common_keys(items: list[object]) -> set[str]:
    """The keys that all of several records have, if they have more than one in common."""
    objects = [item for item in items[:SAMPLED] if isinstance(item, dict)]
    common = set(objects[0]).intersection(*objects) if objects and len(objects) == len(items[:SAMPLED]) else set()
    return common if len(common) > 1 else set()


def _in_order_of_edges(fields: Json) -> Json:
    """The object; of a graph with each node told which one an edge leads from."""
    lists = {
        key: value
        for key, value in fields.items()
        if isinstance(value, list) and value and all(isinstance(i, dict) for i in value)
    }
    for key, nodes in lists.items():
        own = next((name for name in ("id", "key", "name", "uid", "uuid") if all(name in node for node in nodes)), None)
        known = {str(node[own]) for node in nodes} if own else set()
        for other, edges in lists.items():
            ends = [[str(v) for v in edge.values() if isinstance(v, str | int) and str(v) in known] for edge in edges]
            if other != key and known and all(len(pair) == len(("from", "to")) for pair in ends):
                before = {to: start for start, to in ends}
                return {**fields, key: [{**node, "previous": before.get(str(node[own]))} for node in nodes]}
    return fields


def _of_list(items: list[object], place: tuple[str, ...], nested: set[int]) -> tuple[str, list[Json]]:
    if items and all(isinstance(item, dict) for item in items):
        return "", with_bylines([record for item in items for record in _with_replies(mapping_of(item), nested)])
    rows = [item for item in items if isinstance(item, list)]
    if rows and len(rows) == len(items):
        return "#rows", _of_rows(rows)
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) > 1 and len(texts) == len(items):
        return "#texts", marked_texts(texts) or taking_turns(texts) or (
            [{TURN: at % 2, "#text": text} for at, text in enumerate(texts)] if place and has(place[-1], TALK) else []
        )
    return "", []


def _of_rows(rows: list[list[object]]) -> list[Json]:
    """Rows of one width, by the names in the first row where those are names, else by their place, or as times."""
    width = len(rows[0])
    if width < len(("who", "what")) or any(len(row) != width for row in rows):
        return []
    head = rows[0]
    names = [name for name in head if isinstance(name, str)]
    if len(rows) >= FEWEST and len(set(names)) == width and sum(has(n, SPEAKER) or has(n, TEXT) for n in names) > 1:
        return [dict(zip(names, row, strict=True)) for row in rows[1:]]
    names = [
        "time" if all(map(iso_utc, column)) else f"#{place}" for place, column in enumerate(zip(*rows, strict=True))
    ]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _with_replies(record: Json, nested: set[int]) -> Iterator[Json]:
    """The record, then those of its own kind that it holds: a chain of what came next, a tree of replies. These are nested.

    What an exchange holds is how its answer came about, and is left.
    """
    stack = [record]
    while stack:
        at = stack.pop()
        own = _plain(at)
        held = {key: inner for key, value in at.items() if (inner := _alike(own, value))} if len(own) > 1 else {}
        rest = {key: value for key, value in at.items() if key not in held} if held else at
        yield rest
        nested.update(id(at[key]) for key in held)
        if held and not _is_exchange(rest):
            stack.extend(item for inner in reversed(held.values()) for item in reversed(_chosen(at, inner)))


def _is_exchange(fields: Json) -> bool:
    """Whether a person's words and their answer stand in one object, as the names of both tell."""
    sides = {side_of_path(path) for path, value in row_of(fields).items() if is_prose(value)}
    return sides >= SIDES


def _chosen(holder: Json, items: list[Json]) -> list[Json]:
    """Of several answers the one that their holder says was taken, by its place or its id; all of them where it says nothing."""
    told = [value for key, value in holder.items() if has(key, CURRENT) and isinstance(value, int | str)]
    for pointer in told if len(items) > 1 else ():
        if isinstance(pointer, int) and not isinstance(pointer, bool) and 0 <= pointer < len(items):
            return [items[pointer]]
        if named := [item for item in items if isinstance(pointer, str) and pointer in item.values()]:
            return named[:1]
    return items


def _alike(own: set[str], value: object) -> list[Json]:
    """The objects of the kind of the one that holds them: most of its plain values are theirs, and most of theirs are its."""
    items = [value] if isinstance(value, dict) else list_of(value)
    inner = [item for item in items if isinstance(item, dict)]
    return inner if inner and len(inner) == len(items) and all(_is_kin(own, _plain(item)) for item in inner) else []


def _plain(fields: Json) -> set[str]:
    """The keys of plain values; none of an object with too many for a record."""
    if len(fields) > MOST_KEYS:
        return set()
    return {key for key, item in fields.items() if not isinstance(item, dict | list)}


def _is_kin(own: set[str], other: set[str]) -> bool:
    return len(common := own & other) > 1 and len(common) * 2 > max(len(own), len(other))


def _of_object(fields: Json, nested: set[int], *, is_talk: bool) -> Iterator[tuple[str, list[Json]]]:
    """The tables that an object is: by named rows, by columns, as a map, as a chain, as a text of several speakers.

    `is_talk` where the key above it is one of a talk.
    """
    if rows := _named_rows(fields):
        yield "#rows", rows
    elif columns := _columns(fields):
        yield "#columns", columns
    objects = {key: item for key, item in fields.items() if isinstance(item, dict)}
    if len(objects) > 1 and _same_kind(list(objects.values())):
        yield "", [{KEY: key, **mapping_of(item)} for key, item in in_number_order(fields).items() if key in objects]
    elif len(chain := list(islice(_with_replies(fields, nested), MOST_CHAINED))) >= FEWEST:
        yield "#chain", chain
    if store := _texts_by_id(fields):
        yield STORE, store
    if sided := of_two_lists(fields):
        yield "#sides", sided
    if named := _numbered(fields, is_talk=is_talk):
        yield "#named", named
    for key, value in fields.items():
        if isinstance(value, str) and not has(key, GONE) and (said := spoken_page(value)):
            yield key, said


def _texts_by_id(fields: Json) -> list[Json]:
    """The records of a map of texts, as a store keeps them of which other records only have the id."""
    said = sum(map(is_prose, fields.values()))
    is_store = len(fields) >= FEWEST and said * 2 >= len(fields)
    return [{KEY: key, "text": text} for key, text in fields.items()] if is_store else []


def _same_kind(objects: list[Json]) -> bool:
    first = set().union(*(item.keys() for item in objects[:8]))
    common = set(objects[0]).intersection(*(item.keys() for item in objects[:8]))
    are_wrapped = all(isinstance(objects[0][key], dict) for key in common)
    are_single = len(first) * 2 <= len(objects) and all(len(item) == len(_plain(item)) == 1 for item in objects)
    return are_single or (len(common) * 2 >= len(first) and not are_wrapped)


def _named_rows(fields: Json) -> list[Json]:
    """Rows whose columns are named beside them, or in an object beside them: in a list of names, of objects with a name, or a map of names to places."""
    held = [inner for value in fields.values() for inner in mapping_of(value).values() if len(fields) <= MOST_KEYS]
    near = [*fields.values(), *held]
    for value in near:
        rows = [row for row in list_of(value) if isinstance(row, list)]
        if not rows or len(rows) != len(list_of(value)) or any(len(row) != len(rows[0]) for row in rows):
            continue
        for names in map(_names, near):
            if len(names) == len(rows[0]) > 1 and len(set(names)) == len(names):
                return [dict(zip(names, row, strict=True)) for row in rows]
    return []


def _names(told: object) -> list[str]:
    if isinstance(told, dict) and told and all(isinstance(at, int) for at in told.values()):
        return sorted(told, key=told.__getitem__)
    names = [
        next((item[key] for key in NAMING if key in item), None) if isinstance(item, dict) else item
        for item in list_of(told)
    ]
    return [name for name in names if isinstance(name, str)] if len(names) == len(list_of(told)) else []


def _columns(fields: Json) -> list[Json]:
    """The rows of lists of one length, one a column, or of maps with the same keys."""
    maps = {key: list(mapping_of(value).values()) for key, value in fields.items() if _is_column(value)}
    keys = {tuple(mapping_of(fields[key])) for key in maps}
    lists = (
        {key: value for key, value in fields.items() if isinstance(value, list) and len(value) > 1}
        if len(keys) != 1
        else maps
    )
    lengths = [len(value) for value in lists.values()]
    for length in sorted(set(lengths), key=lengths.count, reverse=True):
        alike = {key: value for key, value in lists.items() if len(value) == length}
        speech = [v for v in alike.values() if all(isinstance(text, str) for text in v)]
        if len(alike) > 1 and speech:
            return [{key.removesuffix("s"): v[at] for key, v in alike.items()} for at in range(length)]
    return []


def _is_column(value: object) -> bool:
    column = mapping_of(value)
    return (
        len(column) > 1
        and all(key.isdigit() for key in column)
        and not any(isinstance(v, dict | list) for v in column.values())
    )


def _numbered(fields: Json, *, is_talk: bool) -> list[Json]:
    """The records of keys that are a name with a number: `user_1`, `bot_1`, `user_2`, in a talk also a letter; by number where those repeat."""
    found = [
        (match["name"] or match["after"], key)
        for key in fields
        if isinstance(fields[key], str) and (match := _NUMBERED.match(key))
    ]
    sides = {side_of(name) or (letter_side(name) if is_talk else None) for name, _ in found}
    if len(found) < FEWEST_NUMBERED or not sides >= SIDES or len({name for name, _ in found}) > MOST_SPEAKERS:
        return []
    counted = [(int("".join(filter(str.isdigit, key))), name, key) for name, key in found]
    ordered = sorted(counted, key=lambda one: one[0])  # stable: of one number as they stand
    return [{"speaker": name, "text": fields[key]} for _, name, key in ordered]
