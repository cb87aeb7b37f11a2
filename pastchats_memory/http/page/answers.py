"""Define what a page is given and what it answers, and render the answer."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from pastchats_memory.http.answers import RequestError
from pastchats_memory.http.page.words import FILTERS
from pastchats_memory.text.display import remove_controls
from pastchats_memory.views.page_markdown import render_html

Found = TypeVar("Found")

HERE = Path(__file__).parent
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without a referrer, a browser hides the origin of our own forms, too
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageRequest(NamedTuple):
    """A request for a page. A parameter that is blank counts as absent; of one given twice, the last counts."""

    query: Mapping[str, str]
    form: Mapping[str, str]
    """Fields of a form that was sent; empty for GET."""
    form_token: str
    """What every form of the page has to contain."""


class WebPage(NamedTuple):
    """An answer that a template renders."""

    template: str
    """Name of the file, without `.html`."""
    values: Mapping[str, Any]
    status: int = 200


class Redirect(NamedTuple):
    """An answer that leads to another page."""

    url: str


class Download(NamedTuple):
    """An answer that is a file."""

    text: str
    type: str
    name: str


Reply = WebPage | Redirect | Download


def require(found: Found | None, what: str, hint: str = "It may have been forgotten.") -> Found:
    """Return what was found. Raises RequestError if there is no such thing."""
    if found is None:
        raise RequestError(404, "not_found", f"there is no such {what}", hint)
    return found


def make_url(path: str, **query: object) -> str:
    """Return the address of a page; parameters that are None or empty are left out."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def respond(reply: Reply, form_token: str) -> Response:
    """Render an answer."""
    if isinstance(reply, Redirect):
        return RedirectResponse(reply.url, 303, HEADERS)
    if isinstance(reply, Download):
        named = {"Content-Disposition": f'attachment; filename="{reply.name}"'}
        return Response(reply.text, 200, {**HEADERS, **named}, reply.type)
    text = _environment().get_template(f"{reply.template}.html").render({**reply.values, "form_token": form_token})
    return Response(text, reply.status, HEADERS, "text/html")


def respond_stranger(*, is_used: bool = False) -> Response:
    """Return the page that says how to get a link, and whether the one that was tried had been used."""
    return respond(WebPage("stranger", {"is_used": is_used}, 401), "")


@cache
def _environment() -> Environment:
    """Return the templates. Every value is escaped, and control characters are removed from every text."""
    environment = Environment(
        autoescape=True,
        auto_reload=False,  # an update of the program must not mix its templates with code that is running
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    environment.globals.update(url=make_url, static=_find_static)
    environment.filters.update(FILTERS, markdown=lambda text: Markup(render_html(text)))  # noqa: S704 - it has neither raw HTML nor scripts in links # nosec B704
    return environment


def _clean(value: object) -> object:
    """Remove control characters from a plain text; `Markup` is our own."""
    return remove_controls(value) if type(value) is str else value


@cache
def load_static(name: str) -> tuple[bytes, str] | None:
    """Return bytes and type of a static file; None without it."""
    file = next((file for file in (HERE / "static").iterdir() if file.name == name), None)
    return None if file is None else (file.read_bytes(), guess_type(name)[0] or "application/octet-stream")


def respond_static(name: str) -> Response | None:
    """Return a static file, which has a new address whenever it changes; None without it."""
    found = load_static(name)
    lasting = {"Cache-Control": "private, max-age=31536000, immutable"}
    return None if found is None else Response(found[0], 200, {**HEADERS, **lasting}, found[1])


@cache
def _find_static(name: str) -> str:
    found = load_static(name)
    assert found is not None, name  # noqa: S101 - templates name our own files
    return f"/page/static/{name}?v={sha256(found[0]).hexdigest()[:12]}"
