"""Build the JSON views of the database: status, checks, reindexing, redaction and backups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pastchats_memory.episodes.cite import Verified
    from pastchats_memory.episodes.derive import Derived
    from pastchats_memory.maintenance.health import HealthCheck, Status
    from pastchats_memory.maintenance.redact_stored import RedactReport
    from pastchats_memory.store.backup import Counts
    from pastchats_memory.store.vectors.reindex import ReindexReport
    from pastchats_memory.views.schema import database as views


def build_status(status: Status) -> views.StatusBody:
    """Build `status/1`."""
    return {"schema": "status/1", "results": [cast("views.StatusView", asdict(status))]}


def build_doctor(checks: Sequence[HealthCheck]) -> views.DoctorBody:
    """Build `doctor/1`."""
    return {"schema": "doctor/1", "results": [cast("views.HealthCheckView", asdict(check)) for check in checks]}


def build_verify(verified: Verified) -> views.VerifyBody:
    """Build `verify/1`."""
    return {
        "schema": "verify/1",
        "checked": verified.total,
        "states": cast("views.VerifyStates", dict(verified.states)),
        "results": [cast("views.FailedCitationView", failed._asdict()) for failed in verified.failed],
    }


def build_reindex(report: ReindexReport | Derived) -> views.ReindexBody:
    """Build `reindex/1`, of vectors or of outcomes."""
    return {"schema": "reindex/1", "results": [cast("views.ReembeddedView | views.RederivedView", asdict(report))]}


def build_redact(outcome: str, report: RedactReport) -> views.RedactBody:
    """Build `redact/1`; the outcome is `redacted` or `found`."""
    return {"schema": "redact/1", "outcome": outcome, "results": [cast("views.RedactedView", asdict(report))]}


def build_backup(file: str, counts: Counts) -> views.BackupBody:
    """Build `backup/1`."""
    return {"schema": "backup/1", "results": [cast("views.BackupView", {"file": file, **asdict(counts)})]}


def build_restore(results: Sequence[views.RestoredView]) -> views.RestoreBody:
    """Build `restore/1`; without results if nothing was replaced."""
    return {"schema": "restore/1", "results": list(results)}


def build_restored(file: str, database: str, counts: Counts, put_aside: str | None) -> views.RestoredView:
    """Build the result of a restore.

    Args:
        file: path of the backup.
        database: path of the database.
        counts: contents of the backup.
        put_aside: path of the previous database if it was too damaged to be overwritten.
    """
    return {
        "file": file,
        "database": database,
        "turns": counts.turns,
        "tasks": counts.tasks,
        "bytes": counts.bytes,
        "put_aside": put_aside,
    }
