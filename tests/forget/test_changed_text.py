"""Forgotten text stays away though a copy has other marks, widths, quotes or blanks."""

from __future__ import annotations

import json
import shutil
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory, errors
from pastchats_memory.model import Filters
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.same_words import normalize_words

TEXT = "The orchard's café gate opens with the word quince, isn't it so"
SHORT = "No, not yet"

CHANGES: dict[str, Callable[[str], str]] = {
    "byte order mark": lambda text: f"\ufeff{text}",
    "zero-width space": lambda text: text.replace("rch", "r\u200bch"),
    "zero-width joiner": lambda text: text.replace("rch", "r\u200dch"),
    "soft hyphen": lambda text: text.replace("orch", "or\u00adch"),
    "full width": lambda text: "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text),
    "curly apostrophe": lambda text: text.replace("'", "\u2019"),
    "quotation marks": lambda text: f"“{text}”",
    "full stop": lambda text: f"{text}.",
    "ellipsis": lambda text: f"{text} …",
    "capitals": str.upper,
    "quotation": lambda text: "\n".join(f"> {line}" for line in text.split(", ")),
    "nested quotation": lambda text: f"> > {text}",
    "bold": lambda text: f"**{text}**",
    "underscores": lambda text: f"__{text}__",
    "struck": lambda text: f"~~{text}~~",
    "heading": lambda text: f"## {text} ##",
    "underlined heading": lambda text: f"{text}\n======",
    "bullet": lambda text: f"* {text}",
    "number": lambda text: f"1. {text}",
    "ticked box": lambda text: f"- [x] {text}",
    "code": lambda text: f"`{text}`",
    "fence": lambda text: f"```text\n{text}\n```",
    "fence in a quotation": lambda text: f"> ~~~ markdown\n> {text}\n> ~~~",
    "table": lambda text: f"| {text} |",
    "escapes": lambda text: text.replace("'", "\\'"),
    "entities": lambda text: text.replace("'", "&#39;").replace(" ", "&nbsp;"),
    "tags": lambda text: f"<p><b>{text}</b><br/></p>",
    "fixed blanks": lambda text: text.replace(" ", "\u00a0"),
    "line breaks": lambda text: text.replace(" ", "\r\n\t"),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "without accents": lambda text: text.replace("é", "e"),
    "further accents": lambda text: text.replace("o", "o\u0323"),
    "invisible letter": lambda text: text.replace(" ", "\u3164 "),
}


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that has forgotten one text, with its time, and still has others."""
    folder = tmp_path_factory.mktemp("forgetful")
    write_messages(folder / "first.jsonl", ("user", TEXT), ("assistant", "The fence is green, and so is the door."))
    with Memory.open(folder / "memory.db") as memory:
        memory.index([folder / "first.jsonl"])
        (hit, *_) = memory.search(TEXT, limit=1)
        assert memory.forget(hit.id).turns == 1
    assert not (folder / "memory.db-wal").exists()  # all of it is in the file that is copied
    return folder / "memory.db"


@pytest.fixture
def memory(forgetful: Path, tmp_path: Path) -> Memory:
    """A memory of its own with a forgotten text, for each test."""
    return Memory.open(shutil.copy2(forgetful, tmp_path / "memory.db"))


def texts(memory: Memory) -> list[str]:
    return [
        normalize_words(text)
        for table, column in (("prompts", "content"), ("task_texts", "content"))
        for (text,) in memory._database.run(f"SELECT {column} FROM {table}")  # noqa: SLF001 - all that is stored
    ]


@pytest.mark.promise(
    "forgetting", "A copy with other marks, widths, quotes or blanks does not bring forgotten text back."
)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_copy_does_not_come_back_in_another_file(memory: Memory, tmp_path: Path, change: str) -> None:
    changed = CHANGES[change](TEXT)
    assert changed != TEXT
    others = "The pan is made of iron."
    write_messages(tmp_path / "fork.jsonl", ("user", changed), ("assistant", others), conversation="fork")
    untimed = {"messages": [{"role": "user", "content": changed}, {"role": "assistant", "content": others}]}
    (tmp_path / "export.json").write_text(json.dumps(untimed), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations/export.json", json.dumps(untimed))
    with memory:
        report = memory.index([tmp_path / "fork.jsonl", tmp_path / "export.json", tmp_path / "export.zip"])
        assert report.forgotten == 3
        assert report.added >= 2
        assert normalize_words(TEXT) not in texts(memory)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_copy_does_not_come_back_as_a_live_turn_or_a_task(
    memory: Memory, tmp_path: Path, change: str
) -> None:
    changed = CHANGES[change](TEXT)
    issues = tmp_path / ".beads" / "issues.jsonl"
    issues.parent.mkdir()
    bodies = (
        {
            "id": "gar-1",
            "title": changed if "fence" not in change else TEXT,
            "status": "open",
            "priority": 1,
            "issue_type": "task",
        },
        {
            "id": "gar-2",
            "title": "Paint the fence",
            "description": changed,
            "status": "open",
            "priority": 1,
            "issue_type": "task",
        },
        {
            "id": "gar-3",
            "title": "Oil the hinge",
            "status": "open",
            "priority": 1,
            "issue_type": "task",
            "comments": [{"text": changed, "author": "kim"}],
        },
    )
    issues.write_text("".join(json.dumps(body) + "\n" for body in bodies), encoding="utf-8")
    with memory:
        with pytest.raises(errors.UsageFault, match="forgotten"):
            memory.store_turn("user", changed)
        memory.index([issues.parent])
        assert [task.title for task in memory.tasks.list_tasks(Filters())] == ["Oil the hinge"]
        assert not [text for text in texts(memory) if normalize_words(TEXT) in text]


def test_a_forgotten_task_does_not_come_back_as_a_turn_without_a_time(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(
        json.dumps({"messages": [{"role": "user", "content": f"> {TEXT}"}]}), encoding="utf-8"
    )
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.forget(f"t:{memory.tasks.add(Change(title=TEXT)).key}")
        assert memory.index([tmp_path / "export.json"]).forgotten == 1


def test_a_text_of_other_words_is_stored(memory: Memory, tmp_path: Path) -> None:
    other = TEXT.replace("quince", "quinces")
    (tmp_path / "other.json").write_text(
        json.dumps({"messages": [{"role": "user", "content": other}]}), encoding="utf-8"
    )
    with memory:
        assert memory.index([tmp_path / "other.json"]).added == 1


def test_a_repeated_text_is_stored_if_its_time_shows_that_it_is_new(memory: Memory, tmp_path: Path) -> None:
    messages = [(role, text) for role, text in (("assistant", "Yes?"), ("user", "Hm."), ("assistant", "Well?"))]
    write_messages(tmp_path / "later.jsonl", *messages, ("user", TEXT), conversation="later")
    with memory:
        assert memory.index([tmp_path / "later.jsonl"]).forgotten == 0


def test_a_fork_that_replays_a_forgotten_turn_at_another_time_does_not_bring_it_back(tmp_path: Path) -> None:
    def record(second: int, payload: dict[str, object], type_: str = "event_msg") -> str:
        return json.dumps({"timestamp": f"2026-05-04T09:30:{second:02}.123Z", "type": type_, "payload": payload}) + "\n"

    def session(id_: str, **more: object) -> str:
        return record(
            0, {"id": id_, "timestamp": "2026-05-04T09:30:00.123Z", "cwd": "/home/ada/garden", **more}, "session_meta"
        )

    def prompt(second: int, text: str) -> str:
        content = [{"type": "input_text", "text": text}]
        return record(second, {"type": "message", "role": "user", "content": content}, "response_item")

    parent, child = (f"5f0c9a52-1111-4c1e-9b1d-00000000000{number}" for number in (1, 2))
    first = tmp_path / f"rollout-2026-05-04T09-30-00-{parent}.jsonl"
    fork = tmp_path / f"rollout-2026-05-05T09-30-00-{child}.jsonl"
    first.write_text(session(parent) + prompt(1, TEXT) + prompt(2, "Paint the fence in green."), encoding="utf-8")
    replay = session(child, forked_from_id=parent) + session(parent) + prompt(7, f"{TEXT}.")
    fork.write_text(replay + prompt(50, "And now the door, please."), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.index([first]).added == 2
        memory.forget(memory.search(TEXT, limit=1)[0].id)
        memory.index([fork])
        assert normalize_words(TEXT) not in texts(memory)
