import apsw
from golden import FIXTURES
from made import made

from pastchats_memory.formats.companions import companions_of, hidden_in, state_of


def test_a_session_is_read_with_its_messages_and_their_parts():
    session = made(FIXTURES / "opencode" / "opencode-q1.tree")
    kinds = [path.name[:4] for path in companions_of(session)]
    assert kinds == ["msg_", "prt_", "prt_", "msg_", "prt_", "msg_", "prt_"]


def test_a_message_stands_for_a_session_that_is_gone():
    message = made(FIXTURES / "opencode" / "opencode-without-session.tree")
    others = [path.name[:4] for path in companions_of(message)]
    assert others == ["prt_", "msg_", "prt_"]
    names = [path.name for path in message.parent.iterdir()]
    assert hidden_in(str(message.parent), names) == set(names) - {message.name}


def test_messages_are_left_to_their_session_and_parts_to_their_message():
    for fixture in ("opencode-q1", "opencode-first-layout"):
        session = made(FIXTURES / "opencode" / f"{fixture}.tree")
        for path in companions_of(session):
            names = [other.name for other in path.parent.iterdir() if other.suffix == ".json"]
            assert hidden_in(str(path.parent), names) == set(names)


def test_a_copy_of_a_conversation_is_read_from_its_best_source(tmp_path):
    for name, again in (
        ("updates.jsonl", "chat_history.jsonl"),
        ("transcript.jsonl", "transcript_full.jsonl"),
        ("wire.jsonl", "context_1.jsonl"),
        ("updates.jsonl", "summary.json"),
        ("agents", "state.json"),
        ("events", "base_state.json"),
    ):
        assert set(hidden_in(str(tmp_path), (name, again, "notes.md", "plan.jsonl"))) == {again}
        assert set(hidden_in(str(tmp_path), (again, "notes.md"))) == set()


def test_files_about_sessions_of_droid_kiro_or_continue_are_not_read_on_their_own(tmp_path):
    names = ("a.jsonl", "a.settings.json", "a.json", "b.json", "b.settings.json")
    assert set(hidden_in(str(tmp_path / ".factory" / "sessions" / "-home"), names)) == {
        "a.settings.json",
        "b.settings.json",
    }
    assert set(hidden_in(str(tmp_path / ".kiro" / "sessions" / "cli"), names)) == {"a.json"}
    assert set(hidden_in(str(tmp_path / ".continue" / "sessions"), (*names, "sessions.json"))) == {"sessions.json"}
    assert set(hidden_in(str(tmp_path), names)) == set()


def test_a_conversation_of_openhands_is_read_with_all_of_its_events():
    first = made(FIXTURES / "openhands" / "openhands-q1-events.tree")
    names = [path.name for path in sorted(first.parent.iterdir())]
    assert [path.name for path in companions_of(first)] == names[1:]
    assert list(hidden_in(str(first.parent), names)) == names[1:]
    assert set(hidden_in(str(first.parent.parent), names)) == set()


def test_an_older_session_of_vibe_is_read_with_the_file_that_describes_it():
    messages = made(FIXTURES / "vibe" / "vibe-q2-messages.tree")
    assert [path.name for path in companions_of(messages)] == ["meta.json"]
    assert hidden_in(str(messages.parent), ["messages.jsonl", "meta.json"]) == ["meta.json"]


def test_a_session_of_vibe_is_read_with_its_journal_and_no_piece_of_it_for_itself():
    meta = made(FIXTURES / "vibe" / "vibe-q1-session.tree")
    session = meta.parent
    assert [path.name for path in companions_of(meta)] == ["CURRENT", "0000000000000095.jsonl"]
    assert hidden_in(str(session), ["CURRENT", "meta.json", "scheduled-loops.json"]) == [
        "CURRENT",
        "scheduled-loops.json",
    ]
    assert list(companions_of(session / "chunks" / "meta.json")) == []
    for folder in ("chunks", "journal", "generations/0000000000000094"):
        names = [path.name for path in (session / folder).iterdir()]
        assert set(hidden_in(str(session / folder), names)) == set(names)
    assert set(hidden_in(str(session / "notes"), ["a.json"])) == set()


def test_files_beside_a_gptme_session_are_not_read_on_their_own(tmp_path):
    names = ("conversation.jsonl", "events.jsonl", "lesson-emissions.jsonl", "model_selection_trace.json", "notes.md")
    assert list(hidden_in(str(tmp_path), names)) == list(names[1:4])
    assert list(hidden_in(str(tmp_path), names[1:])) == []


def test_a_file_that_only_has_such_a_name_is_read_for_itself(tmp_path):
    names = ("msg_1.json", "prt_1.json", "ses_1.json", "msg_2.txt")
    assert set(hidden_in(str(tmp_path), names)) == set()
    assert set(hidden_in(str(tmp_path), ("notes.md", "ses_1.json"))) == set()
    assert [other for name in (*names, "notes.md") for other in companions_of(tmp_path / name)] == []


def test_a_database_is_read_with_what_stands_beside_it(tmp_path):
    path = tmp_path / "app.db"
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA journal_mode=WAL").fetchall()
    owner.execute("CREATE TABLE notes(text)")
    assert [other.name for other in companions_of(path)] == ["app.db-wal"]
    owner.close()


def test_a_file_is_as_large_and_as_new_as_all_that_is_read_with_it(tmp_path):
    database, log = tmp_path / "a.db", tmp_path / "a.db-wal"
    database.write_bytes(b"12")
    alone = state_of(database)
    log.write_bytes(b"345")
    assert alone == (2, database.stat().st_mtime_ns)
    assert state_of(database) == (5, max(path.stat().st_mtime_ns for path in (database, log)))


def test_clines_copy_of_the_list_in_a_transcript_is_left_to_the_transcript(tmp_path):
    copy = "focus_chain_taskid_1760000000000.md"
    assert set(hidden_in(str(tmp_path), (copy, "ui_messages.json", "todo.md"))) == {copy}
    assert set(hidden_in(str(tmp_path), (copy, "todo.md"))) == set()


def test_a_copy_of_a_session_of_openclaw_from_before_a_compaction_is_not_read():
    names = ["a.jsonl", "a.checkpoint.1.jsonl", "b.checkpoint.1.jsonl", "sessions.json"]
    assert hidden_in("agents/main/sessions", names) == ["a.checkpoint.1.jsonl"]


def test_files_that_claude_code_cursor_and_gemini_keep_for_a_session_belong_to_it(tmp_path):
    claude = tmp_path / ".claude" / "projects" / "-home-ada-kiln" / "s" / "subagents"
    names = ("agent-1.jsonl", "agent-1.meta.json", "agent-2.meta.json", "tool-results")
    assert set(hidden_in(str(claude), names)) == {"agent-1.meta.json", "agent-2.meta.json", "tool-results"}
    assert set(hidden_in(str(claude), names[1:3])) == set(names[1:3])
    assert set(hidden_in(str(tmp_path / ".cursor" / "projects" / "home-ada-kiln"), ("agent-tools", "a"))) == {
        "agent-tools"
    }
    assert set(hidden_in(str(tmp_path / ".gemini" / "tmp" / "kiln"), ("tool-outputs", "chats"))) == {"tool-outputs"}
    assert set(hidden_in(str(tmp_path), (*names, "agent-tools", "tool-outputs"))) == set()


def test_a_session_that_a_program_keeps_twice_is_read_once(tmp_path):
    for folder, names, other in (
        ("GitHub.copilot-chat/transcripts", ("7f3c.jsonl", "8a4d.jsonl"), "chatSessions/7f3c.json"),
        ("conversations", ("7f3c.db", "8a4d.db"), "brain/7f3c/.system_generated/logs/transcript.jsonl"),
    ):
        assert set(hidden_in(str(tmp_path / folder), names)) == set()
        for made_folder in (tmp_path / folder, (tmp_path / other).parent):
            made_folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).touch()
        assert set(hidden_in(str(tmp_path / folder), names)) == {names[0]}
        assert set(hidden_in(str(tmp_path), names)) == set()


def test_the_changes_of_sessions_are_left_to_the_sessions(tmp_path):
    for folder, hidden in ("session_diff", ["ses_1.json"]), ("session", []):
        assert list(hidden_in(str(tmp_path / folder), ["ses_1.json", "notes.md"])) == hidden
