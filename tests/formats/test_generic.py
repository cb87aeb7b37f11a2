import json

import pytest
from golden import FIXTURES, expected, inputs, key_map, plain, refused, rows, shared, turns
from hypothesis import given, settings
from hypothesis import strategies as st

from pastchats_memory.formats.agents.codex import CODEX
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.exports.chatgpt import CHATGPT
from pastchats_memory.formats.generic import KNOWN_KEYS, MAPPED, MESSAGES, mapped_format
from pastchats_memory.formats.markdown.notes import NOTES
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Turn

SHAPES = [path for path in inputs("messages") if path.name.startswith("shape-")]


@pytest.mark.parametrize("path", inputs("messages"), ids=lambda path: path.name)
def test_a_file_with_messages_gives_its_turns(path):
    assert [plain(row) for row in rows(mapped_format(key_map(path)), path)] == expected(path)


@pytest.mark.parametrize("path", refused("messages"), ids=lambda path: path.name)
def test_a_file_without_a_conversation_is_left(path):
    assert MESSAGES.detect(SourceFile(path)) == 0


@pytest.mark.parametrize("path", [path for path in inputs("messages") if key_map(path)], ids=lambda path: path.name)
def test_a_map_reads_a_file_that_known_keys_do_not_read_as_well(path):
    assert mapped_format(key_map(path)).detect(SourceFile(path)) == MAPPED
    known = [plain(row) for row in MESSAGES.read(SourceFile(path)) if not isinstance(row, Checkpoint)]
    assert known != expected(path)


@pytest.mark.parametrize(
    ("keys", "words", "confidence"),
    [
        (("who", "text"), ("user", "assistant"), KNOWN_KEYS),
        (("who", "text"), ("Ada", "Grace"), KNOWN_KEYS),
        (("role", "content"), ("planner", "critic"), KNOWN_KEYS),
        (("who", "text"), (1, 2), 0),
        (("author", "text"), ("Ada", "Grace"), 0),
        (("role", "text"), ("planner", "critic"), 0),
    ],
)
def test_names_are_speakers_under_a_key_that_only_speakers_have(keys, words, confidence, tmp_path):
    path = tmp_path / "chat.json"
    talk = [dict(zip(keys, (words[place % 2], f"sentence {place} is this"), strict=True)) for place in range(4)]
    path.write_text(json.dumps(talk), encoding="utf-8")
    assert MESSAGES.detect(SourceFile(path)) == confidence


def test_a_log_in_which_every_speaker_speaks_once_is_read(tmp_path):
    roles = ("planner", "architect", "coder", "tester", "reviewer", "writer", "lead")
    path = tmp_path / "crew.jsonl"
    records = [{"role": role, "content": f"The {role} looks at the damper."} for role in roles]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert [turn.role for turn in turns(MESSAGES, path)] == list(roles)
    assert detect_format(SourceFile(path)) is MESSAGES


def test_hidden_text_never_becomes_a_turn():
    hidden = ("hidden", "synthetic", "Called the Read tool", "user_query", "REDACTED")
    shown = [turn.content for path in SHAPES for turn in turns(mapped_format(key_map(path)), path)]
    assert shown
    assert [text for text in shown if any(words in text for words in hidden)] == []


def test_unknown_keys_are_stored_exactly():
    first = turns(MESSAGES, FIXTURES / "messages" / "messages-q1-keys-kept.jsonl")[0]
    assert first.metadata == {
        "doc_id": "shop/m0",
        "exchange_id": "shop/s1/x0",
        "score": 0.5,
        "nested": {"a": [1, None, True]},
    }


def test_a_conversation_without_an_id_keeps_its_made_one_when_the_file_moves_and_grows(tmp_path):
    lines = [
        json.dumps({"role": role, "content": f"text {number}"}) for number, role in enumerate(("user", "assistant") * 3)
    ]
    here, there = tmp_path / "a.jsonl", tmp_path / "deeper.jsonl"
    here.write_text("\n".join(lines[:3]), encoding="utf-8")
    there.write_text("\n".join(lines), encoding="utf-8")
    assert {turn.conversation_id for path in (here, there) for turn in turns(MESSAGES, path)} == {
        turns(MESSAGES, here)[0].conversation_id
    }


def test_a_message_a_line_is_streamed(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "word"}) + "\n" + "{broken\n" * 10, encoding="utf-8")
    reading = MESSAGES.read(SourceFile(path))
    assert next(reading).content == "word"
    assert next(reading).line == 2


def test_metadata_is_limited_in_depth_and_size(tmp_path):
    path = tmp_path / "deep.json"
    deep = "[" * 900 + "]" * 900
    path.write_text(
        f'[{{"role":"user","content":"a","deep":{deep},"big":"{"x" * 9999}","nan":NaN,"huge":{10**400}}},'
        '{"role":"assistant","content":"b","kept":"yes"}]',
        encoding="utf-8",
    )
    assert [set(turn.metadata) for turn in turns(MESSAGES, path)] == [{"huge"}, {"kept"}]


def test_a_broken_document_is_reported(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('[{"role": "user"', encoding="utf-8")
    (row,) = MESSAGES.read(SourceFile(path))
    assert row.reason.startswith("not JSON")


def test_a_broken_line_loses_only_itself(tmp_path):
    path = tmp_path / "set.jsonl"
    talk = json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})
    path.write_text(f"{talk}\n{{torn}}\n{talk}\n", encoding="utf-8")
    assert [row.line for row in rows(MESSAGES, path)] == [1, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"parts": [[[[[[[["too deep to be text"]]]]]]]], "text": "words"}, "words"),
        ([{"type": "text", "text": "words", "more": [float("nan")]}], "words"),
    ],
)
def test_text_is_found_down_to_a_depth(content, text, tmp_path):
    path = tmp_path / "deep.json"
    talk = [{"role": "user", "content": content, "kept": [float("nan")]}, {"role": "assistant", "content": "b"}]
    path.write_text(json.dumps(talk), encoding="utf-8")
    first = turns(MESSAGES, path)[0]
    assert (first.content, dict(first.metadata)) == (text, {})


def test_a_role_may_be_the_only_key(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text('[{"user": "a question"}, {"assistant": ["an", "answer"]}, {"user": " "}]', encoding="utf-8")
    assert [(turn.role, turn.content) for turn in turns(MESSAGES, path)] == [
        ("user", "a question"),
        ("assistant", "an\n\nanswer"),
    ]


def test_real_files_are_read_with_the_right_number_of_turns():
    folder = shared("transcripts")
    counted = {
        "amp": (4, 4),
        "claude-ai": (20, 19),
        "continue": (15, 15),
        "openai-messages/Dicklesworthstone_cross_agent_session_resumer__messages.jsonl": (2, 2),
        "pi-agent": (1, 2),
        "sharegpt/lm-sys_FastChat__dummy_conversation.json": (1000, 1000),
        "cursor/jazzyalex_cursor_test-session.jsonl": (2, 3),
        "cursor/thedotmack_claude-mem__cursor-session.jsonl": (2, 2),
    }
    for part, (prompts, answers) in counted.items():
        paths = sorted((folder / part).iterdir()) if (folder / part).is_dir() else [folder / part]
        roles = [turn.role for path in paths for turn in turns(MESSAGES, path)]
        assert (roles.count("user"), roles.count("assistant")) == (prompts, answers), part
    exports = sorted((folder / "opencode").glob("*.json"))
    assert sum(turn.role == "user" for path in exports for turn in turns(MESSAGES, path)) == 6


def test_task_files_and_sidecars_among_real_files_are_left():
    folder = shared("transcripts")
    for part in ("beads", "taskmaster", "vscode-copilot-chat", "backlog-md", "chatgpt"):
        for path in (folder / part).iterdir():
            assert detect_format(SourceFile(path)) is not MESSAGES, path


def test_every_line_of_the_retrieval_sets_is_a_turn_with_its_doc_id():
    folder = shared("bench")
    read = 0
    for path in sorted(folder.glob("*/*.jsonl")):
        if path.name == "queries.jsonl":
            assert not MESSAGES.detect(SourceFile(path))
            continue
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        wanted = [
            (line["conversation_id"], line["doc_id"], line["content"]) for line in lines if line["content"].strip()
        ]
        assert [
            (turn.conversation_id, turn.metadata["doc_id"], turn.content) for turn in turns(MESSAGES, path)
        ] == wanted
        read += len(wanted)
    assert read >= 13_000


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "id", "parts", "type", "text", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
READERS = {"chatgpt": CHATGPT, "messages": MESSAGES, "dialogue": None, "notes": NOTES}
JSON_FIXTURES = [
    path for name in ("chatgpt", "messages") for path in inputs(name) if path.suffix in (".json", ".jsonl")
]


def read_by_everyone(path):
    """Raises nothing, and every turn is fit to be stored."""
    source = SourceFile(path, named=True)
    for reader in (CHATGPT, MESSAGES, NOTES, CODEX):
        if reader.detect(source):
            for row in reader.read(source):
                if isinstance(row, Turn):
                    assert row.content.strip()
                    assert row.line >= 1
                    json.dumps(dict(row.metadata))
                    row.content.encode()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_file_cut_or_doubled_anywhere_is_read_without_an_exception(data, tmp_path_factory):
    path = data.draw(st.sampled_from(JSON_FIXTURES))
    raw = path.read_bytes()
    cut = data.draw(st.integers(0, len(raw)))
    lines = raw.split(b"\n")
    doubled = data.draw(st.integers(0, len(lines) - 1))
    changed = data.draw(st.sampled_from([raw[:cut], b"\n".join([*lines[: doubled + 1], *lines[doubled:]]), raw[cut:]]))
    target = tmp_path_factory.mktemp("cut") / path.name
    target.write_bytes(changed)
    read_by_everyone(target)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_file_with_any_value_changed_or_any_key_lost_is_read_without_an_exception(data, tmp_path_factory):
    path = data.draw(st.sampled_from([path for path in JSON_FIXTURES if path.suffix == ".json"]))
    document = json.loads(path.read_text(encoding="utf-8"))
    holder, key = data.draw(st.sampled_from(list(_slots(document))))
    if isinstance(holder, dict) and data.draw(st.booleans()):
        del holder[key]
    else:
        holder[key] = data.draw(JSON_VALUES)
    target = tmp_path_factory.mktemp("changed") / path.name
    target.write_text(json.dumps(document, indent=data.draw(st.sampled_from([None, 1]))), encoding="utf-8")
    read_by_everyone(target)


def _slots(value):
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _slots(value[key])
