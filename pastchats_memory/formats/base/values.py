"""Values of foreign JSON, whatever their type turns out to be: what was asked for, or its empty form."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

import orjson

_NUMBERED = re.compile(r"(?P<name>\D*)(?P<number>\d{1,18})")
"""Nineteen digits and more are a hash's."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class BadJson:
    """What `parse_json` answers for text that is not JSON."""

    reason: str


def parse_json(text: str | bytes) -> object:
    """Parse JSON, or return BadJson. Accept lone surrogates, as Python's parser does; orjson refuses them."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        reason = fault.msg  # the fault itself would hold this frame, and with it what every caller has open
    try:
        decoded = text.decode("utf-8", errors="replace") if isinstance(text, bytes) else text
        return json.loads(decoded, strict=False)
    except (ValueError, RecursionError):
        return BadJson(reason)


def value_of(text: object) -> object:
    """Parse a string of JSON; return any other string or value unchanged."""
    value = parse_json(text) if isinstance(text, str) else text
    return text if isinstance(value, BadJson) else value


def text_of(value: object) -> str:
    """Return the string, or `""` for any other type."""
    return value if isinstance(value, str) else ""


def first_text(fields: Json, keys: Iterable[str]) -> str:
    """Return the first string under one of the keys that is not blank, without blanks around it, else `""`."""
    return next((text for key in keys if (text := text_of(fields.get(key)).strip())), "")


def mapping_of(value: object) -> Json:
    """Return the JSON object, or an empty one for any other type."""
    return value if isinstance(value, dict) else {}


def in_number_order(fields: Json) -> Json:
    """Sort an object by the numbers in its keys, if each key is one word with a number.

    The numbers must have no gaps, or stand in the order of strings (`10` before `9`). Any other object stays as it is.
    """
    parts = [part for part in takewhile(bool, map(_NUMBERED.fullmatch, fields)) if part]
    if len(parts) < len(fields) or len({part["name"] for part in parts}) != 1:
        return fields
    by_number = {int(part["number"]): part[0] for part in parts}
    numbers = sorted(by_number)
    are_places = numbers[-1] - numbers[0] < len(fields) or list(fields) == sorted(fields)
    if len(numbers) < len(fields) or not are_places:
        return fields
    return {by_number[number]: fields[by_number[number]] for number in numbers}


def number_of(value: object) -> int | None:
    """Return the whole number, or None for any other type, also for a truth value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def list_of(value: object) -> list[object]:
    """Return the JSON array, or an empty one for any other type."""
    return value if isinstance(value, list) else []


def objects_of(value: object) -> list[Json]:
    """Return the items of a JSON array as objects, with an empty one in place of any other item."""
    return [mapping_of(item) for item in list_of(value)]
