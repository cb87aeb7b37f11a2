"""Derive JSON Schemas (draft 2020-12) from the annotations of values and of a `View`.

`fields` explains the annotations. A value class or a `View` becomes a closed object; its fields are required unless they
are `IF_ANY` or `PresentIf`.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pastchats_memory.fields import Narrowed, PresentIf, View, shape_of
from pastchats_memory.views.plan import is_view, list_fields, split_details

Schema = dict[str, Any]
"""JSON Schema, which has no narrower type."""

SCALARS: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class SchemaWriter:
    """Writes schemas and collects the definitions that they refer to.

    `definitions` has the schema of every view that was referred to, by its name.
    """

    def __init__(self, prefix: str = "#/$defs/") -> None:
        self.definitions: dict[str, Schema] = {}
        self._prefix = prefix

    def write(self, annotation: Any) -> Schema:
        """Return the schema of a type annotation. Raises TypeError for a type that JSON does not have."""
        origin, args = get_origin(annotation), get_args(annotation)
        if is_view(annotation):
            return self._refer(annotation)
        if annotation is object:
            return {}
        if origin is None and annotation not in SCALARS:
            raise TypeError(f"JSON has no {annotation!r}")
        if origin is None:
            return {"type": SCALARS[annotation]}
        if origin is Annotated:
            return _annotate(self.write(args[0]), args[1:])
        if origin is Literal:
            return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
        return self._write_compound(origin, args)

    def write_object(self, view: type) -> Schema:
        """Return the schema of a view in full, where `write` refers to a definition."""
        schema_id = shape_of(view).schema
        properties: dict[str, Schema] = {"schema": {"const": schema_id}} if schema_id else {}
        required = [*properties]
        present: dict[PresentIf, list[str]] = {}
        rules: list[Schema] = []
        for name, _, annotation, condition, is_optional, *_ in list_fields(view):
            properties[name] = self.write(annotation)
            if condition is not None:
                present.setdefault(condition, []).append(name)
            elif not is_optional:
                required.append(name)
            rules += [
                _make_rule(one.field, one.values, then={"properties": {name: dict(one.keywords)}})
                for one in split_details(annotation)[1]
                if isinstance(one, Narrowed)
            ]
        for condition, names in present.items():
            absent = {"not": {"anyOf": [{"required": [name]} for name in names]}}
            rules.append(_make_rule(condition.field, condition.values, then={"required": names}, otherwise=absent))
        schema: Schema = {"type": "object", "properties": properties, "required": required}
        schema["additionalProperties"] = False
        return schema | ({"allOf": rules} if rules else {})

    def _refer(self, view: type) -> Schema:
        """Return a reference to the definition of a view, whose name is `HitView` for the value `Hit`."""
        shape = shape_of(view)
        is_whole = issubclass(view, View) or shape.schema
        name = shape.name or (view.__name__ if is_whole else f"{view.__name__}View")
        if name not in self.definitions:
            self.definitions[name] = {}  # a recursive type would come here again
            self.definitions[name] = {"description": summarise(view), **self.write_object(view)}
        return {"$ref": f"{self._prefix}{name}"}

    def _write_compound(self, origin: Any, arguments: tuple[Any, ...]) -> Schema:
        parts = [self.write(one) for one in arguments if one is not Ellipsis]
        if origin in (Union, UnionType):
            plain = all(set(part) == {"type"} for part in parts)
            return {"type": [part["type"] for part in parts]} if plain else {"anyOf": parts}
        if issubclass(origin, Mapping):
            names = {"propertyNames": {"enum": parts[0]["enum"]}} if "enum" in parts[0] else {}
            return {"type": "object", **names, "additionalProperties": parts[1]}
        if origin is tuple and Ellipsis not in arguments:
            return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
        if issubclass(origin, Sequence):
            return {"type": "array", "items": parts[0]}
        raise TypeError(f"JSON has no {origin!r}")


def derive_schema(view: Any) -> Schema:
    """Return the whole schema of an answer, which is a view or a union of several, with its title and definitions."""
    writer = SchemaWriter()
    if is_view(view):
        root = {"title": summarise(view), **writer.write_object(view)}
    else:
        union = writer.write(view)
        root = {"title": union.pop("description"), **union}
    return root | ({"$defs": dict(sorted(writer.definitions.items()))} if writer.definitions else {})


def summarise(view: type) -> str:
    """Return the title of a view, else the first paragraph of its docstring, on one line."""
    title = shape_of(view).title or view.__doc__ or ""
    return " ".join(title.partition("\n\n")[0].split())


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
