"""Test that keys alone reach everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from visits import Visit

FOCUSED = "document.activeElement"


def test_keys_alone_find_and_open_a_conversation(visit: Visit) -> None:
    page = visit.go("/page/lessons")
    page.keyboard.press("/")
    page.wait_for_url("**/")
    page.keyboard.type("webhook retries")
    page.locator("li.hit").first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    chosen = page.evaluate(f"{FOCUSED}.textContent")
    assert page.locator("li.hit a[data-entry]").first.text_content() == chosen
    page.keyboard.press("Enter")
    page.wait_for_url("**/page/**")


def test_the_first_tab_skips_the_navigation(visit: Visit) -> None:
    page = visit.go("/page/tasks")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{FOCUSED}.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(f"document.querySelector('main').contains({FOCUSED})")


def test_keys_go_through_the_board(visit: Visit) -> None:
    page = visit.go("/page/tasks")
    titles = page.locator("li.task h3").all_inner_texts()
    walked = []
    for _ in titles:
        page.keyboard.press("j")
        walked.append(page.evaluate(f"{FOCUSED}.textContent"))
    assert walked == titles


def test_a_letter_in_a_field_is_text_and_no_command(visit: Visit) -> None:
    page = visit.go("/")
    page.get_by_role("searchbox").press_sequentially("j/k")
    assert page.get_by_role("searchbox").input_value() == "j/k"
