"""Read the episodes of real transcripts, as the labels name them."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.episodes import leading_user_turns, split_episodes
from pastchats_memory.episodes.derive import LATEST, select_changes
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Task, Turn
from pastchats_memory.store.outcomes import Changed

HERE = Path(__file__).parent
FOLDERS = (
    *("claude-code", "codex", "aider", "specstory", "opencode", "continue"),
    *("amp", "chatgpt", "claude-ai", "cursor", "pi-agent", "vscode-copilot-chat"),
    *("openai-messages", "sharegpt", "markdown-export", "chat-history.md", "other"),
    *"NOPQRSTUWXYZ",
)
"""Folders and files whose episodes have labels. The guide describes them by part."""
ANSWERED = ("assistant", "tool")
"""Who answers; of a model that could not be reached the error does."""


@dataclass(frozen=True)
class Episode:
    """What was asked and what answered it, with what the person said next."""

    file: str
    turns: tuple[Turn, ...]
    next_words: str
    tasks: tuple[Changed, ...] = ()
    """Those that came to another state meanwhile."""

    @property
    def line(self) -> int:
        """Return the line of the prompt."""
        return self.turns[0].line

    @property
    def digest(self) -> str:
        """Return the digest of the prompt."""
        return hashlib.sha256(self.turns[0].content.encode()).hexdigest()[:16]


def episodes_of(file: str, conversation: list[Turn], changes: Sequence[Changed] = ()) -> Iterator[Episode]:
    """Yield the episodes of one conversation that begin with a person's words."""
    for turns, following in itertools.pairwise(itertools.chain(split_episodes(conversation), [[]])):
        if turns[0].role == "user" and any(turn.role in ANSWERED for turn in turns):
            over = following[0].timestamp if following else LATEST
            tasks = select_changes(changes, turns[0].timestamp, over)
            next_words = "\n".join(turn.content for turn in leading_user_turns(following))
            yield Episode(file, tuple(turns), next_words, tuple(tasks))


def changes_of(tasks: Sequence[Task]) -> list[Changed]:
    """List the tasks' states that have a time, in order."""
    found = [
        Changed(state.at, number, state.status)
        for number, task in enumerate(tasks)
        for state in task.states
        if state.at is not None
    ]
    return sorted(found, key=lambda one: one.at)


def all_episodes(folders: Sequence[Path]) -> list[Episode]:
    """List the episodes of every transcript in the folders, in the order of their names."""
    found: list[Episode] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.relative_to(folder).parts[0] in FOLDERS:
                found += episodes_in(path, str(path.relative_to(folder)))
    return found


def episodes_in(path: Path, name: str) -> Iterator[Episode]:
    source = SourceFile(path)
    try:
        reader = detect_format(source)
    except ValueError:
        return
    conversations: dict[str | None, list[Turn]] = {}
    planned: dict[str | None, list[Task]] = {}
    for row in reader.read(source) if reader else ():
        if isinstance(row, Turn) and row.branch == "main":
            conversations.setdefault(row.conversation_id, []).append(row)
        elif isinstance(row, Task):
            planned.setdefault(row.conversation_id, []).append(row)
    for conversation, turns in conversations.items():
        yield from episodes_of(name, turns, changes_of(planned.get(conversation, [])))
