"""Define every JSON object that the program returns, as typed dictionaries by subject.

The builders of `views` make these objects from values. The command line prints them with `--json`, the HTTP server
answers with them, and the MCP server returns those of `brief`. `scripts/generate_schemas.py` writes
`contracts/schemas` from them; the HTTP server's OpenAPI document takes its answers from them.
`json_schema` explains the annotations.

Annotations are evaluated in these modules (no `from __future__ import annotations`): `NotRequired` has to be seen at
run time.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pastchats_memory.views.schema.database import (
    BackupBody,
    DoctorBody,
    RedactBody,
    ReindexBody,
    RestoreBody,
    StatusBody,
    VerifyBody,
)
from pastchats_memory.views.schema.errors import ErrorBody, HealthBody
from pastchats_memory.views.schema.exchange import (
    SyncBody,
    TeamPullBody,
    TeamPushBody,
    TeamShareBody,
    TeamStatusBody,
    TeamWithdrawBody,
)
from pastchats_memory.views.schema.forgetting import (
    ForgetForgottenBody,
    ForgetFoundBody,
    ForgetListBody,
    PruneForgottenBody,
    PruneFoundBody,
    PurgeBody,
)
from pastchats_memory.views.schema.history import BlameBody, DigestBody, TimelineBody
from pastchats_memory.views.schema.search import (
    ContextBody,
    HowBody,
    JudgeBody,
    LessonsBody,
    RecallBody,
    SearchBody,
    SemanticBody,
    ShowBody,
)
from pastchats_memory.views.schema.settings import ConfigBody, ExcludeBody, InstallBody, SetupBody, UninstallBody
from pastchats_memory.views.schema.sources import (
    ExportedTaskView,
    ExportedTurnView,
    FormatsBody,
    IndexBody,
    IndexPreviewBody,
    OpenBody,
    ResumeBody,
    SourcesBody,
)
from pastchats_memory.views.schema.tasks import (
    AskBody,
    CaptureBody,
    ConsultBody,
    DuplicatesBody,
    FindDuplicatesBody,
    PriorWorkBody,
    SimilarBody,
    TaskBody,
)

SCHEMAS: Mapping[str, Any] = {
    "ask/1": AskBody,
    "blame/1": BlameBody,
    "backup/1": BackupBody,
    "capture/1": CaptureBody,
    "check-prior-work/2": PriorWorkBody,
    "config/1": ConfigBody,
    "consult-episodic-memory/1": ConsultBody,
    "context/1": ContextBody,
    "doctor/1": DoctorBody,
    "duplicates/1": DuplicatesBody,
    "error/1": ErrorBody,
    "exclude/1": ExcludeBody,
    "export/1": Annotated[ExportedTurnView | ExportedTaskView, "A line of the output of `export`."],
    "find-duplicates/1": FindDuplicatesBody,
    "forget/1": Annotated[
        ForgetFoundBody | ForgetForgottenBody | ForgetListBody,
        "Output of `forget --json`: what would be forgotten, what was forgotten, or the list of what is forgotten.",
    ],
    "digest/1": DigestBody,
    "formats/1": FormatsBody,
    "healthz/1": HealthBody,
    "how/1": HowBody,
    "index/1": Annotated[IndexBody | IndexPreviewBody, "Output of `index --json`, also with --dry-run."],
    "install/1": InstallBody,
    "judge/1": JudgeBody,
    "lessons/1": LessonsBody,
    "open/1": OpenBody,
    "prune/1": Annotated[
        PruneFoundBody | PruneForgottenBody,
        "Output of `prune --json`: what would be forgotten, or what was forgotten.",
    ],
    "purge/1": PurgeBody,
    "recall/1": RecallBody,
    "redact/1": RedactBody,
    "reindex/1": ReindexBody,
    "restore/1": RestoreBody,
    "resume/1": ResumeBody,
    "search/1": SearchBody,
    "semantic/1": SemanticBody,
    "setup/1": SetupBody,
    "show/1": ShowBody,
    "similar/1": SimilarBody,
    "sources/1": SourcesBody,
    "sync/1": SyncBody,
    "team/1": Annotated[
        TeamShareBody | TeamPushBody | TeamPullBody | TeamWithdrawBody | TeamStatusBody,
        "Output of `team share`, `push`, `pull`, `withdraw` and `status` with --json.",
    ],
    "status/1": StatusBody,
    "task/1": TaskBody,
    "timeline/1": TimelineBody,
    "uninstall/1": UninstallBody,
    "verify/1": VerifyBody,
}
"""The view of every published schema, by its id; `contracts/schemas` has a file for each."""
