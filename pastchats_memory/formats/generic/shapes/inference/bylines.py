"""Lists of records of which no column says who speaks: it stands in a text, in an id, in a record before, or it is the list's name.

Each is given to the records as a column of its own, `speaker`.
"""

from __future__ import annotations

import re
from itertools import pairwise, zip_longest

from pastchats_memory.formats.base.source import Json, mapping_of
from pastchats_memory.formats.generic.shapes.inference.columns import PIECE
from pastchats_memory.formats.generic.shapes.inference.pages import MOST_SPEAKERS, marked_texts
from pastchats_memory.formats.generic.shapes.naming import SIDES, side_of
from pastchats_memory.formats.generic.shapes.values import is_prose, is_word
from pastchats_memory.text.timestamps import iso_utc

SPEAKER = "speaker"
FEWEST_SWITCHES = 4
"""Two of each side."""
MOSTLY = 0.5
"""Share of the texts of two lists behind which one of the other follows, if both lists are one talk; of records that say something."""

_NUMBERED = re.compile(r"(?P<name>[^\W\d_][\w ]{0,30}?)[/:#._-]?(?P<number>\d{1,9})")


def with_bylines(records: list[Json]) -> list[Json]:
    """The records with who says each, in whichever way that is told; as they are where they have a speaker, or nothing tells it."""
    if SPEAKER in records[0]:
        return records
    ways = (_in_texts, _by_keys, _in_ids, _before_texts, _as_keys)
    return next((made for way in ways if (made := way(records))), records)


def _in_texts(records: list[Json]) -> list[Json]:
    """Where a column begins each text with who says it."""
    for key in records[0]:
        texts = [text for record in records if isinstance(text := record.get(key), str)]
        marked = marked_texts(texts) if len(texts) == len(records) > 1 else []
        if len(marked) == len(records) and {side_of(str(mark[SPEAKER])) for mark in marked} >= SIDES:
            made = zip(records, marked, strict=True)
            return [{**record, PIECE: record[key], SPEAKER: mark[SPEAKER], key: mark["text"]} for record, mark in made]
    return []


def _by_keys(records: list[Json]) -> list[Json]:
    """Where each record has one of two keys that name a side, and no more of it than a word."""
    names = {key: side for record in records for key in record if (side := side_of(key)) in SIDES}
    sides = [{names[key] for key, value in record.items() if key in names and is_word(value)} for record in records]
    if set(names.values()) < SIDES or any(len(side) != 1 for side in sides) or len(set.union(*sides)) == 1:
        return []
    return [{**record, SPEAKER: next(iter(side))} for record, side in zip(records, sides, strict=True)]


def _in_ids(records: list[Json]) -> list[Json]:
    """Where each has an id that is a name with a number, which goes on from one name to the next: `human/1`, `bot/2`."""
    for key in records[0]:
        ids = [_NUMBERED.fullmatch(value) for record in records if isinstance(value := record.get(key), str)]
        names = [found["name"] for found in ids if found]
        numbers = [int(found["number"]) for found in ids if found]
        are_names = len(names) == len(records) and len(set(names)) <= MOST_SPEAKERS
        if are_names and numbers == sorted(numbers) and {side_of(name) for name in names} >= SIDES:
            return [{**record, SPEAKER: name} for record, name in zip(records, names, strict=True)]
    return []


def _before_texts(records: list[Json]) -> list[Json]:
    """Where a record that says nothing names who says the ones behind it."""
    for key, first in records[0].items():
        switches = [record for record in records if key in record]
        names = {name for record in switches if isinstance(name := record[key], str)}
        are_names = isinstance(first, str) and 1 < len(names) <= MOST_SPEAKERS and set(map(side_of, names)) & SIDES
        if not are_names or len(switches) < FEWEST_SWITCHES or any(any(map(is_prose, r.values())) for r in switches):
            continue
        made: list[Json] = []
        for record in records:
            if key in record:
                who = record[key]
            else:
                made.append({**record, SPEAKER: who})
        return made if len(made) * 2 >= len(records) else []
    return []


def _as_keys(records: list[Json]) -> list[Json]:
    """Where the only key of each is the name of who says it."""
    names = {key for record in records for key in record}
    said = [text for record in records for text in record.values() if is_prose(text)]
    are_names = 1 < len(names) <= MOST_SPEAKERS and len(names) < len(records)
    if not are_names or any(len(record) != 1 for record in records) or len(said) <= MOSTLY * len(records):
        return []
    return [{SPEAKER: name, "text": text} for record in records for name, text in record.items()]


def of_two_lists(fields: Json) -> list[Json]:
    """The records of two lists, one of each side, by turns, with the list's name as who speaks.

    Where the names are of no sides, by what both have of numbers or times that rise, if the lists then take turns.
    """
    lists = {
        key: list(map(mapping_of, value))
        for key, value in fields.items()
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    }
    sides = {side_of(key): key for key in lists}
    if sides.keys() >= SIDES:
        turns = zip_longest(
            *([{SPEAKER: side, **item} for item in lists[sides[side]]] for side in ("user", "assistant"))
        )
        return [turn for both in turns for turn in both if turn]
    return _interleaved(lists) if len(lists) == len(SIDES) else []


def _interleaved(lists: dict[str, list[Json]]) -> list[Json]:
    first, second = lists.values()
    for key in first[0]:
        told = [[_moment(item.get(key)) for item in items] for items in (first, second)]
        moments = [[moment for moment in each if moment is not None] for each in told]
        if any(len(each) < len(items) for each, items in zip(moments, (first, second), strict=True)):
            continue
        rows = [
            (moment, {SPEAKER: name, **item})
            for (name, items), each in zip(lists.items(), moments, strict=True)
            for moment, item in zip(each, items, strict=True)
        ]
        rises = all(before < after for each in moments for before, after in pairwise(each))
        ordered = [row for _, row in sorted(rows, key=lambda one: one[0])]
        turns = sum(before[SPEAKER] != after[SPEAKER] for before, after in pairwise(ordered))
        if rises and turns > MOSTLY * len(ordered):
            return ordered
    return []


def _moment(value: object) -> tuple[float, str] | None:
    """What a number or a time is ordered by."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value, ""
    moment = iso_utc(value)
    return (0.0, moment) if moment else None
