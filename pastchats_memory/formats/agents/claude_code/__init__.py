"""Claude Code: sessions, exported web sessions and todo lists.

The reader is imported with the first file: a hook needs only what is here.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import Format, deferred, load, resume_with
from pastchats_memory.formats.base.hooks import HookDialect, server_entry, settings_path
from pastchats_memory.formats.base.locations import Environment

if TYPE_CHECKING:
    from pathlib import Path


def locations(environment: Environment) -> "Iterator[Path]":
    """Yield transcripts, tasks, plans and the list of prompts below each configuration folder."""
    named = environment.variables.get("CLAUDE_CONFIG_DIR", "")
    folders = [type(environment.home)(name.strip()).expanduser() for name in named.split(",") if name.strip()]
    for folder in folders or [environment.home / ".claude", environment.configuration / "claude"]:
        yield from (folder / name for name in ("projects", "todos", "tasks", "plans", "history.jsonl"))


HOOKS = HookDialect(
    name="claude-code",
    events={
        "SessionStart": "greet",
        "UserPromptSubmit": "recall",
        "PreToolUse": "warn",
        "PostToolUse": "cure",  # a command whose exit code a pipe hides
        "PostToolUseFailure": "cure",
        "PreCompact": "compact",
        "SessionEnd": "index",
    },
    settings=settings_path("CLAUDE_CONFIG_DIR", "/.claude", "settings.json"),
    tools="Bash|Edit|MultiEdit|Write|NotebookEdit",
    runners="Bash",
    subagents=("Agent", "Task"),  # https://code.claude.com/docs/en/hooks
    skills=settings_path("CLAUDE_CONFIG_DIR", "/.claude", "skills"),
    servers=settings_path("CLAUDE_CONFIG_DIR", "", ".claude.json"),
    server=lambda command: {"type": "stdio", **server_entry(command)},
)

CLAUDE_CODE = Format(
    name="claude-code",
    version=13,
    detect=deferred("agents.claude_code.reader:detect"),
    read=deferred("agents.claude_code.reader:read"),
    program="Claude Code",
    locations=locations,
    companions=ending_in("/projects/", ".meta.json", "tool-results"),
    hooks=HOOKS,
    dialect=lambda: load("agents.claude_code.dialect:DIALECT"),
    resume=resume_with("claude", "--resume"),  # https://code.claude.com/docs/en/cli-reference
)
