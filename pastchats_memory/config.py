"""The only reader of the environment and of the folders that it names: values in, a frozen Config out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.errors import UsageFault

DATABASE_VARIABLE = "PASTCHATS_MEMORY_DB"


@dataclass(frozen=True, slots=True)
class Config:
    """What the edges pass on."""

    database: Path


def load(database: str | None = None, environment: Mapping[str, str] = os.environ) -> Config:
    """The effective configuration.

    The database is, in order: `database` (a flag), the environment's PASTCHATS_MEMORY_DB, `memory.db` in our folder
    below XDG_DATA_HOME, which is `~/.local/share` where it is not set (https://specifications.freedesktop.org/basedir).

    Raises:
        UsageFault: the folder is in a home, and there is none.
    """
    if database == "":
        raise UsageFault("--db names no file", "Is the variable that it was taken from set?")
    named = database or environment.get(DATABASE_VARIABLE)
    data = Path(environment.get("XDG_DATA_HOME") or "")
    try:
        if named:
            return Config(Path(named).expanduser())
        home = data if data.is_absolute() else Path.home() / ".local" / "share"
    except RuntimeError as fault:
        hint = f"Name the database by its full path with --db or {DATABASE_VARIABLE}."
        raise UsageFault("the home folder is not known", hint) from fault
    return Config(home / "pastchats-memory" / "memory.db")
