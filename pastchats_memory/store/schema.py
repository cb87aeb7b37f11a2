"""The one schema of our database: its marks in a file, its version and its statements."""

import re

from pastchats_memory.errors import StoreFault

APPLICATION_ID = 0x70636D32
"""`pcm2` in the header marks a file as ours, so that another program's database is never filled with our tables."""
EARLY_APPLICATION_ID = 0x70636D31
"""`pcm1` marks a database of an unreleased build, whose schema had versions 1 to 14."""
SCHEMA_VERSION = 1
"""The `user_version` of a database with this schema. From release 1.0.0 on, migrations lead to the next one."""


def schema() -> str:
    """Return the statements that create a new database.

    Raises StoreFault if the file holds another version. Another release was installed while this process ran, and a database
    made now would have that release's tables under this release's number.
    """
    from importlib.resources import files  # brings tempfile, random and more; only a new database needs it

    text = files("pastchats_memory.store").joinpath("schema.sql").read_text(encoding="utf-8")
    if f" schema version {SCHEMA_VERSION}.\n" not in text:
        raise StoreFault("another release was installed while this process was running", "Start it again.")
    return text


def schema_names() -> list[str]:
    """Return the names of all tables, indexes, views and triggers of the schema."""
    return re.findall(r"^CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX|TRIGGER|VIEW) (\w+)", schema(), re.MULTILINE)
