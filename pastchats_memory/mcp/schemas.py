"""Shorten the schemas of `tools/list`, which every session of an agent reads, and read arguments as models write them.

Answers follow the whole schemas, and the server checks arguments against their types and ranges.
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


def fit_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool without optional ones that say nothing, and with numbers as text where text is wanted.

    Models fill in null, an empty text or an empty list for what they would leave out.
    """
    required, properties = schema.get("required", ()), schema.get("properties", {})
    return {
        name: _write_number(value, properties.get(name, {}))
        for name, value in arguments.items()
        if name in required or not _is_blank(value)
    }


def _is_blank(value: object) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _write_number(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a number as text if the argument takes text and no number: `46` is as good an id as `"46"`."""
    types = {one.get("type") for one in (schema, *schema.get("anyOf", ()))}
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or "string" not in types
        or types & {"integer", "number"}
    ):
        return value
    return str(int(value)) if isinstance(value, int) or value.is_integer() else str(value)
