"""Build the JSON views of indexing, the database, forgetting, configuration and installation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.build import add_warnings

if TYPE_CHECKING:  # these modules import NumPy and apsw, which `config` and `exclude` do not need
    from pastchats_memory.episodes.cite import Verified
    from pastchats_memory.episodes.derive import Derived
    from pastchats_memory.episodes.resumption import Resumption
    from pastchats_memory.formats.registry import FormatReport
    from pastchats_memory.ingest.dry_run import DryRunFile
    from pastchats_memory.ingest.overview import SourceReport
    from pastchats_memory.ingest.report import FileReport, IndexReport
    from pastchats_memory.maintenance.forget import ForgetResult
    from pastchats_memory.maintenance.health import HealthCheck, Status
    from pastchats_memory.maintenance.redact_stored import RedactReport
    from pastchats_memory.store.backup import Counts
    from pastchats_memory.store.mentions import Mention
    from pastchats_memory.store.tombstones import Forgetting
    from pastchats_memory.store.vectors.reindex import ReindexReport
    from pastchats_memory.sync import SyncReport
    from pastchats_memory.team.report import AuthorCount, PullReport, PushReport, SharePreview, TeamStatus
    from pastchats_memory.views import schema as views

MAX_MENTIONS = 10
"""Most rows with words of a forgotten text that are named."""


# --- indexing and sources ---------------------------------------------------------------------------------------------


def build_index(report: IndexReport) -> views.IndexBody:
    """Build `index/1` of a run."""
    counts = report.counts()
    return {
        "schema": "index/1",
        "outcome": report.outcome,
        "model": report.model,
        "duration_s": report.duration_s,
        "files_unchanged": report.files_unchanged,
        "moved": report.moved,
        "embedded": report.embedded,
        "cached": report.cached,
        "pending_vectors": report.pending_vectors,
        "superseded": report.superseded,
        "files_scanned": counts["files_scanned"],
        "turns_added": counts["turns_added"],
        "turns_skipped": counts["turns_skipped"],
        "unreadable": counts["unreadable"],
        "tasks_added": report.tasks,
        "forgotten": report.forgotten,
        "results": [_build_file(file) for file in report.files],
    }


def build_index_preview(files: Iterable[DryRunFile]) -> views.IndexPreviewBody:
    """Build `index/1` of a dry run."""
    results: list[views.PreviewedFileView] = [
        {
            **_build_file(report),
            "turns": turns,
            "project": project,
            "keys": cast("views.MessageKeys", dict(report.keys)),
            "map": report.map,
        }
        for report, turns, project in files
    ]
    return {"schema": "index/1", "results": results}


def _build_file(file: FileReport) -> views.IndexedFileView:
    return {
        "source_path": file.path,
        "format": file.format,
        "added": file.added,
        "updated": file.updated,
        "skipped": file.skipped,
        "forgotten": file.forgotten,
        "unchanged": file.is_unchanged,
        "reason": file.reason,
        "unreadable": [{"line": line.line, "reason": line.reason} for line in file.unreadable],
    }


def build_formats(reports: Sequence[FormatReport]) -> views.FormatsBody:
    """Build `formats/1`."""
    return {
        "schema": "formats/1",
        "results": [
            {
                "name": report.format.name,
                "version": report.format.version,
                "origin": report.origin,
                "program": report.format.program,
                "kinds": sorted(report.format.kinds),
                "files": [{"path": utf8(str(place.path)), "exists": place.exists} for place in report.files],
            }
            for report in reports
        ],
    }


def build_open(opened: Sequence[views.OpenedView]) -> views.OpenBody:
    """Build `open/1`."""
    return {"schema": "open/1", "results": list(opened)}


def build_resume(found: Sequence[Resumption]) -> views.ResumeBody:
    """Build `resume/1`."""
    from pastchats_memory.files.processes import join_command

    return {
        "schema": "resume/1",
        "results": [
            {
                "program": one.program,
                "command": list(one.command),
                "folder": one.folder,
                "line": join_command(one.command, one.folder) if one.command else None,
                "reason": one.reason or None,
            }
            for one in found
        ],
    }


def build_sources(reports: Sequence[SourceReport]) -> views.SourcesBody:
    """Build `sources/1`."""
    return {"schema": "sources/1", "results": [cast("views.SourceView", asdict(report)) for report in reports]}


# --- the database -----------------------------------------------------------------------------------------------------


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


# --- synchronisation --------------------------------------------------------------------------------------------------


def build_sync(report: SyncReport) -> views.SyncBody:
    """Build `sync/1`."""
    body: views.SyncBody = {
        "schema": "sync/1",
        "folder": utf8(report.folder),
        "sent": _count_records(report.sent),
        "received": _count_records(report.received),
        "embedded": report.embedded,
        "deleted": report.deleted,
        "rewritten": report.rewritten,
        "held_back": report.held_back,
        "left_out": report.left_out,
        "results": [
            cast("views.MachineView", {**one._asdict(), "missing": list(one.missing)}) for one in report.machines
        ],
    }
    return add_warnings(body, [f"{utf8(one.path)} {one.reason}; the next run tries again" for one in report.refused])


def _count_records(by_kind: Mapping[str, int]) -> views.SyncCountsView:
    return {
        "turns": by_kind.get("turn", 0),
        "tasks": by_kind.get("task", 0),
        "judgements": by_kind.get("judgement", 0),
        "forgettings": by_kind.get("forgetting", 0) + by_kind.get("lifting", 0),
    }


# --- team -------------------------------------------------------------------------------------------------------------


def build_team_share(found: SharePreview, *, is_shared: bool) -> views.TeamShareBody:
    """Build `team/1` of `team share`."""
    fields = {name: value for name, value in found._asdict().items() if name != "prompts"}
    body = {"schema": "team/1", **fields, "is_shared": is_shared, "results": list(found.prompts)}
    return cast("views.TeamShareBody", body)


def build_team_push(report: PushReport) -> views.TeamPushBody:
    """Build `team/1` of `team push`."""
    return {
        "schema": "team/1",
        "sent": report.sent,
        "deleted": report.deleted,
        "waiting": report.waiting,
        "held_back": len(report.held_back),
        "results": report.projects,
    }


def build_team_pull(report: PullReport) -> views.TeamPullBody:
    """Build `team/1` of `team pull`."""
    return {
        "schema": "team/1",
        "received": report.received,
        "deleted": report.deleted,
        "refused": report.refused,
        "embedded": report.embedded,
        "results": _build_authors(report.authors),
    }


def build_team_withdraw(deleted: int, projects: Sequence[str]) -> views.TeamWithdrawBody:
    """Build `team/1` of `team withdraw`."""
    return {"schema": "team/1", "withdrawn": deleted, "results": list(projects)}


def build_team_status(status: TeamStatus) -> views.TeamStatusBody:
    """Build `team/1` of `team status`."""
    return {
        "schema": "team/1",
        "endpoint": utf8(status.endpoint),
        "author": status.author,
        "member": status.member,
        "projects": {one.project: cast("views.TeamProjectView", one._asdict()) for one in status.projects},
        "copied": {one.author: one.turns for one in status.copied},
        "is_merged": status.is_merged,
        "results": _build_authors(status.authors),
    }


def _build_authors(authors: Iterable[AuthorCount]) -> list[views.TeamAuthorView]:
    return [{"author": one.author, "turns": one.turns, "is_self": one.is_self} for one in authors]


# --- forgetting -------------------------------------------------------------------------------------------------------


def build_forget_found(found: ForgetResult) -> views.ForgetFoundBody:
    """Build `forget/1` of what would be forgotten."""
    return {"schema": "forget/1", **_build_found(found)}


def build_prune_found(found: ForgetResult) -> views.PruneFoundBody:
    """Build `prune/1` of what would be forgotten."""
    return {"schema": "prune/1", **_build_found(found)}


def build_forget_forgotten(forgotten: ForgetResult) -> views.ForgetForgottenBody:
    """Build `forget/1` of what was forgotten."""
    return {"schema": "forget/1", **_build_forgotten(forgotten)}


def build_prune_forgotten(forgotten: ForgetResult) -> views.PruneForgottenBody:
    """Build `prune/1` of what was forgotten."""
    return {"schema": "prune/1", **_build_forgotten(forgotten)}


def build_forget_list(outcome: str, forgettings: Sequence[Forgetting]) -> views.ForgetListBody:
    """Build `forget/1` of a list; the outcome is `listed` or `undone`."""
    return {"schema": "forget/1", "outcome": outcome, "results": [_build_forgetting(one) for one in forgettings]}


def _build_found(found: ForgetResult) -> views.FoundFields:
    rows = [cast("views.ForgettableView", asdict(row)) for row in found.rows]
    body: views.FoundFields = {
        "outcome": "found",
        "turns": found.turns,
        "tasks": found.tasks,
        "comments": found.comments,
        "attachments": found.attachments,
        "private": found.private,
        "results": rows,
    }
    return add_warnings(body, describe_mentions(found.mentions))


def _build_forgotten(forgotten: ForgetResult) -> views.ForgottenFields:
    results = [] if forgotten.forgetting is None else [_build_forgetting(forgotten.forgetting)]
    body: views.ForgottenFields = {
        "outcome": "forgotten",
        "turns": forgotten.turns,
        "tasks": forgotten.tasks,
        "comments": forgotten.comments,
        "attachments": forgotten.attachments,
        "private": forgotten.private,
        "results": results,
    }
    return add_warnings(body, describe_mentions(forgotten.mentions))


def describe_mentions(mentions: Sequence[Mention]) -> list[str]:
    """Say which rows and names stay although they contain words of a forgotten text, and why."""
    rows = [one for one in mentions if not one.names]
    names = [one for one in mentions if one.names]
    warnings = []
    if rows:
        listed = ", ".join(f"{one.place} ({', '.join(one.words)})" for one in rows[:MAX_MENTIONS])
        more = f" and {len(rows) - MAX_MENTIONS:,} more" if len(rows) > MAX_MENTIONS else ""
        warnings.append(f"rows that stay, since they have only some of its words: {listed}{more}; --id forgets them")
    if names:
        listed = ", ".join(f"{one.place}: {', '.join(one.words)} ({one.names})" for one in names)
        warnings.append(f"names that stay, since files, projects and runs are not texts: {listed}")
    return warnings


def _build_forgetting(one: Forgetting) -> views.ForgettingView:
    return {
        "number": one.number,
        "at": one.at,
        "selector": cast("views.SelectorView", dict(one.selector)),
        "turns": one.turns,
        "tasks": one.tasks,
        "comments": one.comments,
        "attachments": one.attachments,
    }


def build_purge(outcome: str, turns: int, tasks: int) -> views.PurgeBody:
    """Build `purge/1`; the outcome is `purged` or `found`."""
    return {
        "schema": "purge/1",
        "outcome": outcome,
        "results": [{"turns": turns, "tasks": tasks}],
    }


# --- configuration and installation -----------------------------------------------------------------------------------


def build_config(settings: Sequence[views.SettingView], warnings: Sequence[str]) -> views.ConfigBody:
    """Build `config/1`."""
    return {"schema": "config/1", "results": list(settings), "warnings": list(warnings)}


def build_exclude(patterns: Sequence[str], stored: Mapping[str, int]) -> views.ExcludeBody:
    """Build `exclude/1`; `stored` has the number of stored rows by pattern."""
    results: list[views.ExclusionView] = [{"pattern": one, "stored": stored.get(one, 0)} for one in patterns]
    return {"schema": "exclude/1", "results": results}


def build_install(changes: Sequence[views.FileChangeView]) -> views.InstallBody:
    """Build `install/1`."""
    return {"schema": "install/1", "results": list(changes)}


def build_setup(steps: Sequence[views.SetupStepView], recall: str | None) -> views.SetupBody:
    """Build `setup/1`."""
    return {"schema": "setup/1", "recall": recall, "results": list(steps)}


def build_uninstall(changes: Sequence[views.FileChangeView]) -> views.UninstallBody:
    """Build `uninstall/1`."""
    return {"schema": "uninstall/1", "results": list(changes)}
