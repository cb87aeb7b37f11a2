"""Databases as unreleased older builds wrote them."""

from __future__ import annotations

from pathlib import Path

import apsw
from program import REPOSITORY

DATABASES = REPOSITORY / "fixtures" / "databases"
VERSIONS = sorted(int(file.stem.removeprefix("build-")) for file in DATABASES.glob("build-*.sql"))
"""Schema versions of the fixtures: the first one, one with tasks and a live turn, the last one with all tables."""


def make_older(path: Path, version: int) -> Path:
    """Create the database that the build with this schema version left."""
    connection = apsw.Connection(str(path))
    connection.execute((DATABASES / f"build-{version}.sql").read_text(encoding="utf-8"))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.close()
    return path
