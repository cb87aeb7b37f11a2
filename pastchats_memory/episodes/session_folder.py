"""Say why the folder of a session cannot be entered, before a command names it."""

import os
from pathlib import PureWindowsPath

from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database


def find_obstacle(database: Database, project: str, conversation_id: str) -> str:
    """Return why a session cannot be resumed in its folder; empty if it can, or if it has none."""
    stored = turns.first_folder(database, project, conversation_id)
    if stored is None:
        return ""
    if host := other_machine(stored):
        return f"its folder lies on the machine {host}"
    if bool(PureWindowsPath(stored).drive) != (os.name == "nt"):
        return "its folder is one of another system"
    return "" if resolve_path(stored).is_dir() else "its folder is gone"
