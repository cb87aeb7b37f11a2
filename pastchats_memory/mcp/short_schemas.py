"""Shorten the schemas of `tools/list`: every session of an agent reads them, and answers follow without them.

The whole schemas still hold: the server checks arguments against their types and ranges.
"""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
NEEDLESS = ("title", "minimum", "maxLength")
"""Keywords that agents have no use for: an error explains a value that is too small or too long."""


def shorten_input(schema: Mapping[str, Any]) -> Schema:
    """Return the schema of arguments without generated titles, and without null for what an agent can leave out."""
    required = schema.get("required", [])
    properties = {
        name: _shorten_argument(argument, is_required=name in required)
        for name, argument in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _shorten_argument(schema: Mapping[str, Any], *, is_required: bool) -> Schema:
    if not is_required and schema.get("default", "") is None:
        (kind,) = (one for one in schema["anyOf"] if one != {"type": "null"})
        schema = {**kind, **{name: value for name, value in schema.items() if name not in ("anyOf", "default")}}
    return {name: value for name, value in schema.items() if name not in NEEDLESS}


def outline_output(schema: Mapping[str, Any]) -> Schema:
    """Return the schema of an answer with the names of its fields, and those of the fields of its results."""
    definitions = schema.get("$defs", {})
    properties = {name: _outline_field(field, definitions) for name, field in schema["properties"].items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _outline_field(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    reference = field.get("items", {}).get("$ref", "")
    if not reference:
        return {}
    entry = definitions[reference.rpartition("/")[2]]
    return {"type": "array", "items": {"properties": {name: {} for name in entry["properties"]}}}
