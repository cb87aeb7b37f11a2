"""Name every published answer; `contracts/schemas` has a file for each."""

from collections.abc import Mapping
from typing import Annotated, Any

from pastchats_memory.episodes.cite import Verified
from pastchats_memory.episodes.history import Timeline
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.store.recalled import RecalledLog
from pastchats_memory.sync.report import SyncReport
from pastchats_memory.team.report import PullReport, PushPreview, PushReport, TeamStatus, Trial
from pastchats_memory.views.answers import (
    blame,
    database,
    errors,
    export,
    forgetting,
    history,
    opening,
    reindex,
    search,
    settings,
    sources,
    tasks,
    team,
)

ANSWERS: Mapping[str, Any] = {
    "ask/1": tasks.AskBody,
    "blame/1": blame.BLAME.view,
    "backup/1": database.BACKUP.view,
    "capture/1": tasks.CaptureBody,
    "check-prior-work/2": tasks.PriorWorkBody,
    "config/1": settings.CONFIG.view,
    "consult-episodic-memory/1": tasks.CONSULT.view,
    "context/1": search.ContextBody,
    "doctor/1": database.DOCTOR.view,
    "duplicates/1": tasks.DUPLICATES.view,
    "error/1": errors.ErrorBody,
    "exclude/1": settings.EXCLUDE.view,
    "export/1": Annotated[export.ExportedTurnView | export.ExportedTaskView, "A line of the output of `export`."],
    "find-duplicates/1": tasks.FIND_DUPLICATES.view,
    "forget/1": Annotated[
        forgetting.ForgetFoundBody | forgetting.ForgetForgottenBody | forgetting.ForgetListBody,
        "Output of `forget --json`: what would be forgotten, what was forgotten, or the list of what is forgotten.",
    ],
    "digest/1": history.DigestBody,
    "formats/1": sources.FORMATS.view,
    "handoff/1": opening.HANDOFF.view,
    "healthz/1": errors.HealthBody,
    "how/1": search.HOW.view,
    "index/1": Annotated[IndexReport | sources.IndexPreviewBody, "Output of `index --json`, also with --dry-run."],
    "install/1": settings.INSTALL.view,
    "judge/1": search.JudgeBody,
    "lessons/1": search.LESSONS.view,
    "log/1": RecalledLog,
    "open/1": opening.OPEN.view,
    "prune/1": Annotated[
        forgetting.PruneFoundBody | forgetting.PruneForgottenBody,
        "Output of `prune --json`: what would be forgotten, or what was forgotten.",
    ],
    "purge/1": forgetting.PurgeBody,
    "recall/1": search.RecallBody,
    "redact/1": database.RedactBody,
    "reindex/1": reindex.ReindexBody,
    "restore/1": database.RESTORE.view,
    "resume/1": opening.RESUME.view,
    "search/1": search.SearchBody,
    "semantic/1": search.SEMANTIC.view,
    "setup/1": settings.SetupBody,
    "show/1": search.SHOW.view,
    "similar/1": tasks.SIMILAR.view,
    "sources/1": sources.SOURCES.view,
    "sync/1": SyncReport,
    "team/1": Annotated[
        Trial
        | team.TeamInitBody
        | team.TeamShareBody
        | PushPreview
        | PushReport
        | PullReport
        | team.TeamWithdrawBody
        | TeamStatus,
        "Output of `team try`, `init`, `share`, `push`, `pull`, `withdraw` and `status` with --json.",
    ],
    "status/1": database.STATUS.view,
    "task/1": tasks.TaskBody,
    "timeline/1": Timeline,
    "uninstall/1": settings.UNINSTALL.view,
    "verify/1": Verified,
    "where/1": opening.WHERE.view,
}
"""The class of each answer, by the id of its schema."""
