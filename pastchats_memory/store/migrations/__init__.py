"""The schema as it is now, and what each version did to the one before. Append only: databases in the field have run a prefix."""

from __future__ import annotations

import re

from pastchats_memory.errors import StoreFault

MIGRATIONS: tuple[str, ...] = (
    "0001_first.sql",
    "0002_sources.sql",
    "0003_tasks.sql",
    "0004_components.sql",
    "0005_models.sql",
    "0006_titles.sql",
    "0007_live.sql",
    "0008_resume.sql",
    "0009_outcomes.sql",
    "0010_forgotten.sql",
    "0011_trigrams.sql",
    "0012_passages.sql",
    "0013_block_versions.sql",
    "0014_judgements.sql",
    "0015_read_as.sql",
)
"""Files of this folder, oldest first; the number of those that a database has run is its `user_version`."""

SCHEMA_VERSION = len(MIGRATIONS)


def schema() -> str:
    """The statements that make a new database of the current version.

    Raises:
        StoreFault: they are another release's, which was installed while this process ran: it would write its own number
            beside them, and no later release could bring such a database up to date.
    """
    text = _text("schema.sql")
    if f" schema version {SCHEMA_VERSION}.\n" not in text:
        raise StoreFault("another release was installed while this process was running", "Start it again.")
    return text


def names_of_schema() -> list[str]:
    """Names of all tables, indexes, views and triggers that a database of the current version has."""
    return re.findall(r"^CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX|TRIGGER|VIEW) (\w+)", schema(), re.MULTILINE)


def migration(number: int) -> str:
    """The statements that bring a database from version `number` to the next."""
    return _text(f"migrations/{MIGRATIONS[number]}")


def _text(name: str) -> str:
    from importlib.resources import files  # brings tempfile, random and more; only a new or older database needs it

    return files("pastchats_memory.store").joinpath(name).read_text(encoding="utf-8")
