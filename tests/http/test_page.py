"""Test who may open the page, and that nothing on it runs or leaves this machine."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from program import Program
from served import Server, browsing, serving, use_link
from waiting import HANG_S

FLAKY_LOGIN = "019c6a52-7b1d-7e60-9a54-3c2e8f0b6d11"
"""A conversation of the demo history."""
NAMES_OF_HEADERS = ("content-security-policy", "referrer-policy", "x-content-type-options", "cache-control")
MOST_CHARACTERS = 300_000
"""Of a page, before the person asks for more."""
TODO = [
    {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "TodoWrite",
        "input": {
            "todos": [{"content": "Write the backoff", "status": "pending", "activeForm": "Writing the backoff"}]
        },
    }
]


def write_session(file: Path, common: dict[str, object], prompt: str, answer: object) -> None:
    """Write a session of Claude Code with one prompt and one answer."""
    content = answer if isinstance(answer, list) else [{"type": "text", "text": answer}]
    records = [
        {"type": "user", "uuid": f"{file.stem}-1", "message": {"role": "user", "content": prompt}},
        {
            "type": "assistant",
            "uuid": f"{file.stem}-2",
            "parentUuid": f"{file.stem}-1",
            "message": {"id": f"msg_{file.stem}", "role": "assistant", "model": "m", "content": content},
        },
    ]
    shared = {"cwd": "/home/ada/courier", "version": "2.1.0", "timestamp": "2026-05-01T08:00:00.000Z", **common}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps({**shared, **record}) + "\n" for record in records))


@pytest.fixture(scope="module")
def server(demo: Program) -> Iterator[Server]:
    with serving(demo) as running:
        yield running


@pytest.fixture
def stranger(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=HANG_S) as client:
        yield client


@pytest.fixture
def browser(server: Server) -> Iterator[httpx.Client]:
    with browsing(server) as client:
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
    assert httpx.get(server.list_links()[-2]).status_code == 401
    with httpx.Client(timeout=HANG_S) as other:
        assert use_link(server, other).status_code == 303


def test_a_request_for_the_head_does_not_use_a_link_up(server: Server, stranger: httpx.Client) -> None:
    assert stranger.head(server.find_link()).status_code == 401
    assert use_link(server, stranger).status_code == 303


def test_no_script_of_another_site_reads_the_cookie_or_sends_it(server: Server, stranger: httpx.Client) -> None:
    cookie = use_link(server, stranger).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_every_page_forbids_foreign_and_inline_content(browser: httpx.Client, stranger: httpx.Client) -> None:
    for reply in (browser.get("/"), browser.get("/?query=retry"), stranger.get("/"), browser.get("/page/nowhere")):
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert all(name in reply.headers for name in NAMES_OF_HEADERS)
        assert not re.search(r"<script(?![^>]*\bsrc=\"/page/static/)|<style|\son\w+=|\sstyle=", reply.text)


def test_the_first_page_leads_to_each_of_the_last_conversations_once(browser: httpx.Client) -> None:
    shown = re.findall(r'href="/page/conversation\?id=([^&"]*)', browser.get("/").text)
    assert len(shown) > 5
    assert len(shown) == len(set(shown))


def test_a_search_shows_hits_with_why_they_were_found(browser: httpx.Client) -> None:
    text = browser.get("/", params={"query": "retry strategy"}).text
    assert "very close" in text
    assert "meaning: number 1" in text
    assert "<mark>retry</mark>" in text


def test_the_menus_show_what_is_set(browser: httpx.Client) -> None:
    text = browser.get("/", params={"query": "retry", "outcome": "failed", "type": "prompt"}).text
    assert '<option value="failed" selected>failed</option>' in text
    assert '<option value="prompt" selected>conversations</option>' in text
    assert '<span class="outcome worked">' not in text


def test_the_agent_is_a_filter(browser: httpx.Client) -> None:
    text = browser.get("/", params={"query": "retry", "format": "codex"}).text
    assert '<option value="codex" selected>Codex</option>' in text
    assert "ledgerly" in text
    assert "/codex/" in text
    assert "/claude/" not in text


def test_a_wrong_filter_is_explained_on_a_page(browser: httpx.Client) -> None:
    reply = browser.get("/", params={"query": "retry", "since": "the other day"})
    assert reply.status_code == 400
    assert reply.headers["content-type"].startswith("text/html")
    assert 'role="alert"' in reply.text


def test_a_query_beyond_the_limit_is_explained(browser: httpx.Client) -> None:
    reply = browser.get("/", params={"query": "retry " * 1000})
    assert reply.status_code == 400
    assert "longer than" in reply.text


def test_the_session_of_the_page_opens_the_paths_of_programs_too(browser: httpx.Client, stranger: httpx.Client) -> None:
    assert browser.get("/search?query=retry").json()["schema"] == "search/1"
    assert browser.get("/nowhere").json()["schema"] == "error/1"
    assert stranger.get("/search?query=retry").status_code == 401


def test_a_browser_at_a_wrong_address_gets_a_page(browser: httpx.Client) -> None:
    reply = browser.get("/nope", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (reply.status_code, reply.headers["content-type"].partition(";")[0]) == (404, "text/html")
    assert "There is no such page." in reply.text


def test_a_hit_leads_to_its_turn_in_the_conversation(browser: httpx.Client) -> None:
    found = browser.get("/", params={"query": "retry strategy"}).text
    address = re.search(r'href="(/page/turn\?id=(\d+)[^"]*)"', found)
    assert address is not None
    reply = browser.get(html.unescape(address[1]))
    assert reply.url.path == "/page/conversation"
    assert reply.url.fragment == f"turn-{address[2]}"
    (cited,) = re.findall(r'<article class="turn \w+ cited" id="(turn-\d+)"', reply.text)
    assert cited == f"turn-{address[2]}"
    assert 'id="episode-1"' in reply.text
    assert "<mark>retry</mark>" in reply.text


def test_a_conversation_shows_how_each_episode_ended_and_which_words_show_it(browser: httpx.Client) -> None:
    text = browser.get("/page/conversation", params={"id": FLAKY_LOGIN}).text
    assert '<span class="outcome worked">' in text
    assert '<mark class="shown" id="shown-' in text
    assert "codex resume" not in text
    assert "cannot be resumed: its folder is gone" in text
    assert "<details>" in text  # results of tools are folded


def test_a_conversation_is_copied_as_markdown(browser: httpx.Client) -> None:
    reply = browser.get("/page/conversation.md", params={"id": FLAKY_LOGIN})
    assert reply.headers["content-type"].startswith("text/markdown")
    assert "## Episode 1" in reply.text


@pytest.mark.parametrize(
    "path", ["/page/turn?id=999999", "/page/turn?id=x", "/page/turn", "/page/conversation?id=none", "/page/nowhere"]
)
def test_an_address_of_nothing_is_explained(browser: httpx.Client, path: str) -> None:
    reply = browser.get(path)
    assert reply.status_code == 404
    assert 'role="alert"' in reply.text


def test_a_long_conversation_is_shown_in_parts(program: Program) -> None:
    lines = [
        {"role": role, "content": f"{role} number {number}", "conversation_id": "long"}
        for number in range(100)
        for role in ("user", "assistant")
    ]
    (program.home / "long.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert program("index", "long.jsonl").status == 0
    with serving(program) as server, browsing(server) as client:
        seen = []
        address: str | None = "/page/conversation?id=long"
        while address is not None:
            text = client.get(address).text
            seen += re.findall(r"<p>(\w+ number \d+)</p>", text)
            following = re.search(r'href="([^"]+)" rel="next"', text)
            address = None if following is None else html.unescape(following[1])
    assert seen == [line["content"] for line in lines]


def test_a_conversation_leads_to_its_subagents_its_tasks_and_back(program: Program) -> None:
    folder = program.home / "sessions" / "-home-ada-courier"
    write_session(folder / "s1.jsonl", {"sessionId": "s1"}, "Plan the retries", TODO)
    write_session(
        folder / "s1" / "subagents" / "agent-a1.jsonl",
        {"sessionId": "s1", "agentId": "a1", "isSidechain": True},
        "Find the callers",
        "They are in worker.py",
    )
    assert program("index", "sessions").status == 0
    with serving(program) as server, browsing(server) as client:
        text = client.get("/page/conversation", params={"id": "s1"}).text
        assert "Write the backoff" in text
        below = re.search(r'href="(/page/conversation[^"]*)">What it did</a>', text)
        assert below is not None
        shown = client.get(html.unescape(below[1])).text
    assert "They are in worker.py" in shown
    assert "A subagent · 2 turns" in shown
    assert 'href="/page/conversation?id=s1">The conversation that it came from' in shown


def test_a_pasted_file_is_shown_in_part_until_somebody_wants_all_of_it(program: Program) -> None:
    pasted = "Why does it fail?\n" + "gear " * 100_000
    write_session(program.home / "s1.jsonl", {"sessionId": "s1"}, pasted, "The last gear is broken")
    assert program("index", "s1.jsonl").status == 0
    with serving(program) as server, browsing(server) as client:
        part = client.get("/page/conversation", params={"id": "s1"}).text
        whole = re.search(r'more characters. <a href="([^"]*)">Show all</a>', part)
        assert whole is not None
        assert len(part) < MOST_CHARACTERS < len(client.get(html.unescape(whole[1])).text)
        cut = re.findall(r'<p class="facts" id="shown-(\d+)">[\d,]* more characters', part)
        assert [f"id={one}&" in html.unescape(whole[1]) for one in cut] == [True]
    assert "The last gear is broken" in part


def test_a_found_task_of_a_session_has_its_own_title_and_leads_to_the_session(program: Program) -> None:
    write_session(program.home / "s1.jsonl", {"sessionId": "s1"}, "Plan the retries", TODO)
    assert program("index", "s1.jsonl").status == 0
    with serving(program) as server, browsing(server) as client:
        found = re.search(r'"/page/task\?(key=[^"]*)" data-entry>(.*?)</a>', client.get("/?query=backoff").text)
        assert found is not None
        assert re.sub("<[^>]*>", "", found[2]) == "Write the backoff"
        assert '<a href="/page/conversation?id=s1">Plan the retries</a>' in client.get(f"/page/task?{found[1]}").text


def test_a_session_whose_folder_is_there_is_resumed_by_a_command_that_can_be_copied(program: Program) -> None:
    write_session(program.home / "s1.jsonl", {"sessionId": "s1", "cwd": str(program.home)}, "Plan the retries", "Done")
    assert program("index", "s1.jsonl").status == 0
    with serving(program) as server, browsing(server) as client:
        assert "claude --resume s1" in client.get("/page/conversation", params={"id": "s1"}).text
        assert "claude --resume s1" in client.get("/", params={"query": "plan the retries"}).text


def test_projects_show_how_their_episodes_ended_over_time(browser: httpx.Client) -> None:
    text = browser.get("/page/projects").text
    assert '<svg class="bars"' in text
    assert re.search(r'<rect class="worked" x="[\d.]+" y="[\d.]+" width="[\d.]+" height="[\d.]+"/>', text)
    for project in ("courier", "ledgerly", "tidemark"):
        assert f'href="/page/project?name={project}"' in text
    shown = browser.get("/page/project", params={"name": "courier"}).text
    assert "Search in courier" in shown
    assert "/page/conversation?id=" in shown
    assert "tidemark" not in shown


def test_a_timeline_without_a_span_has_everything_and_a_span_narrows_it(browser: httpx.Client) -> None:
    assert browser.get("/page/timeline").text.count("data-entry") > 5
    assert "Nothing in this time" in browser.get("/page/timeline", params={"when": "today"}).text
    assert browser.get("/page/timeline", params={"when": "when the cows come home"}).status_code == 400
    assert browser.get("/page/project", params={"name": "nothing"}).status_code == 404


def test_older_days_of_a_timeline_are_a_link_away(program: Program) -> None:
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 29)]
    lines = [
        {"role": "user", "content": f"Prompt of {day}", "timestamp": f"{day}T12:00:00Z", "conversation_id": day}
        for day in days
    ]
    (program.home / "days.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert program("index", "days.jsonl").status == 0
    with serving(program) as server, browsing(server) as client:
        seen = []
        address: str | None = "/page/timeline"
        while address is not None:
            text = client.get(address).text
            seen += re.findall(r">Prompt of (\S+)</a>", text)
            following = re.search(r'href="([^"]+)" rel="next"', text)
            address = None if following is None else html.unescape(following[1])
    assert seen == days[::-1]
