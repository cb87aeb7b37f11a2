"""Test the paths that a person takes through the page, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from visits import signed_in, visiting

from pastchats_memory.http.opening import opening

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser
    from program import Program
    from visits import Site, Visit


@pytest.fixture(autouse=True)
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: True)


def test_a_link_of_the_server_opens_the_page_once(browser: Browser, site: Site) -> None:
    link = site.server.find_link()
    known, stranger = browser.new_context().new_page(), browser.new_context().new_page()
    known.goto(link)
    assert known.url == f"{site.server.url}/"
    known.get_by_role("searchbox").wait_for()
    stranger.goto(link)
    assert "does not work any more" in stranger.inner_text("h1")
    for window in (known, stranger):
        window.context.close()


def test_results_follow_what_is_typed(visit: Visit) -> None:
    page = visit.go("/")
    page.get_by_role("searchbox").press_sequentially("webhook retries")
    page.locator("li.hit").first.wait_for()
    page.wait_for_url("**query=webhook+retries**")
    assert "webhook" in page.locator("li.hit").first.inner_text().lower()
    assert page.title().startswith("webhook retries")


def test_a_menu_narrows_the_results_stays_in_the_address_and_widens_them_again(visit: Visit) -> None:
    page = visit.go("/?query=webhook+retries")
    before = page.locator("li.hit h2").all_inner_texts()
    page.get_by_label("Everything").select_option("notes")
    page.wait_for_url("**type=note**")
    assert page.get_by_label("Everything").input_value() == "note"
    assert page.locator("li.hit h2").all_inner_texts() not in ([], before)
    page.get_by_label("Everything").select_option("")
    page.wait_for_url("**/?query=webhook+retries")
    assert page.locator("li.hit h2").all_inner_texts() == before
    page.go_back()
    page.wait_for_url("**type=note**")


def test_a_hit_leads_to_its_conversation_and_back(visit: Visit) -> None:
    page = visit.go("/?query=webhook+retries")
    hit = page.locator("li.hit a[data-entry]").first
    hit.click()
    page.wait_for_url("**/page/**")
    assert page.locator("h1").inner_text()
    page.go_back()
    page.locator("li.hit").first.wait_for()


def test_the_outline_marks_the_episode_that_is_read(browser: Browser, site: Site, pages: list[str]) -> None:
    with visiting(browser, site, viewport={"width": 1280, "height": 400}) as visit:
        for address in (one for one in pages if one.startswith("/page/conversation")):
            page = visit.go(address)
            entries = page.locator(".outline li")
            if entries.count() > 1:
                page.locator(".outline li.here").wait_for()
                page.locator(".episode").nth(1).evaluate("(one) => scrollTo(0, one.offsetTop - 70)")
                page.locator(".outline li.here", has_text=entries.nth(1).inner_text().split("\n")[0]).wait_for()
                return
    pytest.fail("no conversation has an outline")


@pytest.mark.parametrize("name", ["Home", "Projects", "Tasks", "Lessons", "Memory at work", "Sources", "Settings"])
def test_every_name_of_the_navigation_leads_to_its_page(visit: Visit, name: str) -> None:
    page = visit.go("/page/tasks")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
    current = page.locator("nav a[aria-current=page]")
    assert current.inner_text() == name


def test_the_board_leads_to_a_task_with_its_history(visit: Visit) -> None:
    page = visit.go("/page/tasks")
    page.get_by_role("region", name="In progress").get_by_role("link", name="Prune the roses").click()
    assert page.locator("h1").inner_text() == "Prune the roses before the frost"
    assert [step.inner_text().split()[0] for step in page.locator(".timeline li").all()] == ["Pending", "In"]


def test_the_board_shows_one_project_and_one_type(visit: Visit) -> None:
    page = visit.go("/page/tasks")
    page.get_by_label("Type").select_option("epic")
    page.wait_for_url("**type=epic**")
    assert page.locator("li.task h3").all_inner_texts() == ["A greenhouse"]
    page.get_by_label("Project").select_option("garden")
    page.wait_for_url("**project=garden**")
    assert page.locator("li.task h3").all_inner_texts() == ["A greenhouse"]


def test_a_click_copies_the_id_of_a_task(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.go("/page/task?key=gdn-2")
    page.get_by_role("button", name="Copy the id").click()
    page.get_by_role("button", name="Copy the id").get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "t:gdn-2"


def test_the_lines_that_were_not_understood_unfold(visit: Visit) -> None:
    page = visit.go("/page/sources")
    line = page.get_by_text("line 2: not JSON")
    assert not line.is_visible()
    page.locator("summary").click()
    assert line.is_visible()


def test_a_file_of_this_account_opens_the_page(browser: Browser, site: Site, tmp_path: Path) -> None:
    page = browser.new_context().new_page()
    with opening(tmp_path, site.server.find_link()):
        (file,) = tmp_path.iterdir()
        assert file.stat().st_mode & 0o077 == 0
        page.goto(file.as_uri())
        page.wait_for_url(f"{site.server.url}/")
        page.get_by_role("searchbox").wait_for()
    page.context.close()
    assert not file.exists()


def test_a_tool_call_unfolds_to_what_it_did(visit: Visit) -> None:
    page = visit.go("/?query=webhook+retries")
    page.locator("li.hit a[data-entry]").first.click()
    page.wait_for_url("**/page/**")
    calls = page.locator("details.calls").first
    calls.locator("summary").first.click()
    calls.locator("details.call").first.wait_for()
    page.evaluate("for (const one of document.querySelectorAll('details.call')) one.open = true")
    calls.locator("details.call pre").first.wait_for()


def test_a_card_of_the_board_changes_its_status_by_its_menu_and_by_keys(browser: Browser, garden: Program) -> None:
    with signed_in(garden) as own, visiting(browser, own) as visit:
        page = visit.go("/page/tasks")
        page.get_by_label("Status of The pump of the pond is loud").select_option("review")
        page.get_by_role("region", name="Review").get_by_text("The pump of the pond").wait_for()
        page.get_by_role("link", name="The pump of the pond").focus()
        page.keyboard.press("<")
        page.get_by_role("region", name="Blocked").get_by_text("The pump of the pond").wait_for()
        page.keyboard.press("<")
        page.get_by_role("region", name="In progress").get_by_text("The pump of the pond").wait_for()
        assert visit.problems == []


def test_a_question_mark_lists_the_keys(visit: Visit) -> None:
    page = visit.go("/page/projects")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/page/tasks")


@pytest.mark.parametrize("width", [768, 1024])
def test_a_window_of_768_pixels_or_more_shows_every_name_of_the_navigation(
    browser: Browser, site: Site, width: int
) -> None:
    with visiting(browser, site, viewport={"width": width, "height": 900}) as visit:
        names = visit.go("/").locator("nav[aria-label=Pages]")
        assert names.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_no_menu_of_a_search_cuts_its_words_in_a_window_of_896_pixels(browser: Browser, site: Site) -> None:
    with visiting(browser, site, viewport={"width": 896, "height": 900}) as visit:
        menus = visit.go("/?query=webhook+retries").locator(".filters")
        assert menus.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        cut = "one.offsetWidth < (one.style.width = 'max-content', one.offsetWidth)"
        assert not any(menus.locator("select").evaluate_all(f"(all) => all.map((one) => {cut})"))


def test_a_phone_shows_the_menu_that_is_set(browser: Browser, site: Site) -> None:
    with visiting(browser, site, viewport={"width": 390, "height": 844}) as visit:
        menu = visit.go("/?query=webhook+retries&type=note").get_by_label("Everything").bounding_box()
        assert menu is not None
        assert 0 <= menu["x"] <= menu["x"] + menu["width"] <= 390
