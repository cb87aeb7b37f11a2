"""Test who may open the page, and that nothing on it runs or leaves this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from program import Program
from served import Server, serving
from waiting import HANG_S, wait_until

LINK = re.compile(r"http://\S+\?token=\S+")
NAMES_OF_HEADERS = ("content-security-policy", "referrer-policy", "x-content-type-options", "cache-control")


def links(server: Server) -> list[str]:
    """Return the links that the server has printed so far."""
    return LINK.findall("".join(server.messages))


@pytest.fixture(scope="module")
def server(demo: Program) -> Iterator[Server]:
    with serving(demo) as running:
        wait_until(lambda: bool(links(running)))
        yield running


@pytest.fixture
def stranger(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=HANG_S) as client:
        yield client


@pytest.fixture
def browser(server: Server) -> Iterator[httpx.Client]:
    """A client that has used a link of its own."""
    known = len(links(server))
    with httpx.Client(base_url=server.url, timeout=HANG_S) as client:
        assert client.get(links(server)[-1]).status_code == 303
        wait_until(lambda: len(links(server)) > known)
        yield client


@pytest.mark.promise("clients", "Another account of the machine sees nothing on the page without the link of `serve`.")
def test_a_stranger_reads_where_the_link_is_and_nothing_else(stranger: httpx.Client) -> None:
    for path in ("/", "/?query=retry", "/?token=guessed", "/?token=%C3%B6"):
        reply = stranger.get(path, headers={"Cookie": "pastchats_memory_1=x"})
        assert reply.status_code == 401
        assert "newest link" in reply.text
        assert "courier" not in reply.text


def test_a_link_works_once_and_the_server_prints_another(server: Server, browser: httpx.Client) -> None:
    assert browser.get("/?query=retry+strategy").status_code == 200
    assert httpx.get(links(server)[-2]).status_code == 401
    assert httpx.get(links(server)[-1]).status_code == 303


def test_a_request_for_the_head_does_not_use_a_link_up(server: Server, stranger: httpx.Client) -> None:
    assert stranger.head(links(server)[-1]).status_code == 401
    assert stranger.get(links(server)[-1]).status_code == 303


def test_no_script_of_another_site_reads_the_cookie_or_sends_it(server: Server, stranger: httpx.Client) -> None:
    cookie = stranger.get(links(server)[-1]).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_every_page_forbids_foreign_and_inline_content(browser: httpx.Client, stranger: httpx.Client) -> None:
    for reply in (browser.get("/"), browser.get("/?query=retry"), stranger.get("/"), browser.get("/page/nowhere")):
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert all(name in reply.headers for name in NAMES_OF_HEADERS)
        assert not re.search(r"<script(?![^>]*\bsrc=\"/page/static/)|<style|\son\w+=|\sstyle=", reply.text)


def test_a_search_shows_hits_with_why_they_were_found(browser: httpx.Client) -> None:
    text = browser.get("/", params={"query": "retry strategy"}).text
    assert "very close" in text
    assert "meaning: number 1" in text
    assert "<mark>retry</mark>" in text
    assert "resume" in text


def test_a_filter_is_a_link_that_narrows_the_search(browser: httpx.Client) -> None:
    text = browser.get("/", params={"query": "retry", "outcome": "failed", "type": "prompt"}).text
    assert 'href="/?query=retry&amp;type=prompt" aria-current="true"' in text
    assert '<span class="outcome worked">' not in text


def test_a_wrong_filter_is_explained_on_a_page(browser: httpx.Client) -> None:
    reply = browser.get("/", params={"query": "retry", "since": "the other day"})
    assert reply.status_code == 400
    assert reply.headers["content-type"].startswith("text/html")
    assert 'role="alert"' in reply.text


def test_the_paths_of_programs_stay_as_they_were(stranger: httpx.Client) -> None:
    assert stranger.get("/search?query=retry").json()["schema"] == "search/1"
    assert stranger.get("/nowhere").json()["schema"] == "error/1"
