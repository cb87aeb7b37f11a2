"""Private projects: their text is recalled only inside them, which each project's own file says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pastchats_memory.arguments import project_here
from pastchats_memory.config import is_private
from pastchats_memory.located import located
from pastchats_memory.store import projects
from pastchats_memory.store.database import Database

if TYPE_CHECKING:
    from pastchats_memory.tasks.desk import Standing


def hidden_projects(database: Database, current_project: str | None) -> tuple[str, ...]:
    """Those that are not to be seen from a project, or from the working directory where none is named. Raises StoreFault."""
    private, unseen = projects.private(database)
    private |= {project for folder, project in unseen if is_private(str(located(folder))) is not False}
    return tuple(sorted(private - {current_project or project_here()})) if private else ()


def standing_here(database: Database) -> Standing:
    """The working directory, its project, and what is hidden from there. Raises StoreFault."""
    from pastchats_memory.tasks.desk import Standing

    here = project_here()
    return Standing("" if here is None else os.getcwd(), here, hidden_projects(database, here))  # noqa: PTH109 - a string is wanted


def look_for_private_projects(database: Database) -> None:
    """Ask every project that text came from; of one that is gone or not understood it stays as it was. Raises StoreFault."""
    there = {folder: str(located(folder)) for folder, _ in projects.folders(database)}
    asked = [(folder, is_private(path)) for folder, path in there.items() if os.path.isdir(path)]  # noqa: PTH112 - pathlib's raises below a closed folder on Python 3.11
    with database.transaction():
        projects.set_private(database, [(folder, said) for folder, said in asked if said is not None])
