"""State what a team's memory asks of a server. `postgres` and `milvus` fulfil it; nothing else knows which one it is.

Its functions raise TeamUnavailable if the server cannot be used.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

TEXT_BYTES = 60_000
"""UTF-8 bytes of a text; a longer one is cut. Milvus allows 65,535."""
ID_CHARS, KEY_CHARS, NAME_CHARS, WORD_CHARS = 64, 16, 1024, 16
IDS = 200
"""Rows that are asked for by id at once."""
BATCH_ROWS, BATCH_BYTES = 500, 4 << 20
"""Of one request: a message of gRPC may have 64 MB."""
LIST_ROWS = 4000
TIMEOUT = 10.0
"""Seconds until a server has to answer."""

Row = dict[str, Any]
"""A row as `rows` builds and checks it."""


class Condition(NamedTuple):
    """Which rows are meant; each field that is set must fit."""

    kind: str | None = None
    owner: str | None = None
    """Member whose rows are meant."""
    other_than: str | None = None
    """Member whose rows are not meant."""
    projects: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since 1970."""
    until: int | None = None
    outcomes: tuple[str, ...] = ()

    def limits(self) -> dict[str, Any]:
        """Return the fields that are set."""
        return {name: value for name, value in self._asdict().items() if value not in (None, ())}


class Changes(NamedTuple):
    """Rows that differ from those that an earlier listing has seen."""

    digests: Mapping[str, str]
    """By id."""
    deleted: frozenset[str] | None
    """None if the listing is complete: any other row is gone."""
    horizon: str = ""
    """Give it to the next listing; empty if the server lists everything each time."""


class TeamServer(Protocol):
    """The team's rows, open."""

    @property
    def author(self) -> str | None:
        """Return the name under which this connection writes; None if the writer names itself."""

    @property
    def exists(self) -> bool:
        """Return whether anybody has shared anything yet."""

    @property
    def dim(self) -> int:
        """Return the length of the vectors. Raises TeamUnavailable if the rows are not of this release."""

    def create(self, dim: int) -> None:
        """Create the place of the rows for vectors of a length."""

    def load(self) -> None:
        """Make the rows ready to be read."""

    def select(self, condition: Condition, fields: Sequence[str]) -> Iterator[Row]:
        """Yield some fields of all rows that fulfil a condition."""

    def list_changes(self, condition: Condition, horizon: str) -> Changes:
        """Return what has changed since a horizon, or everything if it is unknown here."""

    def get(self, ids: Sequence[str]) -> list[Row]:
        """Return the rows with these ids."""

    def count_turns(self) -> int:
        """Return the number of turns; roughly, if there are many."""

    def put(self, rows: Sequence[Row]) -> None:
        """Write rows; those with the same id are replaced."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""

    def erase(self) -> None:
        """Remove the text of deleted rows from the disk, as far as the server can."""

    def find_words(self, text: str, condition: Condition, limit: int) -> list[str]:
        """Return the ids of the turns that fit the words of a text, best first."""

    def find_near(self, vector: Sequence[float], model: str, condition: Condition, limit: int) -> list[str]:
        """Return the ids of the turns whose vectors of the same model are nearest, nearest first."""


def digest_name(text: str) -> str:
    """Return the digest by which a name is compared where a name would be code, or too long."""
    return hashlib.blake2b(text.encode(), digest_size=KEY_CHARS // 2).hexdigest()


def split_into_batches(rows: Iterator[Row], size_of: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Yield rows in lists that fit into one request."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += size_of(row)
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
