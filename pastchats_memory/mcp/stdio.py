"""Serve by stdio, and answer lines that are no message.

The SDK drops such lines, so that a client would wait for ever. JSON with half of a surrogate pair is one of them.
"""

import json
from typing import Any, Self

import anyio
from mcp import types
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from pastchats_memory.text.encoding import utf8

LONGEST_WAIT_S = 120
"""Seconds for which requests are still answered after the client has closed stdin; a busy machine needs more than a few."""


async def serve_stdio(server: MCPServer) -> None:
    """Serve until the client closes stdin, and answer what it has asked before."""
    lowlevel = server._lowlevel_server  # noqa: SLF001 - `run_stdio_async` offers no place for the streams below
    async with stdio_server() as (read, write):
        answers = _AnswerStream(write)
        await lowlevel.run(_AnsweringStream(read, answers), answers, lowlevel.create_initialization_options())


class _Stream:
    """A stream of the SDK, closed together with the one that passes it on."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _AnswerStream(_Stream):
    """Pass answers on, and note which requests still lack one. It has the SDK's protocol `WriteStream`."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._unanswered: set[int | str] = set()
        self._changed = anyio.Event()

    def expect(self, message: Any) -> None:
        """Note a request, or that the client no longer waits for one."""
        if isinstance(message, types.JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    async def wait_until_answered(self) -> None:
        with anyio.move_on_after(LONGEST_WAIT_S):
            while self._unanswered:
                await self._changed.wait()

    async def send(self, item: SessionMessage) -> None:
        await self._inner.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(item.message.id)

    def _settle(self, id_: Any) -> None:
        self._unanswered.discard(id_)
        self._changed.set()
        self._changed = anyio.Event()


class _AnsweringStream(_Stream):
    """Pass messages on, and answer what stands between them. It has the SDK's protocol `ReadStream`."""

    def __init__(self, inner: Any, answers: _AnswerStream) -> None:
        super().__init__(inner)
        self._answers = answers

    @property
    def last_context(self) -> Any:
        """Return the context of the last message, which the SDK restores around its handler."""
        return self._inner.last_context

    async def receive(self) -> SessionMessage | Exception:
        try:
            while isinstance(item := await self._inner.receive(), Exception):
                if (answer := explain_line(item)) is not None:
                    await self._answers.send(SessionMessage(answer))
        except anyio.EndOfStream:
            await self._answers.wait_until_answered()
            raise
        message: SessionMessage = item
        self._answers.expect(message.message)
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


def explain_line(fault: Exception) -> types.JSONRPCError | None:
    """Return the answer to a line that is no message; None for a blank line, and for one that expects no answer."""
    given = [one["input"] for one in fault.errors()] if isinstance(fault, ValidationError) else []
    body = next((value for value in given if isinstance(value, dict)), given[0] if given else None)
    code, message = types.INVALID_REQUEST, "This is not a message of JSON-RPC 2.0. Send one object a line."
    if isinstance(body, str):  # the line itself, which the SDK's parser refuses
        if not body.strip():
            return None
        try:
            body = json.loads(body)
            message = "This is not Unicode, or nested too deeply: a text may have half of a surrogate pair."
        except (ValueError, RecursionError):
            code, message = types.PARSE_ERROR, "This is not JSON. Send one object a line."
    if isinstance(body, dict) and "id" not in body and "method" in body:
        return None  # a notification
    id_ = body.get("id") if isinstance(body, dict) else None
    is_usable = isinstance(id_, int | str) and not isinstance(id_, bool) and utf8(str(id_)) == str(id_)
    return types.JSONRPCError(
        jsonrpc="2.0", id=id_ if is_usable else None, error=types.ErrorData(code=code, message=message)
    )
