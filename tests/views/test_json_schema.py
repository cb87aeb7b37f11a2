"""Test what the annotations of a value decide: its JSON, its JSON Schema, and the files that are generated from them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY

from pastchats_memory.fields import (
    FIRST,
    HIDDEN,
    IF_ANY,
    NULL_IF_EMPTY,
    ON_REQUEST,
    SHORTENED,
    As,
    At,
    Flat,
    Narrowed,
    PresentIf,
    Shown,
    View,
    answer,
)
from pastchats_memory.views.json_schema import SchemaWriter, derive_schema
from pastchats_memory.views.to_json import to_json


class Leaf(NamedTuple):
    """A leaf of a tree."""

    size: Annotated[int, {"minimum": 0}, "Millimetres."]


@answer("plant/1")
class Plant(NamedTuple):
    """A plant.

    A tree is higher than moss.
    """

    kind: Annotated[str, {"enum": ["tree", "moss"]}]
    leaves: tuple[Leaf, ...] = ()
    dryness: Annotated[str | None, {"enum": ["green", "dry"]}, Shown("state")] = None
    height: Annotated[float, PresentIf("kind", ("tree",)), Shown(after="leaves")] = 0.0
    remark: Annotated[str, Narrowed("state", ("dry",), {"minLength": 1})] = ""
    best: Leaf | None = None
    nickname: Annotated[str | None, IF_ANY] = None
    seller: Annotated[str, HIDDEN] = "Mira"
    label: Annotated[str, NULL_IF_EMPTY] = ""
    picture: Annotated[str | None, ON_REQUEST] = None

    @property
    def count(self) -> Annotated[int, Shown("leaf_count", FIRST)]:
        """Return the number of leaves."""
        return len(self.leaves)


class Pot(NamedTuple):
    """A pot."""

    plant: Annotated[Plant, Flat(("kind", "state"))]
    others: Annotated[Sequence[Plant], As(list[Short])] = ()
    stock: Annotated[Mapping[str, int], As(Stock)] = MappingProxyType({})
    label: Annotated[str | None, At("plant.best.size")] = None


def count_leaves(leaves: Sequence[Leaf]) -> int:
    return len(leaves)


class Short(View):
    """A plant in short."""

    sort: Annotated[str, At("kind", str.upper)]
    leaf_sides: Annotated[int, At("leaves", lambda leaves: 2 * count_leaves(leaves))]
    nickname: Annotated[str | None, SHORTENED]


class Stock(View):
    """Number of plants by sort."""

    moss: int
    tree: int


MOSS = {
    "schema": "plant/1",
    "leaf_count": 0,
    "kind": "moss",
    "leaves": [],
    "state": None,
    "remark": "",
    "best": None,
    "label": None,
}
TREE = {
    "schema": "plant/1", "leaf_count": 1, "kind": "tree", "leaves": [{"size": 3}], "height": 2.5, "state": None, "remark": "", "best": {"size": 3},
    "nickname": "Mo", "label": "oak",
}  # fmt: skip
OAK = Plant("tree", (Leaf(3),), None, 2.5, "", Leaf(3), "Mo", "Mira", "oak")


def is_valid(value: dict[str, Any]) -> bool:
    return bool(Draft202012Validator(derive_schema(Plant)).is_valid(value))


@pytest.mark.parametrize(("value", "shown"), [(Plant("moss"), MOSS), (OAK, TREE)])
def test_a_value_is_shown_in_the_order_and_under_the_names_of_its_annotations(
    value: Plant, shown: dict[str, Any]
) -> None:
    assert list(to_json(value).items()) == list(shown.items())
    assert is_valid(to_json(value))


def test_nested_values_are_flattened_shortened_or_shown_in_another_form() -> None:
    moss = Plant("moss", nickname="soft " * 400)
    shown = to_json(Pot(OAK, [moss], {"tree": 2, "moss": 1}))
    (other,) = shown.pop("others")
    assert shown == {"kind": "tree", "state": None, "stock": {"moss": 1, "tree": 2}, "label": 3}
    assert list(shown["stock"]) == ["moss", "tree"]
    assert (other["sort"], other["leaf_sides"]) == ("MOSS", 0)
    assert len(other["nickname"]) < len(moss.nickname or "") / 2
    assert to_json(Pot(Plant("moss"), (), {"tree": 0, "moss": 0}))["label"] is None


def test_the_schema_of_a_view_has_what_its_values_have() -> None:
    assert set(derive_schema(Pot)["$defs"]) == {"Short", "Stock"}
    assert list(derive_schema(Pot)["properties"]) == list(to_json(Pot(OAK, (), {"tree": 0, "moss": 0})))


def test_a_field_that_a_value_lacks_is_a_fault_at_first_use() -> None:
    with pytest.raises(AttributeError):
        to_json(Leaf(3), Short)


@pytest.mark.parametrize(
    "value", [MOSS, TREE, {**MOSS, "nickname": "Mo", "picture": None}, {**MOSS, "state": "dry", "remark": "old"}]
)
def test_a_value_that_has_the_type_fits_the_schema(value: dict[str, Any]) -> None:
    assert is_valid(value)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "plant/2"},
        {"kind": "fish"},
        {"leaves": [{"size": -1}]},
        {"leaves": [{"size": 1, "colour": "red"}]},
        {"state": "wet"},
        {"state": "dry"},
        {"height": 1.0},
        {"kind": "tree"},
        {"best": {}},
        {"extra": 1},
        {"nickname": None},
    ],
)
def test_a_value_that_breaks_a_detail_does_not_fit(change: dict[str, Any]) -> None:
    assert not is_valid({**MOSS, **change})


def test_every_field_without_a_condition_is_required() -> None:
    for name in MOSS:
        assert not is_valid({key: value for key, value in MOSS.items() if key != name})


def test_texts_of_classes_and_fields_become_titles_and_descriptions() -> None:
    schema = derive_schema(Plant)
    assert schema["title"] == "A plant."
    assert schema["$defs"]["LeafView"]["description"] == "A leaf of a tree."
    assert schema["$defs"]["LeafView"]["properties"]["size"]["description"] == "Millimetres."


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (object, {}),
        (int | None, {"type": ["integer", "null"]}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (
            tuple[str, int],
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (
            dict[Annotated[str, {"enum": ["a"]}], float],
            {"type": "object", "propertyNames": {"enum": ["a"]}, "additionalProperties": {"type": "number"}},
        ),
    ],
)
def test_an_annotation_becomes_its_schema(annotation: object, schema: dict[str, Any]) -> None:
    assert SchemaWriter().write(annotation) == schema


@pytest.mark.parametrize("annotation", [bytes, set[int]])
def test_a_type_that_json_lacks_is_refused(annotation: object) -> None:
    with pytest.raises(TypeError):
        SchemaWriter().write(annotation)


def test_the_committed_schemas_are_those_that_the_views_generate() -> None:
    folder = REPOSITORY / "contracts" / "schemas"
    committed = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    assert generator().generate() == committed, "run scripts/generate_schemas.py"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_schemas", REPOSITORY / "scripts" / "generate_schemas.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
