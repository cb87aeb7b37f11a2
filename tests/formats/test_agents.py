"""What the fixtures of the smaller agents cannot show: files beside a session, its folder's name, real samples."""

import csv
import hashlib
import json
import shutil
import tracemalloc

import pytest
from golden import FIXTURES, rows, shared, turns
from made import database_of

from pastchats_memory.formats.agents import continue_dev
from pastchats_memory.formats.agents.amazon_q.kiro import KIRO_CLI
from pastchats_memory.formats.agents.amp import AMP
from pastchats_memory.formats.agents.cline import CLINE
from pastchats_memory.formats.agents.continue_dev import CONTINUE_DEV
from pastchats_memory.formats.agents.copilot import COPILOT_CLI, VISUAL_STUDIO_COPILOT, VSCODE_COPILOT
from pastchats_memory.formats.agents.cursor import CURSOR
from pastchats_memory.formats.agents.droid import DROID
from pastchats_memory.formats.agents.gemini import GEMINI_CLI, QWEN_CODE
from pastchats_memory.formats.agents.goose import GOOSE
from pastchats_memory.formats.agents.omnigent import OMNIGENT
from pastchats_memory.formats.agents.opencode import OPENCODE
from pastchats_memory.formats.agents.pi import PI
from pastchats_memory.formats.base.session import folder_of
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tree import BranchTree
from pastchats_memory.formats.exports.llm import LLM_LOGS
from pastchats_memory.formats.registry import detect_format


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
    assert [turn.cwd for turn in turns(GEMINI_CLI, path)] == ["/srv/kiln"]


@pytest.mark.parametrize("name", ["kiln", hashlib.sha256(b"/home/ada/kiln").hexdigest()])
def test_a_gemini_session_runs_where_the_list_of_projects_says(name, tmp_path):
    path = gemini(tmp_path / "tmp" / name / "chats" / "session.jsonl")
    (tmp_path / "projects.json").write_text('{"projects": {"/home/ada/other": "other", "/home/ada/kiln": "kiln"}}')
    assert [turn.cwd for turn in turns(GEMINI_CLI, path)] == ["/home/ada/kiln"]


def test_a_gemini_session_whose_project_is_not_listed_runs_nowhere_known(tmp_path):
    path = gemini(tmp_path / "tmp" / "kiln" / "chats" / "session.jsonl")
    (tmp_path / "projects.json").write_text('{"projects": {"/home/ada/other": "other"}}')
    assert [turn.cwd for turn in turns(GEMINI_CLI, path)] == [None]


def test_a_gemini_subagent_belongs_to_the_session_in_whose_folder_it_is(tmp_path):
    (turn,) = turns(GEMINI_CLI, gemini(tmp_path / "chats" / "parent" / "s.jsonl", kind="subagent"))
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
    assert {(turn.cwd, turn.conversation_id) for turn in turns(COPILOT_CLI, path)} == {
        ("/home/ada/kiln", "the-session")
    }


def test_a_copilot_event_that_lost_its_place_in_the_chain_is_one(tmp_path):
    record = {"type": "user.message", "data": {"content": "Hello."}, "timestamp": "2026-03-04T10:00:00Z"}
    path = written(tmp_path / "s.jsonl", record)
    assert detect_format(SourceFile(path)) is COPILOT_CLI
    assert [turn.content for turn in turns(COPILOT_CLI, path)] == ["Hello."]


def test_a_cursor_subagent_belongs_to_the_session_in_whose_folder_it_is(tmp_path):
    message = {"role": "user", "message": {"content": [{"type": "text", "text": "Look."}]}}
    (turn,) = turns(CURSOR, written(tmp_path / "parent" / "subagents" / "child.jsonl", message))
    assert (turn.conversation_id, turn.role, turn.branch) == ("parent/child", "system", "sidechain")


def test_a_text_that_opens_with_a_role_is_not_cursors_by_that_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("user:\nHello.\nassistant:\nHello to you.\n")
    assert not CURSOR.detect(SourceFile(path))
    moved = tmp_path / "agent-transcripts" / "notes.txt"
    moved.parent.mkdir()
    moved.write_text(path.read_text())
    assert [turn.content for turn in turns(CURSOR, moved)] == ["Hello.", "Hello to you."]


def test_two_copies_of_a_cursor_cli_session_are_one_conversation(tmp_path):
    kept = turns(CURSOR, FIXTURES / "cursor" / "cursor-q5-store.sql")
    words = [{"type": "text", "text": "<user_query>\nGood, commit it.\n</user_query>"}]
    name = "6f0d2c1e-9a42-4f59-8b1e-0c4f2a9d7e66"
    transcript = written(tmp_path / name / f"{name}.jsonl", {"role": "user", "message": {"content": words}})
    (again,) = turns(CURSOR, transcript)
    assert (again.conversation_id, again.content) in [(turn.conversation_id, turn.content) for turn in kept]


@pytest.mark.parametrize("value", ["{}", "7b", "7b7d"])
def test_a_database_with_the_tables_of_cursor_but_no_chat_has_no_reader(value, tmp_path):
    statements = (
        f"CREATE TABLE blobs (id, data);\nCREATE TABLE meta (key, value);\nINSERT INTO meta VALUES ('0', '{value}');"
    )
    assert not CURSOR.detect(SourceFile(database_of(statements, tmp_path / "store.db")))


@pytest.mark.parametrize(("kept", "is_read"), [("session_message", True), ("message", True), ("session_inbox", False)])
def test_a_database_of_opencode_keeps_messages_of_the_first_or_of_the_second_version(kept, is_read, tmp_path):
    tables = {"message": ("message", "part"), "session_message": ("session_message",)}.get(kept, (kept,))
    lines = (FIXTURES / "opencode" / "opencode-q11-second.sql").read_text(encoding="utf-8").split("\n")
    named = [
        line for line in lines if line.startswith(tuple(f"CREATE TABLE {table}(" for table in ("session", *tables)))
    ]
    assert bool(OPENCODE.detect(SourceFile(database_of("\n".join(named), tmp_path / "opencode.db")))) is is_read


def test_an_export_whose_messages_have_ids_of_another_program_is_none_of_opencode(tmp_path):
    path = tmp_path / "export.json"
    record = {"id": "m1", "type": "user", "text": "Look."}
    path.write_text(json.dumps({"info": {"title": "Kiln"}, "messages": [record]}), encoding="utf-8")
    assert not OPENCODE.detect(SourceFile(path))


def kept_by_cursor(path, message, after="", before=""):
    """A store of one message, with the digits of other fields around it in its root."""
    about = json.dumps({"agentId": "a", "latestRootBlobId": "root"}).encode().hex()
    return database_of(
        "CREATE TABLE blobs (id, data);\nCREATE TABLE meta (key, value);\n"
        f"INSERT INTO meta VALUES ('0', '{about}');\n"
        f"INSERT INTO blobs VALUES ('root', X'{before}0a20{'ab' * 32}{after}'), ('{'ab' * 32}', '{message}');",
        path / "store.db",
    )


LOOK = '{"role": "user", "content": "Look."}'


@pytest.mark.parametrize("passed_over", ["5001", "59" + "00" * 8, "65" + "00" * 4], ids=["number", "double", "float"])
def test_fields_of_every_type_in_the_root_of_a_cursor_store_are_passed_over(passed_over, tmp_path):
    folder = "4a0b" + b"file:///srv".hex()
    (turn,) = turns(CURSOR, kept_by_cursor(tmp_path, LOOK, after=passed_over + folder, before=passed_over))
    assert (turn.content, turn.cwd) == ("Look.", "/srv")


@pytest.mark.parametrize(
    "damage", ["4a0b" + b"file:".hex(), "0b", "508080"], ids=["cut in text", "unknown type", "cut in a number"]
)
def test_a_damaged_root_of_a_cursor_store_is_read_as_far_as_it_goes(damage, tmp_path):
    (turn,) = turns(CURSOR, kept_by_cursor(tmp_path, LOOK, after=damage))
    assert (turn.content, turn.cwd) == ("Look.", None)


def test_a_malformed_cursor_message_is_reported(tmp_path):
    (row,) = rows(CURSOR, kept_by_cursor(tmp_path, '{"role": "user", "conte'))
    assert row.reason.startswith("a message is not JSON: ")


def test_a_message_in_the_log_of_llm_that_follows_itself_is_read_once(tmp_path):
    kept = (FIXTURES / "llm-logs" / "llm-logs-q6-turns.sql").read_text()
    circle = database_of(f"{kept}\nUPDATE messages SET parent_hash = hash WHERE hash = 'h3';", tmp_path / "logs.db")
    assert [turn.content for turn in turns(LLM_LOGS, circle) if turn.role == "tool"] == [
        "pump_state\nTimeoutError: pump 3 does not answer"
    ]


def test_text_before_the_first_role_of_a_cursor_transcript_is_nobodys(tmp_path):
    path = tmp_path / "agent-transcripts" / "t.txt"
    path.parent.mkdir()
    path.write_text("user:\n")
    assert turns(CURSOR, path) == []


def test_a_branch_whose_parent_was_lost_with_its_line_goes_on_from_the_line_before():
    branches = BranchTree()
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


def test_a_saved_chat_of_gemini_has_the_name_it_was_saved_under(tmp_path):
    saved = tmp_path / "checkpoint-the%20latch.json"
    shutil.copy(FIXTURES / "gemini-cli" / "gemini-cli-q9-checkpoint.json", saved)
    assert {turn.metadata["title"] for turn in turns(GEMINI_CLI, saved)} == {"the latch"}


@pytest.mark.parametrize(
    "value",
    [
        {"history": [{"role": "user", "parts": [{"text": "Hello?"}]}]},
        [{"role": "user", "parts": [{"text": "Hello?"}]}, {"role": "model", "parts": ["Hello."]}],
        [{"role": ["user"], "parts": []}, {"role": "model", "parts": []}],
        [{"role": "user", "parts": [], "at": 1}, {"role": "model", "parts": []}],
    ],
)
def test_a_chat_with_one_silent_side_or_foreign_messages_is_no_chat_of_gemini(value, tmp_path):
    path = tmp_path / "history.json"
    path.write_text(json.dumps(value))
    assert not GEMINI_CLI.detect(SourceFile(path))


@pytest.mark.parametrize(
    "reader", [PI, DROID, KIRO_CLI, GOOSE, QWEN_CODE, COPILOT_CLI, GEMINI_CLI], ids=lambda reader: reader.name
)
def test_memory_does_not_grow_with_the_words_of_a_session(reader, tmp_path):
    path = tmp_path / "long.jsonl"
    first = next((FIXTURES / reader.name).glob("*-q1-*.jsonl"))
    lines = first.read_text(encoding="utf-8").split("\n")[:-1]
    padded = [json.loads(line) for line in lines]
    with path.open("w", encoding="utf-8") as file:
        file.write(lines[0] + "\n")
        for number in range(200):
            for record in padded[1:]:
                own = {key: f"{record[key]}-{number}" for key in ("id", "uuid") if key in record}
                file.write(json.dumps(record | own | {"padding": "x" * 20_000}) + "\n")
    source = SourceFile(path)
    assert reader.detect(source)
    tracemalloc.start()
    try:
        read = sum(1 for _ in reader.read(source))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read >= 200
    assert peak < path.stat().st_size / 5


def test_a_gemini_session_and_what_a_newer_version_made_of_it_have_the_same_identities():
    before, after = (
        [turn.native_id for turn in turns(GEMINI_CLI, FIXTURES / "gemini-cli" / name)]
        for name in ("gemini-cli-q4-before.json", "gemini-cli-q4-migrated.jsonl")
    )
    assert after[: len(before)] == before


def copied(folder, name, as_name):
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.copy(FIXTURES / "cline" / name, folder / as_name)


def test_a_cline_task_is_read_from_its_screen_file_alone(tmp_path):
    task = tmp_path / "tasks" / "1772618400000"
    sent = copied(task, "cline-q1-cwd-in-context.json", "api_conversation_history.json")
    assert [turn.conversation_id for turn in turns(CLINE, sent)] == ["1772618400000"] * 2
    shown = copied(task, "cline-ui-new-task.json", "ui_messages.json")
    assert turns(CLINE, sent) == []
    assert [(turn.content, turn.cwd) for turn in turns(CLINE, shown)] == [
        ("Fix the latch.", "/home/ada/kiln"),
        ("Fixed.", "/home/ada/kiln"),
    ]
    shown.write_text("[{", encoding="utf-8")
    assert len(turns(CLINE, sent)) == 2


@pytest.mark.parametrize(
    ("place", "record"),
    [
        ("tasks/7/history_item.json", {"id": "7", "workspace": "/srv/kiln"}),
        ("state/taskHistory.json", [{"id": "6", "cwdOnTaskInitialization": "/x"}, {"id": "7", "cwdOnTaskInitialization": "/srv/kiln"}]),
        ("tasks/_index.json", {"entries": [{"id": "6", "workspace": "/x"}, {"id": "7", "workspace": "/srv/kiln"}]}),
    ],
)  # fmt: skip
def test_a_cline_task_ran_where_its_records_say(place, record, tmp_path):
    shown = copied(tmp_path / "tasks" / "7", "cline-ui-new-task.json", "ui_messages.json")
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(json.dumps(record))
    assert {turn.cwd for turn in turns(CLINE, shown)} == {"/srv/kiln"}


def test_a_record_beside_a_cline_task_that_is_no_text_is_of_no_use(tmp_path):
    shown = copied(tmp_path / "tasks" / "7", "cline-ui-new-task.json", "ui_messages.json")
    shown.with_name("history_item.json").write_bytes(b"PK\x03\x04")
    assert {turn.cwd for turn in turns(CLINE, shown)} == {None}


@pytest.mark.parametrize(
    ("listed", "began"),
    [
        ('[{"sessionId": "x"}, {"sessionId": "0d9f3a55-0c58-4c7e-9a5e-66b0a8c1d2e3", "dateCreated": "1772618400120"}]', "2026-03-04T10:00:00.000Z"),
        ('[{"sessionId": "x", "dateCreated": "1772618400120"}]', None),
        ("[{},]", None),
    ],
)  # fmt: skip
def test_a_continue_session_began_when_the_list_of_sessions_says(listed, began, tmp_path):
    path = shutil.copy(FIXTURES / "continue" / "continue-q1-no-times.json", tmp_path / "session.json")
    (tmp_path / "sessions.json").write_text(listed)
    assert {turn.timestamp for turn in turns(CONTINUE_DEV, path)} == {began}


def test_a_vscode_session_belongs_to_the_folder_of_its_workspace(tmp_path):
    (tmp_path / "chatSessions").mkdir()
    path = shutil.copy(
        FIXTURES / "vscode-copilot-chat" / "vscode-copilot-chat-q2-times.json", tmp_path / "chatSessions" / "s.json"
    )
    (tmp_path / "workspace.json").write_text('{"folder": "file:///home/ada/kiln"}')
    assert {turn.cwd for turn in turns(VSCODE_COPILOT, path)} == {"/home/ada/kiln"}


def test_a_button_that_was_pressed_in_vscode_is_no_prompt(tmp_path):
    typed = [
        "Run it.",
        '@agent Continue: "Continue to iterate?"',
        '@agent Continue: what "it" is',
        '@agent Rename: "kiln"',
        '@agent Try Again: ""',
    ]
    requests = [{"requestId": text, "message": {"text": text}, "response": []} for text in typed]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"responderUsername": "x", "requests": requests}), encoding="utf-8")
    assert [turn.content for turn in turns(VSCODE_COPILOT, path)] == [typed[0], *typed[2:4]]


def test_trees_of_any_depth_are_walked_as_far_as_anybody_writes_them(tmp_path):
    deep = {"type": "text", "text": "too deep"}
    for _ in range(60):
        deep = {"type": "paragraph", "content": [deep]}
    assert continue_dev.text_of_editor({"type": "doc", "content": [deep, {"type": "text", "text": "seen"}]}) == "seen"
    for _ in range(60):
        deep = {"children": [deep]}
    request = {
        "requestId": "r",
        "message": {"text": "Run it."},
        "response": [{"kind": "toolInvocationSerialized", "toolId": "x", "resultDetails": {"output": deep, "isError": True}}],
    }  # fmt: skip
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"responderUsername": "x", "requests": [request]}))
    assert [turn.content for turn in turns(VSCODE_COPILOT, path)] == ["Run it."]


def test_a_line_before_the_start_of_a_printed_gemini_session_belongs_to_it(tmp_path):
    before = {"type": "message", "role": "user", "content": "Is the kiln cold?", "ts": "2026-01-30T06:18:04"}
    start = {"type": "init", "session_id": "g-kiln", "model": "gemini-3-pro"}
    (turn,) = turns(GEMINI_CLI, written(tmp_path / "capture.jsonl", before, start))
    assert (turn.content, turn.conversation_id) == ("Is the kiln cold?", "g-kiln")


def test_captures_without_ids_in_two_files_stay_two(tmp_path):
    lines = [
        {"type": "step_start", "timestamp": 1787856743081, "part": {"type": "step-start"}},
        {"type": "text", "timestamp": 1787856743081, "part": {"type": "text", "text": "Done."}},
    ]
    found = [turns(OPENCODE, written(tmp_path / name, *lines))[0] for name in ("a.jsonl", "b.jsonl")]
    assert [(turn.conversation_id, turn.native_id) for turn in found] == [("a", None), ("b", None)]


COUNTED = {"pi-agent": (1, 2), "cursor/jazzyalex_cursor_test-session.jsonl": (2, 3), "amp": (4, 4)}
FORMATS = {
    "pi-agent": PI,
    "cursor-transcript": CURSOR,
    "amp": AMP,
    "continue": CONTINUE_DEV,
    "vscode-copilot-chat": VSCODE_COPILOT,
}


def test_real_samples_have_the_prompts_and_answers_that_they_show():
    folder = shared("transcripts")
    for part, counts in COUNTED.items():
        paths = sorted((folder / part).iterdir()) if (folder / part).is_dir() else [folder / part]
        text = [turn.role for path in paths for turn in turns(detect_format(SourceFile(path)), path)]
        assert (text.count("user"), text.count("assistant")) == counts, part


def test_real_samples_have_as_many_prompts_as_were_counted():
    folder = shared("transcripts")
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if row["format"] in FORMATS]
    assert {row["format"] for row in listed} == set(FORMATS)
    for row in listed:
        text = [turn.role for turn in turns(FORMATS[row["format"]], folder / row["file"])]
        if row["human_prompts_or_items"]:
            assert text.count("user") == int(row["human_prompts_or_items"]), row["file"]
        else:
            assert text.count("user"), row["file"]


def test_traces_in_the_folder_of_a_solution_belong_to_it(tmp_path):
    file = (
        tmp_path
        / "kiln"
        / ".vs"
        / "Kiln"
        / "copilot-chat"
        / "1f2e"
        / "sessions"
        / "5b907407-8737-4527-b985-0d8ce3d40116"
    )
    file.parent.mkdir(parents=True)
    shutil.copy(FIXTURES / "visual-studio-copilot" / "visual-studio-copilot-q1-spans.jsonl", file)
    assert {turn.cwd for turn in turns(VISUAL_STUDIO_COPILOT, file)} == {str(tmp_path / "kiln")}


def test_a_branch_of_omnigent_that_is_no_text_is_no_branch(tmp_path):
    statements = (FIXTURES / "omnigent" / "omnigent-q1-numbers.sql").read_text(encoding="utf-8")
    for turn in turns(OMNIGENT, database_of(statements.replace("'latch'", "x'ff'"), tmp_path / "chat.db")):
        json.dumps(turn.metadata)
        assert not turn.metadata.get("git_branch")
