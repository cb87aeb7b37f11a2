"""Files to turns: a literal tuple of readers, one file a format, recognising apart from reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Protocol

from pastchats_memory.formats.generic import GENERIC, GenericFormat
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.readers import (
    agent_log,
    aider,
    amazon_q,
    amp,
    antigravity,
    beads,
    chatgpt,
    checklist,
    claude_ai,
    claude_code,
    claude_tasks,
    cline,
    codex,
    codex_exec,
    continue_dev,
    copilot_cli,
    copilot_share,
    crush,
    cursor,
    cursor_ide,
    dialogue,
    droid,
    export,
    gemini_cli,
    github_issues,
    goose,
    gptme,
    grok,
    hermes,
    issue_files,
    kimi,
    kiro_cli,
    librechat,
    llm_logs,
    lm_studio,
    notes,
    open_webui,
    openai_messages,
    opencode,
    openhands,
    perplexity,
    pi,
    prompt_history,
    qwen_code,
    scrollback,
    sharegpt,
    specstory,
    taskmaster,
    vibe,
    vscode_copilot,
    zed,
)
from pastchats_memory.readers.resume import Checkpoint
from pastchats_memory.readers.source import NotText, Source


class Reader(Protocol):
    """A module that reads one format."""

    FORMAT: str
    """What `metadata.format` says, such as `claude-code`."""
    VERSION: int
    """Raised whenever the same file would give other turns; files read by a lower one are read again."""

    def recognise(self, source: Source) -> bool:
        """Whether this is a file of the format, by content first and by path only between equals. Raises NotText, OSError."""

    def read(self, source: Source) -> Iterator[Turn | Task | Unreadable | Checkpoint]:
        """The turns in the order of each conversation, and the lines that were not understood.

        A reader that can go on in a file that has grown yields a Checkpoint behind the last whole line, and takes it up
        from `source.resumed`.

        Raises:
            CannotResume: what was added since changes what was told; only before the first turn.
            OSError: the file cannot be read.
        """


READERS: tuple[Reader, ...] = (
    export,
    claude_code,
    codex,
    codex_exec,
    opencode,
    crush,
    hermes,
    cursor_ide,
    llm_logs,
    zed,
    claude_ai,
    open_webui,
    librechat,
    lm_studio,
    openai_messages,
    sharegpt,
    gemini_cli,
    qwen_code,
    copilot_cli,
    kiro_cli,
    antigravity,
    kimi,
    grok,
    openhands,
    vibe,
    droid,
    pi,
    goose,
    gptme,
    cursor,
    cline,
    continue_dev,
    vscode_copilot,
    amp,
    chatgpt,
    aider,
    specstory,
    amazon_q,
    copilot_share,
    prompt_history,
    beads,
    taskmaster,
    github_issues,
    claude_tasks,
    dialogue,
)
"""Formats with marks of their own: two claims on one file are an error of ours."""

FALLBACKS: tuple[Reader, ...] = (perplexity, issue_files, checklist, agent_log, GENERIC, scrollback, notes)
"""Asked in this order when no reader above claims the file."""


HASHED_FORMATS = frozenset({"amp"})
"""Written by programs that do not reliably touch the time of a file they change: such a file is hashed to see it."""

NO_KEYS: Mapping[str, str] = MappingProxyType({})


def keys_taken(reader: Reader, source: Source) -> Mapping[str, str]:
    """Which keys a file of an unknown shape has for role, text, time and conversation; none for formats that are known.

    Raises OSError.
    """
    return reader.explain(source) if isinstance(reader, GenericFormat) else NO_KEYS


class TwoClaims(ValueError):
    """Two readers take the file for theirs: a fault of ours, reported with the file instead of costing the run."""


def reader_for(source: Source) -> Reader | None:
    """The one reader that claims the file, or None. Raises NotText, TwoClaims, OSError."""
    claims = [reader for reader in READERS if reader.recognise(source)]
    if len(claims) > 1:
        names = " and ".join(reader.FORMAT for reader in claims)
        raise TwoClaims(f"claimed by {names}; please report this file's shape")
    if not claims and source.shape == "sqlite":
        raise NotText("an SQLite database in which no known program keeps conversations")
    return claims[0] if claims else next((reader for reader in FALLBACKS if reader.recognise(source)), None)
