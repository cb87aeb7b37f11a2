"""Test every kind of page in a real browser: its width, its colours, its keys, and what assistive programs read of it."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from visits import visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from visits import Site, Visit

WIDTHS = (320, 375, 600, 768, 1024, 1280, 1920, 2560)
SCHEMES = ("light", "dark")
SERIOUS = ("serious", "critical")
FOCUSED = "document.activeElement"
SHIFT_WIDTHS = (390, 1024, 1440)
LEAST_SHIFT = 0.01
"""Share of the window that moves, times how far; a tenth of what people begin to see."""
SLOW = {"offline": False, "latency": 0, "downloadThroughput": 30_000, "uploadThroughput": -1}
"""A network on which a page arrives in parts, as one that the server is slow to write."""
NOTE_SHIFTS = """window.shifts = []; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.shifts.push([one.value, ...one.sources.map((source) => source.node?.outerHTML?.slice(0, 120))]);
}).observe({ type: "layout-shift", buffered: true });"""
AGE = re.compile(r"just now|\d+ (?:minute|hour)s? ago")
"""Words that change while a test runs."""


@cache
def load_axe() -> str:
    """Return the program that finds barriers; `make test-page` fetches it."""
    return Path(os.environ["PASTCHATS_TESTS_AXE"]).read_text(encoding="utf-8")


def find_barriers(page: Page) -> list[str]:
    """Return the serious findings of axe-core."""
    page.evaluate(load_axe())
    found = page.evaluate("axe.run()")
    return [
        f"{page.url}: {one['help']}: {node['html'][:160]} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def test_a_walk_finds_every_kind_of_page(pages: list[str]) -> None:
    paths = {address.partition("?")[0] for address in pages}
    expected = {
        "/",
        "/page/calls",
        "/page/conversation",
        "/page/lessons",
        "/page/log",
        "/page/project",
        "/page/projects",
        "/page/settings",
    }
    assert expected | {"/page/file", "/page/sources", "/page/task", "/page/tasks", "/page/turn"} <= paths


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_page_has_a_barrier(browser: Browser, site: Site, pages: list[str], scheme: str) -> None:
    with visiting(browser, site, color_scheme=scheme) as visit:
        barriers = [barrier for address in pages for barrier in find_barriers(visit.go(address))]
        assert barriers == []
        assert visit.problems == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_unfolded_page_has_no_barrier(browser: Browser, site: Site, pages: list[str], scheme: str) -> None:
    with visiting(browser, site, color_scheme=scheme) as visit:
        barriers = []
        for address in pages:
            page = visit.go(address)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            barriers += find_barriers(page)
        assert barriers == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_its_window(browser: Browser, site: Site, pages: list[str], width: int) -> None:
    with visiting(browser, site, viewport={"width": width, "height": 900}) as visit:
        for address in pages:
            page = visit.go(address)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_every_page_follows_the_colours_of_the_system(browser: Browser, site: Site, pages: list[str]) -> None:
    shades = {}
    for scheme in SCHEMES:
        with visiting(browser, site, color_scheme=scheme) as visit:
            style = "getComputedStyle(document.body)"
            for address in pages:
                page = visit.go(address)
                shades.setdefault(address, []).append(page.evaluate(f"[{style}.color, {style}.backgroundColor]"))
    assert [address for address, (light, dark) in shades.items() if light == dark] == []


def test_every_page_says_the_same_without_scripts(browser: Browser, site: Site, pages: list[str]) -> None:
    text = {}
    for enabled in (True, False):
        with visiting(browser, site, java_script_enabled=enabled) as visit:
            for address in pages:
                shown = AGE.sub("", visit.go(address).locator("main").inner_text())
                lines = [
                    line for line in shown.split("\n") if line.strip() not in ("", "Set", "Show") and "Copy" not in line
                ]
                text.setdefault(address, []).append(lines)
    assert [address for address, (with_scripts, without) in text.items() if with_scripts != without] == []


def test_a_search_works_without_scripts(browser: Browser, site: Site) -> None:
    with visiting(browser, site, java_script_enabled=False) as visit:
        page = visit.go("/")
        page.get_by_role("searchbox").fill("webhook retries")
        page.get_by_role("button", name="Search").click()
        assert page.locator("li.hit").count() > 0


def test_every_link_and_control_is_reached_by_the_tab_key(visit: Visit, pages: list[str]) -> None:
    for address in pages:
        page = visit.go(address)
        controls = "main a[href], main button, main input:not([type=hidden]), main select, main textarea, main summary"
        wanted = page.evaluate(f"""new Set([...document.querySelectorAll('{controls}')]
            .filter((one) => one.checkVisibility() && !one.disabled)
            .map((one) => one.type === 'radio' ? one.name : one)).size""")  # arrows choose within a group
        page.evaluate(f"{FOCUSED}.blur(); window.reached = new Set()")
        for _ in range(wanted + 40):
            page.keyboard.press("Tab")
            page.evaluate(f"""if ({FOCUSED}.matches('{controls}'))
                window.reached.add({FOCUSED}.type === 'radio' ? {FOCUSED}.name : {FOCUSED})""")
            if page.evaluate("window.reached.size") == wanted:
                break
        assert page.evaluate("window.reached.size") == wanted, address


def test_the_focus_is_visible_wherever_it_is(visit: Visit, pages: list[str]) -> None:
    for address in pages:
        page = visit.go(address)
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate(f"{FOCUSED} === document.body"):
                break  # past the last link
            style = page.evaluate(f"getComputedStyle({FOCUSED}).outlineStyle")
            assert style != "none", (address, page.evaluate(f"{FOCUSED}.outerHTML"))


@pytest.mark.parametrize("width", SHIFT_WIDTHS)
def test_nothing_moves_while_a_page_arrives_slowly(browser: Browser, site: Site, pages: list[str], width: int) -> None:
    with visiting(browser, site, viewport={"width": width, "height": 900}) as visit:
        visit.page.add_init_script(NOTE_SHIFTS)
        visit.go("/page/settings")  # fetches the style sheet
        slow = visit.page.context.new_cdp_session(visit.page)
        slow.send("Network.emulateNetworkConditions", SLOW)
        for address in dict.fromkeys(one.partition("?")[0] if "/tasks" in one else one for one in pages):
            page = visit.go(address)
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            shifts = page.evaluate("window.shifts")
            assert sum(one[0] for one in shifts) < LEAST_SHIFT, (address, shifts)
