"""Define the views of errors and of the health of the server."""

from typing import Annotated, Literal, TypedDict

from pastchats_memory.views.schema.fields import one_of

FAULT_KINDS = (
    "fault", "usage", "input_missing", "model_unavailable", "model_changed", "format_broken", "library_broken", "team_unavailable", "store",
    "database_missing", "database_newer", "database_older", "database_corrupt", "database_read_only", "database_exposed",
    "database_locked", "deletion_unfinished", "disk_full",
)  # fmt: skip
"""Kinds of our exceptions."""
SERVER_FAULT_KINDS = (
    "bug", "not_found", "unauthorized", "bad_host", "bad_origin", "too_large", "timeout", "busy", "no_chat_endpoint",
    "upstream",
)  # fmt: skip
"""Kinds of errors that only the HTTP server has."""


class ErrorView(TypedDict):
    """An explained error."""

    kind: Annotated[str, one_of(*FAULT_KINDS, *SERVER_FAULT_KINDS)]
    message: Annotated[str, {"minLength": 1}]
    hint: Annotated[str, "What to do; may be empty."]


class ErrorBody(TypedDict):
    """Output of `--json` on stderr with exit code 2 (stdout is empty), and answer of `serve` to a failed request."""

    schema: Literal["error/1"]
    error: ErrorView


class HealthBody(TypedDict):
    """Answer of `GET /healthz` while the memory can be asked."""

    schema: Literal["healthz/1"]
    status: Literal["ok"]
