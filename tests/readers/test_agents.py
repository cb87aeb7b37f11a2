"""What the fixtures of the smaller agents cannot show: files beside a session, its folder's name, real samples."""

import csv
import hashlib
import json
import tracemalloc

import pytest
from golden import FIXTURES, shared, turns

from pastchats_memory.readers import copilot_cli, cursor, gemini_cli, goose, pi, qwen_code, reader_for
from pastchats_memory.readers.branches import Branches
from pastchats_memory.readers.source import Source
from pastchats_memory.readers.telling import folder_of


def written(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def gemini(path, folder="/home/ada/kiln", **header):
    return written(
        path,
        {"sessionId": "s", "projectHash": hashlib.sha256(folder.encode()).hexdigest()} | header,
        {"id": "m1", "type": "user", "content": "Look."},
    )


def test_a_gemini_session_runs_where_the_marker_of_its_project_says(tmp_path):
    path = gemini(tmp_path / "tmp" / "kiln" / "chats" / "session.jsonl")
    (tmp_path / "tmp" / "kiln" / ".project_root").write_text("/srv/kiln\n")
    (tmp_path / "projects.json").write_text('{"projects": {"/home/ada/other": "kiln"}}')
    assert [turn.cwd for turn in turns(gemini_cli, path)] == ["/srv/kiln"]


@pytest.mark.parametrize("name", ["kiln", hashlib.sha256(b"/home/ada/kiln").hexdigest()])
def test_a_gemini_session_runs_where_the_list_of_projects_says(name, tmp_path):
    path = gemini(tmp_path / "tmp" / name / "chats" / "session.jsonl")
    (tmp_path / "projects.json").write_text('{"projects": {"/home/ada/other": "other", "/home/ada/kiln": "kiln"}}')
    assert [turn.cwd for turn in turns(gemini_cli, path)] == ["/home/ada/kiln"]


def test_a_gemini_session_whose_project_is_not_listed_runs_nowhere_known(tmp_path):
    path = gemini(tmp_path / "tmp" / "kiln" / "chats" / "session.jsonl")
    (tmp_path / "projects.json").write_text('{"projects": {"/home/ada/other": "other"}}')
    assert [turn.cwd for turn in turns(gemini_cli, path)] == [None]


def test_a_gemini_subagent_belongs_to_the_session_in_whose_folder_it_is(tmp_path):
    (turn,) = turns(gemini_cli, gemini(tmp_path / "chats" / "parent" / "s.jsonl", kind="subagent"))
    assert (turn.conversation_id, turn.role, turn.metadata["parent_conversation_id"]) == (
        "parent/s",
        "system",
        "parent",
    )


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_a_copilot_session_runs_where_the_file_beside_it_says(quote, tmp_path):
    events = (FIXTURES / "copilot-cli" / "copilot-cli-q4-no-cwd.jsonl").read_text(encoding="utf-8").split("\n")[:3]
    path = written(tmp_path / "the-session" / "events.jsonl", *map(json.loads, events[1:]))
    (path.parent / "workspace.yaml").write_text(f"id: the-session\ncwd: {quote}/home/ada/kiln{quote}\nsummary: x\n")
    assert {(turn.cwd, turn.conversation_id) for turn in turns(copilot_cli, path)} == {
        ("/home/ada/kiln", "the-session")
    }


def test_a_cursor_subagent_belongs_to_the_session_in_whose_folder_it_is(tmp_path):
    message = {"role": "user", "message": {"content": [{"type": "text", "text": "Look."}]}}
    (turn,) = turns(cursor, written(tmp_path / "parent" / "subagents" / "child.jsonl", message))
    assert (turn.conversation_id, turn.role, turn.branch) == ("parent/child", "system", "sidechain")


def test_a_text_that_opens_with_a_role_is_not_cursors_by_that_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("user:\nHello.\nassistant:\nHello to you.\n")
    assert not cursor.recognise(Source(path))
    moved = tmp_path / "agent-transcripts" / "notes.txt"
    moved.parent.mkdir()
    moved.write_text(path.read_text())
    assert [turn.content for turn in turns(cursor, moved)] == ["Hello.", "Hello to you."]


def test_text_before_the_first_role_of_a_cursor_transcript_is_nobodys(tmp_path):
    path = tmp_path / "agent-transcripts" / "t.txt"
    path.parent.mkdir()
    path.write_text("user:\n")
    assert turns(cursor, path) == []


def test_a_branch_whose_parent_was_lost_with_its_line_goes_on_from_the_line_before():
    branches = Branches()
    for own_id, parent in [("a", ""), ("b", "a"), ("d", "c"), ("d", "a"), ("", "x")]:
        branches.add(own_id, parent)
    assert [branches.of(own_id) for own_id in ("a", "b", "d", "", "e")] == ["main"] * 4 + ["abandoned"]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("/home/ada", "/home/ada"),
        ("file:///home/ada/my%20app", "/home/ada/my app"),
        ("file:///c:/Users/ada", "c:/Users/ada"),
        ("file://", None),
        ("", None),
        (7, None),
    ],
)
def test_a_folder_is_a_path_or_an_address_of_one(value, path):
    assert folder_of(value) == path


@pytest.mark.parametrize("reader", [pi, goose, qwen_code, copilot_cli, gemini_cli], ids=lambda reader: reader.FORMAT)
def test_memory_does_not_grow_with_the_words_of_a_session(reader, tmp_path):
    path = tmp_path / "long.jsonl"
    first = next((FIXTURES / reader.FORMAT).glob("*-q1-*.jsonl"))
    lines = first.read_text(encoding="utf-8").split("\n")[:-1]
    padded = [json.loads(line) for line in lines]
    with path.open("w", encoding="utf-8") as file:
        file.write(lines[0] + "\n")
        for number in range(200):
            for record in padded[1:]:
                own = {key: f"{record[key]}-{number}" for key in ("id", "uuid") if key in record}
                file.write(json.dumps(record | own | {"padding": "x" * 20_000}) + "\n")
    source = Source(path)
    assert reader.recognise(source)
    tracemalloc.start()
    try:
        read = sum(1 for _ in reader.read(source))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read >= 200
    assert peak < path.stat().st_size / 5


COUNTED = {"pi-agent": (1, 2), "cursor/jazzyalex_cursor_test-session.jsonl": (2, 3)}


def test_real_samples_have_the_prompts_and_answers_that_they_show():
    folder = shared("transcripts")
    for part, counts in COUNTED.items():
        paths = sorted((folder / part).iterdir()) if (folder / part).is_dir() else [folder / part]
        said = [turn.role for path in paths for turn in turns(reader_for(Source(path)), path)]
        assert (said.count("user"), said.count("assistant")) == counts, part


def test_real_samples_have_as_many_prompts_as_were_counted():
    folder = shared("transcripts")
    readers = {"pi-agent": pi, "cursor-transcript": cursor}
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if row["format"] in readers]
    assert listed
    for row in listed:
        said = [turn.role for turn in turns(readers[row["format"]], folder / row["file"])]
        assert said.count("user"), row["file"]
        if row["human_prompts_or_items"]:
            assert said.count("user") == int(row["human_prompts_or_items"]), row["file"]
