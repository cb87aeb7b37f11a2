"""Claude Code: sessions, exported web sessions and todo lists.

The reader is imported with the first file: a hook needs only what is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pastchats_memory.formats.base.format import Format, resume_with
from pastchats_memory.formats.base.hooks import HookDialect, command_group, server_entry, specific_output
from pastchats_memory.formats.base.locations import Environment

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.dialect import Dialect
    from pastchats_memory.formats.base.format import Row
    from pastchats_memory.formats.base.source import SourceFile


def _claude(environment: Mapping[str, str]) -> str:
    return environment.get("CLAUDE_CONFIG_DIR") or f"{environment['HOME']}/.claude"


def locations(environment: Environment) -> Iterator[Path]:
    """Yield transcripts, tasks, plans and the list of prompts below each configuration folder."""
    named = environment.variables.get("CLAUDE_CONFIG_DIR", "")
    folders = [type(environment.home)(name.strip()).expanduser() for name in named.split(",") if name.strip()]
    for folder in folders or [environment.home / ".claude", environment.configuration / "claude"]:
        yield from (folder / name for name in ("projects", "todos", "tasks", "plans", "history.jsonl"))


def detect(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.claude_code import reader

    return reader.detect(source)


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.claude_code.reader import read as read_session

    yield from read_session(source)


def dialect() -> Dialect:
    """Return the spellings of tools and wrappers."""
    from pastchats_memory.formats.agents.claude_code.dialect import DIALECT

    return DIALECT


HOOKS = HookDialect(
    name="claude-code",
    events={
        "SessionStart": "greet",
        "UserPromptSubmit": "recall",
        "PreToolUse": "warn",
        "PreCompact": "index",
        "SessionEnd": "index",
    },
    settings=lambda environment: f"{_claude(environment)}/settings.json",
    entry=command_group,
    context=specific_output,
    tools="Bash|Edit|MultiEdit|Write|NotebookEdit",
    skills=lambda environment: f"{_claude(environment)}/skills",
    servers=lambda environment: f"{environment.get('CLAUDE_CONFIG_DIR') or environment['HOME']}/.claude.json",
    server=lambda command: {"type": "stdio", **server_entry(command)},
)


CLAUDE_CODE = Format(
    name="claude-code",
    version=9,
    detect=detect,
    read=read,
    program="Claude Code",
    locations=locations,
    hooks=HOOKS,
    dialect=dialect,
    verified="2.1.266, 2026-11",
    resume=resume_with("claude", "--resume"),  # https://code.claude.com/docs/en/cli-reference
)
