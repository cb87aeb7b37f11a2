"""Define the answers about the database: status, checks, reindexing, redaction and backups."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.episodes.derive import Derived
from pastchats_memory.fields import Flat, Shown, answer, one_of
from pastchats_memory.maintenance.health import HealthCheck, Status
from pastchats_memory.maintenance.redact_stored import RedactReport
from pastchats_memory.store.backup import Counts
from pastchats_memory.store.vectors.reindex import ReindexReport
from pastchats_memory.views.answers.listing import ONE, Listing

STATUS = Listing("status/1", "Output of `status --json`.", Status, ONE)
DOCTOR = Listing("doctor/1", "Output of `doctor --json`.", HealthCheck, {"minItems": 1})


@answer("reindex/1")
class ReindexBody(NamedTuple):
    """Output of `reindex --embeddings --json` and `reindex --outcomes --json`."""

    results: Annotated[Sequence[ReindexReport | Derived], ONE]


@answer("redact/1")
class RedactBody(NamedTuple):
    """Output of `redact --rescan --json`."""

    outcome: Annotated[str, one_of("redacted", "found"), "found: nothing was changed, since --yes was not given."]
    results: Annotated[Sequence[RedactReport], ONE]


class Backup(NamedTuple):
    """A copy of the memory."""

    file: str
    contents: Annotated[Counts, Flat()]


class Restored(NamedTuple):
    """A memory that was restored from a backup."""

    backup: Annotated[Backup, Flat()]
    database: Annotated[str, Shown(after="file")]
    put_aside: Annotated[str | None, "Path of the previous database if it was too damaged to be overwritten."]


BACKUP = Listing("backup/1", "Output of `backup --json`.", Backup, ONE)
RESTORE = Listing(
    "restore/1",
    "Output of `restore --json`; without a result if nothing was replaced.",
    Restored,
    {"minItems": 0, "maxItems": 1},
)
