"""Define every error that this package raises on purpose.

    MemoryFault                 explained to the user, exit code 2
    ├── UsageFault              a wrong request: an empty query, an unknown mode
    ├── InputMissing            a named path or task does not exist
    ├── ModelUnavailable        the embedding model cannot be loaded
    ├── ModelChanged            the stored vectors are of another model or version
    ├── BrokenFormat            a format of another package cannot be loaded
    ├── LibraryBroken           a library that every command needs cannot be imported
    ├── TeamUnavailable         the team's Milvus cannot be used
    └── StoreFault              the database file and its surroundings
        ├── DatabaseMissing     nothing has been indexed yet
        ├── DatabaseNewer       written by a newer release than this one
        ├── DatabaseOlder       written by an unreleased older build
        ├── DatabaseCorrupt     not a database, or a damaged one
        ├── DatabaseReadOnly    the file or its folder is not writable
        ├── DatabaseExposed     others may replace the file
        ├── DatabaseLocked      another process holds it longer than we wait
        ├── DiskFull            no room for the write
        └── DeletionUnfinished  rows are deleted, but their text is still in the file

`http` translates each of them into an answer. Its own `RequestError` never leaves it.
Any other exception is a bug and stays a traceback.
"""

TYPE_CHECKING = False  # a hook does without the import of typing
if TYPE_CHECKING:
    from typing import ClassVar


class MemoryFault(Exception):
    """An error of the environment or of the request; `hint` says what to do about it."""

    kind: "ClassVar[str]" = "fault"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageFault(MemoryFault):
    """The request itself is wrong."""

    kind = "usage"


class InputMissing(MemoryFault):
    """A named path or task does not exist, or a path cannot be entered."""

    kind = "input_missing"


class ModelUnavailable(MemoryFault):
    """The embedding model cannot be loaded; keyword search still works."""

    kind = "model_unavailable"


class ModelChanged(MemoryFault):
    """The stored vectors are of another model, or of another version. Keyword search still works."""

    kind = "model_changed"


class BrokenFormat(MemoryFault):
    """A format of another package cannot be loaded."""

    kind = "format_broken"


class LibraryBroken(MemoryFault):
    """A library that every command needs cannot be imported."""

    kind = "library_broken"


class TeamUnavailable(MemoryFault):
    """The team's Milvus cannot be used: its library is missing, it does not answer, or its collection is not ours."""

    kind = "team_unavailable"


class StoreFault(MemoryFault):
    """An error of the database file; the subclasses say which.

    Everything that takes a database, or a memory with one, raises it if the file cannot be read or written. Other
    docstrings do not say so again.
    """

    kind = "store"


class DatabaseMissing(StoreFault):
    """There is no database at the path."""

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
    """A write was needed, and the file system does not allow it."""

    kind = "database_read_only"


class DatabaseExposed(StoreFault):
    """The database lies in a folder whose entries others may replace."""

    kind = "database_exposed"


class DatabaseLocked(StoreFault):
    """Another process held the lock for longer than the busy timeout."""

    kind = "database_locked"


class DiskFull(StoreFault):
    """The disk has no room for the write."""

    kind = "disk_full"


class DeletionUnfinished(StoreFault):
    """Rows are deleted for every command, but their text is still in the file."""

    kind = "deletion_unfinished"
