"""Read texts that once held a pattern up. A cost that doubled with each character would exceed the time limit of a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory.formats.agents.claude_code.channels import parse_channel
from pastchats_memory.formats.agents.codex.dialect import split_plan
from pastchats_memory.formats.base.plans import is_plan_file
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.markdown.dialogue.markers import _LEADING, parse_marker
from pastchats_memory.formats.registry import load_format
from pastchats_memory.model import Turn
from pastchats_memory.redact.heuristics import looks_random
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.views.page_markdown import quote_markdown


def test_a_million_blanks_behind_a_time_are_read() -> None:
    assert _LEADING.match("[0000-00-00 00:00:00.0 Z]" + " " * 1_000_000)


@pytest.mark.parametrize("part", ["_", "a_", "a_b-"])
def test_a_value_of_many_parts_is_not_random(part: str) -> None:
    assert not looks_random(part * (1_000 // len(part)) + "é!")


LONG = 1_000_000


def test_a_million_blanks_in_a_row_of_a_table_name_no_speaker() -> None:
    assert parse_marker(["|" + " " * LONG + "x"], 0) is None


def test_a_path_of_many_hidden_folders_is_read() -> None:
    assert not is_plan_file("/.aa" * (LONG // 4))
    assert is_plan_file("/.aa" * (LONG // 4) + "/plans/kiln.md")


def test_an_answer_of_plans_without_an_end_is_read() -> None:
    text = "<proposed_plan>" * (LONG // 15) + " " * LONG
    assert split_plan(text) == (text, "")


def test_a_message_of_many_closing_tags_is_read() -> None:
    opening = '<channel source="plugin:chat" user="ada">'
    (message,) = parse_channel(opening + "a</channel>" * (LONG // 10))
    assert message.author == "ada"


def test_a_result_of_a_million_blanks_has_its_exit_code(tmp_path: Path) -> None:
    content = "Output:\n" + " " * LONG + "x\nExit Code: 2"
    payloads = (
        {"type": "user", "content": "Run it."},
        {"type": "tool_call", "toolCallId": "c1", "toolName": "shell", "args": {"command": "make"}},
        {"type": "tool_result", "toolCallId": "c1", "content": content},
    )
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(json.dumps({"id": str(at), "payload": one}) + "\n" for at, one in enumerate(payloads)))
    kinds = [row.kind for row in load_format("kiro").read(SourceFile(path)) if isinstance(row, Turn)]
    assert kinds == ["prompt", "error"]


def test_a_run_of_backslashes_in_an_export_is_read_once() -> None:
    assert quote_markdown("a" + "\\" * LONG + "<b>") == "> a" + "\\" * LONG + "\\<b>"


def test_a_run_of_ideographs_with_a_number_behind_it_is_no_paste() -> None:
    text = "设" * 100 + "1"
    assert split_paste(text).typed == text
