"""Gemini CLI, and Qwen Code, which derives from it.

The reader is imported with the first file: a hook needs only what is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.hooks import HookDialect, named_group, specific_output
from pastchats_memory.formats.base.locations import Environment, below_home

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.dialect import Dialect
    from pastchats_memory.formats.base.format import Row
    from pastchats_memory.formats.base.source import SourceFile


def _qwen(environment: Mapping[str, str]) -> str:
    return environment.get("QWEN_HOME") or f"{environment['HOME']}/.qwen"


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of sessions."""
    home = environment.folder("GEMINI_CLI_HOME", environment.home)
    yield home / ".gemini" / "tmp"
    yield home / ".cache" / ".gemini" / "tmp"  # inside the sandbox of macOS


def detect(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.gemini.reader import matches

    return CERTAIN if matches(source) else 0


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.gemini.reader import read as read_session

    yield from read_session(source)


def detect_qwen(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.gemini import qwen

    return qwen.detect(source)


def read_qwen(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.gemini.qwen import QwenSession

    yield from QwenSession.read(source)


def dialect() -> Dialect:
    """Return the spellings of tools and wrappers."""
    from pastchats_memory.formats.agents.gemini.dialect import DIALECT

    return DIALECT


def _gemini_settings(environment: Mapping[str, str]) -> str:
    return f"{environment.get('GEMINI_CLI_HOME') or environment['HOME']}/.gemini/settings.json"


HOOKS = HookDialect(
    name="gemini",
    events={"SessionStart": "greet", "BeforeAgent": "recall", "PreCompress": "index", "SessionEnd": "index"},
    settings=_gemini_settings,
    entry=named_group,
    context=specific_output,
    servers=_gemini_settings,
)


def _qwen_settings(environment: Mapping[str, str]) -> str:
    return f"{_qwen(environment)}/settings.json"


QWEN_HOOKS = HookDialect(
    name="qwen",
    events={"UserPromptSubmit": "recall", "PreToolUse": "warn", "PreCompact": "index", "SessionEnd": "index"},
    settings=_qwen_settings,
    entry=named_group,
    context=specific_output,
    tools="run_shell_command|edit|write_file",
    servers=_qwen_settings,
    skills=lambda environment: f"{_qwen(environment)}/skills",
)


GEMINI_CLI = Format(
    name="gemini-cli",
    version=10,
    detect=detect,
    read=read,
    program="Gemini CLI",
    locations=locations,
    hooks=HOOKS,
    dialect=dialect,
    verified="2026-11",
    resume=resume_with("gemini", "--resume"),  # https://geminicli.com/docs/cli/session-management
)


QWEN_CODE = Format(
    name="qwen-code",
    version=7,
    detect=detect_qwen,
    read=read_qwen,
    program="Qwen Code",
    locations=below_home(".qwen/projects", ".qwen/tmp"),
    hooks=QWEN_HOOKS,
    dialect=dialect,
    verified="0.21.0, 2026-11",
    resume=resume_with("qwen", "--resume"),  # https://www.mintlify.com/QwenLM/qwen-code/cli/options/resume
)
