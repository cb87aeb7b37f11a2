"""The plugins of agents and the other files that `scripts/generate_packages.py` writes: current, and run as an agent runs them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import REPOSITORY, Program
from waiting import HANG_S

sys.path.insert(0, str(REPOSITORY / "scripts"))

import generate_packages

from pastchats_memory.hooks.install import targets

PLUGINS = {"claude-code": "plugins/claude-code", "codex": "plugins/codex", "gemini": "plugins/gemini"}
FILES = generate_packages.render_all()
RAW_ADDRESS = re.compile(r"raw\.githubusercontent\.com/([^/]+)/pastchats-memory")


@pytest.mark.parametrize("name", FILES)
def test_every_generated_file_is_current(name: str) -> None:
    assert (REPOSITORY / name).read_text(encoding="utf-8") == FILES[name], "run `make docs`"


def test_no_plugin_has_a_file_that_nothing_generates() -> None:
    found = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "plugins").rglob("*") if path.is_file()}
    assert found == {name for name in FILES if name.startswith("plugins/")}


def test_the_address_of_the_repository_stands_in_one_file_only() -> None:
    server = json.loads(FILES["packaging/server.json"])
    assert server["repository"]["url"] == generate_packages.ADDRESS
    assert server["name"].split("/")[0].removeprefix("io.github.") in generate_packages.ADDRESS
    hand_written = [
        *REPOSITORY.glob("*.md"),
        *(REPOSITORY / "docs").rglob("*.md"),
        *(REPOSITORY / "scripts").glob("*.py"),
    ]
    assert [path.name for path in hand_written if generate_packages.ADDRESS in path.read_text(encoding="utf-8")] == []
    owners = {owner for path in hand_written for owner in RAW_ADDRESS.findall(path.read_text(encoding="utf-8"))}
    assert owners <= {generate_packages.ADDRESS.rsplit("/", 2)[1], "{owner}"}


def test_the_entry_of_the_registry_keeps_its_limits() -> None:
    server = json.loads(FILES["packaging/server.json"])
    assert len(server["description"]) <= 100
    assert server["name"].count("/") == 1
    assert server["version"] == server["packages"][0]["version"]
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"mcp-name: {server['name']}" in readme  # the registry looks for it on PyPI's page


def run_hook(command: str, body: object, program: Program) -> Any:
    """Run a hook as agents do: a shell, JSON on stdin, and JSON or nothing on stdout."""
    path = f"{Path(sys.executable).parent}:{program.environment['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], input=json.dumps(body), env={**program.environment, "PATH": path}, cwd=program.home,
        capture_output=True, encoding="utf-8", timeout=HANG_S, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return json.loads(done.stdout) if done.stdout else None


@pytest.mark.parametrize("agent", PLUGINS)
def test_every_hook_of_a_plugin_answers_by_the_protocol_of_its_agent(own_demo: Program, agent: str) -> None:
    hooked = own_demo.with_variables(
        XDG_STATE_HOME=str(own_demo.home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)
    )
    hooks = json.loads(FILES[f"{PLUGINS[agent]}/hooks/hooks.json"])["hooks"]
    actions = targets()[agent].events
    assert set(hooks) == set(actions)
    body = {
        "session_id": "s1", "cwd": str(own_demo.home), "prompt": "How did we build the webhook retries with backoff?",
        "transcript_path": str(own_demo.home / "none.jsonl"),
    }  # fmt: skip
    for event, groups in hooks.items():
        (hook,) = groups[0]["hooks"]
        assert hook["type"] == "command"
        answer = run_hook(hook["command"], {**body, "hook_event_name": event}, hooked)
        if actions[event] in {"recall", "greet"}:
            assert answer["hookSpecificOutput"]["hookEventName"] == event
            assert "pastchats-memory" in answer["hookSpecificOutput"]["additionalContext"]
        else:
            assert answer is None


@pytest.mark.parametrize("agent", ["claude-code", "gemini"])
def test_a_subagent_gets_the_memory_behind_its_prompt_without_a_decision(own_demo: Program, agent: str) -> None:
    hooked = own_demo.with_variables(
        XDG_STATE_HOME=str(own_demo.home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)
    )
    dialect = targets()[agent]
    event = next(event for event, action in dialect.events.items() if action in {"warn", "brief"})
    command = json.loads(FILES[f"{PLUGINS[agent]}/hooks/hooks.json"])["hooks"][event][0]["hooks"][0]["command"]

    def brief(prompt: str) -> Any:
        call = {"tool_name": dialect.subagents[0], "tool_input": {"agent_name": "a", "prompt": prompt}}
        return run_hook(command, {"session_id": "s1", "cwd": str(own_demo.home), **call}, hooked)

    asked = "How did we build the webhook retries with backoff?"
    output = brief(asked)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", dialect.input_key}
    changed = output[dialect.input_key]
    assert changed["agent_name"] == "a"
    assert changed["prompt"].startswith(f"{asked}\n\nEarlier conversations on this machine")
    assert brief(changed["prompt"]) is None
    assert brief("Which orchids flower in a cold greenhouse in December?") is None


@pytest.mark.parametrize("agent", PLUGINS)
def test_the_server_of_a_plugin_is_a_command_of_the_program(program: Program, agent: str) -> None:
    name = "gemini-extension.json" if agent == "gemini" else ".mcp.json"
    server = json.loads(FILES[f"{PLUGINS[agent]}/{name}"])["mcpServers"]["pastchats-memory"]
    assert server["command"] == "pastchats-memory"
    assert program(*server["args"], "--help").status == 0
