"""Test that the page asks before it changes anything, as the command line does, and that no other site can make it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx
import pytest
from program import Program
from served import browsing, serving


@pytest.fixture
def browser(own_demo: Program) -> Iterator[httpx.Client]:
    with serving(own_demo) as server, browsing(server) as client:
        yield client


def fields_of(page: str, action: str) -> dict[str, str]:
    """Return the hidden fields of the form that is sent to an address."""
    form = re.search(rf'<form method="post" action="{re.escape(action)}".*?</form>', page, re.DOTALL)
    assert form is not None
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[0])
    return {name: html.unescape(value) for name, value in found}


def test_forgetting_shows_first_what_would_go(browser: httpx.Client, own_demo: Program) -> None:
    asked = browser.get("/page/forget", params={"query": "retry"}).text
    assert "This would be forgotten" in asked
    assert own_demo("search", "retry", "--mode", "keyword").status == 0
    done = browser.post("/page/forget", data=fields_of(asked, "/page/forget"))
    assert "Forgotten: " in done.text
    assert own_demo("search", "retry", "--mode", "keyword").status == 1
    assert "query" in browser.get("/page/forget").text
    undone = browser.post("/page/forget/undo", data={**fields_of(done.text, "/page/forget/undo"), "number": "1"})
    assert "is undone" in undone.text


def test_forgetting_asks_again_if_the_memory_has_changed_meanwhile(browser: httpx.Client, own_demo: Program) -> None:
    asked = browser.get("/page/forget", params={"query": "retry"}).text
    (own_demo.home / "new.jsonl").write_text(
        '{"role": "user", "content": "One more retry of the upload", "timestamp": "2026-11-01T10:00:00Z"}\n'
    )
    assert own_demo("index", "new.jsonl").status == 0
    again = browser.post("/page/forget", data=fields_of(asked, "/page/forget")).text
    assert "has changed since" in again
    assert "One more retry" in again
    assert own_demo("search", "retry", "--mode", "keyword").status == 0


@pytest.mark.parametrize("path", ["/page/forget", "/page/forget/undo", "/page/judge", "/page/exclude", "/page/capture"])
@pytest.mark.promise("clients", "The page changes nothing without a form of its own session.")
def test_a_form_of_another_page_changes_nothing(browser: httpx.Client, path: str) -> None:
    fields = {
        "query": "retry",
        "total": "15",
        "number": "1",
        "id": "51",
        "undo": "yes",
        "project": "courier",
        "text": "x",
    }
    for token in ({}, {"form_token": "guessed"}, {"form_token": "\xf6"}):
        reply = browser.post(path, data={**fields, **token})
        assert reply.status_code == 403
        assert "does not come from this page" in reply.text
    foreign = browser.post(path, data=fields, headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403


def test_an_episode_is_judged_with_words_that_show_it(browser: httpx.Client, own_demo: Program) -> None:
    because = "no shared accounts in end-to-end tests"
    (hit,) = own_demo("search", because, "--mode", "keyword", "--limit", "1", "--json").results
    (result,) = own_demo("judge", hit["id"], "--json").results
    page = browser.get("/page/judge", params={"id": hit["id"]}).text
    fields = {**fields_of(page, "/page/judge"), "verdict": "worked"}
    wrong = browser.post("/page/judge", data={**fields, "because": "words that nobody wrote"})
    assert wrong.status_code == 400
    assert because in result["answered"]
    assert browser.post("/page/judge", data={**fields, "because": because}).status_code == 200
    assert own_demo("judge", hit["id"], "--json").results[0]["outcome"] == "worked"
    again = browser.get("/page/judge", params={"id": hit["id"]}).text
    assert "Remove the judgement" in again
    browser.post("/page/judge", data={**fields, "undo": "yes"})
    assert own_demo("judge", hit["id"], "--json").results[0]["outcome"] == result["outcome"]


def test_a_captured_task_asks_about_a_similar_one(browser: httpx.Client, own_demo: Program) -> None:
    def capture(**fields: str) -> str:
        token = fields_of(browser.get("/page/capture").text, "/page/capture")
        return browser.post("/page/capture", data={**token, **fields}).text

    capture(text="Fix the login bug of the mobile app", project="ledgerly")
    asked = capture(text="Fix the login bug of the mobile app", project="ledgerly")
    assert "A similar task exists" in asked
    assert len(own_demo("task", "list", "--json").results) == 1
    browser.post("/page/capture", data={**fields_of(asked, "/page/capture"), "decision": "comment"})
    (task,) = own_demo("task", "list", "--json").results
    assert own_demo("task", "show", task["key"], "--json").results[0]["comments"]


def test_a_project_is_excluded_and_taken_back(browser: httpx.Client, own_demo: Program) -> None:
    asked = browser.get("/page/exclude", params={"project": "courier"}).text
    assert "stay in the memory until you forget them" in asked
    assert own_demo("exclude", "--list").status == 1
    listed = browser.post("/page/exclude", data=fields_of(asked, "/page/exclude")).text
    assert "courier" in own_demo("exclude", "--list").stdout
    browser.post("/page/exclude", data={**fields_of(listed, "/page/exclude"), "remove": "courier"})
    assert own_demo("exclude", "--list").status == 1
    relative = browser.post("/page/exclude", data={**fields_of(listed, "/page/exclude"), "path": "notes"})
    assert relative.status_code == 400
