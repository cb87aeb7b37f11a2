"""Records that few files have: each is read, or left alone, as the test's name says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden import FIXTURES, expected, inputs, plain, rows, turns
from made import made

from pastchats_memory.formats.agents.agent_log import AGENT_LOG
from pastchats_memory.formats.agents.amazon_q.conversation import AMAZON_Q
from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE
from pastchats_memory.formats.agents.codex.replay import TaskFinder
from pastchats_memory.formats.agents.codex.rollout import ITEM, META, RolloutEntry
from pastchats_memory.formats.agents.gemini import HOOKS
from pastchats_memory.formats.agents.goose import GOOSE
from pastchats_memory.formats.agents.opencode import OPENCODE
from pastchats_memory.formats.agents.openhands import event_files
from pastchats_memory.formats.agents.plan_files import PLAN_FILES
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.exports.chatgpt import CHATGPT
from pastchats_memory.formats.exports.llm import LLM_LOGS
from pastchats_memory.formats.generic import MESSAGES
from pastchats_memory.formats.generic.nested_json import DEEPEST_JSON, decode_nested_json
from pastchats_memory.formats.generic.suggestion import MOST_COLUMNS
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.formats.tasks.github_issues import GITHUB_ISSUES
from pastchats_memory.model import Task, Unreadable

ASK, ANSWER = "Why does the kiln stop?", "Its relay opens."


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def claude(content: object, role: str = "user", **keys: object) -> dict[str, object]:
    return {"type": role, "sessionId": "s", "message": {"role": role, "content": content}} | keys


def read(path: Path) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in turns(CLAUDE_CODE, path)]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            '<channel source="plugin:chat" user="ada">The tag </channel> ends it.</channel>',
            "The tag </channel> ends it.",
        ),
        ('<channel source="plugin:chat" user="ada">Cut off', '<channel source="plugin:chat" user="ada">Cut off'),
    ],
)
def test_a_message_of_a_channel_ends_at_its_last_tag(text: str, content: str, tmp_path: Path) -> None:
    assert read(write_lines(tmp_path / "a.jsonl", claude(text))) == [("user", content)]


def test_a_command_of_the_client_with_its_output_is_no_prompt(tmp_path: Path) -> None:
    output = "<local-command-stdout>3 dollars</local-command-stdout>"
    text = f"<command-name>/fire</command-name>{output}<command-args>the kiln</command-args>"
    assert read(write_lines(tmp_path / "a.jsonl", claude(ASK), claude(text))) == [("user", ASK)]


def test_an_unknown_operation_of_the_queue_changes_nothing(tmp_path: Path) -> None:
    operation = {"type": "queue-operation", "operation": "peek", "content": "Is it warm?", "sessionId": "s"}
    path = write_lines(tmp_path / "a.jsonl", claude(ASK), operation, claude(ANSWER, "assistant"))
    assert read(path) == [("user", ASK), ("assistant", ANSWER)]


def test_a_subagent_begins_at_the_first_of_several_messages_in_a_row() -> None:
    finder = TaskFinder()
    message = RolloutEntry(ITEM, {"type": "agent_message", "content": "Look at the relay."})
    entries = [
        RolloutEntry(META, {"id": "parent"}),
        RolloutEntry(ITEM, {"type": "function_call", "name": "shell"}),
        message,
        message,
    ]
    for position, entry in enumerate(entries):
        finder.add(entry, position, "child", None)
    assert finder.own_start(()) == 2


def test_goose_keeps_its_sessions_below_its_root() -> None:
    environment = Environment({"GOOSE_PATH_ROOT": "/srv/goose"}, Path("/home/ada"), "linux")
    assert list(GOOSE.locations(environment)) == [Path("/srv/goose/data/sessions")]


def test_gemini_gets_a_named_hook_with_a_limit_in_milliseconds() -> None:
    (hook,) = HOOKS.entry("pastchats-memory hook")["hooks"]
    assert (hook["name"], hook["command"], hook["timeout"]) == ("pastchats-memory", "pastchats-memory hook", 5000)
    output = HOOKS.context("BeforeAgent", ANSWER)["hookSpecificOutput"]
    assert output == {"hookEventName": "BeforeAgent", "additionalContext": ANSWER}


def test_a_plan_that_opencode_writes_to_a_file_is_a_turn(tmp_path: Path) -> None:
    plan = {"filePath": "/home/ada/.opencode/plans/kiln.md", "content": "1. Cool the relay."}
    part = {"id": "p1", "type": "tool", "tool": "write", "state": {"status": "completed", "input": plan}}
    session = {
        "info": {"id": "ses_1", "directory": "/home/ada", "title": "Kiln", "time": {"created": 1769847300000}},
        "messages": [
            {"info": {"id": "msg_1", "role": "user"}, "parts": [{"id": "p0", "type": "text", "text": ASK}]},
            {"info": {"id": "msg_2", "role": "assistant"}, "parts": [part]},
        ],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(session, indent=1), encoding="utf-8")
    found = [(turn.kind, turn.content) for turn in turns(OPENCODE, path)]
    assert found == [("prompt", ASK), ("plan", "1. Cool the relay.")]


def log_with_plan(path: Path, result: str, *first: object) -> list[str]:
    """Return the plans of a log in which an agent proposes one, with the result of the call."""
    function = {"name": "exit_plan_mode", "arguments": json.dumps({"plan": "1. Cool the relay."})}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]}
    write_lines(path, *first, call, {"role": "tool", "tool_call_id": "a", "content": result})
    return [turn.content for turn in turns(AGENT_LOG, path) if turn.kind == "plan"]


@pytest.mark.parametrize("first", [[], [{"role": "user", "content": ASK}]])
def test_a_plan_in_a_log_of_messages_is_a_turn(first: list[object], tmp_path: Path) -> None:
    assert log_with_plan(tmp_path / "log.jsonl", "approved", *first) == ["1. Cool the relay."]


def test_the_changed_plan_that_a_person_approves_is_a_turn_as_well(tmp_path: Path) -> None:
    result = "Go on.\n## Approved Plan (edited by user):\n1. Replace the relay."
    found = log_with_plan(tmp_path / "log.jsonl", result, {"role": "user", "content": ASK})
    assert found == ["1. Cool the relay.", "1. Replace the relay."]


@pytest.mark.parametrize("path", inputs("agent-log"), ids=lambda path: path.name)
def test_a_log_of_messages_gives_its_turns(path: Path) -> None:
    assert [plain(row) for row in rows(AGENT_LOG, path)] == expected(path)
    assert detect_format(SourceFile(made(path))) is AGENT_LOG


def test_a_list_of_conversations_in_markdown_is_an_export(tmp_path: Path) -> None:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [ASK]}}
    path = tmp_path / "a.md"
    path.write_text(f"```json\n{json.dumps([{'mapping': {'n1': {'message': message}}}])}\n```\n", encoding="utf-8")
    assert [turn.content for turn in turns(CHATGPT, path)] == [ASK]


def test_a_heading_like_that_of_a_log_without_a_prompt_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# 2026-01-31T09:00:00    conversation: kiln\n\nThe relay was warm.\n", encoding="utf-8")
    assert not LLM_LOGS.detect(SourceFile(path))


def test_a_note_has_no_map(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("The relay was warm.\n", encoding="utf-8")
    assert MESSAGES.suggest_map is not None
    assert MESSAGES.suggest_map(SourceFile(path)) is None


def test_a_map_is_suggested_for_records_with_many_columns(tmp_path: Path) -> None:
    others = {f"column{number}": number for number in range(MOST_COLUMNS + 10)}
    texts = [("user", ASK), ("bot", ANSWER), ("user", "Is it warm in there?"), ("bot", "No, it is cold now.")]
    path = write_lines(tmp_path / "a.jsonl", *({"who": who, "words": text} | others for who, text in texts))
    assert MESSAGES.suggest_map is not None
    assert MESSAGES.suggest_map(SourceFile(path)) == "role=who,text=words"


def test_json_in_strings_is_not_decoded_below_the_deepest_level() -> None:
    value: object = json.dumps({"role": "user", "content": ASK})
    for _ in range(DEEPEST_JSON + 1):
        value = [value]
    assert decode_nested_json(value) is value


def test_a_digest_under_data_is_not_the_text_of_a_message(tmp_path: Path) -> None:
    records = (
        {"role": "user", "data": "9f2c", "message_text": ASK},
        {"role": "assistant", "text": ANSWER, "data": "77a1"},
    )
    path = write_lines(tmp_path / "a.jsonl", *records)
    assert [turn.content for turn in turns(MESSAGES, path)] == [ASK, ANSWER]


def test_a_person_whose_name_begins_like_a_model_is_no_assistant(tmp_path: Path) -> None:
    records = [{"from": "Claudette", "text": ASK}, {"from": "assistant", "text": ANSWER}] * 2
    path = write_lines(tmp_path / "a.jsonl", *records)
    assert [turn.role for turn in turns(MESSAGES, path)] == ["claudette", "assistant"] * 2


def test_the_data_of_server_sent_events_in_a_string_are_decoded() -> None:
    chunk = {"choices": [{"delta": {"role": "assistant", "content": ANSWER}}]}
    text = f"event: chunk\ndata: {json.dumps(chunk)}\n\ndata: [DONE]\n"
    assert decode_nested_json({"body": text}) == {"body": [chunk]}
    assert decode_nested_json({"body": "event: chunk\n: no data follows here"}) == {
        "body": "event: chunk\n: no data follows here"
    }


def test_conversations_in_a_list_with_other_items_are_read(tmp_path: Path) -> None:
    conversation = {"messages": [{"role": "user", "content": ASK}, {"role": "assistant", "content": ANSWER}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 3, "rows": [7, conversation, "end"]}, indent=1), encoding="utf-8")
    assert [turn.content for turn in turns(MESSAGES, path)] == [ASK, ANSWER]


def test_a_torn_conversation_of_amazon_q_is_reported(tmp_path: Path) -> None:
    whole = (FIXTURES / "amazon-q" / "amazon-q-q1-saved.json").read_text(encoding="utf-8")
    path = tmp_path / "a.json"
    path.write_text(whole.rstrip()[:-1], encoding="utf-8")
    (row,) = AMAZON_Q.read(SourceFile(path))
    assert isinstance(row, Unreadable)
    assert row.reason.startswith("not JSON")


def test_a_file_outside_a_conversation_of_openhands_has_no_events(tmp_path: Path) -> None:
    assert event_files(tmp_path / "event-00001-a.json") == []


def test_a_plan_without_text_is_no_turn(tmp_path: Path) -> None:
    path = tmp_path / "plans" / "kiln.md"
    path.parent.mkdir()
    path.write_text("---\nname: Kiln\n---\n", encoding="utf-8")
    assert list(PLAN_FILES.read(SourceFile(path))) == []


def test_a_wrapped_message_without_text_is_no_turn(tmp_path: Path) -> None:
    wrapped = [{"id": 1, "payload": {"role": role, "content": text}} for role, text in (("user", ASK), ("user", ""))]
    answer = {"id": 3, "payload": {"role": "assistant", "content": ANSWER}}
    path = write_lines(tmp_path / "a.jsonl", *wrapped, answer)
    assert [turn.content for turn in turns(MESSAGES, path)] == [ASK, ANSWER]


def test_items_that_are_no_issues_are_no_tasks(tmp_path: Path) -> None:
    issue = json.loads((FIXTURES / "github-issues" / "github-issues-api.json").read_text(encoding="utf-8"))[0]
    path = tmp_path / "issues.json"
    path.write_text(json.dumps([issue, {"total": 1}], indent=1), encoding="utf-8")
    assert [row.title for row in GITHUB_ISSUES.read(SourceFile(path)) if isinstance(row, Task)] == [issue["title"]]
