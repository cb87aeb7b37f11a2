"""Say how far an index run is, while it adds to what is searched."""

from pastchats_memory.store import sources
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.database import Database


def describe_running(database: Database) -> tuple[str, ...]:
    """Return a warning for an index run that has stored a part of its files, if its process is alive."""
    run = sources.find_unfinished_run(database)
    if run is None or not is_alive(run.pid):
        return ()
    read = f"{run.files_read:,} of {run.files:,} files and {run.turns:,} new turns"
    return (f"an index run is under way and has stored {read}, the newest first; the rest is not found yet",)
