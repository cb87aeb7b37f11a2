import csv
import json
import re
import tracemalloc

import pytest
from demands import read_by
from golden import FIXTURES, inputs, plain, rows, shared, turns
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import damaged_lines

from pastchats_memory.formats.agents.claude_code import CLAUDE_CODE
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.model import Turn, Unreadable

FOLDER = FIXTURES / "claude-code"
LINES = [path.read_text(encoding="utf-8").split("\n") for path in inputs("claude-code") if path.suffix == ".jsonl"]


def record(content, role="user", **keys):
    message = {"role": role, "content": content}
    return {"type": role, "sessionId": "s", "uuid": "u", "timestamp": "2026-02-03T09:00:00Z", "message": message} | keys


def written(path, *records):
    path.write_text("".join(f"{json.dumps(value)}\n" for value in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "path", [path for path in inputs("claude-code") if path.suffix == ".jsonl"], ids=lambda path: path.name
)
def test_the_line_of_a_turn_holds_the_beginning_of_its_text(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    for turn in turns(CLAUDE_CODE, path):
        if turn.kind in ("prompt", "answer", "summary") and turn.content != "[image]":
            assert json.dumps(turn.content.split()[0], ensure_ascii=False)[1:-1] in lines[turn.line - 1]


def test_at_a_fork_the_branch_that_the_file_ends_on_stays_even_when_it_is_the_older_one(tmp_path):
    path = written(
        tmp_path / "s.jsonl",
        record("start", uuid="a", parentUuid=None),
        record("the long way", uuid="b", parentUuid="a"),
        record("a stray question", uuid="c", parentUuid="a"),
        record([{"type": "text", "text": "Here is the long way."}], "assistant", uuid="d", parentUuid="b"),
    )
    branches = {turn.content: turn.branch for turn in turns(CLAUDE_CODE, path)}
    assert branches == {
        "start": "main",
        "the long way": "main",
        "a stray question": "abandoned",
        "Here is the long way.": "main",
    }


def test_records_without_parents_are_no_forks(tmp_path):
    path = written(tmp_path / "s.jsonl", *(record(f"prompt {n}", uuid=f"u{n}", parentUuid=None) for n in range(3)))
    assert [turn.branch for turn in turns(CLAUDE_CODE, path)] == ["main"] * 3


def test_parents_in_a_circle_end_nowhere_and_cost_nothing(tmp_path):
    path = written(
        tmp_path / "s.jsonl", record("one", uuid="a", parentUuid="b"), record("two", uuid="b", parentUuid="a")
    )
    assert [turn.content for turn in turns(CLAUDE_CODE, path)] == ["one", "two"]


def test_a_session_that_never_says_where_it_ran_is_named_after_its_folder(tmp_path):
    folder = tmp_path / ".claude" / "projects" / "-home-ada-kiln"
    folder.mkdir(parents=True)
    (turn,) = turns(CLAUDE_CODE, written(folder / "s.jsonl", record("where am I?")))
    assert (turn.cwd, turn.project) == (None, "-home-ada-kiln")


def test_the_first_working_directory_counts_and_later_ones_are_metadata(tmp_path):
    first, second = turns(
        CLAUDE_CODE, written(tmp_path / "s.jsonl", record("one", cwd="/a"), record("two", cwd="/a/b", uuid="v"))
    )
    assert (first.cwd, dict(first.metadata), second.cwd, dict(second.metadata)) == ("/a", {}, "/a", {"cwd": "/a/b"})


def test_a_subagent_file_that_does_not_name_its_agent_is_named_after_itself(tmp_path):
    (turn,) = turns(CLAUDE_CODE, written(tmp_path / "agent-a77.jsonl", record("search", isSidechain=True)))
    assert (turn.conversation_id, turn.role, turn.branch) == ("s/a77", "system", "sidechain")


@pytest.mark.parametrize(
    "encoded",
    [
        lambda text: text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
        lambda text: text.encode() + b"\0\0\0\0",
    ],
    ids=["utf-8", "crlf", "bom", "utf-16-le", "utf-16-be", "nul-tail"],
)
def test_an_encoding_costs_nothing(encoded, tmp_path):
    path = tmp_path / "s.jsonl"
    text = json.dumps(record("Größe 漢字 😀\u2028second\u0085line"), ensure_ascii=False) + "\n"
    path.write_bytes(encoded(text))
    (turn,) = rows(CLAUDE_CODE, path)
    assert turn.content == "Größe 漢字 😀\u2028second\u0085line"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[" * 100_000, True),
        (b'{"type":"user","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}", True),
        (b"\x80\x81 no text", True),
        (b'{"type":"user","message":{"content":"torn', True),
        (b"\0\0\0", True),
        (b"// a comment", False),
        (b"   ", False),
    ],
)
def test_a_bad_line_costs_itself_and_nothing_else(line, reason, tmp_path):
    path = tmp_path / "s.jsonl"
    good = [json.dumps(record(text, uuid=text)).encode() for text in ("before", "after")]
    path.write_bytes(b"\n".join([good[0], line, good[1], b""]))
    found = rows(CLAUDE_CODE, path)
    assert [row.content for row in found if isinstance(row, Turn)] == ["before", "after"]
    assert [row.line for row in found if isinstance(row, Unreadable)] == ([2] if reason else [])


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(record("whole")) + '\n{"type":"user","message":{"content":"to')
    assert [plain(row)["content"] for row in rows(CLAUDE_CODE, path)] == ["whole"]


def test_halves_of_characters_and_control_bytes_are_taken_out_of_the_words(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(record("pair \ud83d\ude00 half \ud83d nul \0 \x1b[1mbold\x1b[0m\r\nend")) + "\n")
    (turn,) = turns(CLAUDE_CODE, path)
    assert turn.content == "pair 😀 half \ufffd nul  bold\nend"


def test_a_line_of_two_megabytes_is_a_line_like_any_other(tmp_path):
    path = written(tmp_path / "s.jsonl", record("x" * 2_000_000), record("next", uuid="v"))
    assert [len(turn.content) for turn in turns(CLAUDE_CODE, path)] == [2_000_000, 4]


def test_memory_does_not_grow_with_the_words_of_a_file(tmp_path):
    path = tmp_path / "s.jsonl"
    with path.open("w") as file:
        for n in range(4000):
            role = "assistant" if n % 4 else "user"
            content = [{"type": "text", "text": f"{n} " + "x" * 4000}]
            value = record(content, role, uuid=f"u{n}", parentUuid=f"u{n - 1}")
            value["message"]["id"] = f"msg_{n // 2}"
            file.write(json.dumps(value) + "\n")
    tracemalloc.start()
    count = sum(1 for _ in CLAUDE_CODE.read(SourceFile(path)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count > 2000
    assert peak < 4_000_000 < path.stat().st_size / 4


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LINES).flatmap(damaged_lines))
def test_no_accident_to_a_file_raises(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("damaged") / "s.jsonl"
    path.write_bytes(content)
    read_by(SourceFile(path), CLAUDE_CODE)


def answer(text, number, message_id="msg_1"):
    message = {"role": "assistant", "id": message_id, "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "sessionId": "s", "uuid": f"a{number}", "message": message}


def test_lines_of_a_message_far_behind_its_end_are_a_copy_of_it(tmp_path):
    between = [{"type": "progress", "sessionId": "s", "uuid": f"p{number}"} for number in range(500)]
    path = written(tmp_path / "s.jsonl", answer("first", 1), answer("second", 2), *between, answer("copied", 3))
    assert [turn.content for turn in turns(CLAUDE_CODE, path)] == ["first\n\nsecond"]


def test_an_interruption_before_the_first_message_flags_nothing(tmp_path):
    path = written(tmp_path / "s.jsonl", record("[Request interrupted by user]"), record("hello", uuid="v"))
    assert [(turn.content, dict(turn.metadata)) for turn in turns(CLAUDE_CODE, path)] == [("hello", {})]


def test_a_web_session_may_be_one_line_of_lines(tmp_path):
    path = tmp_path / "s.jsonl"
    lines = json.dumps({"loglines": [record("one"), record("two", uuid="v")]})
    path.write_text(f"{lines}\n{json.dumps({'loglines': []})}\n", encoding="utf-8")
    assert [(turn.content, turn.line) for turn in turns(CLAUDE_CODE, path)] == [("one", 1), ("two", 1)]


def test_content_of_an_unknown_type_is_reported(tmp_path):
    strange = answer("", 1) | {"message": {"role": "assistant", "content": 7}}
    result = record(
        [{"type": "text", "text": "a reminder"}, {"type": "tool_result", "tool_use_id": "t", "content": "ok"}]
    )
    (row,) = rows(CLAUDE_CODE, written(tmp_path / "s.jsonl", strange, result))
    assert (row.line, row.reason) == (1, "content of a message is a int")


def contexts_and_pictures(path):
    """Records of a person that hold nothing but the name of an open file, and nothing but pictures: blocks as they stand in the file."""
    contexts = pictures = 0
    for item in SourceFile(path).records():
        value = item.value if isinstance(item, Record) else None
        typed = isinstance(value, dict) and value.get("type") == "user" and not value.get("isMeta")
        message = value.get("message") if typed else None
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
        tools = any(block.get("type") == "tool_result" for block in blocks)
        contexts += bool(texts) and all(re.fullmatch(r"<(ide_\w+)>.*</\1>", text, re.DOTALL) for text in texts)
        pictures += bool(blocks) and not texts and not tools
    return contexts, pictures


def test_real_sessions_have_as_many_prompts_as_were_counted_by_hand():
    """The list counts a record that holds only the name of an open file, and not one that holds only a picture: the
    opposite of what a person did, so the two are told apart here, file by file, and named in fixtures/README.md."""
    folder = shared("transcripts")
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if row["format"] == "claude-code"]
    assert listed
    otherwise = set()
    for row in listed:
        path = folder / row["file"]
        asked = [turn.content for turn in turns(CLAUDE_CODE, path) if turn.role == "user" and turn.kind == "prompt"]
        prompts = sum(not content.startswith("/") for content in asked)  # the list counts no commands
        contexts, pictures = contexts_and_pictures(path)
        if row["human_prompts_or_items"] == "ERR":
            assert prompts == 4, "the list has an error message instead of a count"
        else:
            assert int(row["human_prompts_or_items"]) == prompts + contexts - pictures, row["file"]
        if contexts or pictures:
            otherwise.add(row["file"].rpartition("__")[2])
    assert otherwise == {"general-tool-calls.jsonl", "images-in-user-messages.jsonl"}


def test_the_transcript_of_a_teammate_begins_with_what_the_team_asks_of_it(tmp_path):
    task = '<teammate-message teammate_id="lead" color="red">Survey the flues</teammate-message>'
    path = written(
        tmp_path / "s.jsonl",
        record(task, uuid="a", parentUuid=None),
        record([{"type": "text", "text": "Two are blocked."}], "assistant", uuid="b", parentUuid="a"),
    )
    found = [(turn.role, turn.branch, turn.content) for turn in turns(CLAUDE_CODE, path)]
    assert found == [("system", "sidechain", "Survey the flues"), ("assistant", "sidechain", "Two are blocked.")]


def test_a_message_of_a_teammate_within_a_session_is_no_prompt(tmp_path):
    report = '<teammate-message teammate_id="surveyor">Two are blocked</teammate-message>'
    path = written(tmp_path / "s.jsonl", record("Ask the team", uuid="a"), record(report, uuid="b", parentUuid="a"))
    assert [(turn.role, turn.content) for turn in turns(CLAUDE_CODE, path)] == [("user", "Ask the team")]


PLAN = {"type": "document", "title": "kiln-plan.pdf", "source": {"type": "base64", "media_type": "application/pdf"}}
NOTES = {"type": "document", "title": "notes.txt", "source": {"type": "text", "data": "Fire at cone six."}}


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([PLAN], "[document kiln-plan.pdf]"),
        ([PLAN, {"type": "text", "text": "Is it right?"}], "Is it right?\n\n[document kiln-plan.pdf]"),
        ([NOTES], "[document notes.txt]\nFire at cone six."),
        ([NOTES | {"title": None}], "[document]\nFire at cone six."),
        ([PLAN | {"title": None}], "[image]"),
    ],
)
def test_an_attached_document_has_its_title_and_its_words(blocks, content, tmp_path):
    (turn,) = turns(CLAUDE_CODE, written(tmp_path / "s.jsonl", record(blocks)))
    assert turn.content == content
