"""Values of foreign JSON, whatever their type turns out to be: what was asked for, or its empty form."""

from __future__ import annotations

Json = dict[str, object]


def text_of(value: object) -> str:
    """The string, or `""` for any other type."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Json:
    """The JSON object, or an empty one for any other type."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """The JSON array, or an empty one for any other type."""
    return value if isinstance(value, list) else []
