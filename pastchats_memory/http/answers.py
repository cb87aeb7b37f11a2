"""What goes back: JSON, and for whatever cannot be answered `error/1` with the status that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from pastchats_memory.errors import MemoryFault
from pastchats_memory.model import utf8

STATUS: Mapping[str, int] = {
    "usage": 400,
    "input_missing": 404,
    "model_unavailable": 503,
    "model_changed": 503,
    "database_missing": 503,
    "database_locked": 503,
}
"""Of our faults by kind; of all others 500."""


KINDS = frozenset(
    {
        "bug", "not_found", "unauthorized", "bad_host", "bad_origin", "too_large", "timeout", "busy", "no_chat_endpoint",
        "upstream",
    }
)  # fmt: skip
"""Of errors that only a server has."""


class Refused(Exception):
    """A request that is answered with an error. It never leaves this room."""

    def __init__(self, status: int, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint


def of_fault(fault: MemoryFault) -> Refused:
    """The answer to a fault of the request or of the database."""
    return Refused(STATUS.get(fault.kind, 500), fault.kind, fault.message, fault.hint)


def encoded(body: Mapping[str, Any]) -> bytes:
    """As JSON on one line."""
    return orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS)


def json_answer(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON object; no cache keeps it, and no browser takes it for anything else."""
    always = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(encoded(body), status, {**always, **(headers or {})}, "application/json")


def error_body(refused: Refused) -> dict[str, Any]:
    """`error/1`."""
    about = {"kind": refused.kind, "message": utf8(refused.message), "hint": utf8(refused.hint)}
    return {"schema": "error/1", "error": about}


def error_answer(refused: Refused, headers: Mapping[str, str] | None = None) -> Response:
    """The error as JSON with its status."""
    asks = {"WWW-Authenticate": "Bearer"} if refused.kind == "unauthorized" else {}
    return json_answer(error_body(refused), refused.status, {**asks, **(headers or {})})
