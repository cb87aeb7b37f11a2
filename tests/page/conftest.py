"""Provide a real browser, and a real server over a memory of our own. `make test-page` names the browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from garden import write_lesson, write_tracker
from program import Program
from visits import Site, Visit, signed_in, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSER = os.environ.get("PASTCHATS_TESTS_BROWSER")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def garden(own_demo_of_session: Program) -> Program:
    """Index the demo history, a tracker, and files of which a part or nothing is understood."""
    program = own_demo_of_session
    half = program.home / "half.jsonl"
    half.write_text('{"conversation_id": "h", "role": "user", "content": "Which gate?"}\n{"role": \n', encoding="utf-8")
    nothing = program.home / "nothing.json"
    nothing.write_text('{"a": 1}', encoding="utf-8")
    done = program("index", write_tracker(program.home), half, nothing, write_lesson(program.home))
    assert done.status == 0, done.stderr
    assert program("task", "update", "gdn-1", "--status", "in_progress").status == 0
    assert program("forget", "--conversation", "h", "--yes").status == 0
    return program


@pytest.fixture(scope="session")
def own_demo_of_session(demo: Program, tmp_path_factory: pytest.TempPathFactory) -> Program:
    home = tmp_path_factory.mktemp("page")
    (home / "memory.db").write_bytes((demo.home / "untouched.db").read_bytes())
    return Program(home)


@pytest.fixture(scope="session")
def site(garden: Program) -> Iterator[Site]:
    """Serve the garden's memory. Tests of a browser share it: only read from it."""
    with signed_in(garden) as running:
        yield running


@pytest.fixture(scope="session")
def pages(site: Site) -> list[str]:
    """Return the addresses of every kind of page."""
    return site.walk("/", "/?query=webhook+retries", "/page/file?name=delivery.py")


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    with visiting(browser, site) as one:
        yield one
        assert one.problems == [], "".join(site.server.messages)
