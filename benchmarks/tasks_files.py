"""The real task files (PASTCHATS_SHARED, default ../shared), read by our own readers, for the benchmarks of task memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.tasks.beads import BEADS
from pastchats_memory.formats.tasks.issue_files import ISSUE_FILES
from pastchats_memory.formats.tasks.taskmaster import TASKMASTER
from pastchats_memory.model import Task
from pastchats_memory.store.tasks import task_text

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("beads", "taskmaster", "backlog-md")


@dataclass(frozen=True)
class Known:
    """A task of a real file."""

    file: str
    id: str
    text: str
    parent: str | None
    linked: frozenset[str]
    labels: frozenset[str]
    tags: tuple[str, ...]
    comments: tuple[str, ...]

    def root(self, by_id: Mapping[tuple[str, str], Known]) -> str:
        """Return the task at the top of those that contain this one."""
        seen, at = {self.id}, self
        while at.parent and at.parent not in seen and (self.file, at.parent) in by_id:
            seen.add(at.parent)
            at = by_id[self.file, at.parent]
        return at.id


def shared_tasks() -> list[Known]:
    """Every task of the real files; ends the program where there are none."""
    root = Path(os.environ.get("PASTCHATS_SHARED", REPOSITORY.parent / "shared")) / "transcripts"
    if not root.is_dir():
        sys.exit(f"no real task files at {root}; set PASTCHATS_SHARED")
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).iterdir()):
            source = SourceFile(path)
            for reader in (BEADS, TASKMASTER, ISSUE_FILES):
                if reader.detect(source):
                    found += [
                        _known(f"{folder}/{path.name}", task) for task in reader.read(source) if isinstance(task, Task)
                    ]
                    break
    return list({(task.file, task.id): task for task in found}.values())


def _known(file: str, task: Task) -> Known:
    return Known(
        file=file,
        id=task.native_id,
        text=task_text(task.title, task.description),
        parent=next((link.target for link in task.links if link.kind == "parent"), None),
        linked=frozenset(link.target for link in task.links),
        labels=frozenset(tag for tag in task.tags if tag not in ("bug", "feature", "chore", "epic")),
        tags=task.tags,
        comments=tuple(comment.content for comment in task.comments),
    )
