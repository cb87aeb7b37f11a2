"""Test what the pages of tasks, lessons, sources and settings say, without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest
from garden import write_lesson, write_tracker
from program import Program, write_messages
from served import serving
from waiting import HANG_S


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Program:
    program = Program(tmp_path_factory.mktemp("garden"))
    half = program.home / "half.jsonl"
    half.write_text('{"conversation_id": "h", "role": "user", "content": "Which gate?"}\n{"role": \n', encoding="utf-8")
    nothing = program.home / "nothing.json"
    nothing.write_text('{"a": 1}', encoding="utf-8")
    gone = write_messages(program.home / "gone.jsonl", ("user", "Where is the spade?"))
    assert program("index", write_tracker(program.home), half, nothing, gone, write_lesson(program.home)).status == 0
    gone.unlink()
    assert program("task", "update", "gdn-1", "--status", "in_progress").status == 0
    assert program("task", "add", "Pick the plums", "--project", "orchard").status == 0
    own = program.home / "config" / "pastchats-memory" / "pastchats-memory.toml"
    own.parent.mkdir(parents=True)
    own.write_text(
        'budget = 700\njudge_endpoint = "http://me:hunter22hunter@localhost:1/v1"\njudge_model = "m"\n'
        'judge_api_key = "sk-hunter22hunter"\n',
        encoding="utf-8",
    )
    return program


@pytest.fixture(scope="module")
def client(garden: Program) -> Iterator[httpx.Client]:
    with serving(garden) as server, httpx.Client(base_url=server.url, timeout=HANG_S) as client:
        assert client.get(server.find_link()).status_code == 303
        yield client


def read(client: httpx.Client, address: str) -> str:
    """Return the text of a page on one line."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    body = answer.text.partition("<main")[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body.partition(">")[2])).split())


def columns(client: httpx.Client, address: str) -> dict[str, list[str]]:
    """Return the titles of the tasks on a board by column."""
    found = re.findall(r'<section class="column[^"]*" aria-label="([^"]*)"[^>]*>(.*?)</section>', client.get(address).text, re.DOTALL)  # fmt: skip
    return {name: re.findall(r"data-entry>([^<]*)</a>", body) for name, body in found}


def test_the_board_has_a_column_for_each_status_of_work_that_is_open_or_done(client: httpx.Client) -> None:
    assert columns(client, "/page/tasks") == {
        "Pending": ["Pick the plums", "A greenhouse"],
        "In progress": ["Prune the roses before the frost", "The pump of the pond is loud"],
        "Blocked": ["Wait for the seeds"],
        "Review": [],
        "Completed": ["Choose the glass", "Mend the gate"],
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=epic", {"Pending": ["A greenhouse"]}),
        ("status=blocked", {"Blocked": ["Wait for the seeds"]}),
        ("project=garden&status=pending&type=", {"Pending": ["A greenhouse"]}),
        ("project=orchard", {"Pending": ["Pick the plums"]}),
        ("project=meadow", {}),
    ],
)
def test_the_board_is_narrowed_by_project_type_and_status(client: httpx.Client, query: str, expected: dict) -> None:
    found = columns(client, f"/page/tasks?{query}")
    assert {name: titles for name, titles in found.items() if titles} == expected


def test_a_card_goes_back_to_the_board_it_was_moved_on(client: httpx.Client) -> None:
    for query in ("", "project=garden"):
        page = client.get(f"/page/tasks?{query}").text
        token, board = (re.search(rf'name="{name}" value="([^"]*)"', page) for name in ("form_token", "board"))
        assert token
        assert board
        answer = client.post(
            "/page/task",
            data={"form_token": token[1], "key": "gdn-3", "status": "blocked", "board": board[1]},
            follow_redirects=False,
        )
        assert answer.headers["location"] == f"/page/tasks?{query}"


def test_a_board_without_a_fitting_task_says_so(client: httpx.Client) -> None:
    assert "No such task" in read(client, "/page/tasks?project=meadow")


@pytest.mark.parametrize("query", ["type=tree", "status=green", "type=Epic"])
def test_an_unknown_type_or_status_is_refused_with_those_that_exist(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/page/tasks?{query}")
    assert answer.status_code == 400
    assert "epic" in answer.text
    assert "in_progress" in answer.text


def test_a_task_is_shown_with_its_history_in_the_words_of_both(client: httpx.Client) -> None:
    shown = read(client, "/page/task?key=gdn-1")
    assert "Prune the roses before the frost" in shown
    assert re.search(r"History Pending “open” .* In progress", shown)
    assert "made by hand" not in shown


def test_a_task_links_to_its_epic_its_parts_and_what_it_waits_for(client: httpx.Client) -> None:
    assert "/page/task?key=gdn-5" in client.get("/page/task?key=gdn-5.1").text
    assert "1 of 1 done" in read(client, "/page/task?key=gdn-5")
    assert "Depends on gdn-2" in read(client, "/page/task?key=gdn-3")


@pytest.mark.parametrize("key", ["gdn-2", "t:gdn-2", "GDN-2", "c:1"])
def test_every_id_of_a_task_and_its_parts_leads_to_it(client: httpx.Client, key: str) -> None:
    shown = read(client, f"/page/task?key={key}")
    assert "The pump of the pond is loud" in shown
    assert "The impeller is new." in shown


@pytest.mark.parametrize("query", ["", "?key=", "?key=none", "?key=c:99", "?key=a:1", "?key=c:x"])
def test_a_task_that_is_not_there_is_not_found(client: httpx.Client, query: str) -> None:
    assert client.get(f"/page/task{query}").status_code in (400, 404)


def test_a_project_that_has_only_tasks_is_shown_as_their_board(client: httpx.Client) -> None:
    answer = client.get("/page/project?name=garden-2")
    assert answer.status_code == 404
    answer = client.get("/page/project?name=orchard")
    assert (answer.status_code, answer.headers["location"]) == (303, "/page/tasks?project=orchard")


def test_a_lesson_shows_what_failed_and_what_ended_it(client: httpx.Client) -> None:
    shown = read(client, "/page/lessons")
    assert re.search(r"failed \d times", shown)
    assert shown.index("failed tried") < shown.index("worked ended it")
    assert "No lesson yet" in read(client, "/page/lessons?project=orchard")


def test_sources_say_what_was_not_understood_not_read_and_is_gone(client: httpx.Client) -> None:
    shown = read(client, "/page/sources")
    assert re.search(r"half\.jsonl · 1 line line 2: not JSON", shown)
    assert re.search(r"nothing\.json no conversation found in it", shown)
    assert re.search(r"Gone from disk, kept in the memory \S*gone\.jsonl", shown)


def test_settings_say_where_each_value_comes_from_and_hide_secrets(client: httpx.Client) -> None:
    shown = read(client, "/page/settings")
    assert re.search(r"budget 700 \S*pastchats-memory\.toml", shown)
    assert "judge_api_key (set)" in shown
    assert "judge_endpoint http://localhost:1/v1" in shown
    assert "hunter22" not in shown
    assert re.search(r"Defaults .* threads –", shown)


def test_an_empty_memory_says_on_every_page_how_to_fill_it(program: Program) -> None:
    empty = write_messages(program.home / "one.jsonl", ("user", "Hello there, which day is it?"))
    assert program("index", empty).status == 0
    with serving(program) as server, httpx.Client(base_url=server.url, timeout=HANG_S) as client:
        client.get(server.find_link())
        assert "No tasks yet" in read(client, "/page/tasks")
        assert "No lesson yet" in read(client, "/page/lessons")
        assert "Nothing is set" not in read(client, "/page/settings")


def test_a_known_failure_names_its_project_where_all_projects_are_shown(program: Program) -> None:
    failed = 'Exit code 1\nnpm error Missing script: "e2e"'
    steps = (("npm run e2e", failed), ("npm run test:e2e", "12 passed"))
    records: list[dict[str, object]] = [
        {"type": "user", "message": {"role": "user", "content": "Run the browser tests."}}
    ]
    for number, (command, output) in enumerate(steps):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        records.append({"type": "assistant", "message": {"role": "assistant", "id": f"m{number}", "content": [use]}})
        done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": output == failed}
        records.append({"type": "user", "message": {"role": "user", "content": [done]}})
    common = {"sessionId": "s", "cwd": "/w/orchard", "version": "2.1.266"}
    file = program.home / "s.jsonl"
    lines = (
        common | {"uuid": f"u{place}", "timestamp": f"2026-05-01T10:00:{place:02}.000Z"} | one
        for place, one in enumerate(records)
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert program("index", file).status == 0
    with serving(program) as server, httpx.Client(base_url=server.url, timeout=HANG_S) as client:
        client.get(server.find_link())
        assert re.search(r"npm run e2e .* in orchard", read(client, "/page/lessons"))
        assert not re.search(r"npm run e2e .* in orchard", read(client, "/page/lessons?project=orchard"))
