"""The histories of a machine are found where programs keep them, listed, indexed at once, and left where that is asked."""

from __future__ import annotations

import json
import os
import signal
import zipfile
from dataclasses import replace
from pathlib import Path

import apsw
import jsonschema
import pytest
from program import Program, write_messages
from waiting import HANG_S, wait_until

from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.registry import discover

ROOT = Path(__file__).parents[2]
SESSION = {
    "type": "user",
    "uuid": "3b1f6a52-9a57-4c0e-8d1c-2f4b7e5a9c01",
    "parentUuid": None,
    "sessionId": "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31",
    "timestamp": "2026-03-01T10:00:01.123Z",
}
INTERRUPTED_WHILE_DELETING = """
import signal
import watchfiles

class Last:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def watch(*arguments, watch=watchfiles.watch, **options):
    last = Last()
    del last
    return watch(*arguments, **options)

watchfiles.watch = watch
"""


def session(path: Path, words: str, cwd: str = "/home/mira/src/courier") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = SESSION | {"cwd": cwd, "message": {"role": "user", "content": words}, "uuid": words}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def home(program: Program) -> Path:
    session(program.home / ".claude" / "projects" / "-home-mira-src-courier" / "a.jsonl", "Fix the retries.")
    write_messages(program.home / ".continue" / "sessions" / "s.jsonl", ("user", "Which port?"), ("assistant", "8080."))
    return program.home


def at(program: Program, **variables: str) -> Program:
    return replace(program, variables={**program.variables, "HOME": str(program.home), **variables})


def test_histories_are_listed_with_what_is_indexed_and_what_is_gone(program: Program, home: Path) -> None:
    own = at(program)
    listed = own("sources", "--json")
    schema = json.loads((ROOT / "contracts" / "schemas" / "sources.json").read_text(encoding="utf-8"))
    jsonschema.validate(listed.json, schema)
    assert [(row["program"], row["files"], row["indexed"]) for row in listed.results] == [
        ("Claude Code", 1, 0),
        ("Continue", 1, 0),
    ]
    assert not program.database.exists()
    run = own("index", "--all", "--json")
    assert (run.status, run.json["turns_added"]) == (0, 3)
    assert str(Path(".claude/projects")) in run.stderr
    gone = home / ".continue" / "sessions" / "s.jsonl"
    gone.unlink()
    write_messages(home / "chats" / "x.jsonl", ("user", "Why?"), ("assistant", "So."))
    assert own("index", "chats").status == 0
    rows = {row["program"]: row for row in own("sources", "--json").results}
    assert rows["Claude Code"]["indexed"] == 1
    assert rows["Continue"]["gone"] == [str(gone)]
    assert program("status", "--json").results[0]["gone"] == 1
    assert "1 of them gone" in program("status").stdout
    assert [row["indexed"] for row in rows.values() if row["path"] == str(home / "chats")] == [1]
    assert "Gone from disk, kept in the memory: 1 file\n" in own("sources").stdout
    assert own("search", "port").status == 0


def test_a_skipped_folder_is_reported_once_and_a_moved_file_too(program: Program, home: Path) -> None:
    (home / "links").mkdir()
    (home / "links" / "out").symlink_to(home / ".continue")
    run = program("index", "links")
    assert (run.status, run.stdout.count("a link out of the folder")) == (1, 1)
    folder = home / ".continue" / "sessions"
    assert program("index", str(folder)).status == 0
    (folder / "s.jsonl").rename(folder / "t.jsonl")
    assert "0 read, 1 unchanged (1 moved), 0 not taken" in program("index", str(folder)).stdout


def test_places_are_spelled_from_home_and_stand_apart_from_the_sentence(program: Program, home: Path) -> None:
    own = at(program)
    assert str(home) not in own("sources").stdout
    place = Path("~/.continue/sessions")
    assert str(place) in own("sources").stdout
    assert f"\n  Continue: {place}\n" in own("index", "--all").stderr
    assert own("sources", "--json").results[1]["path"] == str(home / ".continue" / "sessions")


def test_on_a_machine_without_histories_nothing_is_found(program: Program) -> None:
    run = at(program)("sources")
    assert (run.status, run.stdout) == (1, "")
    assert at(program)("index", "--all").status == 2


def test_the_answer_no_reads_nothing(program: Program, home: Path) -> None:
    assert at(program)("index", "--all", "--no").status == 1
    assert home.exists()
    assert not program.database.exists()


def test_variables_of_the_programs_move_their_histories(tmp_path: Path) -> None:
    named = {
        "CLAUDE_CONFIG_DIR": f"{tmp_path / 'one'},{tmp_path / 'two'}",
        "CODEX_HOME": str(tmp_path / "codex"),
        "DSH_HOME": str(tmp_path / "dsh"),
    }
    for folder in (
        "one/projects",
        "two/projects",
        "codex/sessions",
        "dsh/sessions",
        "home/.claude/projects",
        "data/amp/threads",
    ):
        (tmp_path / folder).mkdir(parents=True)
    environment = Environment({**named, "XDG_DATA_HOME": str(tmp_path / "data")}, tmp_path / "home", "linux")
    found = [(history.program, history.path.relative_to(tmp_path).as_posix()) for history in discover(environment)]
    assert found == [
        ("Claude Code", "one/projects"),
        ("Claude Code", "two/projects"),
        ("Codex", "codex/sessions"),
        ("Amp", "data/amp/threads"),
        ("DeepSeek Harness", "dsh/sessions"),
    ]


@pytest.mark.parametrize(
    ("program", "place"),
    [
        ("Claude Code", ".claude/history.jsonl"),
        ("OpenCode, Kilo CLI, ZCode", ".local/share/kilo"),
        ("Copilot Chat", ".config/Code/User/globalStorage/github.copilot-chat/conversations.json"),
        ("Cursor", ".config/Cursor/User/workspaceStorage/1/state.vscdb"),
        ("Amp", ".config/VSCodium/User/globalStorage/sourcegraph.amp"),
        ("Amazon Q, Kiro CLI", ".kiro/sessions/cli"),
        ("Antigravity", ".gemini/antigravity-ide/brain"),
        ("Antigravity", ".gemini/antigravity-cli/conversations"),
        ("Copilot Chat", ".config/Code/User/workspaceStorage/1/GitHub.copilot-chat/transcripts"),
        ("Augment", ".augment/sessions"),
        ("gptme", ".local/share/gptme/logs"),
        ("Grok Build", ".grok/sessions"),
        ("Hermes", ".hermes/state.db"),
        ("Kimi", ".kimi/sessions"),
        ("Kimi", ".kimi-code/sessions"),
        ("Mistral Vibe", ".vibe/logs/session"),
        ("Devin CLI", ".local/share/devin/cli/sessions.db"),
        ("QwenPaw", ".copaw/workspaces"),
        ("Posit Assistant", ".posit/assistant/workspaces"),
        ("OpenCode, Kilo CLI, ZCode", ".zcode/cli/db/db.sqlite"),
        ("OpenHands", ".openhands/conversations"),
        ("pi, OpenClaw", ".openclaw/agents/main/sessions"),
    ],
)
def test_older_versions_and_lists_of_prompts_have_places_of_their_own(tmp_path: Path, program: str, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    assert [(found.program, found.path) for found in discover(Environment({}, tmp_path, "linux"))] == [
        (program, tmp_path / place)
    ]


@pytest.mark.parametrize(
    ("program", "platform", "place"),
    [
        ("Copilot Chat", "linux", ".config/Code/User/workspaceStorage/1/chatSessions"),
        ("Copilot Chat", "darwin", "Library/Application Support/Code/User/workspaceStorage/1/chatSessions"),
        ("Copilot Chat", "win32", "AppData/Roaming/Code/User/workspaceStorage/1/chatSessions"),
        ("Zed", "linux", ".local/share/zed/conversations"),
        ("Zed", "darwin", "Library/Application Support/Zed/conversations"),
        ("Zed", "win32", "AppData/Local/Zed/conversations"),
        ("gptme", "linux", ".local/share/gptme/logs"),
        ("gptme", "win32", "AppData/Local/gptme/gptme/logs"),
        ("Goose", "win32", "AppData/Roaming/Block/goose/sessions"),
        ("Claude Code", "win32", ".claude/projects"),
        ("Codex", "win32", ".codex/sessions"),
        ("Cline", "win32", "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"),
    ],
)
def test_each_platform_has_its_own_place(tmp_path: Path, program: str, platform: str, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    (found,) = discover(Environment({}, tmp_path, platform))
    assert (found.program.partition(",")[0], found.path) == (program, tmp_path / place)


@pytest.mark.parametrize("variable", ["APPDATA", "LOCALAPPDATA"])
def test_on_windows_the_variables_of_the_system_name_the_folders(tmp_path: Path, variable: str) -> None:
    place = {"APPDATA": "Code/User/workspaceStorage/1/chatSessions", "LOCALAPPDATA": "Zed/conversations"}[variable]
    moved = tmp_path / "D" / place
    moved.mkdir(parents=True)
    (found,) = discover(Environment({variable: str(tmp_path / "D")}, tmp_path / "home", "win32"))
    assert found.path == moved


def test_a_project_with_the_marker_is_left_wherever_its_conversations_lie(program: Program, home: Path) -> None:
    secret = home / "src" / "secret"
    (secret / "deep").mkdir(parents=True)
    (secret / ".pastchats-ignore").touch()
    session(home / "sessions" / "b.jsonl", "Hide the treasure.", cwd=str(secret / "deep"))
    write_messages(secret / "chat.jsonl", ("user", "Where is the treasure?"), ("assistant", "Here."))
    assert program("index", "sessions", "src").status == 0
    assert program("search", "--mode", "keyword", "treasure").status == 1
    (secret / ".pastchats-ignore").unlink()
    assert program("index", "sessions", "src", "--json").json["turns_added"] == 3


@pytest.mark.parametrize("glob", ["{home}/src/secret", "secret", "{home}/src/sec*", "src/secret/"])
def test_flags_and_configuration_exclude_files(program: Program, home: Path, glob: str) -> None:
    pattern = glob.format(home=home)
    session(home / "sessions" / "b.jsonl", "Hide the treasure.", cwd=f"{home}/src/secret")
    write_messages(home / "src" / "secret" / "chat.jsonl", ("user", "Where is the treasure?"), ("assistant", "Here."))
    write_messages(home / "src" / "open" / "chat.jsonl", ("user", "Which port?"), ("assistant", "8080."))
    run = program("index", "sessions", "src", "--exclude", pattern, "--json")
    assert run.json["turns_added"] == 2
    program.database.unlink()
    (home / "pastchats-memory.toml").write_text(f"exclude = ['{pattern}']\n", encoding="utf-8")
    assert program("index", "sessions", "src", "--json").json["turns_added"] == 2


def test_index_reads_only_included_files(program: Program) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write_messages(program.home / "chats" / name, ("user", f"Which {name}?"), ("assistant", "This."))
    assert program("index", "chats", "--include", "b.*", "--json").json["turns_added"] == 2


def test_a_history_of_one_file_is_read_only_if_it_is_included_or_named(program: Program, home: Path) -> None:
    folder = home / "llm"
    folder.mkdir()
    with apsw.Connection(str(folder / "logs.db")) as connection:
        connection.execute((ROOT / "fixtures" / "llm-logs" / "llm-logs-q1.sql").read_text(encoding="utf-8"))
    own = at(program, LLM_USER_PATH=str(folder))
    assert own("index", "--all", "--include", "*.jsonl", "--json").json["files_scanned"] == 2
    (home / "pastchats-memory.toml").write_text("include = ['*.jsonl']\n", encoding="utf-8")
    listed = {row["program"]: (row["files"], row["indexed"]) for row in own("sources", "--json").results}
    assert listed == {"Claude Code": (1, 1), "Continue": (1, 1), "llm": (0, 0)}
    assert own("index", "llm/logs.db", "--json").json["turns_added"] > 0


def test_links_out_and_pipes_are_passed_over_with_a_reason(program: Program, tmp_path: Path) -> None:
    outside = write_messages(tmp_path / "outside" / "chat.jsonl", ("user", "Which port?"), ("assistant", "8080."))
    inside = write_messages(program.home / "chats" / "own.jsonl", ("user", "Why?"), ("assistant", "So."))
    (inside.parent / "link.jsonl").symlink_to(outside)
    (inside.parent / "folder").symlink_to(outside.parent)
    (inside.parent / "again.jsonl").symlink_to(inside)
    (inside.parent / "loop").symlink_to(inside.parent)
    os.mkfifo(inside.parent / "pipe.jsonl")
    run = program("index", "chats", "--json")
    assert run.json["turns_added"] == 2
    reasons = {Path(file["source_path"]).name: file["reason"] for file in run.results if file["reason"]}
    assert reasons == {
        "link.jsonl": "a link out of the folder; --follow-links follows it",
        "folder": "a link out of the folder; --follow-links follows it",
        "pipe.jsonl": "neither a file nor a folder",
    }
    assert program("index", "chats", "--follow-links", "--json").json["turns_added"] == 2


def test_new_files_in_a_watched_folder_are_indexed(program: Program) -> None:
    folder = write_messages(program.home / "chats" / "a.jsonl", ("user", "Which port?"), ("assistant", "8080.")).parent
    process = program.started("index", "chats", "--watch")
    try:
        wait_until(lambda: _stored(program, "port"))
        for place in ("oak", "well", "bridge"):
            write_messages(folder / f"{place}.jsonl", ("user", f"Where is the {place}?"), ("assistant", "Over there."))
            wait_until(lambda place=place: _stored(program, place))
    finally:
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    assert "Added 2 turns of 1 file.\n" in stdout
    assert "Traceback" not in stderr


def test_an_interrupt_ends_watching_even_if_it_arrives_while_an_object_is_deleted(program: Program) -> None:
    """Python drops an exception that is raised there, so the interrupt would be lost."""
    write_messages(program.home / "chats" / "a.jsonl", ("user", "Which port?"), ("assistant", "8080."))
    interrupted = program.altered(INTERRUPTED_WHILE_DELETING).started("index", "chats", "--watch")
    _, stderr = interrupted.communicate(timeout=HANG_S)
    assert interrupted.returncode == 130
    assert "Exception ignored in" in stderr


def _stored(program: Program, word: str) -> bool:
    if not program.database.exists():
        return False
    try:
        database = apsw.Connection(str(program.database), flags=apsw.SQLITE_OPEN_READONLY)
        return bool(database.execute("SELECT 1 FROM prompts WHERE content LIKE ?", (f"%{word}%",)).fetchall())
    except (apsw.BusyError, apsw.CantOpenError, apsw.SQLError):  # it is being made
        return False


def test_own_files_below_a_folder_are_not_indexed(program: Program, tmp_path: Path) -> None:
    write_messages(program.home / "a.jsonl", ("user", "Which port?"), ("assistant", "8080."))
    process = at(program).started("index", ".", "--watch", "--json")
    try:
        assert process.stdout is not None
        runs = [json.loads(process.stdout.readline())]
        for name in ("b", "c", "d"):  # were its own writes news, runs without a file would come in between
            write_messages(tmp_path / name, ("user", f"Where is oak {name}?"), ("assistant", "Over there."))
            (tmp_path / name).rename(program.home / f"{name}.jsonl")
            runs.append(json.loads(process.stdout.readline()))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)
    names = [[Path(file["source_path"]).name for file in run["results"]] for run in runs]
    assert names == [[f"{name}.jsonl"] for name in "abcd"]


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"])
def test_own_data_folders_are_not_indexed(program: Program, variable: str) -> None:
    write_messages(program.home / "a.jsonl", ("user", "Which port?"), ("assistant", "8080."))
    write_messages(program.home / "own" / "pastchats-memory" / "b.jsonl", ("user", "Which?"), ("assistant", "This."))
    looked_at = at(program, **{variable: str(program.home / "own")})("index", "--dry-run", ".", "--json").results
    assert [Path(file["source_path"]).name for file in looked_at] == ["a.jsonl"]


def test_crush_lists_the_projects_that_have_its_histories(tmp_path: Path) -> None:
    databases = [tmp_path / "courier" / ".crush" / "crush.db", tmp_path / "kept" / "crush.db"]
    for database in databases:
        database.parent.mkdir(parents=True)
        database.touch()
    listed = tmp_path / ".local" / "share" / "crush" / "projects.json"
    listed.parent.mkdir(parents=True)
    environment = Environment({}, tmp_path, "linux")
    projects = [
        {"path": str(tmp_path / "courier"), "data_dir": ".crush"},
        {"path": str(tmp_path / "kiln"), "data_dir": str(tmp_path / "kept")},
        {"path": str(tmp_path / "gone"), "data_dir": ".crush"},
        {"path": 5},
    ]
    listed.write_text(json.dumps({"projects": projects}), encoding="utf-8")
    assert [(one.program, one.path) for one in discover(environment)] == [("Crush", path) for path in databases]
    for broken in ('{"projects": 5}', "[]", "{"):
        listed.write_text(broken, encoding="utf-8")
        assert discover(environment) == []


def test_gemini_sessions_of_the_macos_sandbox_are_found(tmp_path: Path) -> None:
    folders = [tmp_path / ".gemini" / "tmp", tmp_path / ".cache" / ".gemini" / "tmp"]
    for folder in folders:
        folder.mkdir(parents=True)
    environment = Environment({}, tmp_path, "darwin")
    assert [found.path for found in discover(environment) if found.program == "Gemini CLI"] == folders


def test_all_keeps_every_place_fresh_that_was_indexed_once(program: Program, home: Path) -> None:
    own = at(program)
    (home / "lone").mkdir()
    write_messages(home / "chats" / "x.jsonl", ("user", "Why?"), ("assistant", "So."))
    write_messages(home / "lone" / "y.jsonl", ("user", "Whence?"), ("assistant", "Thence."))
    write_messages(home / "lone" / "never.jsonl", ("user", "Whose?"), ("assistant", "Nobody's."))
    with zipfile.ZipFile(home / "chats.zip", "w") as archive:
        archive.writestr("z.jsonl", (home / "chats" / "x.jsonl").read_text().replace("Why", "Wherefore"))
    for place in ("chats", "lone/y.jsonl", "chats.zip"):
        assert own("index", place).status == 0
    rows = {row["path"]: row["indexed"] for row in own("sources", "--json").results}
    assert {str(home / place) for place in ("chats", "lone/y.jsonl", "chats.zip")} <= set(rows)
    write_messages(home / "chats" / "x.jsonl", ("user", "Why?"), ("assistant", "So."), ("user", "And a kiln?"))
    write_messages(home / "chats" / "new.jsonl", ("user", "Which glaze?"), ("assistant", "Celadon."))
    write_messages(
        home / "lone" / "y.jsonl", ("user", "Whence?"), ("assistant", "Thence."), ("user", "By which ferry?")
    )
    assert own("index", "--all").status == 0
    for word, found in (("kiln", 0), ("glaze", 0), ("ferry", 0), ("whose", 1)):
        assert own("search", word, "--mode", "keyword").status == found, word


def test_a_place_that_was_indexed_in_part_is_kept_fresh_in_that_part(program: Program, home: Path) -> None:
    own = at(program)
    for name in ("a", "b"):
        write_messages(home / "chats" / f"{name}.jsonl", ("user", f"Where is {name * 5}?"), ("assistant", "Here."))
    assert own("index", "chats", "--include", "*a.jsonl").status == 0
    assert own("index", "--all").status == 0
    assert own("search", "bbbbb", "--mode", "keyword").status == 1


def test_files_of_agents_and_tasks_below_the_roots_are_found(program: Program) -> None:
    work = program.home / "work"
    texts = {
        "courier/.aider.chat.history.md": "# aider chat started at 2026-03-01 10:00:00\n\n#### Why does the valve stick?\n\nIt rusts.\n",
        "courier/.specstory/history/2026-03-01.md": "<!-- Generated by SpecStory -->\n\n_**User**_\n\nIs the hinge oiled?\n\n---\n\n_**Assistant**_\n\nYes.\n",
        "courier/.beads/issues.jsonl": '{"id": "c-1", "title": "Order a gasket", "status": "open", "issue_type": "task", "priority": 2, "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z"}\n',
    }
    for name, text in texts.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    settings = program.home / "config" / "pastchats-memory" / "pastchats-memory.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"roots = ['{work}']\n", encoding="utf-8")
    assert program("index", "--all", "--yes").status == 0
    for word in ("valve", "hinge", "gasket"):
        assert program("search", word, "--mode", "keyword", "--json").results, word
