"""Where projects lie, and which of them are private: their text is recalled only inside them."""

from __future__ import annotations

from pastchats_memory.store.database import Database


def folders(database: Database) -> dict[str, str]:
    """By folder the project that it was known as when text from it was stored. Raises StoreFault."""
    return dict(database.run("SELECT folder, project FROM project_folders"))


def set_folder(database: Database, folder: str, project: str, *, is_private: bool) -> None:
    """Remember what a folder says of its project. Raises StoreFault."""
    database.run(
        "INSERT OR REPLACE INTO project_folders(folder, project, is_private) VALUES (?, ?, ?)",
        (folder, project, is_private),
    )


def private(database: Database) -> frozenset[str]:
    """Names of the private projects. Raises StoreFault."""
    rows = database.run("SELECT DISTINCT project FROM project_folders WHERE is_private")
    return frozenset(project for (project,) in rows)
