"""Derive JSON Schemas (draft 2020-12) from typed dictionaries.

A field is annotated as `Annotated[type, *details]`. A detail is one of these:

- a text: the field's description;
- a mapping: further JSON Schema keywords, such as `{"minimum": 0}`;
- `PresentIf`: the field is there exactly if another field has one of some values;
- `Narrowed`: keywords that hold only if another field has one of some values.

A `TypedDict` becomes a closed object; its fields are required unless they are `NotRequired` or `PresentIf`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

Schema = dict[str, Any]
"""JSON Schema, which has no narrower type."""

SCALARS: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


@dataclass(frozen=True, slots=True)
class PresentIf:
    """The field is required if the field `field` has one of the values, and forbidden otherwise."""

    field: str
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The keywords hold for the field if the field `field` has one of the values."""

    field: str
    values: tuple[object, ...]
    keywords: Mapping[str, object]


class SchemaWriter:
    """Writes schemas and collects the definitions that they refer to.

    `definitions` has the schema of every typed dictionary that was referred to, by the name of its class.
    """

    def __init__(self, prefix: str = "#/$defs/") -> None:
        self.definitions: dict[str, Schema] = {}
        self._prefix = prefix

    def write(self, annotation: Any) -> Schema:
        """Return the schema of a type annotation.

        Raises TypeError for a type that JSON does not have.
        """
        origin, args = get_origin(annotation), get_args(annotation)
        if is_typeddict(annotation):
            return self._refer(annotation)
        if origin is None:
            return _write_scalar(annotation)
        if origin is Annotated:
            return _annotate(self.write(args[0]), args[1:])
        if origin is Literal:
            return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
        return self._write_compound(origin, [self.write(one) for one in args])

    def write_object(self, view: type) -> Schema:
        """Return the schema of a typed dictionary in full, where `write` refers to a definition."""
        properties: dict[str, Schema] = {}
        required: list[str] = []
        present: dict[PresentIf, list[str]] = {}
        rules: list[Schema] = []
        for name, hint in get_type_hints(view, include_extras=True).items():
            annotation = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
            properties[name] = self.write(annotation)
            details = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
            conditions = [one for one in details if isinstance(one, PresentIf)]
            for condition in conditions:
                present.setdefault(condition, []).append(name)
            if annotation is hint and not conditions:
                required.append(name)
            rules += [
                _make_rule(one.field, one.values, then={"properties": {name: dict(one.keywords)}})
                for one in details
                if isinstance(one, Narrowed)
            ]
        for condition, names in present.items():
            absent = {"not": {"anyOf": [{"required": [name]} for name in names]}}
            rules.append(_make_rule(condition.field, condition.values, then={"required": names}, otherwise=absent))
        schema: Schema = {"type": "object", "properties": properties, "required": required}
        schema["additionalProperties"] = False
        return schema | ({"allOf": rules} if rules else {})

    def _refer(self, view: type) -> Schema:
        if view.__name__ not in self.definitions:
            self.definitions[view.__name__] = {}  # a recursive type would come here again
            self.definitions[view.__name__] = {"description": _summarise(view), **self.write_object(view)}
        return {"$ref": f"{self._prefix}{view.__name__}"}

    def _write_compound(self, origin: Any, parts: list[Schema]) -> Schema:
        if origin in (Union, UnionType):
            return _unite(parts)
        if origin is list:
            return {"type": "array", "items": parts[0]}
        if origin is tuple:
            return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
        if origin is dict:
            names = {"propertyNames": {"enum": parts[0]["enum"]}} if "enum" in parts[0] else {}
            return {"type": "object", **names, "additionalProperties": parts[1]}
        raise TypeError(f"JSON has no {origin!r}")


def derive_schema(view: Any) -> Schema:
    """Return the whole schema of a view, with its title and definitions.

    Args:
        view: a typed dictionary, or an annotated union of several.
    """
    writer = SchemaWriter()
    if is_typeddict(view):
        root = {"title": _summarise(view), **writer.write_object(view)}
    else:
        union = writer.write(view)
        root = {"title": union.pop("description"), **union}
    return root | ({"$defs": dict(sorted(writer.definitions.items()))} if writer.definitions else {})


def _summarise(view: type) -> str:
    """Return the class's docstring on one line."""
    return " ".join((view.__doc__ or "").split())


def _write_scalar(annotation: Any) -> Schema:
    if annotation is object:
        return {}
    if annotation not in SCALARS:
        raise TypeError(f"JSON has no {annotation!r}")
    return {"type": SCALARS[annotation]}


def _annotate(schema: Schema, details: Iterable[object]) -> Schema:
    """Add descriptions and keywords; if null is allowed, it becomes one of the values of an enumeration."""
    for detail in details:
        if isinstance(detail, str):
            schema = {**schema, "description": detail}
        elif isinstance(detail, Mapping):
            schema = {**schema, **detail}
    if "enum" in schema and "null" in schema.get("type", []) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


def _make_rule(field: str, values: tuple[object, ...], *, then: Schema, otherwise: Schema | None = None) -> Schema:
    condition = {"properties": {field: {"enum": list(values)}}}
    return {"if": condition, "then": then} | ({} if otherwise is None else {"else": otherwise})


def _unite(parts: list[Schema]) -> Schema:
    """Return the union: one list of types if the parts are plain types, else `anyOf`."""
    plain = all(set(part) == {"type"} for part in parts)
    return {"type": [part["type"] for part in parts]} if plain else {"anyOf": parts}
