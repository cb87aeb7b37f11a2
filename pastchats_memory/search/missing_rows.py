"""Explain why rows are missing from a result, if that has nothing to do with the question."""

from pastchats_memory.model import NO_FILTERS, Filters
from pastchats_memory.store import sources
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import is_any

MOST_SUGGESTIONS = 3
"""Projects that are suggested if the named one does not exist."""


def explain_empty(database: Database, filters: Filters) -> tuple[str, ...]:
    """Return a warning if the filters exclude every row, whatever the question."""
    if is_any(database, filters):
        return ()
    if not is_any(database.hide(()), NO_FILTERS):
        return ("the memory is empty; `pastchats-memory index --all` fills it, or `index PATH`",)
    of_project = Filters(project=filters.project)
    if filters.since and filters.until and filters.since > filters.until:
        return ("the filters exclude every row: `since` names a later time than `until`",)
    if filters.project is None or is_any(database, of_project):
        return ("the filters exclude every row",)
    from difflib import get_close_matches

    named = {name.lower(): name for name in sources.project_names(database)}
    alike = [named[name] for name in get_close_matches(filters.project.lower(), named, MOST_SUGGESTIONS)]
    others = f"; there is {', '.join(alike)}" if alike else ""
    return (f"nothing is stored of the project {filters.project}{others}",)


def describe_running(database: Database) -> tuple[str, ...]:
    """Return a warning for an index run that has stored a part of its files, if its process is alive."""
    run = sources.find_unfinished_run(database)
    if run is None or not is_alive(run.pid):
        return ()
    read = f"{run.files_read:,} of {run.files:,} files and {run.turns:,} new turns"
    return (f"an index run is under way and has stored {read}, the newest first; the rest is not found yet",)
