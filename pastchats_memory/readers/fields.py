"""Values of foreign JSON, whatever their type turns out to be: what was asked for, or its empty form."""

from __future__ import annotations

import re
from itertools import takewhile

_NUMBERED = re.compile(r"(?P<name>\D*)(?P<number>\d{1,18})")
"""Nineteen digits and more are a hash's."""
DAYS = ("days", "day", "dates", "daily", "tage", "jours", "giorni", "dias")
"""Names of lists of days."""

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)|(\d\d?)\.(\d\d?)\.(\d{4})")

Json = dict[str, object]


def text_of(value: object) -> str:
    """The string, or `""` for any other type."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Json:
    """The JSON object, or an empty one for any other type."""
    return value if isinstance(value, dict) else {}


def in_number_order(fields: Json) -> Json:
    """The object; of keys that are one word with numbers, without gaps or in the order of strings (`10` before `9`), by number."""
    parts = [part for part in takewhile(bool, map(_NUMBERED.fullmatch, fields)) if part]
    if len(parts) < len(fields) or len({part["name"] for part in parts}) != 1:
        return fields
    by_number = {int(part["number"]): part[0] for part in parts}
    numbers = sorted(by_number)
    are_places = numbers[-1] - numbers[0] < len(fields) or list(fields) == sorted(fields)
    if len(numbers) < len(fields) or not are_places:
        return fields
    return {by_number[number]: fields[by_number[number]] for number in numbers}


def day_by_day(fields: Json) -> list[object]:
    """What the lists under days (`2026-01-31`, `31.1.2026`) hold, the earliest first; nothing of an object with anything else."""
    days = [
        (found, value) for key, value in fields.items() if (found := _DAY.fullmatch(key)) and isinstance(value, list)
    ]
    if len(days) < len(fields):
        return []
    days.sort(key=lambda told: [int(told[0][iso] or told[0][dotted]) for iso, dotted in ((1, 6), (2, 5), (3, 4))])
    return [item for _, value in days for item in value]


def days_joined(fields: Json) -> Json:
    """The object; each list of days in it, as `{"days": [{"date": "2026-01-31", "items": […]}]}`, with what these hold instead of them."""
    joined = {key: held for key, value in fields.items() if key.lower() in DAYS and (held := _in_days(list_of(value)))}
    return {**fields, **joined} if joined else fields


def _in_days(items: list[object]) -> list[object]:
    """What objects of a day and a list hold, each record with its day; nothing where one has more, such as a title."""
    held: list[object] = []
    for item in map(mapping_of, items):
        days = {key: day for key, day in item.items() if isinstance(day, str) and _DAY.fullmatch(day)}
        records = [record for value in item.values() for record in list_of(value)]
        if len(item) != len(("day", "list")) or len(days) != 1 or not records:
            return []
        held += [days | record if isinstance(record, dict) else record for record in records]
    return held


def number_of(value: object) -> int | None:
    """The whole number, or None for any other type: a truth value is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def list_of(value: object) -> list[object]:
    """The JSON array, or an empty one for any other type."""
    return value if isinstance(value, list) else []
