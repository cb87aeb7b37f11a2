"""Read arguments as models write them: fill-ins for what they leave out, and numbers for ids."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def fit_arguments(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
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


def _write_number(value: Any, schema: Schema) -> Any:
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
