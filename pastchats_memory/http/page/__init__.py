"""Show the memory to people: pages at `/` and below `/page/`.

A page is a function of one module: it asks the memory and returns a template with its values. This module checks the
session, runs the function, and turns every error into a page.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pastchats_memory.http.answers import RequestError, make_fault_handlers
from pastchats_memory.http.open_memory import OpenMemory
from pastchats_memory.http.page import conversation, forget, judge, log, projects, search, settings, sources, tasks
from pastchats_memory.http.page.answers import (
    PageRequest,
    Redirect,
    Reply,
    WebPage,
    respond,
    respond_static,
    respond_stranger,
)
from pastchats_memory.http.page.session import LINK_PARAMETER, OWN_SITES, Sessions
from pastchats_memory.memory import Memory

OPEN_PATHS = frozenset({"/", "/page/static/page.css", "/page/static/icon.svg"})
"""Paths that a stranger needs to read how to get a link; `/` itself asks for a session before it shows more."""
FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field # nosec B105


class PageRoute(NamedTuple):
    """A path and the function that answers it."""

    path: str
    """Below `/page`."""
    answer: Callable[[Memory, PageRequest], Reply]
    """Raises RequestError, MemoryFault."""
    is_form: bool = False
    """Whether it answers a form that was sent (POST)."""


PAGES = (
    PageRoute("/", search.show),
    PageRoute("/turn", conversation.show_turn),
    PageRoute("/conversation", conversation.show_conversation),
    PageRoute("/calls", conversation.show_calls),
    PageRoute("/file", search.show_file),
    PageRoute("/handoff", conversation.show_handoff),
    PageRoute("/conversation.md", conversation.download_markdown),
    PageRoute("/conversation.html", conversation.download_html),
    PageRoute("/forget", forget.show),
    PageRoute("/forget", forget.forget, is_form=True),
    PageRoute("/forget/undo", forget.undo, is_form=True),
    PageRoute("/exclude", sources.show_exclusions),
    PageRoute("/exclude", sources.change_exclusions, is_form=True),
    PageRoute("/judge", judge.show),
    PageRoute("/judge", judge.judge, is_form=True),
    PageRoute("/capture", tasks.show_capture),
    PageRoute("/capture", tasks.capture, is_form=True),
    PageRoute("/projects", projects.show_projects),
    PageRoute("/project", projects.show_project),
    PageRoute("/timeline", projects.show_timeline),
    PageRoute("/lessons", projects.show_lessons),
    PageRoute("/log", log.show_log),
    PageRoute("/settings", settings.show_settings),
    PageRoute("/sources", sources.show_sources),
    PageRoute("/task", tasks.show_task),
    PageRoute("/task", tasks.change_status, is_form=True),
    PageRoute("/tasks", tasks.show_board),
)


def make_page(memory: OpenMemory, sessions: Sessions) -> ASGIApp:
    """Return the application of the page."""

    async def static(request: Request) -> Response:
        response = respond_static(request.path_params["name"])
        if response is None:
            raise HTTPException(404)
        return response

    routes = [
        Route(page.path, _make_endpoint(memory, sessions, page), methods=["POST" if page.is_form else "GET"])
        for page in PAGES
    ]
    app = Starlette(
        routes=[*routes, Route("/static/{name}", static)],
        exception_handlers={**make_fault_handlers(_respond_error), HTTPException: answer_no_page},
    )
    app.router.redirect_slashes = False
    return app


def _make_endpoint(memory: OpenMemory, sessions: Sessions, page: PageRoute) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        token = request.query_params.get(LINK_PARAMETER)
        if token is not None and request.method == "GET":
            is_ours = request.headers.get("sec-fetch-site") in (None, *OWN_SITES)
            response = respond(Redirect("/") if is_ours else WebPage("entered", {}), "")  # a redirect had no cookie
            if sessions.redeem(token, response) or sessions.find(request) is not None:
                return response
        session = sessions.find(request)
        if session is None:
            return respond_stranger(is_used=token is not None)
        page_request = PageRequest(
            _drop_blank(request.query_params.multi_items()),
            await _read_form(request, sessions, session) if page.is_form else {},
            sessions.make_form_token(session),
        )
        return await memory.ask(lambda opened: respond(page.answer(opened, page_request), page_request.form_token))

    return answer


async def _read_form(request: Request, sessions: Sessions, session: str) -> dict[str, str]:
    """Return the fields of a form of our own. Raises RequestError for one that another site made."""
    body = (await request.body()).decode(errors="replace")
    fields = dict(parse_qsl(body, keep_blank_values=True))
    if not sessions.is_form_token(session, fields.pop(FORM_TOKEN, "")):
        hint = "Go back, load the page again and send the form once more."
        raise RequestError(403, "bad_form", "the form does not come from this page", hint)
    return _drop_blank(fields.items())


def _drop_blank(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in dict(fields).items() if value.strip()}


def _respond_error(error: RequestError) -> Response:
    return respond(WebPage("error", {"message": error.message, "hint": error.hint}, error.status), "")


async def answer_no_page(_: Request, fault: Exception) -> Response:
    """Return the page for an address that has none."""
    assert isinstance(fault, HTTPException)  # noqa: S101 - it is registered for these
    message = "there is no such page" if fault.status_code == 404 else "this page does not answer such a request"  # noqa: PLR2004 - HTTP's number
    return _respond_error(RequestError(fault.status_code, "not_found", message, "Search for it instead."))
