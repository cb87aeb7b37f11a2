"""Where projects lie, and which of them are private: their text is recalled only inside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pastchats_memory.model import Prompt
from pastchats_memory.store.database import Database
from pastchats_memory.store.live import LIVE

UNSEEN = -1
"""`is_private` of a folder in which nobody has looked for a project's file yet."""

REDACTED = "[redacted:"
"""In the name of a folder: where it lies is no longer known, so what it says of its project is not, and it counts as private."""


def folders_of(prompts: Iterable[Prompt]) -> dict[str, str]:
    """The folders that turns come from, with their projects."""
    return {
        prompt.turn.cwd or str(Path(prompt.source_path).parent): prompt.project
        for prompt in prompts
        if prompt.turn.cwd or prompt.metadata.get("format") != LIVE
    }


def remember(database: Database, folders: Mapping[str, str]) -> None:
    """Note folders that text comes from, with their projects; inside the caller's transaction. Raises StoreFault."""
    database.run_many(
        "INSERT OR IGNORE INTO project_folders(folder, project, is_private) VALUES (?, ?, ?)",
        [(folder, project, REDACTED in folder or UNSEEN) for folder, project in folders.items()],
    )


def names(database: Database) -> list[str]:
    """Of every project that turns or tasks are filed under. Raises StoreFault."""
    rows = database.run("SELECT source_project FROM prompts UNION SELECT project FROM tasks")
    return [name for (name,) in rows if name]


def folders(database: Database) -> list[tuple[str, str]]:
    """Every folder with its project. Raises StoreFault."""
    return [(folder, project) for folder, project in database.run("SELECT folder, project FROM project_folders")]


def set_private(database: Database, by_folder: Iterable[tuple[str, bool]]) -> None:
    """Remember what folders say of their projects; inside the caller's transaction. Raises StoreFault."""
    database.run_many(
        "UPDATE project_folders SET is_private = ? WHERE folder = ?",
        [(is_private, folder) for folder, is_private in by_folder],
    )


def keep_private(database: Database, names: Iterable[str]) -> None:
    """Let projects stay private whose folders nobody has looked in here; inside the caller's transaction. Raises StoreFault."""
    database.run_many(
        "UPDATE project_folders SET is_private = 1 WHERE project = ? AND is_private = ?",
        [(name, UNSEEN) for name in names],
    )


def private(database: Database) -> tuple[frozenset[str], list[tuple[str, str]]]:
    """Names of the private projects; and folders, with their projects, in which nobody has looked yet. Raises StoreFault."""
    rows = database.run("SELECT folder, project, is_private FROM project_folders WHERE is_private")
    known = frozenset(project for _, project, is_private in rows if is_private != UNSEEN)
    return known, [(folder, project) for folder, project, is_private in rows if is_private == UNSEEN]
