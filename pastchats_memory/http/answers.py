"""Answer with JSON, and with `error/1` and a fitting status if a request cannot be answered."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from pastchats_memory.errors import MemoryFault
from pastchats_memory.text.display import escape_json
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.answers.errors import build_error

STATUS: Mapping[str, int] = {
    "usage": 400,
    "input_missing": 404,
    "model_unavailable": 503,
    "model_changed": 503,
    "team_unavailable": 503,
    "database_missing": 503,
    "database_locked": 503,
}
"""HTTP status by kind of fault; all other kinds get 500."""


class RequestError(Exception):
    """A request that is answered with an error. It never leaves this package."""

    def __init__(self, status: int, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint


def translate_fault(fault: Exception) -> RequestError:
    """Return the error that answers a fault of the request, of the database, or of this program."""
    if isinstance(fault, RequestError):
        return fault
    if isinstance(fault, MemoryFault):
        return RequestError(STATUS.get(fault.kind, 500), fault.kind, fault.message, fault.hint)
    hint = "The server's log has the place, not the content; please report it."
    return RequestError(500, "bug", "this is a fault of pastchats-memory itself", hint)


def make_fault_handlers(answer: Callable[[RequestError], Response]) -> dict[Any, Any]:
    """Return the handlers of an application that answers all faults of its own."""

    async def answer_fault(_: Request, fault: Exception) -> Response:
        return answer(translate_fault(fault))

    return dict.fromkeys((RequestError, MemoryFault, Exception), answer_fault)


def encode(body: Mapping[str, object]) -> bytes:
    """Encode a body as JSON on one line."""
    return escape_json(orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS).decode()).encode()


def answer_json(body: Mapping[str, object], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response that no cache stores and that no browser takes for another type."""
    always = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(encode(body), status, {**always, **(headers or {})}, "application/json")


def build_error_body(error: RequestError) -> dict[str, Any]:
    """Return an error as `error/1`."""
    return build_error(error.kind, utf8(error.message), utf8(error.hint))


def answer_error(error: RequestError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response to a request that failed."""
    challenge = {"WWW-Authenticate": "Bearer"} if error.kind == "unauthorized" else {}
    return answer_json(build_error_body(error), error.status, {**challenge, **(headers or {})})
