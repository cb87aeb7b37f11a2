"""A file that is being read: its counts, waiting rows and checkpoint."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.ingest.report import FileReport
from pastchats_memory.model import Prompt, Task, Unreadable
from pastchats_memory.redact import redact, redact_json
from pastchats_memory.store.tasks import Filed
from pastchats_memory.text.recall_block import strip_recall_blocks

MOST_CONVERSATIONS = 1000
"""Conversations of a resumable file; the number of turns of each is stored."""
MOST_STATE = 64_000
"""Characters of what a reader resumes with; with more, a file that has grown is read from its start."""
OPTED_OUT = "turns of projects that are kept out were left out of it"


@dataclass(slots=True)
class OpenFile:
    """A file whose rows are on their way into the database."""

    plan: Plan
    format: str
    places: Counter[str | None] = field(default_factory=Counter)
    """Turns of each conversation so far."""
    unreadable: list[Unreadable] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    task_rows: list[Filed] = field(default_factory=list)
    is_cut_short: bool = False
    """Whether an error of the disk ended the reading early."""
    is_opted_out: bool = False
    """Whether turns of excluded projects were left out."""
    judging: set[str | None] = field(default_factory=set)
    """Conversations of our own with a judge, which are left out."""
    is_resumed: bool = False
    resume: str | None = None
    checkpoint: Checkpoint | None = None
    waiting: dict[str, Prompt] = field(default_factory=dict)
    """Rows that wait for the next batch, by content_hash, so that a repeated turn is one row."""
    seen: set[int] = field(default_factory=set)
    added: int = 0
    updated: int = 0
    forgotten: int = 0
    read: int = 0
    is_whole: bool = False
    fingerprint: str | None = None

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Remember where to resume the file, with the number of turns so far.

        The checkpoint holds text as it stands in the file. If it has a secret, or a recall block that may quote forgotten text, it
        is not stored; the file is then resumed from an earlier checkpoint or read again.
        """
        if _must_not_be_stored([*filter(None, self.places), checkpoint.state]):
            return
        self.checkpoint = checkpoint
        if len(self.places) <= MOST_CONVERSATIONS:
            places = [[conversation, count] for conversation, count in self.places.items()]
            body = {"offset": checkpoint.offset, "line": checkpoint.line, "places": places, "state": checkpoint.state}
            text = json.dumps(body, separators=(",", ":"))  # orjson refuses lone surrogates
            self.resume = text if len(text) <= MOST_STATE else None

    def report(self) -> FileReport:
        """Return the report of the file."""
        return FileReport(
            self.plan.candidate.name,
            self.format,
            added=self.added,
            updated=self.updated,
            skipped=self.read + len(self.task_rows) - self.added - self.updated - self.forgotten,
            forgotten=self.forgotten,
            reason=OPTED_OUT if self.is_opted_out else None,
            unreadable=tuple(self.unreadable),
        )


def _must_not_be_stored(state: object) -> bool:
    """Check whether text in a state would be redacted or holds a recall block, first all texts as one."""
    together = "\n".join(_texts(state))
    if strip_recall_blocks(together) != together:
        return True
    return redact(together).text != together and json.dumps(redact_json(state)) != json.dumps(state)


def _texts(state: object) -> Iterator[str]:
    if isinstance(state, str):
        yield state
    elif isinstance(state, Mapping):
        for key, inner in state.items():
            yield key
            yield from _texts(inner)
    elif isinstance(state, list | tuple):
        for inner in state:
            yield from _texts(inner)
