"""What each release did to the schema, oldest first. Append only: a database in the field has run a prefix of this."""

from __future__ import annotations

from collections.abc import Callable


def _first() -> str:
    from importlib.resources import files  # brings tempfile, random and more; only a new database needs it

    return files("pastchats_memory.store").joinpath("schema.sql").read_text(encoding="utf-8")


MIGRATIONS: tuple[Callable[[], str], ...] = (_first,)
"""Statement texts; the number of those that have run is the database's `user_version`."""
