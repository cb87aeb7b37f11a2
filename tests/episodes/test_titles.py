"""Conversations and episodes have titles that people recognise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.episodes.titles import TITLE_WIDTH, find_title


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        pytest.param(["The kiln cools too fast. Why?"], "The kiln cools too fast", id="the first sentence"),
        pytest.param(["hello", "The kiln cools too fast."], "The kiln cools too fast", id="behind a greeting"),
        pytest.param(["test", "yes", "Fire the kiln"], "Fire the kiln", id="behind one word"),
        pytest.param(["## User Input\n\nGlaze the bowls again"], "Glaze the bowls again", id="below a form's heading"),
        pytest.param(["# Replace the kiln's thermostat\n\n- order"], "Replace the kiln's thermostat", id="a heading"),
        pytest.param(["! export KILN=1", "Fire the kiln"], "Fire the kiln", id="behind a command for the shell"),
        pytest.param(["for f in *.log; do rm $f; done", "Fire the kiln"], "Fire the kiln", id="behind a loop"),
        pytest.param(["/compact", "Fire the kiln"], "Fire the kiln", id="behind a command without words"),
        pytest.param(["/plan Fire the kiln at night"], "Fire the kiln at night", id="the words of a command"),
        pytest.param(["/srv/kiln/fire.py\nWhy is it slow at night?"], "Why is it slow at night?", id="below a path"),
        pytest.param(["1c5d0a41-9f0e-4c1b-8d2a-5f60718293a4", "Fire the kiln"], "Fire the kiln", id="behind a UUID"),
        pytest.param([r"C:\Users\ada\my kiln", "Fire the kiln"], "Fire the kiln", id="behind a path with a blank"),
        pytest.param(['{"task_id": "b2"}', "Fire the kiln"], "Fire the kiln", id="behind JSON"),
        pytest.param(
            ["Development Session Transcript", "Fire the kiln"], "Fire the kiln", id="behind a copy's heading"
        ),
        pytest.param(["New Chat", "Fire the kiln"], "Fire the kiln", id="behind a client's placeholder"),
        pytest.param(["You are a potter.\nFire the kiln at night."], "Fire the kiln at night", id="below a role"),
        pytest.param(["<context>a b c</context>\nFire the kiln"], "Fire the kiln", id="without a client's context"),
        pytest.param(["[Image #1] Fire the kiln"], "Fire the kiln", id="without a picture"),
        pytest.param(["- **Fire** the `kiln`"], "Fire the kiln", id="without marks"),
        pytest.param(["Fire the kiln\nat night"], "Fire the kiln at night", id="over a wrapped line"),
        pytest.param(["把窑炉的温度调高"], "把窑炉的温度调高", id="in a script without spaces"),
        pytest.param(
            ["温度が高すぎる、朝まで待つ。夜に下げて"],
            "温度が高すぎる、朝まで待つ。",
            id="the first of a script without spaces",
        ),
        pytest.param(["Agis en tant qu'expert du feu.\nAllume le four"], "Allume le four", id="below a role in French"),
        pytest.param(["Claude, du bist ein Töpfer.\nHeiz den Ofen"], "Heiz den Ofen", id="below a role with a name"),
        pytest.param([r"@\home\ada\kiln.log:7 what is the error?"], "what is the error?", id="behind an attached file"),
        pytest.param(
            ["[fire.py](src/fire.py) is slow at night"], "fire.py is slow at night", id="without a link's target"
        ),
        pytest.param(
            ["## User Input\n\n```text\n\n```\n\nYou **MUST** consider it.", "Fire the kiln"],
            "Fire the kiln",
            id="behind a template without words",
        ),
        pytest.param(
            ["The following is the Codex agent history.\n[1] user: fire", "Fire the kiln"],
            "Fire the kiln",
            id="behind a client's own request",
        ),
        pytest.param(["please fix that"], "please fix that", id="the weak one if there is no other"),
        pytest.param(["yes", "", "test"], "", id="nothing at all"),
    ],
)
def test_a_title_is_the_first_sentence_that_names_something(texts: list[str], title: str) -> None:
    assert find_title(texts) == title


def test_a_long_title_ends_with_a_whole_word() -> None:
    title = find_title(["Replace " + "thermostats " * 20])
    assert len(title) <= TITLE_WIDTH
    assert title.endswith("thermostats…")


def test_a_title_cannot_leave_its_line() -> None:
    assert find_title(["Fire the \x1b[31mkiln</system-reminder>"]) == "Fire the [31mkiln<\\/system-reminder>"


def write_session(path: Path, *prompts: str, title: str = "") -> None:
    """Write a session of Claude Code, with the title that the agent gave it."""
    head = {"sessionId": "s1", "cwd": "/srv/kiln", "version": "2.1.0"}
    records: list[dict[str, object]] = [{"type": "ai-title", "aiTitle": title, "sessionId": "s1"}] if title else []
    for minute, prompt in enumerate(prompts):
        at = f"2026-03-01T08:{minute:02}"
        for role, text in (("user", prompt), ("assistant", "Done.")):
            message = {"role": role, "content": text, **({"id": f"m{minute}"} if role == "assistant" else {})}
            records.append({
                **head, "type": role, "uuid": f"{role}{minute}", "timestamp": f"{at}:{'00' if role == 'user' else '30'}.000Z",
                "message": message,
            })  # fmt: skip
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_the_agents_own_title_comes_first(memory: Memory, tmp_path: Path) -> None:
    write_session(tmp_path / "s1.jsonl", "Fire the kiln", title="Night firing of the kiln")
    memory.index([tmp_path / "s1.jsonl"])
    assert memory.name_conversations([("kiln", "s1")]) == {("kiln", "s1"): "Night firing of the kiln"}


def test_the_agents_own_title_counts_in_plain_words_too(memory: Memory, tmp_path: Path) -> None:
    write_session(tmp_path / "s1.jsonl", "Replace the kiln's thermostat", title="File path explanation")
    memory.index([tmp_path / "s1.jsonl"])
    assert memory.name_conversations([("kiln", "s1")]) == {("kiln", "s1"): "File path explanation"}


def test_a_hit_is_named_by_its_episode(memory: Memory, tmp_path: Path) -> None:
    write_session(tmp_path / "s1.jsonl", "Fire the kiln", "Glaze the seven bowls blue")
    memory.index([tmp_path / "s1.jsonl"])
    hits = memory.search("glaze bowls", role="user")
    assert memory.name_hits(hits)[hits[0].id] == "Glaze the seven bowls blue"


def test_an_episode_that_names_nothing_has_the_title_of_its_conversation(memory: Memory, tmp_path: Path) -> None:
    write_session(tmp_path / "s1.jsonl", "Fire the kiln", "yes please")
    memory.index([tmp_path / "s1.jsonl"])
    hits = [hit for hit in memory.search("yes please", role="user") if hit.content == "yes please"]
    assert memory.name_hits(hits) == {hits[0].id: "Fire the kiln"}
