"""The application: its routes, and what becomes of their faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from httpx import AsyncClient
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.types import ASGIApp

from pastchats_memory.errors import MemoryFault
from pastchats_memory.http_server import chat
from pastchats_memory.http_server.answers import Refused, error_answer, json_answer, of_fault
from pastchats_memory.http_server.guard import Admission, Guard
from pastchats_memory.http_server.openapi import CHAT, MODELS, description
from pastchats_memory.http_server.parameters import read_all
from pastchats_memory.http_server.routes import CONTEXT, ROUTES, Route, context_of
from pastchats_memory.http_server.worker import OpenMemory
from pastchats_memory.memory import Memory
from pastchats_memory.memory.requests import filters_of
from pastchats_memory.model import Context

Endpoint = Callable[[Request], Awaitable[Response]]


def application(memory: OpenMemory, admission: Admission, upstream: chat.Upstream | None) -> ASGIApp:
    """Everything that is served, behind its guard."""
    described = description(ROUTES, with_token=admission.token is not None)

    async def openapi(_: Request) -> Response:
        return json_answer(described)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await memory.begin()
        yield
        await memory.close()

    paths = [Path(route.path.replace("}", ":path}"), _endpoint(memory, route)) for route in ROUTES]
    app = Starlette(
        routes=[*paths, Path("/openapi.json", openapi), *_passing_on(memory, admission, upstream)],
        lifespan=lifespan,
        exception_handlers={Refused: _refused, MemoryFault: _fault, HTTPException: _no_route, Exception: _bug},
    )
    app.router.redirect_slashes = False
    return Guard(app, admission)


def _endpoint(memory: OpenMemory, route: Route) -> Endpoint:
    async def answer(request: Request) -> Response:
        said = read_all(route.parameters, request.query_params.multi_items())
        if route.in_path is not None:
            name = route.in_path.name
            said[name] = route.in_path.read(request.path_params[name])
        body = await memory.ask(lambda opened: route.answer(opened, said))
        if body is None:
            raise Refused(404, "not_found", "there is no such item", "Ids stand in the results of /search.")
        return json_answer(body)

    return answer


def _passing_on(memory: OpenMemory, admission: Admission, upstream: chat.Upstream | None) -> list[Path]:
    """The paths behind which the chat endpoint answers."""
    client = None if upstream is None else upstream.client()

    def there() -> tuple[AsyncClient, chat.Upstream]:
        if upstream is None or client is None:
            hint = "Set `chat_endpoint` in your own pastchats-memory.toml, or PASTCHATS_MEMORY_CHAT_ENDPOINT."
            raise Refused(404, "no_chat_endpoint", "no chat endpoint is configured", hint)
        return client, upstream

    def own_key(request: Request) -> str | None:
        return None if admission.token is not None else request.headers.get("authorization")

    async def chatting(request: Request) -> Response:
        endpoint = there()
        said = read_all(CONTEXT, request.query_params.multi_items())
        asked = chat.parsed(await request.body())
        context = await memory.ask(lambda opened: _context(opened, chat.question_of(asked), said))
        sources = chat.sources_of(context)
        return await chat.passed_on(*endpoint, chat.with_context(asked, context), sources, own_key(request))

    async def models(request: Request) -> Response:
        endpoint = there()
        read_all((), request.query_params.multi_items())
        return await chat.models(*endpoint, request.path_params.get("name"), own_key(request))

    return [Path(CHAT, chatting, methods=["POST"]), Path(MODELS, models), Path(f"{MODELS}/{{name:path}}", models)]


def _context(memory: Memory, question: str, said: dict[str, Any]) -> Context:
    if not question.strip():
        filters_of(type_=said.get("type"), **{name: said.get(name) for name in ("project", "since", "until", "status")})
        return Context((), "", 0)
    return context_of(memory, question, said)


async def _refused(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, Refused)  # noqa: S101 - it is registered for these
    return error_answer(fault)


async def _fault(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, MemoryFault)  # noqa: S101 - it is registered for these
    return error_answer(of_fault(fault))


async def _no_route(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)  # noqa: S101 - it is registered for these
    kind, message = "usage", "that is not asked by this method"
    if fault.status_code == 404:  # noqa: PLR2004 - HTTP's number
        kind, message = "not_found", "there is no such path"
    refused = Refused(fault.status_code, kind, message, "The paths are described at /openapi.json.")
    return error_answer(refused, fault.headers)


async def _bug(_: Request, __: Exception) -> Response:
    hint = "The server's log has the place, not the content; please report it."
    return error_answer(Refused(500, "bug", "this is a fault of pastchats-memory itself", hint))
