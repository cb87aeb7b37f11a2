"""Everything this package raises on purpose, drawn once.

    MemoryFault                 explained to the person, exit code 2
    ├── UsageFault              what was asked cannot be asked: an empty query, an unknown mode
    ├── InputMissing            a path that was named is not there
    ├── ModelUnavailable        the embedding model cannot be loaded
    ├── ModelChanged            the stored vectors are another model's, or another version's
    └── StoreFault              the database file and its surroundings
        ├── DatabaseMissing     nothing has been indexed yet
        ├── DatabaseNewer       written by a newer release than this one
        ├── DatabaseOlder       written by an unreleased older build
        ├── DatabaseCorrupt     not a database, or a damaged one
        ├── DatabaseReadOnly    the file or its folder may not be written
        ├── DatabaseExposed     others may put another file in its place
        ├── DatabaseLocked      another process holds it longer than we wait
        └── DiskFull            no room for the write

`http` turns each into an answer, and has one of its own for that, `RequestError`, which never leaves it.
Whatever else is raised is a bug and stays a traceback.
"""

from __future__ import annotations

from typing import ClassVar


class MemoryFault(Exception):
    """A fault of the surroundings or of the request, with the way out in `hint`."""

    kind: ClassVar[str] = "fault"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageFault(MemoryFault):
    """The request itself is wrong."""

    kind = "usage"


class InputMissing(MemoryFault):
    """A path that was named does not exist or cannot be entered."""

    kind = "input_missing"


class ModelUnavailable(MemoryFault):
    """The embedding model cannot be loaded; words still work."""

    kind = "model_unavailable"


class ModelChanged(MemoryFault):
    """The stored vectors were made by another model, or by another version of it; words still work."""

    kind = "model_changed"


class StoreFault(MemoryFault):
    """Something about the database file; the subclasses say what."""

    kind = "store"


class DatabaseMissing(StoreFault):
    """There is no database at the given place."""

    kind = "database_missing"


class DatabaseNewer(StoreFault):
    """A newer release has written the database, with a schema that this one does not know."""

    kind = "database_newer"


class DatabaseOlder(StoreFault):
    """An unreleased older build has written the database, with a schema that is not supported."""

    kind = "database_older"


class DatabaseCorrupt(StoreFault):
    """The file is not a database, or is a damaged one."""

    kind = "database_corrupt"


class DatabaseReadOnly(StoreFault):
    """A write was needed and the file system does not allow it."""

    kind = "database_read_only"


class DatabaseExposed(StoreFault):
    """The database lies in a folder whose entries others may replace."""

    kind = "database_exposed"


class DatabaseLocked(StoreFault):
    """Another process held the lock for longer than the busy timeout."""

    kind = "database_locked"


class DiskFull(StoreFault):
    """The write did not fit on the disk."""

    kind = "disk_full"
