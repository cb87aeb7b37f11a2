"""Names of touched files and executed commands are found, though nobody wrote them in a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.store import checks
from pastchats_memory.store.database import open_database


def session(name: str, prompt: str, *calls: tuple[str, dict[str, str]], answer: str = "") -> str:
    """A Claude Code session: a prompt, calls with empty results, and perhaps an answer."""
    contents = [("user", prompt)]
    for place, (tool, inputs) in enumerate(calls):
        contents.append(("assistant", [{"type": "tool_use", "id": f"t{place}", "name": tool, "input": inputs}]))
        contents.append(("user", [{"type": "tool_result", "tool_use_id": f"t{place}", "content": "ok"}]))
    contents += [("assistant", [{"type": "text", "text": answer}])] if answer else []
    records = [
        {
            "type": role, "uuid": f"{name}-{place}", "sessionId": name, "cwd": "/srv/kiln",
            "timestamp": f"2026-01-01T00:00:{place:02d}Z", "message": {"id": f"{name}-{place}", "role": role, "content": content},
        }
        for place, (role, content) in enumerate(contents)
    ]  # fmt: skip
    return "".join(json.dumps(record) + "\n" for record in records)


EDIT = ("Edit", {"file_path": "/srv/kiln/src/gasvalve.go", "old_string": "a", "new_string": "b"})
RUN = ("Bash", {"command": "terraform apply -auto-approve"})
MANY = [("Read", {"file_path": f"/srv/kiln/doc/page{number}.txt"}) for number in range(20)]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    (sessions / "a.jsonl").write_text(session("a", "The pressure is wrong.", EDIT, RUN, *MANY, answer="It holds now."))
    (sessions / "b.jsonl").write_text(session("b", "We apply for a permit. Where does the gas go?", answer="Outside."))
    (sessions / "c.jsonl").write_text(session("c", "Heat it.", ("Write", {"file_path": "C:\\kiln\\burner.toml"})))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([sessions])
    return tmp_path / "memory.db"


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(
    ("query", "conversation"),
    [
        ("gasvalve.go", "a"),
        ("gasvalve", "a"),
        ("src/gasvalve.go", "a"),
        ("/srv/kiln/src/gasvalve.go", "a"),
        ("terraform apply", "a"),
        ("terraform", "a"),
        ("burner.toml", "c"),
        ("kiln\\burner", "c"),
    ],
)
def test_a_name_in_a_tool_call_leads_to_its_episode(database, mode, query, conversation):
    with Memory.open(database) as memory:
        assert memory.search(query, mode=mode)[0].conversation_id == conversation
        assert {"a": "It holds now.", "c": "Heat it"}[conversation] in memory.recall(query).text


def test_a_forgotten_conversation_takes_the_names_of_its_files_with_it(database):
    with Memory.open(database) as memory:
        memory.forget(conversation="a")
        assert all(hit.conversation_id != "a" for hit in memory.search("gasvalve.go", mode="keyword"))
    with open_database(database) as opened:
        assert opened.value("SELECT count(*) FROM tool_calls_vocabulary WHERE term = 'gasvalv'") == 0
        assert checks.damage(opened) == []
    assert b"gasvalv" not in database.read_bytes()


def test_the_index_of_tool_calls_follows_their_turns(database):
    with open_database(database) as opened:
        with opened.transaction():
            opened.run("UPDATE prompts SET metadata_json = replace(metadata_json, 'gasvalve', 'steamvalve')")
            opened.run("UPDATE prompts SET metadata_json = NULL WHERE conversation_id = 'c'")
        terms = {term for (term,) in opened.run("SELECT term FROM tool_calls_vocabulary")}
        assert {"gasvalv", "burner"}.isdisjoint(terms)
        assert "steamvalv" in terms
        assert checks.damage(opened) == []


def test_a_list_of_tools_that_a_program_offers_is_no_call(tmp_path):
    path = tmp_path / "chat.jsonl"
    offered = {"role": "user", "content": "Which?", "tools": [{"type": "function", "name": "fetch_invoices"}]}
    path.write_text(json.dumps(offered) + "\n")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        assert memory.search("fetch_invoices", mode="keyword") == []
