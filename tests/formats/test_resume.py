"""An agent's own command resumes a session that is in the memory."""

from pathlib import Path

import pytest

from pastchats_memory.formats.base.format import StoredSession
from pastchats_memory.formats.registry import load_format

COMMANDS = {
    "claude-code": ["claude", "--resume", "7f3c"],
    "codex": ["codex", "resume", "7f3c"],
    "gemini-cli": ["gemini", "--resume", "7f3c"],
    "qwen-code": ["qwen", "--resume", "7f3c"],
    "opencode": ["opencode", "--session", "7f3c"],
    "cursor": ["cursor-agent", "--resume", "7f3c"],
    "copilot-cli": ["copilot", "--resume=7f3c"],
    "amp": ["amp", "threads", "continue", "7f3c"],
    "droid": ["droid", "--resume", "7f3c"],
    "goose": ["goose", "session", "--resume", "--session-id", "7f3c"],
    "grok": ["grok", "--resume", "7f3c"],
    "hermes": ["hermes", "--resume", "7f3c"],
    "kimi": ["kimi", "--session", "7f3c"],
    "kiro-cli": ["kiro-cli", "chat", "--resume-id", "7f3c"],
    "openhands": ["openhands", "--resume", "7f3c"],
    "pi": ["pi", "--session", "session.jsonl"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_format_names_the_command_that_resumes_a_session(name: str) -> None:
    resume = load_format(name).resume
    assert resume is not None
    assert resume(StoredSession("7f3c", Path("session.jsonl"), "/home/ada/kiln")) == COMMANDS[name]


def test_a_subagent_resumes_the_session_that_called_it() -> None:
    resume = load_format("claude-code").resume
    assert resume is not None
    assert resume(StoredSession("7f3c/agent-1", Path("agent-1.jsonl"), None)) == ["claude", "--resume", "7f3c"]


@pytest.mark.parametrize(
    ("path", "command"),
    [
        (".local/share/kilo/kilo.db", ["kilo", "--session", "7f3c"]),
        (".zcode/cli/db/db.sqlite", ["zcode", "--resume", "7f3c"]),
    ],
)
def test_a_program_that_derives_from_opencode_resumes_its_own_session(path: str, command: list[str]) -> None:
    resume = load_format("opencode").resume
    assert resume is not None
    assert resume(StoredSession("7f3c", Path(path), None)) == command


def test_a_session_of_antigravity_is_resumed_where_its_command_line_wrote_it() -> None:
    resume = load_format("antigravity").resume
    assert resume is not None
    for name, command in ("antigravity-cli", ["agy", "--conversation", "7f3c"]), ("antigravity-ide", []):
        assert resume(StoredSession("7f3c", Path(name, "conversations", "7f3c.db"), None)) == command
