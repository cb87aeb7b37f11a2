"""Name sessions whose records have no id."""

from pathlib import Path

NAMELESS = frozenset({"messages", "history", "chat", "conversation", "session", "log", "transcript", "events"})
"""Names of files, and keys of lists, that say what they hold rather than which session it is."""


def session_name(path: Path) -> str:
    """Return a name for the session: its file's or folder's. Documents of one name may lie in many folders."""
    if path.stem in NAMELESS and path.parent.name:
        return path.parent.name
    return path.stem if path.suffix == ".jsonl" else f"{path.parent.name}/{path.stem}"
