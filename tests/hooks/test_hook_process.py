"""The hook as an agent runs it: a process with a body on stdin. Whatever is broken, it ends with 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from program import Program, write_messages
from waiting import FOREVER_S, HANG_S, wait_until

from pastchats_memory.hooks import spool

PROMPT = "How did we build the webhook retries with backoff?"


@pytest.fixture
def hooked(own_demo: Program) -> Program:
    """The program with a home of its own; the limit is wide, since a busy machine is no fault of the hook."""
    return own_demo.with_variables(
        HOME=str(own_demo.home), XDG_STATE_HOME=str(own_demo.home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)
    )


def run_hook(program: Program, event: str, body: object, agent: str = "claude-code") -> tuple[int, str, str]:
    """Run a hook with a body on stdin and return its status, stdout and stderr."""
    done = subprocess.run(
        [*program.command, "hook", agent, event],
        input=body if isinstance(body, bytes) else json.dumps(body).encode(),
        cwd=program.home,
        env=program.environment,
        capture_output=True,
        timeout=HANG_S,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def context(program: Program, body: dict[str, Any], event: str = "UserPromptSubmit", agent: str = "claude-code") -> str:
    status, stdout, stderr = run_hook(program, event, body, agent)
    assert (status, stderr) == (0, "")
    if not stdout:
        return ""
    answer = json.loads(stdout)
    text: str = answer.get("hookSpecificOutput", answer).get("additionalContext") or answer.get(
        "additional_context", ""
    )
    return text


def test_a_prompt_gets_earlier_turns_within_its_bytes(hooked: Program) -> None:
    text = context(hooked, {"session_id": "s1", "prompt": PROMPT, "cwd": str(hooked.home)})
    assert "full jitter" in text
    assert "Source: " in text
    assert len(text.encode()) <= 1500


def test_no_block_is_given_twice_in_a_session(hooked: Program) -> None:
    def sources(session: str) -> set[str]:
        text = context(hooked, {"session_id": session, "prompt": PROMPT})
        return {line for line in text.splitlines() if line.startswith("Source: ")}

    first, second = sources("s1"), sources("s1")
    assert first
    assert not first & second
    assert sources("another") == first


def test_turns_of_the_current_session_are_left_out(hooked: Program) -> None:
    body = {"session_id": "b2a7e9d4-1c3f-4e8a-8f60-6f1d2b7c9a05", "prompt": PROMPT}
    assert "b2a7e9d4" not in context(hooked, body)


def test_no_match_gives_no_block(hooked: Program) -> None:
    assert (
        context(hooked, {"session_id": "s", "prompt": "Which orchids flower in a cold greenhouse in December?"}) == ""
    )


def test_a_similar_prompt_brings_no_block_of_another_question(hooked: Program) -> None:
    prompt = "Deploy the worker to staging"
    assert hooked("recall", prompt, "--json").results
    assert context(hooked, {"session_id": "s", "prompt": prompt}) == ""


@pytest.mark.parametrize(
    ("agent", "event"),
    [
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
        ("qwen", "UserPromptSubmit"),
        ("cursor", "beforeSubmitPrompt"),
        ("copilot", "userPromptSubmitted"),
    ],
)
def test_every_agent_is_answered_in_its_own_form(hooked: Program, agent: str, event: str) -> None:
    assert "full jitter" in context(hooked, {"conversation_id": "s1", "prompt": PROMPT}, event, agent)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b"[]",
        b"{}",
        b'{"prompt": 3}',
        b"\xff\xfe\x00",
        b'{"prompt": "' + b"retry webhook " * 200_000 + b'"}',
        b"[" * 100_000,
    ],
)
def test_any_stdin_ends_with_0_and_no_output(hooked: Program, body: bytes) -> None:
    status, _, stderr = run_hook(hooked, "UserPromptSubmit", body)
    assert (status, stderr) == (0, "")


def test_a_malformed_event_is_logged_without_its_content(hooked: Program) -> None:
    assert run_hook(hooked, "UserPromptSubmit", b"webhook garbage")[0] == 0
    log = (hooked.home / "state" / "pastchats-memory" / "hooks.log").read_text(encoding="utf-8")
    assert "JSONDecodeError" in log
    assert "webhook" not in log


def test_an_endless_stdin_ends(hooked: Program) -> None:
    program = hooked.with_variables(PASTCHATS_MEMORY_HOOK_SECONDS="0.7")
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [*program.command, "hook", "claude-code", "UserPromptSubmit"], stdin=read_end, env=program.environment
    ) as hook:
        status = hook.wait(timeout=HANG_S)
    os.close(read_end)
    os.close(write_end)
    assert status == 0


def broken(program: Program) -> Iterator[tuple[str, Program]]:
    text = program.home / "text.db"
    text.write_text("no database", encoding="utf-8")
    yield "missing", program.with_variables(PASTCHATS_MEMORY_DB=str(program.home / "none.db"))
    yield "text", program.with_variables(PASTCHATS_MEMORY_DB=str(text))
    yield "folder", program.with_variables(PASTCHATS_MEMORY_DB=str(program.home))
    yield (
        "no model",
        program.altered(
            "import pastchats_memory.embed.packaged as p, pathlib; p.FOLDER = pathlib.Path('/nonexistent')"
        ),
    )
    yield (
        "aborts",
        program.altered("import pastchats_memory.memory as m, os; m.Memory.open = lambda *a, **k: os.abort()"),
    )
    yield "raises", program.altered("import pastchats_memory.memory as m; m.Memory.open = lambda *a, **k: 1 / 0")
    yield (
        "hangs",
        program.altered(
            f"import pastchats_memory.memory as m, time; m.Memory.open = lambda *a, **k: time.sleep({FOREVER_S})"
        ),
    )


@pytest.mark.parametrize("kind", ["missing", "text", "folder", "no model", "aborts", "raises", "hangs"])
def test_a_hook_ends_with_0_whatever_is_broken(hooked: Program, kind: str) -> None:
    if kind == "aborts" and "PASTCHATS_TESTS_BARE" in os.environ:
        pytest.skip("without a child, a library that aborts ends the hook")
    program = dict(broken(hooked.with_variables(PASTCHATS_MEMORY_HOOK_SECONDS="3")))[kind]
    status, _, stderr = run_hook(program, "UserPromptSubmit", {"session_id": "s", "prompt": PROMPT})
    assert (status, stderr) == (0, "")


def test_a_fault_is_logged_without_content(hooked: Program) -> None:
    program = dict(broken(hooked))["raises"]
    run_hook(program, "UserPromptSubmit", {"session_id": "s", "prompt": PROMPT})
    log = (hooked.home / "state" / "pastchats-memory" / "hooks.log").read_text(encoding="utf-8")
    assert "ZeroDivisionError" in log
    assert "webhook" not in log


def test_doctor_reports_when_each_agent_last_called_and_what_the_hook_did(hooked: Program) -> None:
    def find_checks() -> list[str]:
        return [one["detail"] for one in hooked("doctor", "--json").results if one["check"] == "hooks"]

    assert find_checks() == []
    hooked("install", "codex", "--yes")
    assert find_checks() == ["codex has not called a hook yet; they run from its next session on"]
    hooked("install", "claude-code", "--yes")
    for event, body, did in (
        ("UserPromptSubmit", {"session_id": "s", "prompt": "Build webhook retries with exponential backoff"}, "gave "),
        ("UserPromptSubmit", {"session_id": "s", "prompt": "yes"}, "stayed silent"),
        ("SessionEnd", {"session_id": "s"}, "asked for an index run"),
    ):
        assert run_hook(hooked, event, body)[0] == 0
        detail = find_checks()[0]
        assert detail.startswith(f"claude-code last called {event} at ")
        assert f": it {did}" in detail
    hooked("uninstall", "claude-code", "--yes")
    assert find_checks()[0].startswith("claude-code has no hook of ours in its settings; it last called SessionEnd at ")
    records = [file.read_text(encoding="utf-8") for file in (hooked.home / "state").rglob("calls/*")]
    assert len(records) == 1
    assert "webhook" not in records[0]


@pytest.mark.promise("text", "An event name cannot forge a line in the hook log.")
def test_a_name_of_a_caller_is_one_log_line(hooked: Program) -> None:
    for event in ("no\n2026-01-01T00:00:00+00:00\tforged", "\x1b[2J", os.fsdecode(b"\xff")):
        assert run_hook(hooked, event, {"prompt": PROMPT}) == (0, "", "")
    log = (hooked.home / "state" / "pastchats-memory" / "hooks.log").read_text(encoding="utf-8")
    assert [line.split("\t")[3] for line in log.splitlines()] == ["KeyError"] * 3
    assert log.replace("\n", "").replace("\t", "").isprintable()


def test_half_a_letter_in_a_session_s_name_costs_no_memory(hooked: Program) -> None:
    assert "full jitter" in context(hooked, {"session_id": "s\ud83d", "prompt": f"{PROMPT} \ud83d"})


def test_a_session_start_says_how_to_ask(hooked: Program) -> None:
    assert "pastchats-memory recall" in context(hooked, {"session_id": "s"}, "SessionStart")


def test_the_end_of_a_session_indexes_it_and_leaves_no_process(hooked: Program) -> None:
    transcript = write_messages(
        hooked.home / "new.jsonl", ("user", "Which port does the ledger use?"), ("assistant", "Port 7411.")
    )
    status, stdout, stderr = run_hook(hooked, "SessionEnd", {"session_id": "s", "transcript_path": str(transcript)})
    assert (status, stdout, stderr) == (0, "", "")
    wait_until(lambda: "7411" in hooked("search", "ledger port 7411", "--mode", "keyword", "--json").stdout)
    wait_until(lambda: not _background(transcript))


def test_sessions_that_end_at_once_are_all_indexed_by_one_process_at_a_time(hooked: Program) -> None:
    count = 6
    bodies = []
    for number in range(count):
        messages = (("user", f"Which port does ledger {number} use?"), ("assistant", f"Port 741{number}."))
        transcript = write_messages(hooked.home / f"ended-{number}.jsonl", *messages)
        bodies.append({"session_id": f"s{number}", "transcript_path": str(transcript)})
    before = hooked("status", "--json").results[0]["turns"]
    with ThreadPoolExecutor(count) as pool:
        assert {done[0] for done in pool.map(lambda body: run_hook(hooked, "SessionEnd", body), bodies)} == {0}
    wait_until(lambda: hooked("status", "--json").results[0]["turns"] == before + 2 * count)
    wait_until(lambda: not list((hooked.home / "state").rglob("waiting/*")))


def test_the_next_hook_fulfils_every_request_that_a_kill_left_waiting(
    hooked: Program,
) -> None:
    lost = write_messages(hooked.home / "lost.jsonl", ("user", "Where is the lost anchor?"), ("assistant", "Aft."))
    state = hooked.home / "state" / "pastchats-memory"
    spool.add(state, spool.IndexRequest("claude-code", hooked.environment["PASTCHATS_MEMORY_DB"], str(lost)))
    (state / "waiting" / "0.json").touch()  # as a machine leaves it that goes down before the disk has the words
    assert context(hooked, {"session_id": "s", "prompt": "yes, go on"}) == ""
    wait_until(lambda: "lost anchor" in hooked("search", "lost anchor", "--mode", "keyword", "--json").stdout)
    wait_until(lambda: "no request" in (state / "hooks.log").read_text(encoding="utf-8"))


def test_a_session_of_copilot_is_found_by_its_id_alone(hooked: Program) -> None:
    folder = hooked.home / ".copilot" / "session-state" / "c0ffee-1"
    folder.mkdir(parents=True)
    transcript = folder / "events.jsonl"
    sample = next((Path(__file__).parents[2] / "fixtures" / "copilot-cli").glob("*.jsonl"))
    transcript.write_bytes(sample.read_bytes())
    body = {"sessionId": "c0ffee-1", "timestamp": 1763800000000, "cwd": str(hooked.home), "reason": "complete"}
    before = hooked("status", "--json").results[0]["turns"]
    assert run_hook(hooked, "sessionEnd", {**body, "sessionId": "../c0ffee-1"}, "copilot")[0] == 0
    assert run_hook(hooked, "sessionEnd", body, "copilot") == (0, "", "")
    wait_until(lambda: hooked("status", "--json").results[0]["turns"] > before)


def _background(transcript: Path) -> list[str]:
    """Processes that still have to do with the transcript."""
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = process.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(transcript) in line:
            lines.append(line)
    return lines


def imported_modules(hooked: Program, prompt: str) -> set[bytes]:
    command = [sys.executable, "-X", "importtime", "-m", "pastchats_memory", "hook", "claude-code", "UserPromptSubmit"]
    body = json.dumps({"session_id": "s", "prompt": prompt}).encode()
    run = subprocess.run(command, input=body, cwd=hooked.home, env=hooked.environment, capture_output=True, check=True)
    return {line.rpartition(b"|")[2].strip() for line in run.stderr.splitlines()}


def test_a_prompt_that_only_steers_the_work_loads_no_pathlib(hooked: Program) -> None:
    assert b"pathlib" not in imported_modules(hooked, "yes, go on")
    assert b"pathlib" in imported_modules(hooked, "why do the webhook retries pile up?")


def test_a_prompt_that_one_conversation_clearly_answers_loads_no_numpy_and_no_model(hooked: Program) -> None:
    prompt = "fetch from the app to the API is blocked by CORS on the invoice page"
    imported = imported_modules(hooked, prompt)
    assert b"pastchats_memory.recall.entries" in imported
    assert not imported & {b"_hashlib", b"numpy", b"onnxruntime", b"tokenizers", b"pastchats_memory.memory", b"tomllib"}


@pytest.mark.parametrize(
    ("prompt", "is_asked"),
    [
        ("yes, go on", False),
        ("tune a Bösendorfer piano for the Elbphilharmonie", False),
        ("why do the webhook retries pile up?", True),
    ],
)
def test_a_prompt_without_known_names_loads_no_memory_and_no_numpy(
    hooked: Program, prompt: str, is_asked: bool
) -> None:
    imported = imported_modules(hooked, prompt)
    assert imported & {b"_hashlib", b"numpy", b"pastchats_memory.memory", b"click", b"pastchats_memory.cli"} == (
        {b"numpy", b"pastchats_memory.memory"} if is_asked else set()
    )


def test_a_prompt_that_names_nothing_known_loads_nothing_that_writes_a_block(hooked: Program) -> None:
    imported = imported_modules(hooked, "tune a Bösendorfer piano for the Elbphilharmonie")
    assert b"apsw" in imported
    heavy = {b"dataclasses", b"hashlib", b"orjson", b"pastchats_memory.model", b"pastchats_memory.hooks.block"}
    assert not imported & heavy


@pytest.fixture
def bare(hooked: Program) -> Program:
    """Return the program on a system without fork, fcntl and nice, such as Windows."""
    return hooked.with_variables(PASTCHATS_TESTS_SYSTEM="bare")


def test_without_forks_a_hook_gives_the_same_answer(hooked: Program, bare: Program) -> None:
    body = {"prompt": PROMPT, "cwd": str(hooked.home)}
    assert context(bare, {**body, "session_id": "s1"}) == context(hooked, {**body, "session_id": "s2"})


def test_without_forks_a_hook_ends_in_time_although_nobody_ends_its_input(bare: Program) -> None:
    quick = bare.with_variables(PASTCHATS_MEMORY_HOOK_SECONDS="0.3")
    with subprocess.Popen(
        [*quick.command, "hook", "claude-code", "UserPromptSubmit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=quick.environment, cwd=quick.home,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(HANG_S) == 0


def test_without_forks_a_fault_is_logged_and_costs_nobody_a_prompt(bare: Program) -> None:
    bare.database.write_bytes(b"no database")
    assert context(bare, {"session_id": "s1", "prompt": PROMPT}) == ""
    assert "corrupt" in (bare.home / "state" / "pastchats-memory" / "hooks.log").read_text(encoding="utf-8")


def test_without_forks_a_reported_session_is_indexed_in_the_background(bare: Program) -> None:
    transcript = write_messages(
        bare.home / "elsewhere.jsonl", ("user", "Where is the sundial?"), ("assistant", "Here.")
    )
    assert run_hook(bare, "SessionEnd", {"session_id": "s", "transcript_path": str(transcript)})[0] == 0
    wait_until(lambda: "sundial" in bare("search", "sundial", "--mode", "keyword", "--json").stdout)
