"""What seldom stands in a file, and is read all the same."""

import io
import json
import sqlite3

import pytest
from golden import inputs, rows, turns

from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE, first_pass
from pastchats_memory.formats.agents.codex import CODEX
from pastchats_memory.formats.agents.cursor import CURSOR
from pastchats_memory.formats.agents.droid import DROID
from pastchats_memory.formats.base import json_scanner, source
from pastchats_memory.formats.base.json_scanner import Scanner, Torn
from pastchats_memory.formats.base.markdown import front_matter, in_details
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.base.tools import ToolResult, parse_result
from pastchats_memory.formats.base.values import BadJson
from pastchats_memory.formats.exports.chatgpt import CHATGPT
from pastchats_memory.formats.exports.open_webui import OPEN_WEBUI
from pastchats_memory.formats.generic import MESSAGES
from pastchats_memory.formats.markdown.dialogue import DIALOGUE
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import clean_turn, clean_value


def written(path, *records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def claude(content, role="user", **keys):
    return {"type": role, "sessionId": "s", "message": {"role": role, "content": content}} | keys


def test_a_database_of_no_known_program_is_named(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()
    with pytest.raises(NotText, match="no known program"):
        detect_format(SourceFile(tmp_path / "x.db"))


def test_a_line_without_a_conversation_is_reported(tmp_path):
    node = {"message": {"author": {"role": "user"}, "content": {"parts": ["Hello."]}}}
    path = written(tmp_path / "x.jsonl", {"mapping": {"a": node}}, {"x": 1}, 7)
    assert [row.content if isinstance(row, Turn) else row.reason for row in rows(CHATGPT, path)] == [
        "Hello.",
        "no conversation",
        "no conversation",
    ]


@pytest.mark.parametrize(
    "text", ["words " * 100 + '\n```json\n{"mapping": {}}\n```\n', '```json\n{"mapping": 7}\n```\n']
)
def test_a_text_about_exports_is_none(text, tmp_path):
    path = tmp_path / "x.md"
    path.write_text(text)
    assert not CHATGPT.detect(SourceFile(path))


def test_a_web_session_on_one_line_is_one(tmp_path):
    path = written(tmp_path / "x.jsonl", {"loglines": [claude("Hello."), claude(7, "assistant")]})
    found = rows(CLAUDE_CODE, path)
    assert [row.content for row in found if isinstance(row, Turn)] == ["Hello."]
    assert [row.reason for row in found if isinstance(row, Unreadable)] == ["content of a message is a int"]


def test_the_same_message_far_on_in_a_session_is_a_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(first_pass, "MESSAGE_SPREAD", 2)
    answer = claude([{"type": "text", "text": "One."}], "assistant")
    answer["message"]["id"] = "msg_1"
    progress = [{"type": "progress", "sessionId": "s"}] * 2
    path = written(tmp_path / "x.jsonl", claude("Count."), answer, answer, *progress, answer)
    assert [turn.content for turn in turns(CLAUDE_CODE, path)] == ["Count.", "One."]


def test_a_note_beside_a_result_is_no_result(tmp_path):
    blocks = [{"type": "text", "text": "a note"}, {"type": "tool_result", "tool_use_id": "t", "content": "ok"}]
    assert turns(CLAUDE_CODE, written(tmp_path / "x.jsonl", claude(blocks))) == []


def test_a_rollback_of_nothing_takes_nothing_back(tmp_path):
    event = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    record = {"type": "event_msg", "payload": {"type": "user_message", "message": "Hello."}}
    path = written(tmp_path / "x.jsonl", {"type": "session_meta", "payload": {"id": "r"}}, event, record)
    assert [(turn.content, turn.branch) for turn in turns(CODEX, path)] == [("Hello.", "main")]


def test_a_turn_of_nothing_that_can_be_read_is_none():
    assert clean_turn(Turn("user", "\0 \0", 1)) is None
    assert clean_value({"big": 1 << 70, "small": 7}) == {"big": str(1 << 70), "small": 7}


@pytest.mark.parametrize(
    ("document", "messages"),
    [
        ([{"user": "Hello."}, {"assistant": "Hello to you."}], ["Hello.", "Hello to you."]),
        (
            [{"role": "user", "content": "Hello.", "odd": [1, float("nan")]}, {"role": "assistant", "content": "Yes."}],
            ["Hello.", "Yes."],
        ),
        ({"a": {"messages": [{"role": "user", "content": "Alone."}]}}, ["Alone."]),
    ],
)
def test_messages_of_seldom_shapes(document, messages, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    found = [turn.content for turn in MESSAGES.read(SourceFile(path)) if isinstance(turn, Turn)]
    assert found == messages


def test_messages_and_parts_that_are_nested_too_deep_are_not_looked_for(tmp_path):
    deep = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    for _ in range(12):
        deep = {"data": deep}
    part = "too deep"
    for _ in range(12):
        part = [part]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(deep))
    assert not MESSAGES.detect(SourceFile(path))
    path.write_text(json.dumps([{"role": "user", "content": part}, {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]))  # fmt: skip
    assert [turn.content for turn in turns(MESSAGES, path)] == ["x", "y"]


def test_a_document_that_is_no_json_says_so_when_it_is_read(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{")
    (row,) = MESSAGES.read(SourceFile(path))
    assert row.reason.startswith("not JSON")


def test_front_matter_begins_with_a_key():
    found = front_matter(["---", "  - stray", "title: Latch", "---", "text"])
    assert (dict(found.fields), found.lines) == ({"title": "Latch"}, 4)


def test_details_in_details_are_hidden_with_them():
    lines = ["<details>", "<details>", "x", "</details>", "</details>", "y"]
    assert in_details(lines, [False] * 6) == [True] * 5 + [False]


@pytest.mark.parametrize("text", [b'{"a\xff": 1}', b'{"a" 1}', b"{1: 2}", b'{"a": }', b'{"\\x": 1}'])
def test_an_object_without_a_key_or_a_value_is_torn(text):
    scanner = Scanner(io.BytesIO(text))
    with pytest.raises(Torn):
        [scanner.value() for _ in scanner.members()]


@pytest.mark.parametrize(
    "text", [b"[12345678]", b"12345678", b'"abcdefgh"', b'["abcdefgh", [1, [2, [3, [4, [5, [6]]]]]], 7]']
)
def test_a_value_may_stand_across_pieces(text, monkeypatch):
    monkeypatch.setattr(json_scanner, "CHUNK", 3)
    assert json.loads(Scanner(io.BytesIO(text)).value()) == json.loads(text)


def test_the_size_of_what_was_packed_is_that_of_what_is_in_it(tmp_path, monkeypatch):
    content = b'{"messages": [tru]}'
    packed = SourceFile(tmp_path / "x.json", unpacked=lambda: io.BytesIO(content))
    assert packed.size == len(content)
    monkeypatch.setattr(source, "LARGE_DOCUMENT", 3)
    assert isinstance(packed.outline, BadJson)


def test_an_answer_that_only_begins_as_json_is_text():
    assert parse_result('{"torn') == ToolResult('{"torn')


def test_a_text_without_roles_is_no_transcript_of_cursors(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("words\nand more\n")
    assert list(CURSOR.read(SourceFile(path))) == []


def test_an_aborted_turn_is_flagged_once(tmp_path):
    aborted = {"type": "event_msg", "payload": {"type": "turn_aborted"}}
    record = {"type": "event_msg", "payload": {"type": "user_message", "message": "Hello."}}
    path = written(tmp_path / "x.jsonl", {"type": "session_meta", "payload": {"id": "r"}}, record, aborted, aborted)
    assert [turn.metadata["flags"] for turn in turns(CODEX, path)] == [["interrupted"]]


def test_an_open_webui_item_without_a_chat_is_reported(tmp_path):
    first = next(path for path in inputs("open-webui") if path.suffix == ".json")
    chats = json.loads(first.read_text(encoding="utf-8"))
    path = tmp_path / "export.json"
    path.write_text(json.dumps([*(chats if isinstance(chats, list) else [chats]), 7]))
    assert any(isinstance(row, Unreadable) for row in rows(OPEN_WEBUI, path))


EXPORT_OF_CURSOR = "# Flue\n_Exported on 3/14/2026 at {} from Cursor (2.6.19)_\n\n---\n\n**User**\n\nWhy?\n\n---\n\n**Cursor**\n\nSoot.\n"


def test_an_export_of_cursor_has_the_time_of_its_zone(tmp_path):
    file = tmp_path / "flue.md"
    for written, moment in (("11:20:49 GMT+5:30", "05:50"), ("8:00:01 GMT-3:30", "11:30"), ("9:00:00 GMT+2", "07:00")):
        file.write_text(EXPORT_OF_CURSOR.format(written), encoding="utf-8")
        assert {turn.timestamp for turn in turns(DIALOGUE, file) if turn.role == "user"} == {
            f"2026-03-14T{moment}:00.000Z"
        }


def test_an_export_with_a_zone_that_does_not_exist_is_still_read(tmp_path):
    file = tmp_path / "flue.md"
    for zone in ("+24", "-99:59", "+23:99"):
        file.write_text(EXPORT_OF_CURSOR.format(f"9:00:00 GMT{zone}"), encoding="utf-8")
        assert [turn.content for turn in turns(DIALOGUE, file)] == ["Why?", "Soot."]


def test_a_list_of_prompts_with_a_commit_is_no_rollout(tmp_path):
    record = {
        "id": "1",
        "session_id": "s",
        "timestamp": "2026-04-29T14:30:02.000Z",
        "prompt": "Why?",
        "git": {"branch": "b"},
    }
    assert detect_format(SourceFile(written(tmp_path / "prompts.jsonl", record, record))) is not CODEX


def test_events_of_a_rollout_have_their_words_as_text_too(tmp_path):
    events = [{"type": "user_message", "text": "Why?"}, {"type": "agent_message", "text": "Soot."}]
    records = [{"timestamp": "2026-04-10T20:40:13.000Z", "type": "event_msg", "payload": event} for event in events]
    found = turns(CODEX, written(tmp_path / "rollout-1.jsonl", *records))
    assert [(turn.role, turn.content) for turn in found] == [("user", "Why?"), ("assistant", "Soot.")]


def test_a_folder_that_stands_once_in_a_file_is_that_of_the_conversation(tmp_path):
    first, last = {"role": "user", "content": "Why?", "cwd": "/srv/kiln"}, {"role": "assistant", "content": "Soot."}
    assert {turn.cwd for turn in turns(MESSAGES, written(tmp_path / "chat.jsonl", first, last))} == {"/srv/kiln"}
    others = [message | {"conversation_id": name} for name, message in (("a", first), ("b", last))]
    assert [turn.cwd for turn in turns(MESSAGES, written(tmp_path / "two.jsonl", *others))] == ["/srv/kiln", None]
    moved = written(tmp_path / "moved.jsonl", first, first | {"cwd": "/srv/oven"}, last)
    assert [turn.cwd for turn in turns(MESSAGES, moved)] == ["/srv/kiln", "/srv/oven", None]
    outer = written(tmp_path / "outer.jsonl", {"title": "Flue", "cwd": "/srv"}, first, last)
    assert [turn.cwd for turn in turns(MESSAGES, outer)] == ["/srv/kiln", "/srv"]


def test_a_session_of_droid_needs_no_id(tmp_path):
    head = {"type": "session_start", "title": "Flue", "sessionTitle": "Flue", "cwd": "/srv/kiln"}
    message = {"type": "message", "timestamp": "2024-01-15T10:00:00Z", "message": {"role": "user", "content": "Why?"}}
    (turn,) = turns(DROID, written(tmp_path / "s.jsonl", head, message))
    assert (turn.content, turn.cwd, turn.conversation_id) == ("Why?", "/srv/kiln", "s")
