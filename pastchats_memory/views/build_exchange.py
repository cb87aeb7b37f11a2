"""Build the JSON views of `sync` and `team`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.build import add_warnings

if TYPE_CHECKING:
    from pastchats_memory.sync import SyncReport
    from pastchats_memory.team.report import AuthorCount, PullReport, PushReport, SharePreview, TeamStatus
    from pastchats_memory.views.schema import exchange as views


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
