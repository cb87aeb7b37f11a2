"""Make JSON objects from values, as the annotations of their classes or of a shorter `View` describe."""

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin

from pastchats_memory.fields import SHORTENED, shape_of
from pastchats_memory.views.plan import Field, is_view, list_fields, split_details, split_union

Convert = Callable[[Any], Any]
TEXT_WIDTH = 600
"""Most characters of a shortened text."""


class Step(NamedTuple):
    """A field, and the function that makes its JSON value; None if the value is JSON already."""

    field: Field
    convert: Convert | None


def to_json(value: object, view: type | None = None) -> dict[str, Any]:
    """Return a named tuple or a data class as the JSON object that its class, or a `View`, describes."""
    shown_as = view or type(value)
    schema = shape_of(shown_as).schema
    body: dict[str, Any] = {"schema": schema} if schema else {}
    for field, convert in _list_steps(shown_as):
        found = _read(value, field.path)
        if field.is_added or (field.is_optional and not found and found != 0):
            continue
        if field.present is not None and body.get(field.present.field) not in field.present.values:
            continue
        body[field.name] = found if convert is None or found is None else convert(found)
    return body


@cache
def _list_steps(view: type) -> tuple[Step, ...]:
    return tuple(Step(field, field.make or _make_converter(field.annotation)) for field in list_fields(view))


def _read(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if value is None:
            return None
        value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    return value


def _make_converter(annotation: Any) -> Convert | None:
    """Return the function that makes JSON from a value of the type; None for a type that JSON has."""
    bare, details = split_details(annotation)
    if SHORTENED in details:
        return shorten
    parts = [one for one in split_union(bare) if one is not NoneType]
    if len(parts) > 1:
        return _choose_view if any(map(is_view, parts)) else None
    (part,) = parts
    if is_view(part):
        return lambda value: to_json(value, part)
    origin = get_origin(part)
    return _make_container(origin, get_args(part)) if isinstance(origin, type) else None


def _make_container(origin: type, arguments: tuple[Any, ...]) -> Convert:
    """Return the function that makes an object of a mapping, or an array of a sequence."""
    is_mapping = issubclass(origin, Mapping)
    convert = _make_converter(arguments[1 if is_mapping else 0])
    if convert is None:
        return dict if is_mapping else list
    if is_mapping:
        return lambda value: {key: convert(one) for key, one in value.items()}
    return lambda value: [convert(one) for one in value]


def _choose_view(value: object) -> object:
    """Return a value of a union as JSON, as its own class describes it."""
    return to_json(value) if is_view(type(value)) else value


def shorten(text: str) -> str:
    """Return a text, or what fits beside an item of it."""
    from pastchats_memory.text.excerpt import excerpt

    return excerpt(text, {}, TEXT_WIDTH)
