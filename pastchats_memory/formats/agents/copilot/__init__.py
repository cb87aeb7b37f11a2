"""GitHub Copilot: the command line, its shared sessions, and the chat in VS Code.

The reader is imported with the first file: a hook needs only what is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.hooks import TIMEOUT_S, HookDialect, server_entry
from pastchats_memory.formats.base.locations import Environment

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.dialect import Dialect
    from pastchats_memory.formats.base.format import Row
    from pastchats_memory.formats.base.source import SourceFile


def cli_locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of the command line's sessions."""
    folder = environment.folder("COPILOT_HOME", environment.home / ".copilot")
    yield from (folder / name for name in ("session-state", "history-session-state"))


def vscode_locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of chat sessions in each editor."""
    for editor in environment.editors:
        yield from sorted(editor.glob("workspaceStorage/*/chatSessions"))
        yield from (editor / "globalStorage" / name for name in ("emptyWindowChatSessions", "transferredChatSessions"))
        yield editor / "globalStorage" / "github.copilot-chat" / "conversations.json"


def detect_cli(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.copilot.cli import matches

    return CERTAIN if matches(source) else 0


def read_cli(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.copilot.cli import CopilotSession

    yield from CopilotSession.read(source)


def detect_share(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.copilot.share import matches_share

    return CERTAIN if matches_share(source) else 0


def read_share(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.copilot.share import SharedSession

    yield from SharedSession.read(source)


def detect_vscode(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.copilot.vscode import matches

    return CERTAIN if matches(source) else 0


def read_vscode(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.copilot.vscode import read as read_chat

    yield from read_chat(source)


def dialect() -> Dialect:
    """Return the spellings of tools and wrappers."""
    from pastchats_memory.formats.agents.copilot.dialect import DIALECT

    return DIALECT


def _copilot(environment: Mapping[str, str]) -> str:
    return environment.get("COPILOT_HOME") or f"{environment['HOME']}/.copilot"


HOOKS = HookDialect(
    name="copilot",
    events={"sessionStart": "greet", "userPromptSubmitted": "recall", "preToolUse": "warn", "sessionEnd": "index"},
    settings=lambda environment: f"{_copilot(environment)}/hooks/pastchats-memory.json",
    entry=lambda line: {"type": "command", "bash": line, "powershell": f"& {line}", "timeoutSec": TIMEOUT_S},
    context=lambda _event, context: {"additionalContext": context},
    begins={"version": 1},
    servers=lambda environment: f"{_copilot(environment)}/mcp-config.json",
    server=lambda command: {"type": "local", **server_entry(command), "tools": ["*"]},
)


COPILOT_CLI = Format(
    name="copilot-cli",
    version=7,
    detect=detect_cli,
    read=read_cli,
    program="Copilot CLI",
    locations=cli_locations,
    hooks=HOOKS,
    dialect=dialect,
    verified="1.0.10, 2026-11",
    resume=lambda session: [
        "copilot",
        f"--resume={session.conversation_id}",
    ],  # https://github.com/github/copilot-cli/issues/3458
)


COPILOT_SHARE = Format(
    name="copilot-share",
    version=3,
    detect=detect_share,
    read=read_share,
    fidelity=1,
    verified="2026-11",
)


VSCODE_COPILOT = Format(
    name="vscode-copilot-chat",
    version=12,
    detect=detect_vscode,
    read=read_vscode,
    program="Copilot Chat",
    locations=vscode_locations,
    dialect=dialect,
    verified="session files of version 3, 2026-11",
)
