"""Test that a history of hostile texts is shown, and that nothing in it runs or reaches another host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hostile import ACTIVE, EVIL, FORGED, write_controls, write_texts
from program import Program
from visits import Site, signed_in, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WRITERS = {
    "controls": write_controls,
    "forged": lambda home: write_texts(home, FORGED),
    "active": lambda home: write_texts(home, ACTIVE),
    "all": lambda home: write_texts(home, f"{FORGED}\n```\n\n{EVIL}{ACTIVE}"),
}
QUERIES = ("/", "/?query=why+does+the+webhook+retry+never+end", "/page/tasks", "/page/lessons", "/page/projects")
ACT = """for (const one of document.querySelectorAll('details')) one.open = true;
for (const one of document.querySelectorAll('main *'))
  for (const kind of ['mouseover', 'focus', 'toggle', 'error', 'load']) one.dispatchEvent(new Event(kind));"""
FOREIGN = """[...document.querySelectorAll('main *')].filter((one) => !one.matches('img[src^="/page/static/"]')).filter((one) =>
  ['SCRIPT', 'STYLE', 'IFRAME', 'OBJECT', 'EMBED', 'BASE', 'META', 'LINK', 'IMG'].includes(one.tagName)
  || [...one.attributes].some((name) => name.name.startsWith('on') || /^(javascript|data|vbscript):/i.test(name.value.trim())
  || name.name === 'style')).map((one) => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module", params=WRITERS)
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    program = Program(tmp_path_factory.mktemp("hostile"))
    done = program("index", *WRITERS[request.param](program.home))
    assert done.status == 0, done.stderr
    with signed_in(program) as site:
        yield site


@pytest.mark.promise("text", "No text of a transcript runs as a script on the page, or makes it ask another host.")
def test_nothing_of_a_hostile_history_runs(browser: Browser, hostile: Site) -> None:
    with visiting(browser, hostile) as visit:
        pages = hostile.walk(*QUERIES)
        assert len(pages) > len(QUERIES) + 3
        for address in pages:
            page = visit.go(address)
            page.evaluate(ACT)
            assert page.evaluate(FOREIGN) == [], address
            page.wait_for_load_state("networkidle")
        assert visit.problems == [], "".join(hostile.server.messages)


def test_a_hostile_history_moves_nothing_out_of_its_window(browser: Browser, hostile: Site) -> None:
    with visiting(browser, hostile, viewport={"width": 375, "height": 800}) as visit:
        for address in hostile.walk(*QUERIES):
            page = visit.go(address)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.evaluate("document.documentElement.scrollWidth") <= 375, address
