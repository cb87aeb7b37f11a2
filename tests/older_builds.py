"""Databases that bear the marks of unreleased older builds."""

from __future__ import annotations

from pathlib import Path

import apsw

from pastchats_memory.store.schema import EARLY_APPLICATION_ID


def make_older(path: Path, version: int) -> Path:
    """Create a database with the marks of the build with this schema version, and one turn."""
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id={EARLY_APPLICATION_ID}; PRAGMA user_version={version}")
    connection.execute("CREATE TABLE prompts(id INTEGER PRIMARY KEY, content TEXT)")
    connection.execute("INSERT INTO prompts VALUES (1, 'How do we retry webhooks that fail?')")
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.close()
    return path
