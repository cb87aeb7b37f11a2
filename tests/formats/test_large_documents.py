"""A large document is read piece by piece and gives the same turns as the same document read whole."""

from __future__ import annotations

import json

import pytest
from golden import inputs

from pastchats_memory.formats import generic
from pastchats_memory.formats.base import source
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format

EXCHANGE = [
    {"role": role, "content": f"{role} says {number}"} for number in range(60) for role in ("user", "assistant")
]
CHATS = [
    {"id": f"c{number}", "title": f"Chat {number}", "messages": EXCHANGE[number : number + 4]} for number in range(60)
]
DOCUMENTS = {
    "messages": EXCHANGE,
    "messages below a key": {"id": "one", "messages": EXCHANGE, "title": "behind them", "model": "m"},
    "messages two keys down": {"data": {"conversation": EXCHANGE, "cwd": "/home/mira/src/courier"}},
    "conversations": CHATS,
    "conversations below a key": {"exported": 1, "conversations": CHATS, "name": "all"},
    "lists of messages": [EXCHANGE[:4], EXCHANGE[4:8]],
    "a map of messages": {"messages": {f"m{number}": message for number, message in enumerate(EXCHANGE)}},
    "a map of conversations": {chat["id"]: {"messages": chat["messages"]} for chat in CHATS},
    "a tree": {"messages": [{**message, "id": f"m{n}", "parentId": f"m{n - 1}"} for n, message in enumerate(EXCHANGE)]},
    "replies": [{**EXCHANGE[0], "id": "a", "replies": [EXCHANGE[1]]}, EXCHANGE[2], EXCHANGE[3]],
}

NEWEST_FIRST = "shape-61-newest-first.json"
NEWEST_FIRST_BY_NAME = "shape-111-newest-first-by-name.json"
"""Turned around where it is read whole; by items its order is that of the file, since its end is not there yet."""


def _turns(path, monkeypatch, large):
    monkeypatch.setattr(source, "LARGE_DOCUMENT", large)
    monkeypatch.setattr(generic, "LARGE_DOCUMENT", large)
    reader = detect_format(SourceFile(path))
    return reader, list(reader.read(SourceFile(path))) if reader else []


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_read_by_items_a_document_gives_the_turns_of_the_whole(tmp_path, monkeypatch, name, indent):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(DOCUMENTS[name], indent=indent), encoding="utf-8")
    whole = _turns(path, monkeypatch, 1 << 30)
    assert whole[1]
    assert _turns(path, monkeypatch, 0) == whole


@pytest.mark.parametrize("folder", ["chatgpt", "messages", "claude-code", "codex", "opencode"])
def test_every_fixture_that_is_a_document_is_read_alike(folder, monkeypatch):
    for path in inputs(folder):
        if path.suffix == ".json" and path.name not in (NEWEST_FIRST, NEWEST_FIRST_BY_NAME):
            assert _turns(path, monkeypatch, 0) == _turns(path, monkeypatch, 1 << 30), path.name


def test_a_list_that_begins_with_the_newest_keeps_its_order_where_it_is_read_by_items(monkeypatch):
    (path,) = (path for path in inputs("messages") if path.name == NEWEST_FIRST)
    reader, turns = _turns(path, monkeypatch, 0)
    assert (reader, turns[::-1]) == _turns(path, monkeypatch, 1 << 30)


def test_a_truncated_document_is_reported_and_read_up_to_there(tmp_path, monkeypatch):
    path = tmp_path / "chat.json"
    for value in (EXCHANGE, CHATS):
        path.write_text(json.dumps(value, indent=1)[:-100], encoding="utf-8")
        _, rows = _turns(path, monkeypatch, 0)
        assert rows[-1].reason == "not JSON: the document is cut short"
        assert len(rows) > len(value) - 5


def test_a_broken_message_of_a_large_export_costs_itself_alone(tmp_path, monkeypatch):
    turns = [
        {"info": {"id": f"msg_{number:03}", "role": role}, "parts": [{"type": "text", "text": f"{role} {number}"}]}
        for number, role in enumerate(("user", "assistant") * 30)
    ]
    text = json.dumps({"info": {"id": "ses_1", "directory": "/home/ana/kiln"}, "messages": turns})
    path = tmp_path / "export.json"
    path.write_text(text.replace('"msg_050"', "nope"), encoding="utf-8")
    reader, read = _turns(path, monkeypatch, 0)
    assert reader.name == "opencode"
    assert "not JSON" in read[0].reason
    assert [turn.content for turn in read[1:]] == [part["parts"][0]["text"] for part in turns if part is not turns[50]]


@pytest.mark.parametrize("folder", ["claude-ai", "chatgpt", "messages"])
def test_detection_reads_only_the_start_of_a_large_document(folder, monkeypatch):
    monkeypatch.setattr(source, "LARGE_DOCUMENT", 0)
    for path in inputs(folder):
        opened = SourceFile(path)
        if opened.shape == "json" and detect_format(opened) is not None:
            assert not {"document", "text"} & vars(opened).keys(), path.name


def test_a_message_that_is_no_json_costs_itself_in_a_large_export_of_goose(tmp_path, monkeypatch):
    path = tmp_path / "session.json"
    messages = [
        json.dumps({"role": "user", "created": 1780387201, "content": [{"type": "text", "text": word}]})
        for word in "ab"
    ]
    messages_of = f"{messages[0]}, {{,}}, {messages[1]}"
    path.write_text(f'{{"working_dir": "/home/ada/kiln", "conversation": [{messages_of}]}}', encoding="utf-8")
    monkeypatch.setattr(source, "LARGE_DOCUMENT", 0)
    reader, rows = _turns(path, monkeypatch, 0)
    assert reader.name == "goose"
    assert [getattr(row, "content", "not JSON") for row in rows] == ["not JSON", "a", "b"]
