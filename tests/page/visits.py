"""Sign in to a real server, walk over its pages, and visit them in a browser that reports what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx
from program import Program
from served import Server, serving
from waiting import HANG_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

TIMEOUT_MS = 30_000
"""Only a page that hangs takes longer, however busy the machine is."""
A_PATH = 3
"""Pages with the same path that a walk visits: they come from the same template."""
REPORT_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""


@dataclass
class Visit:
    """A signed-in browser window, and everything that went wrong in it."""

    server: Server
    page: Page
    problems: list[str] = field(default_factory=list)

    def go(self, address: str) -> Page:
        """Open an address of the server."""
        self.page.goto(urljoin(self.server.url, address))
        return self.page


@dataclass
class Site:
    """A server that somebody has signed in to."""

    server: Server
    cookies: dict[str, str]

    def get(self, address: str) -> httpx.Response:
        return httpx.get(urljoin(self.server.url, address), cookies=self.cookies, timeout=HANG_S)

    def walk(self, *starts: str) -> list[str]:
        """Return the addresses of pages that links lead to, with at most A_PATH for each path."""
        found, waiting = [], list(starts)
        while waiting:
            address = waiting.pop(0)
            path = urlsplit(address).path
            if address in found or sum(urlsplit(one).path == path for one in found) >= A_PATH:
                continue
            answer = self.get(address)
            if answer.is_redirect:
                waiting.append(answer.headers["location"].partition("#")[0])
            elif not answer.headers["content-type"].startswith("text/html") or "content-disposition" in answer.headers:
                continue
            found.append(address)
            links = (unescape(link).partition("#")[0] for link in re.findall(r'<a [^>]*?href="([^"]*)"', answer.text))
            waiting += [link for link in links if link.startswith("/")]
        return found


@contextmanager
def signed_in(program: Program) -> Iterator[Site]:
    """Run a server, and open the link that it prints."""
    with serving(program) as server:
        answer = httpx.get(server.find_link(), timeout=HANG_S)
        yield Site(server, dict(answer.cookies))


@contextmanager
def visiting(browser: Browser, site: Site, **options: object) -> Iterator[Visit]:
    """Open a signed-in window; `options` are those of a browser's context."""
    context: BrowserContext = browser.new_context(**options)
    context.set_default_timeout(TIMEOUT_MS)
    context.add_cookies(
        [{"name": name, "value": value, "url": site.server.url} for name, value in site.cookies.items()]
    )
    context.add_init_script(REPORT_VIOLATIONS)
    visit = Visit(site.server, context.new_page())
    host = urlsplit(site.server.url).netloc

    def note_dialog(dialog) -> None:
        visit.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def note_request(request) -> None:
        if urlsplit(request.url).netloc not in (host, "") or urlsplit(request.url).scheme not in ("http", "data"):
            visit.problems.append(f"request: {request.url}")

    visit.page.on("dialog", note_dialog)
    visit.page.on("pageerror", lambda error: visit.problems.append(f"error: {error}"))
    visit.page.on(
        "console",
        lambda message: visit.problems.append(f"console: {message.text}") if message.type == "error" else None,
    )
    context.on("request", note_request)
    try:
        yield visit
    finally:
        context.close()
