import csv
import json

import pytest
from demands import read_by
from golden import FIXTURES, inputs, shared, turns
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import damaged_lines

from pastchats_memory.formats.agents.codex import CODEX
from pastchats_memory.formats.base.source import SourceFile

FOLDER = FIXTURES / "codex"
LINES = [path.read_text(encoding="utf-8").split("\n") for path in inputs("codex") if path.suffix == ".jsonl"]


def identities(path, **flags):
    return [
        (turn.role, turn.content, turn.native_id)
        for turn in turns(CODEX, path)
        if flags.get("replayed") is None or ("replayed" in turn.metadata.get("flags", ())) == flags["replayed"]
    ]


@pytest.mark.parametrize("path", inputs("codex"), ids=lambda path: path.name)
def test_every_turn_of_a_rollout_has_an_identity_of_its_own(path):
    ids = [turn.native_id for turn in turns(CODEX, path)]
    assert all(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "context",
    ["<cwd>/srv/kiln</cwd>\n  <shell>zsh</shell>", "Current working directory: /srv/kiln\nApproval policy: never"],
)
def test_a_session_of_2025_lies_in_the_folder_that_its_context_names(tmp_path, context):
    def message(text):
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    heading = {
        "id": "5973b6c0-94b8-487b-a530-2aeb6098ae0e",
        "timestamp": "2025-08-23T17:19:02.962Z",
        "instructions": None,
    }
    records = [
        heading,
        message(f"<environment_context>\n  {context}\n</environment_context>"),
        message("Why is the <cwd>/srv/other</cwd> relay hot?"),
    ]
    path = tmp_path / "rollout-2025-08-23T17-19-02-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl"
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    (prompt,) = turns(CODEX, path)
    assert (prompt.content, prompt.cwd) == ("Why is the <cwd>/srv/other</cwd> relay hot?", "/srv/kiln")


def test_replayed_turns_are_stored_once():
    replayed = identities(FOLDER / "codex-q4.jsonl", replayed=True)
    assert replayed == identities(FOLDER / "codex-q4-parent.jsonl")
    assert len(replayed) == 5


def test_turns_after_a_replay_are_new_even_in_equal_words():
    old = {native_id for _, _, native_id in identities(FOLDER / "codex-q4-parent.jsonl")}
    new = identities(FOLDER / "codex-q4.jsonl", replayed=False)
    assert ("user", "ok") in [(role, text) for role, text, _ in new]
    assert not old & {native_id for _, _, native_id in new}


def test_real_replayed_turns_are_stored_once():
    folder = shared("transcripts", "codex")
    (parent,) = folder.glob("*9cd28a74*")
    (fork,) = folder.glob("*613a9a68*")
    original, replayed = identities(parent), identities(fork, replayed=True)
    assert len(replayed) > 10
    assert replayed == original[: len(replayed)]


def test_a_rollout_without_its_first_line_is_known_by_its_name(tmp_path):
    lines = (FOLDER / "codex-q1.jsonl").read_text(encoding="utf-8").split("\n", 1)
    path = tmp_path / "rollout-2026-03-04T11-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl"
    path.write_text(lines[1], encoding="utf-8")
    assert identities(path) == identities(FOLDER / "codex-q1.jsonl")


def test_a_rollback_of_turns_that_are_not_there_takes_back_nothing(tmp_path):
    path = tmp_path / "rollout.jsonl"
    events = [{"type": "thread_rolled_back", "num_turns": 2}, {"type": "user_message", "message": "hello"}]
    lines = [
        {"type": "session_meta", "payload": {"id": "r"}},
        *({"type": "event_msg", "payload": event} for event in events),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert [turn.branch for turn in turns(CODEX, path)] == ["main"]


def test_an_answer_that_only_the_screen_showed_is_kept_when_no_item_holds_any(tmp_path):
    path = tmp_path / "rollout.jsonl"
    meta = {"type": "session_meta", "payload": {"id": "r"}}
    events = [{"type": "user_message", "message": "Are you there?"}, {"type": "agent_message", "message": "Yes."}]
    lines = [meta, *({"type": "event_msg", "payload": event} for event in events)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert [(turn.role, turn.content) for turn in turns(CODEX, path)] == [
        ("user", "Are you there?"),
        ("assistant", "Yes."),
    ]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LINES).flatmap(damaged_lines))
def test_no_accident_to_a_file_raises(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("damaged") / "rollout.jsonl"
    path.write_bytes(content)
    read_by(SourceFile(path), CODEX)


def test_real_rollouts_have_as_many_prompts_as_were_counted_by_hand():
    folder = shared("transcripts")
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if row["format"] == "codex"]
    assert listed
    found = {row["file"]: sum(turn.role == "user" for turn in turns(CODEX, folder / row["file"])) for row in listed}
    assert found == {row["file"]: int(row["human_prompts_or_items"]) for row in listed}
