"""Test that the page shows a tool call as its source has it: change, text, command, output, exit code and time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from program import Program
from served import browsing, serving

from pastchats_memory.formats.base.tools import ToolResult, parse_call
from pastchats_memory.formats.base.turns import PendingTurn, TurnQueue
from pastchats_memory.memory import Memory
from pastchats_memory.model import RecordedCall
from pastchats_memory.views.calls import ShownCall, show_call

SECRET = "ghp_" + "Q7w2E9r4T1y8U3i6O5p0A7s2D9f4G1h8J3k6"
CALLS = (
    ("Edit", {"file_path": "/w/kiln/heat.py", "old_string": "kiln.on()", "new_string": "kiln.on(1040)"}, "The file was updated."),
    ("Write", {"file_path": "/w/kiln/gate.py", "content": "def open():\n    return '<script>alert(1)</script>'\n"}, "Written."),
    ("Bash", {"command": "make fire"}, f"Exit code 2\nno kiln <b>here</b> {SECRET}"),
    ("Read", {"file_path": "/w/kiln/notes.md", "offset": 40, "limit": 7}, "40: the glaze"),
)  # fmt: skip


def write_calls(path: Path) -> Path:
    """Write a session whose one answer makes every call; each takes two seconds."""
    lines = [{"type": "user", "message": {"role": "user", "content": "Light the kiln."}}]
    for number, (tool, given, result) in enumerate(CALLS):
        text = [{"type": "text", "text": "I light it."}] if not number else []
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        lines.append({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [*text, use]}})
        done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result, "is_error": tool == "Bash"}
        lines.append({"type": "user", "message": {"role": "user", "content": [done]}})
    common = {"sessionId": "kiln", "cwd": "/w/kiln", "version": "2.1.0"}
    records = (
        {**common, "uuid": f"u{place}", "timestamp": f"2026-02-01T08:00:{2 * place:02}Z", **line}
        for place, line in enumerate(lines)
    )
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def session(program: Program) -> Path:
    path = write_calls(program.home / "kiln.jsonl")
    assert program("index", path).status == 0
    return path


@pytest.fixture
def browser(program: Program, session: Path) -> Iterator[httpx.Client]:
    assert session.exists()
    with serving(program) as server, browsing(server) as client:
        yield client


def find_answer(program: Program) -> str:
    """Return the id of the answer that made the calls."""
    with Memory.open(program.database) as memory:
        return next(hit.id for hit in memory.search("I light it.") if hit.role == "assistant")


def test_a_call_is_shown_with_its_change_output_exit_code_and_time(browser: httpx.Client, program: Program) -> None:
    text = browser.get("/page/calls", params={"id": find_answer(program)}).text
    assert '<span class="minus">-kiln.on()</span>' in text
    assert '<span class="plus">+kiln.on(1040)</span>' in text
    assert '<span class="minus">exit 2</span><span>2.0 s</span>' in text
    assert text.count("2.0 s") == len(CALLS)
    assert "offset" in text
    assert ">40<" in text
    assert "40: the glaze" in text


@pytest.mark.promise("text", "No text of a tool call runs as a script on the page, and no secret of it is shown.")
def test_the_output_of_a_call_is_text_without_secrets(browser: httpx.Client, program: Program) -> None:
    text = browser.get("/page/calls", params={"id": find_answer(program)}).text
    assert "no kiln &lt;b&gt;here&lt;/b&gt;" in text
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert SECRET not in text


def test_one_call_can_be_opened_alone(browser: httpx.Client, program: Program) -> None:
    text = browser.get("/page/calls", params={"id": find_answer(program), "call": 3}).text
    assert "make" in text
    assert "kiln.on" not in text


def test_the_page_says_when_the_source_of_a_call_is_gone(
    browser: httpx.Client, program: Program, session: Path
) -> None:
    session.unlink()
    text = browser.get("/page/calls", params={"id": find_answer(program)}).text
    assert "The source of this turn is gone" in text
    assert "Edit /w/kiln/heat.py" in text


@pytest.mark.usefixtures("session")
def test_nothing_of_a_call_but_its_name_is_stored(program: Program) -> None:
    with Memory.open(program.database) as memory:
        stored = "\n".join(memory.export())
    assert "kiln.on(1040)" not in stored
    assert "the glaze" not in stored


def test_a_grown_file_is_read_again(program: Program, session: Path) -> None:
    with Memory.open(program.database) as memory:
        answer = next(hit.id for hit in memory.search("I light it.") if hit.role == "assistant")
        assert memory.read_calls(answer)
        session.write_text(session.read_text().replace("kiln.on(1040)", "kiln.on(999)"))
        (edit, *_) = memory.read_calls(answer) or ()
    assert edit.arguments == {**CALLS[0][1], "new_string": "kiln.on(999)"}


def record(name: str, arguments: object, output: str = "", **fields: object) -> RecordedCall:
    call = parse_call(name, arguments)
    return RecordedCall(call.label, call.command, call.edit, call.arguments, None, None, output, **fields)


def kinds(shown: ShownCall) -> list[str]:
    return [part.kind for part in shown.parts]


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-old = 1\n+new = 2\n*** End Patch"
BLOCK = "<<<<<<< SEARCH\nold = 1\n=======\nnew = 2\n>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "old = 1", "new_string": "new = 2"}),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "old = 1", "new_str": "new = 2"}),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "old = 1", "new_string": "new = 2"}]}),
        ("edit", {"path": "a.py", "edits": [{"oldText": "old = 1", "newText": "new = 2"}]}),
        ("apply_patch", PATCH),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("apply_patch", {"patchText": PATCH}),
        ("replace_in_file", {"path": "a.py", "diff": BLOCK}),
    ],
)
def test_the_change_of_every_kind_of_edit_is_shown(name: str, arguments: object) -> None:
    shown = show_call(record(name, arguments), 1000)
    (change,) = shown.parts
    assert change.kind == "diff"
    assert '<span class="minus">-old = 1</span>' in change.html
    assert '<span class="plus">+new = 2</span>' in change.html
    assert "+1 −1" in shown.facts


def test_a_long_output_says_how_much_is_left_out() -> None:
    (_, output) = show_call(record("Bash", {"command": "seq"}, "x" * 5000), 1000).parts
    assert (len(output.html), output.cut) == (1000, 4000)


def test_a_call_without_anything_has_no_parts() -> None:
    assert kinds(show_call(record("wait", {}), 1000)) == []


def test_a_result_that_comes_after_the_next_answer_still_belongs_to_its_call() -> None:
    queue = TurnQueue()
    queue.add(PendingTurn("assistant", "answer", 1, ["First."]))
    call = parse_call("Bash", {"command": "sleep 9"})
    queue.add_tool(call, "2026-01-01T00:00:00.000Z")
    queue.add(PendingTurn("assistant", "answer", 2, ["Second."]))
    queue.list_rows(call, ToolResult("done", 0))
    first, second = queue.flush()
    assert [(one.output, one.exit_code) for one in first.calls] == [("done", 0)]
    assert second.calls == ()


def test_an_exit_code_of_0_is_no_sign_of_failure(program: Program) -> None:
    path = write_calls(program.home / "kiln.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace("Exit code 2", "Exit code 0"), encoding="utf-8")
    assert program("index", path).status == 0
    with serving(program) as server, browsing(server) as client:
        text = client.get("/page/calls", params={"id": find_answer(program)}).text
    assert "<span>exit 0</span>" in text
