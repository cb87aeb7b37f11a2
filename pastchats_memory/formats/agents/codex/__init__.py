"""Codex: rollouts and printed logs.

The reader is imported with the first file: a hook needs only what is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pastchats_memory.formats.base.format import CERTAIN, Format, resume_with
from pastchats_memory.formats.base.hooks import HookDialect, HookSwitch, command_group, specific_output
from pastchats_memory.formats.base.locations import Environment

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.dialect import Dialect
    from pastchats_memory.formats.base.format import Row
    from pastchats_memory.formats.base.source import SourceFile


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of rollouts."""
    # not its history.jsonl, which has no working directory: nobody could exclude a project
    folder = environment.folder("CODEX_HOME", environment.home / ".codex")
    yield from (folder / name for name in ("sessions", "archived_sessions"))


def detect(source: SourceFile) -> int:
    """Return the confidence that a file is of this format."""
    from pastchats_memory.formats.agents.codex.reader import matches

    return CERTAIN if matches(source) else 0


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of a file."""
    from pastchats_memory.formats.agents.codex.reader import read as read_session

    yield from read_session(source)


def dialect() -> Dialect:
    """Return the spellings of tools and wrappers."""
    from pastchats_memory.formats.agents.codex.dialect import DIALECT

    return DIALECT


def _codex(environment: Mapping[str, str]) -> str:
    return environment.get("CODEX_HOME") or f"{environment['HOME']}/.codex"


HOOKS = HookDialect(
    name="codex",
    events={"SessionStart": "greet", "UserPromptSubmit": "recall", "PreToolUse": "warn", "Stop": "index"},
    settings=lambda environment: f"{_codex(environment)}/hooks.json",
    entry=command_group,
    context=specific_output,
    tools="Bash|apply_patch",  # its names, in https://github.com/openai/codex/pull/20692
    skills=lambda environment: f"{environment['HOME']}/.agents/skills",  # its own it reads for older ones only
    notes=("Codex runs hooks that are new to it once you have trusted them: type /hooks there.",),
    switch=HookSwitch("config.toml", "features", ("hooks", "codex_hooks")),
    servers=lambda environment: f"{_codex(environment)}/config.toml",
)


CODEX = Format(
    name="codex",
    version=7,
    detect=detect,
    read=read,
    program="Codex",
    locations=locations,
    hooks=HOOKS,
    dialect=dialect,
    verified="0.150.0, 2026-11",
    resume=resume_with("codex", "resume"),  # `codex resume --help`, from 0.39 on
)
