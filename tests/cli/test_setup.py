"""`setup`: from a machine with histories and agents to the first recall, again to repair, and back."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from program import DEMO, Program, Run
from terminal import on_a_terminal
from waiting import wait_until

from pastchats_memory import Memory
from pastchats_memory.hooks import spool

AGENTS = ("claude-code", "codex", "gemini", "qwen", "cursor", "copilot")
BEFORE = {
    ".claude.json": '{"numStartups": 7, "mcpServers": {"other": {"command": "other"}}}',
    ".claude/settings.json": '{\n\t"model": "opus"\n}\n',
    ".codex/config.toml": 'model = "o9" # mine\n\n[mcp_servers.other]\ncommand = "other"',
    ".gemini/settings.json": "{\r\n  // mine\r\n}\r\n",
    ".qwen/settings.json": "{}",
    ".cursor/mcp.json": '{\n  "mcpServers": {}\n}\n',
    ".copilot/mcp-config.json": "",
}
"""Settings of each agent as people have them."""


@pytest.fixture
def person(program: Program) -> Program:
    """Return the program in a home with two histories and six agents."""
    for name, text in BEFORE.items():
        file = program.home / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
    shutil.copytree(DEMO / "history" / "claude", program.home / ".claude" / "projects")
    shutil.copytree(DEMO / "history" / "codex", program.home / ".codex" / "sessions")
    return program.with_variables(XDG_STATE_HOME=str(program.home / "state"))


OUR_OWN = {"state", "memory.db", "memory.db.secrets"}


def read_home(program: Program) -> dict[str, bytes]:
    """Return every file of the home except the memory and our own state."""
    files = (path for path in program.home.rglob("*") if path.is_file())
    names = {path.relative_to(program.home): path for path in files}
    return {str(name): path.read_bytes() for name, path in names.items() if name.parts[0] not in OUR_OWN}


def list_states(run: Run, step: str) -> dict[str, str]:
    return {one["agent"]: one["state"] for one in run.results if one["step"] == step}


@pytest.mark.parametrize(
    ("arguments", "status"), [([], 1), (["--no"], 1), (["--dry-run"], 0), (["--dry-run", "--yes"], 0)]
)
def test_without_agreement_setup_shows_the_plan_and_changes_nothing(
    person: Program, arguments: list[str], status: int
) -> None:
    before = read_home(person)
    run = person("setup", *arguments)
    assert run.status == status
    assert "Claude Code: 4 files" in run.stdout
    assert "About 82 turns and tasks to index" in run.stderr
    for agent in AGENTS:
        assert f"planned  {agent}: hooks for " in run.stdout
    assert read_home(person) == before
    assert not person.database.exists()
    assert not (person.home / "state").exists()


def test_setup_indexes_connects_every_agent_and_recalls_from_the_newest_project(person: Program) -> None:
    run = person("setup", "--yes", "--json")
    assert run.status == 0
    assert person("status", "--json").results[0]["turns"] == 82
    assert set(list_states(run, "hooks").items()) == {(agent, "done") for agent in AGENTS}
    assert set(list_states(run, "server").items()) == {(agent, "done") for agent in AGENTS}
    assert list_states(run, "skills") == dict.fromkeys(("claude-code", "codex", "qwen"), "done")
    assert run.results[-1]["detail"] == "recall for your newest project, tidemark"
    assert run.json["recall"].startswith("# Memory Recall")
    assert "Source:" in run.json["recall"]


def test_each_agent_starts_the_server_by_a_program_that_exists(person: Program) -> None:
    person("setup", "--yes")
    entries = [tomllib.loads((person.home / ".codex/config.toml").read_text(encoding="utf-8"))["mcp_servers"]]
    for name in BEFORE:
        if name.endswith(".json") and "claude/" not in name:
            text = (person.home / name).read_text(encoding="utf-8").replace("// mine", "")
            entries.append(json.loads(text)["mcpServers"])
    for servers in entries:
        ours = servers["pastchats-memory"]
        assert (Path(ours["command"]).name, ours["args"]) == ("pastchats-memory", ["mcp"])
        assert Path(ours["command"]).exists()
    assert entries[0]["other"] == {"command": "other"}


def test_setup_again_finds_everything_in_place_and_changes_no_byte(person: Program) -> None:
    person("setup", "--yes")
    before = read_home(person)
    again = person("setup", "--yes", "--json")
    assert again.status == 0
    assert {one["state"] for one in again.results if one["step"] in {"hooks", "skills", "server"}} == {"present"}
    assert [one["state"] for one in again.results if one["step"] == "index"] == ["present"]
    assert again.json["recall"].startswith("# Memory Recall")
    assert read_home(person) == before


def test_undo_restores_every_settings_file_byte_for_byte_and_leaves_the_memory(person: Program) -> None:
    before = read_home(person)
    person("setup", "--yes")
    assert person("setup", "--undo").status == 1
    undone = person("setup", "--undo", "--yes")
    assert undone.status == 0
    assert read_home(person) == before
    assert "`pastchats-memory purge`" in undone.stderr
    assert person("status", "--json").results[0]["turns"] == 82
    assert person("setup", "--undo", "--yes").status == 0


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude.json", ".codex/config.toml", ".cursor/hooks.json"])
def test_setup_repairs_what_calls_a_program_that_is_gone(person: Program, name: str) -> None:
    person("setup", "--yes")
    file = person.home / name
    whole = file.read_bytes()
    ours = str(Path(sys.executable).parent).encode()
    file.write_bytes(whole.replace(ours, b"/gone"))
    assert file.read_bytes() != whole
    check = next(one for one in person("doctor", "--json").results if not one["is_well"])
    assert "/gone/pastchats-memory, which is gone" in check["detail"]
    assert "`pastchats-memory setup`" in check["remedy"]
    assert person("setup", "--yes").status == 0
    assert b"/gone" not in file.read_bytes()
    assert all(one["is_well"] for one in person("doctor", "--json").results if one["check"] == "hooks")


def test_a_server_that_the_user_has_added_stays_and_so_does_what_they_add_to_ours(person: Program) -> None:
    cursor, copilot = person.home / ".cursor/mcp.json", person.home / ".copilot/mcp-config.json"
    own = {"command": sys.executable, "args": ["-m", "pastchats_memory", "mcp", "--allow-write"]}
    cursor.write_text(json.dumps({"mcpServers": {"pastchats-memory": own}}), encoding="utf-8")
    person("setup", "--yes")
    settings = json.loads(copilot.read_text(encoding="utf-8"))
    settings["mcpServers"]["pastchats-memory"]["env"] = {"TZ": "UTC"}
    copilot.write_text(json.dumps(settings), encoding="utf-8")
    person("setup", "--yes")
    assert json.loads(cursor.read_text(encoding="utf-8")) == {"mcpServers": {"pastchats-memory": own}}
    assert json.loads(copilot.read_text(encoding="utf-8")) == settings
    person("setup", "--undo", "--yes")
    assert json.loads(cursor.read_text(encoding="utf-8")) == {"mcpServers": {"pastchats-memory": own}}
    assert json.loads(copilot.read_text(encoding="utf-8")) == {}  # it was blank


@pytest.mark.parametrize(
    "own",
    [
        "[mcp_servers]\n# my servers come here\n",
        "[ 'mcp_servers' ]\n# mine\n",
        "a = 1\n[mcp_servers] # keep\n\n[tui]\nb = 1\n",
        "# only a remark\n",
    ],
)
def test_undo_leaves_each_line_of_the_user_in_codex_settings(person: Program, own: str) -> None:
    file = person.home / ".codex/config.toml"
    file.write_text(own, encoding="utf-8")
    person("setup", "--yes")
    assert "pastchats-memory" in file.read_text(encoding="utf-8")
    person("setup", "--undo", "--yes")
    assert file.read_text(encoding="utf-8") == own


@pytest.mark.parametrize("own", [{"command": "/gone/mine", "args": ["x"]}, {"url": "https://example.org/mcp"}])
def test_a_server_of_our_name_stays_whether_its_program_is_there_or_not(
    person: Program, own: dict[str, object]
) -> None:
    file = person.home / ".cursor/mcp.json"
    text = json.dumps({"mcpServers": {"pastchats-memory": own}})
    file.write_text(text, encoding="utf-8")
    run = person("setup", "--yes", "--json")
    assert list_states(run, "server")["cursor"] == ("refused" if "command" in own else "present")
    person("setup", "--undo", "--yes")
    assert file.read_text(encoding="utf-8") == text


def test_uninstall_removes_the_whole_codex_table(person: Program) -> None:
    file = person.home / ".codex/config.toml"
    before = tomllib.loads(file.read_text(encoding="utf-8"))
    person("setup", "--yes")
    file.write_text(file.read_text(encoding="utf-8") + "startup_timeout_sec = 9\n[tui]\na = 1\n", encoding="utf-8")
    assert person("setup", "--undo", "--yes").status == 0
    text = file.read_text(encoding="utf-8")
    assert tomllib.loads(text) == {**before, "tui": {"a": 1}}
    assert "# mine" in text


def test_settings_that_are_no_json_cost_only_their_own_parts(person: Program) -> None:
    (person.home / ".claude.json").write_text("{ half", encoding="utf-8")
    (person.home / ".codex/config.toml").write_text("half =", encoding="utf-8")
    run = person("setup", "--yes", "--json")
    assert run.status == 0
    refused = {(one["step"], one["agent"]) for one in run.results if one["state"] == "refused"}
    assert refused == {("server", "claude-code"), ("server", "codex")}
    assert (person.home / ".claude.json").read_text(encoding="utf-8") == "{ half"
    assert run.json["recall"]


def test_from_a_cache_setup_indexes_and_names_a_command_that_lasts(person: Program) -> None:
    python = person.home / ".cache" / "uv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    run = person.primed(f"import sys; sys.executable = {str(python)!r}")("setup", "--yes", "--json")
    assert run.status == 0
    assert {one["state"] for one in run.results if one["step"] in {"hooks", "server"}} == {"refused"}
    assert all("uv tool install" in one["detail"] for one in run.results if one["state"] == "refused")
    assert run.json["recall"]


def test_a_refusal_that_concerns_every_agent_stands_once(person: Program) -> None:
    python = person.home / ".cache" / "uv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    shown = person.primed(f"import sys; sys.executable = {str(python)!r}")("setup", "--yes").stdout
    [line] = [line for line in shown.splitlines() if "uv tool install" in line]
    assert line.startswith("refused  claude-code, codex")


def test_the_newest_conversations_come_first_and_the_rest_in_the_background(person: Program) -> None:
    hurried = person.primed("import pastchats_memory.cli.setup as s\ns.FOREGROUND_S = 0\n")
    run = hurried("setup", "--yes", "--json")
    index = next(one for one in run.results if one["step"] == "index")
    assert index["detail"].endswith(" of 1 file; 5 more follow in the background")
    assert run.json["recall"]
    wait_until(lambda: person("status", "--json").results[0]["turns"] == 82)
    wait_until(lambda: not spool.list_waiting(person.home / "state" / "pastchats-memory"))


def test_a_setup_that_is_killed_as_it_indexes_is_finished_by_the_next_run(person: Program) -> None:
    killed = person.primed(
        "import os, pastchats_memory.cli.setup as s\n"
        "s.FOREGROUND_S = 0\ns.index_with_progress = lambda *_: os.kill(os.getpid(), 9)\n"
    )
    assert killed("setup", "--yes").status == -9
    (request,) = spool.list_waiting(person.home / "state" / "pastchats-memory")
    assert json.loads(request.read_bytes())[0] == spool.EVERY_AGENT
    assert person("index", "--all", "--yes").status == 0
    assert person("status", "--json").results[0]["turns"] == 82
    assert not spool.list_waiting(person.home / "state" / "pastchats-memory")


def test_undo_withdraws_the_rest_that_waits(person: Program) -> None:
    state = person.home / "state" / "pastchats-memory"
    spool.add(state, spool.IndexRequest(spool.EVERY_AGENT, str(person.database)))
    spool.add(state, spool.IndexRequest("codex", str(person.database)))
    assert person("setup", "--undo", "--yes").status == 0
    (left,) = spool.list_waiting(state)
    assert json.loads(left.read_bytes())[0] == "codex"


@pytest.mark.parametrize(("typed", "is_done"), [(b"n\n\n", True), (b"n\nno\n", False), (b"n\ny\n", True)])
def test_at_a_terminal_one_question_concerns_all_agents(person: Program, typed: bytes, *, is_done: bool) -> None:
    code, shown = on_a_terminal(person, "setup", typed=typed)
    assert (code, shown.count("[Y/n]"), shown.count("choose one by one?")) == (0 if is_done else 1, 1, 1)
    settings = [(person.home / name).read_text(encoding="utf-8") for name in BEFORE]
    assert all("pastchats" in text for text in settings) is is_done


def test_the_parts_may_be_chosen_one_by_one(person: Program) -> None:
    code, shown = on_a_terminal(person, "setup", typed=b"n\nc\ny\n" + b"n\n" * 20)
    assert (code, shown.count("Add ")) == (0, shown.count("[Y/n]"))
    assert "pastchats" in (person.home / ".claude" / "settings.json").read_text(encoding="utf-8")
    assert "pastchats" not in (person.home / ".codex" / "config.toml").read_text(encoding="utf-8")


def test_at_a_terminal_each_part_of_one_agent_is_one_question(person: Program) -> None:
    for name in BEFORE:
        if not name.startswith(".claude"):
            shutil.rmtree((person.home / name).parent, ignore_errors=True)
    code, shown = on_a_terminal(person, "setup", typed=b"y\nn\ny\nn\n")
    assert code == 0
    assert shown.count("[Y/n]") == 4
    assert "declined claude-code: hooks" in shown
    assert (person.home / ".claude" / "skills" / "semantic-search" / "SKILL.md").exists()
    assert "pastchats" not in (person.home / ".claude" / "settings.json").read_text(encoding="utf-8")
    assert "pastchats" not in (person.home / ".claude.json").read_text(encoding="utf-8")


@pytest.fixture
def reader(person: Program) -> Program:
    """Return the program on a machine with an agent that answers every question, and notes that it was asked."""
    folder = person.home / "bin"
    folder.mkdir()
    agent = folder / "claude"
    agent.write_text(
        f"#!{sys.executable}\nopen({str(person.home / 'asked')!r}, 'a').write('.')\nprint('{{}}')\n", "utf-8"
    )
    agent.chmod(0o755)
    return person.with_variables(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_setup_offers_labels_by_an_agent_with_their_cost(reader: Program) -> None:
    code, shown = on_a_terminal(reader, "setup", typed=b"y\n" + b"n\n" * 20)
    assert code == 0
    assert re.search(r"\d+ calls to `claude -p`, about\s+[\d,]+\s+tokens", shown)
    assert not (reader.home / "asked").exists()


def test_an_agent_labels_only_after_a_yes_at_the_terminal(reader: Program) -> None:
    assert "planned" in list_states(reader("setup", "--yes", "--json"), "labels").values()
    assert not (reader.home / "asked").exists()
    code, _ = on_a_terminal(reader, "setup", typed=b"y\n")
    assert code == 0
    assert (reader.home / "asked").exists()


def test_on_an_empty_machine_setup_names_the_next_step(program: Program) -> None:
    run = program.with_variables(XDG_STATE_HOME=str(program.home / "state"))("setup", "--yes")
    assert (run.status, run.stdout) == (1, "")
    assert "pastchats-memory index PATH" in run.stderr
    assert not program.database.exists()


def test_a_private_project_is_not_shown_by_the_first_recall(person: Program) -> None:
    folder = person.home / "tidemark"
    folder.mkdir()
    (folder / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    for file in (person.home / ".claude" / "projects").rglob("*.jsonl"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("/home/mira/src/tidemark", str(folder)), encoding="utf-8")
    run = person("setup", "--yes", "--json")
    assert "tidemark" not in run.results[-1]["detail"]
    assert "Ship it." not in run.json["recall"]


def test_setup_ends_with_a_thread_that_is_known_to_have_ended_well(person: Program) -> None:
    shown = person("setup", "--yes", "--json").json["recall"]
    assert shown.count("\n## ") == 1
    assert re.search("(?:·|—|Before it,) worked", shown)


def test_setup_finds_aider_and_exports_and_leaves_the_documents_around_them(program: Program) -> None:
    history = "# aider chat started at 2026-11-02 09:00:00\n\n#### fix the door\n\nIt is fixed.\n"
    kiln, downloads = program.home / "code" / "kiln", program.home / "Downloads"
    (kiln / "docs").mkdir(parents=True)
    downloads.mkdir()
    (kiln / ".aider.chat.history.md").write_text(history, encoding="utf-8")
    (kiln / "docs" / "plan.md").write_text("# Plan\n\n- [ ] Read this\n- [ ] Then that\n", encoding="utf-8")
    (kiln / "README.md").write_text(
        "# Kiln\n\nFires pots.\nFirst:\n\n- [ ] Install it\n\nThen fire.\n", encoding="utf-8"
    )
    shutil.copy(next((DEMO.parent / "chatgpt").glob("*.json")), downloads / "conversations.json")
    run = program("setup", "--yes", "--json")
    found = [one["path"] for one in run.results if one["step"] == "history"]
    assert sorted(Path(path).name for path in found) == [".aider.chat.history.md", "conversations.json"]
    program("index", str(program.home / "code"))
    with Memory.open(program.database) as memory:
        assert memory.tasks.list_projects() == []
