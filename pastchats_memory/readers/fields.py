"""Values of foreign JSON, whatever their type turns out to be: what was asked for, or its empty form."""

from __future__ import annotations

import re
from itertools import takewhile

_NUMBERED = re.compile(r"(?P<name>\D*)(?P<number>\d{1,18})")
"""Nineteen digits and more are a hash's."""

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


def list_of(value: object) -> list[object]:
    """The JSON array, or an empty one for any other type."""
    return value if isinstance(value, list) else []
