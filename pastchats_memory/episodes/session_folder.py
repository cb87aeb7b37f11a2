"""Find the folder of a session, or say why it cannot be entered, before a command names it."""

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


def find_session_folder(database: Database, project: str, conversation_id: str) -> str | None:
    """Return the folder in which a session ran; None if it recorded none, or that is not on this machine."""
    stored = turns.first_folder(database, project, conversation_id)
    return str(resolve_path(stored)) if stored and not find_obstacle(database, project, conversation_id) else None
