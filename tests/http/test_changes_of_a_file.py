"""Test the page of a file, which lists the sessions that changed it in any project."""

from __future__ import annotations

import re

from program import Program
from served import browsing, serving
from test_calls import write_calls


def test_the_name_of_a_file_leads_to_the_sessions_that_changed_it(program: Program) -> None:
    assert program("index", write_calls(program.home / "kiln.jsonl")).status == 0
    with serving(program) as server, browsing(server) as client:
        for query in ("heat.py", "Who changed kiln/heat.py?", "notes.md or heat.py."):
            assert re.search(r"/page/file\?name=\S*heat\.py", client.get("/", params={"query": query}).text), query
        assert "/page/file" not in client.get("/", params={"query": "Who changed notes.md?"}).text
        for name in ("heat.py", "kiln/heat.py", "/w/kiln/heat.py"):
            assert "Light the kiln" in client.get("/page/file", params={"name": name}).text
        for name in ("eat.py", "notes.md", "w.py", ""):  # notes.md was only read
            assert "No session changed it" in client.get("/page/file", params={"name": name}).text


def test_the_calls_of_a_turn_are_narrowed_to_those_that_changed_a_file(program: Program) -> None:
    assert program("index", write_calls(program.home / "kiln.jsonl")).status == 0
    with serving(program) as server, browsing(server) as client:
        (turn,) = {hit["id"] for hit in program("search", "I light it", "--json").results if hit["role"] == "assistant"}
        shown = client.get("/page/calls", params={"id": turn, "file": "heat.py"}).text
    assert "1040" in shown
    assert "make fire" not in shown
