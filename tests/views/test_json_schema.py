"""Test the derivation of JSON Schemas from typed dictionaries, and the files that are generated from the views."""

import importlib.util
from types import ModuleType
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY

from pastchats_memory.views.json_schema import Narrowed, PresentIf, SchemaWriter, derive_schema


class Leaf(TypedDict):
    """A leaf of a tree."""

    size: Annotated[int, {"minimum": 0}, "Millimetres."]


class Plant(TypedDict):
    """A plant."""

    schema: Literal["plant/1"]
    kind: Annotated[str, {"enum": ["tree", "moss"]}]
    leaves: list[Leaf]
    state: Annotated[str | None, {"enum": ["green", "dry"]}]
    height: NotRequired[Annotated[float, PresentIf("kind", ("tree",))]]
    remark: Annotated[str, Narrowed("state", ("dry",), {"minLength": 1})]
    best: Leaf | None
    nickname: NotRequired[str]


MOSS = {"schema": "plant/1", "kind": "moss", "leaves": [], "state": None, "remark": "", "best": None}
TREE = {**MOSS, "kind": "tree", "height": 2.5, "leaves": [{"size": 3}], "best": {"size": 3}}


def is_valid(value: dict[str, Any]) -> bool:
    return bool(Draft202012Validator(derive_schema(Plant)).is_valid(value))


@pytest.mark.parametrize("value", [MOSS, TREE, {**MOSS, "nickname": "Mo"}, {**MOSS, "state": "dry", "remark": "old"}])
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
    assert schema["$defs"]["Leaf"]["description"] == "A leaf of a tree."
    assert schema["$defs"]["Leaf"]["properties"]["size"]["description"] == "Millimetres."


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
