"""Serve by stdio, and answer lines that are no message.

The SDK drops such lines, so that a client would wait for ever. JSON with half of a surrogate pair is one of them.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from pastchats_memory.text.encoding import utf8


async def serve_stdio(server: MCPServer) -> None:
    """Serve until the client closes stdin."""
    lowlevel = server._lowlevel_server  # noqa: SLF001 - `run_stdio_async` offers no place for the stream below
    async with stdio_server() as (read, write):
        await lowlevel.run(_AnsweringStream(read, write), write, lowlevel.create_initialization_options())


class _AnsweringStream:
    """Pass messages on, and answer what stands between them. It has the SDK's protocol `ReadStream`."""

    def __init__(self, inner: Any, write: Any) -> None:
        self._inner = inner
        self._write = write

    @property
    def last_context(self) -> Any:
        """Return the context of the last message, which the SDK restores around its handler."""
        return self._inner.last_context

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(item := await self._inner.receive(), Exception):
            if (answer := explain_line(item)) is not None:
                await self._write.send(SessionMessage(answer))
        message: SessionMessage = item
        return message

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def explain_line(fault: Exception) -> JSONRPCError | None:
    """Return the answer to a line that is no message; None for a blank line, and for one that expects no answer."""
    given = [one["input"] for one in fault.errors()] if isinstance(fault, ValidationError) else []
    body = next((value for value in given if isinstance(value, dict)), given[0] if given else None)
    code, message = INVALID_REQUEST, "This is not a message of JSON-RPC 2.0. Send one object a line."
    if isinstance(body, str):  # the line itself, which the SDK's parser refuses
        if not body.strip():
            return None
        try:
            body = json.loads(body)
            message = "This is not Unicode, or nested too deeply: a text may have half of a surrogate pair."
        except (ValueError, RecursionError):
            code, message = PARSE_ERROR, "This is not JSON. Send one object a line."
    if isinstance(body, dict) and "id" not in body and "method" in body:
        return None  # a notification
    id_ = body.get("id") if isinstance(body, dict) else None
    is_usable = isinstance(id_, int | str) and not isinstance(id_, bool) and utf8(str(id_)) == str(id_)
    return JSONRPCError(jsonrpc="2.0", id=id_ if is_usable else None, error=ErrorData(code=code, message=message))
