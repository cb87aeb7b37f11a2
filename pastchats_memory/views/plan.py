"""Find the fields that a value shows as JSON, from the annotations of its class or of a `View`."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeGuard, Union, get_args, get_origin, get_type_hints

from pastchats_memory import fields


class Field(NamedTuple):
    """A field of a JSON object."""

    name: str
    path: tuple[str, ...]
    """Attributes that lead from the value to the value of the field."""
    annotation: Any
    """Type of the shown value, with its details."""
    present: fields.PresentIf | None
    is_optional: bool
    """Whether the field can be absent: if it is empty, unless a condition or the caller decides."""
    is_added: bool = False
    """Whether only the caller can add it."""
    make: Callable[[Any], object] | None = None
    """Makes the shown value from what the path leads to."""


def is_view(annotation: Any) -> TypeGuard[type]:
    """Return whether an annotation is a class whose fields are shown."""
    return isinstance(annotation, type) and (
        hasattr(annotation, "_fields")
        or hasattr(annotation, "__dataclass_fields__")
        or issubclass(annotation, fields.View)
    )


def split_details(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the bare type of an annotation and its details."""
    if get_origin(annotation) is Annotated:
        bare, *details = get_args(annotation)
        return bare, tuple(details)
    return annotation, ()


def add_details(bare: Any, details: tuple[Any, ...]) -> Any:
    """Return the type with the details."""
    return Annotated[(bare, *details)] if details else bare


def split_union(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type alone."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


@cache
def list_fields(view: type) -> tuple[Field, ...]:
    """Return the fields of a view or a value class, in the order of the JSON object."""
    groups: dict[str, list[tuple[Field, ...]]] = {}
    for attribute, annotation in _list_attributes(view):
        bare, details = split_details(annotation)
        if fields.HIDDEN not in details:
            shown = next((one for one in details if isinstance(one, fields.Shown)), fields.Shown())
            found = tuple(_make_fields(attribute, bare, details, shown.name))
            groups.setdefault(shown.after, []).append(found)
    return (*_arrange(groups, fields.FIRST), *_arrange(groups, ""))


def _arrange(groups: Mapping[str, Sequence[tuple[Field, ...]]], after: str) -> Iterator[Field]:
    """Yield the fields that follow a field, each before those that follow it; `groups` has them by that field."""
    for group in groups.get(after, ()):
        for field in group:
            yield field
            yield from _arrange(groups, field.name)


def _list_attributes(view: type) -> Iterator[tuple[str, Any]]:
    names = vars(sys.modules[view.__module__])  # a lambda in an annotation may use them later
    yield from get_type_hints(view, names, include_extras=True).items()
    for name, member in vars(view).items():
        if isinstance(member, property):
            annotation = get_type_hints(member.fget, include_extras=True).get("return")
            if any(isinstance(one, fields.Shown) for one in split_details(annotation)[1]):
                yield name, annotation


def _make_fields(attribute: str, bare: Any, details: tuple[Any, ...], name: str) -> Iterator[Field]:
    at = next((one for one in details if isinstance(one, fields.At)), fields.At(attribute))
    path = tuple(filter(None, at.path.split(".")))
    present = next((one for one in details if isinstance(one, fields.PresentIf)), None)
    flat = next((one for one in details if isinstance(one, fields.Flat)), None)
    if flat is None:
        shown_as = next((one.annotation for one in details if isinstance(one, fields.As)), bare)
        if fields.NULL_IF_EMPTY in details:
            shown_as, at = shown_as | None, fields.At(at.path, lambda text: text or None)
        if fields.IF_ANY in details:
            (shown_as,) = (one for one in split_union(shown_as) if one is not NoneType)
        annotation = add_details(shown_as, details)
        is_added = fields.ON_REQUEST in details
        yield Field(
            name or attribute, path, annotation, present, is_added or fields.IF_ANY in details, is_added, at.make
        )
        return
    nested = next(one for one in split_union(bare) if one is not NoneType)
    inner = {field.name: field for field in list_fields(nested) if field.name not in flat.but}
    for field in map(inner.__getitem__, flat.only or inner):
        yield field._replace(path=(*path, *field.path), present=present or field.present)
