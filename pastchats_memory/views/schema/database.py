"""Define the views of the database: status, checks, reindexing, redaction and backups."""

from typing import Annotated, Literal, TypedDict

from pastchats_memory.views.json_schema import Narrowed
from pastchats_memory.views.schema.fields import Count, Line, LooseTime, Time, one_of


class LastRunView(TypedDict):
    """The last indexing run."""

    started_at: Time
    files_scanned: Count
    turns_added: Count
    turns_skipped: Count
    unreadable: Count
    duration_s: Annotated[float | None, {"minimum": 0}]
    outcome: Annotated[str, one_of("running", "done", "interrupted", "failed")]


class StatusView(TypedDict):
    """Contents and state of the memory."""

    database: Annotated[str, "Path of the file."]
    bytes: Annotated[int, {"minimum": 1}]
    turns: Count
    by_role: dict[str, Annotated[int, {"minimum": 1}]]
    tasks: Annotated[dict[str, Annotated[int, {"minimum": 1}]], "Number of tasks by status."]
    projects: Count
    sources: Annotated[Count, "Files that turns were read from."]
    gone: Annotated[Count, "Files that are no longer on the disk; their turns are kept."]
    embeddings: Count
    indexed: Annotated[Count, "Rows that have a vector: turns, notes, and texts of tasks."]
    going: Annotated[Count, "Forgotten rows that no search finds and that are still to be deleted."]
    pending: Annotated[Count, "Rows that await a vector of next_model."]
    pending_vectors: Annotated[Count, "Rows whose vector awaits a model that can be used; words find them."]
    model: str | None
    model_version: str | None
    next_model: Annotated[str | None, "The model that the database is being changed to."]
    last_reindex_at: LooseTime
    dim: Annotated[int | None, {"minimum": 1}]
    engine: Annotated[str, one_of("vec0", "exact")]
    behind: Annotated[Count, "Rows that the engine has yet to take over; they are searched anyway."]
    first: Time
    last: Time
    last_run: LastRunView | None
    is_redacted: Annotated[
        bool, "True: all rows were redacted by the rules of this release; else `redact --rescan` does it."
    ]


class StatusBody(TypedDict):
    """Output of `status --json`."""

    schema: Literal["status/1"]
    results: Annotated[list[StatusView], {"minItems": 1, "maxItems": 1}]


class HealthCheckView(TypedDict):
    """A check of the doctor."""

    check: str
    is_well: bool
    detail: Annotated[str, {"minLength": 1}]
    remedy: Annotated[
        str, "What to do if the check failed; may be empty otherwise.", Narrowed("is_well", (False,), {"minLength": 1})
    ]


class DoctorBody(TypedDict):
    """Output of `doctor --json`."""

    schema: Literal["doctor/1"]
    results: Annotated[list[HealthCheckView], {"minItems": 1}]


class VerifyStates(TypedDict):
    """Number of memories by state of their citation; of several files the best state counts."""

    holds: Count
    moved: Count
    changed: Count
    gone: Count
    unchecked: Count


class FailedCitationView(TypedDict):
    """A memory whose citation does not hold."""

    id: Annotated[str, {"pattern": "^([0-9]+|t:.+)$"}]
    state: Annotated[str, one_of("moved", "changed", "gone", "unchecked")]
    source_path: str
    source_line: Annotated[Line, "As it was read."]
    line: Annotated[Line, "Where the text stands now; null if nowhere."]
    source_project: str


class VerifyBody(TypedDict):
    """Output of `verify --json`."""

    schema: Literal["verify/1"]
    checked: Annotated[Count, "Memories that cite a file: turns, notes and tasks."]
    states: VerifyStates
    results: Annotated[list[FailedCitationView], "The memories whose citation does not hold."]


class ReembeddedView(TypedDict):
    """Result of `reindex --embeddings`."""

    model: str
    dim: Annotated[int, {"minimum": 1}]
    previous_model: str | None
    rows: Annotated[Count, "Rows with a new vector: turns, notes, and texts of tasks."]
    embedded: Annotated[Count, "Texts that went through the model."]
    cached: Annotated[Count, "Rows whose text had a vector of the model already."]
    duration_s: Annotated[float, {"minimum": 0}]


class RederivedView(TypedDict):
    """Result of `reindex --outcomes`."""

    conversations: Annotated[Count, "Conversations that were read."]
    episodes: Annotated[Count, "Episodes whose outcome was derived."]
    left: Annotated[Count, "Conversations that are still to be read."]
    duration_s: Annotated[float, {"minimum": 0}]


class ReindexBody(TypedDict):
    """Output of `reindex --embeddings --json` and `reindex --outcomes --json`."""

    schema: Literal["reindex/1"]
    results: Annotated[list[ReembeddedView | RederivedView], {"minItems": 1, "maxItems": 1}]


class RedactedView(TypedDict):
    """Secrets in stored rows."""

    rules: Annotated[str, {"pattern": "^[0-9a-f]{12}$"}, "Version of the rules."]
    previous_rules: Annotated[str | None, "Version by which all rows were redacted before; null if unknown or several."]
    looked_at: Annotated[Count, "Rows."]
    turns: Annotated[Count, "Turns with a secret."]
    tasks: Annotated[Count, "Tasks with a secret in their text, comments, attachments or history."]
    others: Annotated[Count, "Names of files and folders, and notes of runs, with a secret."]
    secrets: Annotated[dict[str, Annotated[int, {"minimum": 1}]], "Number of secrets by kind."]
    duration_s: Annotated[float, {"minimum": 0}]


class RedactBody(TypedDict):
    """Output of `redact --rescan --json`."""

    schema: Literal["redact/1"]
    outcome: Annotated[str, one_of("redacted", "found"), "found: nothing was changed, since --yes was not given."]
    results: Annotated[list[RedactedView], {"minItems": 1, "maxItems": 1}]


class BackupView(TypedDict):
    """A copy of the memory."""

    file: str
    turns: Count
    tasks: Count
    bytes: Count


class BackupBody(TypedDict):
    """Output of `backup --json`."""

    schema: Literal["backup/1"]
    results: Annotated[list[BackupView], {"minItems": 1, "maxItems": 1}]


class RestoredView(BackupView):
    """A memory that was restored from a backup."""

    database: str
    put_aside: Annotated[str | None, "Path of the previous database if it was too damaged to be overwritten."]


class RestoreBody(TypedDict):
    """Output of `restore --json`; without a result if nothing was replaced."""

    schema: Literal["restore/1"]
    results: Annotated[list[RestoredView], {"minItems": 0, "maxItems": 1}]
