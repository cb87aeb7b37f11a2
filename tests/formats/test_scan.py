"""A document piece by piece is the document as a whole: compared with the parser that reads it at once."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.formats.base import json_scanner, source
from pastchats_memory.formats.base.json_scanner import Scanner, Torn
from pastchats_memory.formats.base.source import Element, SourceFile
from pastchats_memory.formats.base.values import BadJson
from pastchats_memory.model import Unreadable

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)


def _cut(text: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str | None, object]]:
    monkeypatch.setattr(json_scanner, "CHUNK", chunk)
    scanner = Scanner(io.BytesIO(text.encode()))
    found = [(key, json.loads(scanner.value())) for key in scanner.members()]
    assert scanner.peek() == b""
    return found


@given(st.lists(VALUES, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_the_items_of_an_array_are_those_that_a_parser_finds(value, chunk, indent, in_ascii):
    with pytest.MonkeyPatch.context() as monkeypatch:
        text = json.dumps(value, indent=indent, ensure_ascii=in_ascii)
        assert _cut(text, chunk, monkeypatch) == [(None, item) for item in value]


@given(st.dictionaries(st.text(), VALUES, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]))
def test_the_members_of_an_object_are_those_that_a_parser_finds(value, chunk, indent):
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert _cut(json.dumps(value, indent=indent), chunk, monkeypatch) == list(value.items())


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(1, 30), st.data())
def test_a_truncated_document_is_reported_and_gives_its_whole_items(value, chunk, data):
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(json_scanner, "CHUNK", chunk)
        scanner = Scanner(io.BytesIO(text[:cut].encode()))
        whole = []
        with pytest.raises(Torn):
            whole.extend(scanner.value() for _ in scanner.members())
    assert [json.loads(raw) for raw in whole[:-1]] == value[: len(whole[:-1])]


@pytest.mark.parametrize("text", ['{"a" 1}', "{1: 2}", "{,:}", '{"\\x": 1}', "7", '[1, "', "{"])
def test_text_that_is_no_json_is_incomplete(text):
    scanner = Scanner(io.BytesIO(text.encode()))
    with pytest.raises(Torn):
        _skip_all(scanner)


def _skip_all(scanner):
    for _ in scanner.members():
        scanner.skip()


def _written(tmp_path: Path, text: str, name: str = "chat.json") -> SourceFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="\n")
    return SourceFile(path)


def test_elements_stand_on_their_lines_and_carry_their_text(tmp_path):
    text = '[\n{"a": 1},\n\n{"b":\n "}"}\n]'
    first, second = _written(tmp_path, text).elements()
    assert (first.line, first.value, first.text) == (2, {"a": 1}, '{"a": 1}')
    assert (second.line, second.value, second.text) == (4, {"b": "}"}, '{"b":\n "}"}')


def test_elements_below_keys_wherever_these_stand(tmp_path):
    document = _written(tmp_path, '{"x": {"in": [0]}, "data": {"n": [1, {}], "in": {"a": 1, "b": [2]}}, "z": 3}')
    found = [(element.key, element.value) for element in document.elements("data", "in")]
    assert found == [("a", 1), ("b", [2])]
    assert list(document.elements("data", "out")) == []
    assert list(document.elements("z")) == []
    assert list(document.elements("z", "in")) == []


def test_a_broken_item_costs_itself_and_a_truncated_end_is_reported(tmp_path):
    one, bad, two, end = _written(tmp_path, '[{"a": 1},\n{"b": nil},\n{"c": 3},\n{"d": ').elements()
    assert isinstance(one, Element)
    assert isinstance(two, Element)
    assert (bad.line, bad.reason.startswith("not JSON")) == (2, True)
    assert end == Unreadable(str(tmp_path / "chat.json"), 4, "not JSON: the document is cut short")


def test_the_outline_of_a_large_document_has_forty_of_everything(tmp_path, monkeypatch):
    value = {"id": "c", "messages": [{"n": number} for number in range(100)], "title": "T", "bad": [1]}
    monkeypatch.setattr(source, "LARGE_DOCUMENT", 100)
    assert _written(tmp_path, json.dumps(value)).outline == value | {"messages": value["messages"][:40]}
    assert _written(tmp_path, json.dumps(value["messages"])).outline == value["messages"][:40]
    assert isinstance(_written(tmp_path, '{"a": [[[nil, ' + " " * 100).outline, BadJson)
    assert isinstance(_written(tmp_path, '{"a": [1, ' + " " * 100).outline, BadJson)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_elements_of_other_encodings(tmp_path, encoding):
    (tmp_path / "chat.json").write_text('[{"a": "é"}]', encoding=encoding)
    assert [element.value for element in SourceFile(tmp_path / "chat.json").elements()] == [{"a": "é"}]
