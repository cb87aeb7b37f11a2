"""Define the answers of failed requests, and of the health of the server."""

from typing import Annotated, Any, Literal, NamedTuple

from pastchats_memory.fields import answer, one_of
from pastchats_memory.views.to_json import to_json

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


class Error(NamedTuple):
    """An explained error."""

    kind: Annotated[str, one_of(*FAULT_KINDS, *SERVER_FAULT_KINDS)]
    message: Annotated[str, {"minLength": 1}]
    hint: Annotated[str, "What to do; may be empty."]


@answer("error/1")
class ErrorBody(NamedTuple):
    """Output of `--json` on stderr with exit code 2 (stdout is empty), and answer of `serve` to a failed request."""

    error: Error


def build_error(kind: str, message: str, hint: str) -> dict[str, Any]:
    """Build `error/1`."""
    return to_json(ErrorBody(Error(kind, message, hint)))


@answer("healthz/1")
class HealthBody(NamedTuple):
    """Answer of `GET /healthz` while the memory can be asked."""

    status: Literal["ok"] = "ok"
