"""Test the page of a file, which lists the sessions that changed it in any project."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from program import Program
from served import browsing, serving
from test_calls import write_calls

from pastchats_memory import Memory
from pastchats_memory.ingest import blame


def test_the_name_of_a_file_leads_to_the_sessions_that_changed_it(program: Program) -> None:
    assert program("index", write_calls(program.home / "kiln.jsonl")).status == 0
    with serving(program) as server, browsing(server) as client:
        for query in ("heat.py", "Who changed kiln/heat.py?", "notes.md or heat.py."):
            assert re.search(r"/page/file\?name=\S*heat\.py", client.get("/", params={"query": query}).text), query
        assert "/page/file" not in client.get("/", params={"query": "Who changed notes.md?"}).text
        for name in ("heat.py", "kiln/heat.py", "/w/kiln/heat.py"):
            assert "Light the kiln" in client.get("/page/file", params={"name": name}).text
            assert client.get("/page/file", params={"name": f"\0{name}"}).status_code == 200
        for name in ("eat.py", "notes.md", "w.py", ""):  # notes.md was only read
            assert "No session changed it" in client.get("/page/file", params={"name": name}).text


def test_a_session_that_changed_a_file_twice_stands_once_with_both_changes(program: Program) -> None:
    arguments = {"file_path": "/w/heat.py", "old_string": "a", "new_string": "b"}
    edit: dict[str, object] = {"type": "tool_use", "name": "Edit", "input": arguments}
    turns: tuple[tuple[str, list[dict[str, object]]], ...] = (
        ("user", [{"type": "text", "text": "Light the kiln."}]),
        ("assistant", [{"type": "text", "text": "I light it."}, edit | {"id": "t1"}]),
        ("user", [{"type": "text", "text": "Hotter, please."}]),
        ("assistant", [{"type": "text", "text": "Now <b>hotter</b>, `slowly`."}, edit | {"id": "t2"}]),
    )
    records = [
        {"sessionId": "s", "uuid": f"u{place}", "timestamp": f"2026-02-01T08:00:0{place}Z", "type": role}
        | {"message": {"id": f"m{place}", "role": role, "content": content}}
        for place, (role, content) in enumerate(turns)
    ]
    file = program.home / "s.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert program("index", file).status == 0
    with serving(program) as server, browsing(server) as client:
        shown = client.get("/page/file", params={"name": "heat.py"}).text
    assert (shown.count("Light the kiln"), shown.count("<details data-fetch")) == (1, 2)
    assert "Now &lt;b&gt;hotter&lt;/b&gt;, <code>slowly</code>." in shown


def test_the_calls_of_a_turn_are_narrowed_to_those_that_changed_a_file(program: Program) -> None:
    assert program("index", write_calls(program.home / "kiln.jsonl")).status == 0
    with serving(program) as server, browsing(server) as client:
        (turn,) = {hit["id"] for hit in program("search", "I light it", "--json").results if hit["role"] == "assistant"}
        shown = client.get("/page/calls", params={"id": turn, "file": "heat.py"}).text
    assert "1040" in shown
    assert "make fire" not in shown


def test_a_lookup_of_changes_reads_only_the_newest_turns_that_mention_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/w/heat.py"}}
    calls = [use, use | {"id": "t2", "name": "Bash", "input": {"command": "cat heat.py"}}]
    records = [
        {
            "sessionId": f"s{place}",
            "uuid": f"u{place}",
            "timestamp": f"2026-02-0{place + 1}T08:00:00Z",
            "type": "assistant",
        }
        | {
            "message": {
                "id": f"m{place}",
                "role": "assistant",
                "content": [{"type": "text", "text": "I light it."}, call],
            }
        }
        for place, call in enumerate(calls)
    ]
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([file])
        assert len(memory.list_changes("heat.py")) == 1
        monkeypatch.setattr(blame, "MENTIONS", 1)
        assert memory.list_changes("heat.py") == []
