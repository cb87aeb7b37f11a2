"""Additions to settings files: every other byte stays, and out again means as before."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.errors import UsageFault
from pastchats_memory.hooks.jsonc import (
    find_member,
    scan,
    with_hooks,
    with_member,
    without_member,
    without_ours,
    without_pieces,
)

OURS = re.compile("ours")
ENTRY = {"hooks": [{"type": "command", "command": "ours hook"}]}
HOOKS = {"SessionStart": [ENTRY], "UserPromptSubmit": [ENTRY]}

SETTINGS = [
    "",
    "{}",
    "{ }\n",
    "{\n}\n",
    '{"model": "opus"}',
    '{\n\t"model": "opus",\n\t"hooks": {}\n}\n',
    '{\n    // mine\n    "hooks": {\n        "UserPromptSubmit": [\n            {"hooks": []}, // theirs\n        ],\n    },\n}\n',
    '{"hooks": {"UserPromptSubmit": []}}',
    '{\r\n  "hooks": {\r\n    "Stop": [ {"hooks": [{"type": "command", "command": "say  \\"done\\""}]} ]\r\n  }\r\n}\r\n',
    '/* all of it */ {"hooks": {"SessionStart": [1, 2]} /* end */ }',
]


@pytest.mark.parametrize("text", SETTINGS)
def test_a_server_is_added_and_taken_out_byte_for_byte(text: str) -> None:
    edited = with_member(text, "mcpServers", "ours", ENTRY)
    assert find_member(edited.text, "mcpServers", "ours") == ENTRY
    others = scan(edited.text).value
    del others["mcpServers"]
    assert others == (scan(text).value if text else {})
    assert without_pieces(edited.text, edited.pieces) == text
    assert with_member(edited.text, "mcpServers", "ours", ENTRY, edited.pieces).text == edited.text


@pytest.mark.parametrize("place", range(3))
def test_a_server_is_taken_out_wherever_it_stands(place: int) -> None:
    names = ["theirs", "other"]
    names.insert(place, "ours")
    text = json.dumps({"a": 1, "mcpServers": dict.fromkeys(names, ENTRY)})
    assert scan(without_member(text, "mcpServers", "ours")).value == {
        "a": 1, "mcpServers": {"theirs": ENTRY, "other": ENTRY},
    }  # fmt: skip
    assert without_member(text, "mcpServers", "nobody's") == text


@pytest.mark.parametrize("text", SETTINGS)
def test_hooks_are_added_and_taken_out_byte_for_byte(text: str) -> None:
    edited = with_hooks(text, HOOKS, {}, OURS)
    hooks = scan(edited.text).value["hooks"]
    assert hooks["SessionStart"][-1] == ENTRY
    assert hooks["UserPromptSubmit"][-1] == ENTRY
    assert without_pieces(edited.text, edited.pieces) == text


@pytest.mark.parametrize("text", SETTINGS)
def test_existing_settings_stay_unchanged(text: str) -> None:
    before = scan(text).value if text else {}
    after = scan(with_hooks(text, HOOKS, {}, OURS).text).value
    for key, value in before.items():
        if key != "hooks":
            assert after[key] == value
    for event, entries in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(entries)] == entries


@pytest.mark.parametrize("text", SETTINGS)
def test_adding_twice_adds_nothing(text: str) -> None:
    once = with_hooks(text, HOOKS, {}, OURS)
    assert with_hooks(once.text, HOOKS, {}, OURS).text == once.text


@pytest.mark.parametrize("text", [text for text in SETTINGS if text])
def test_a_file_that_was_written_anew_loses_exactly_what_was_added(text: str) -> None:
    before = scan(text).value
    edited = with_hooks(text, HOOKS, {}, OURS)
    rewritten = json.dumps(scan(edited.text).value)
    assert scan(without_ours(rewritten, OURS, edited.pieces)).value == before
    server = with_member(text, "mcpServers", "ours", ENTRY)
    rewritten = json.dumps(scan(server.text).value)
    assert scan(without_member(rewritten, "mcpServers", "ours", server.pieces)).value == before


def test_entries_are_found_without_a_record_and_leave_no_empty_list() -> None:
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    text = json.dumps(scan(with_hooks(json.dumps(theirs), HOOKS, {}, OURS).text).value)
    assert scan(without_ours(text, OURS)).value == theirs


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1",
        '{"a" 1}',
        "{'a': 1}",
        "nothing",
        "{,}",
        '{"a": 1,,}',
        '{"a": "1',
        "{} /* ",
        '{"a": 1} {"b": 2}',
        '{"hooks": [1]}',
        '{"hooks": {"SessionStart": 3}}',
    ],
)
def test_settings_that_cannot_be_extended_are_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        with_hooks(text, HOOKS, {}, OURS)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), VALUES, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_settings_come_back_byte_for_byte(settings: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    edited = with_hooks(text, HOOKS, {"version": 1}, OURS)
    assert scan(text).value == settings
    assert without_pieces(edited.text, edited.pieces) == text
