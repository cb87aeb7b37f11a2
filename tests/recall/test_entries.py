"""Which episodes get an entry of a recall block, in which order, and by what time and place each is known."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.model.episodes import RecallEntry

UPLOAD = "Uploading a photo of a tulip to the garden gallery is refused with 413, please fix it."
EDIT = ("tool", "$ sed -i s/1m/8m/ nginx.conf\n")
TRIED = ("assistant", "I raised the limit for photos of the gallery to 8 MB.")
STILL = ("user", "Still refused with 413 for a tulip photo")
LOST = ("assistant", "Then I do not know what refuses a photo in the gallery.")


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


def index(memory: Memory, folder: Path, *conversations: tuple[tuple[str, str], ...], failed: str | None = None) -> None:
    """Indexes the conversations; the turn that says what failed is told as an error."""
    for day, turns in enumerate(conversations, start=1):
        lines = (
            {
                "conversation_id": f"c{day}", "project": "garden", "role": role, "content": text,
                "timestamp": f"2026-05-{day:02}T08:{minute:02}:07.000Z",
                "is_error": text == failed,
            }
            for minute, (role, text) in enumerate(turns)
        )  # fmt: skip
        folder.mkdir(exist_ok=True)
        (folder / f"c{day}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    memory.index([folder])


def entries(memory: Memory, query: str = "tulip photo upload refused 413") -> tuple[RecallEntry, ...]:
    return memory.recall(query, 3000).entries


def test_a_mere_judgement_gets_no_entry_of_its_own(memory: Memory, tmp_path: Path) -> None:
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, STILL, LOST))
    (entry,) = entries(memory)
    assert (entry.asked, entry.outcome.shown_by) == (UPLOAD, STILL[1])


def test_a_note_that_belongs_to_no_conversation_gets_an_entry(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "uploads.md"
    path.write_text(
        "# Uploads\n\nA tulip photo was refused with 413 until nginx took an upload of 8 MB.\n", encoding="utf-8"
    )
    memory.index([path])
    (entry,) = entries(memory)
    assert (entry.hit.type, entry.hit.conversation_id) == ("note", None)


@pytest.mark.parametrize(
    "answer",
    [
        ("assistant", "The real cause is client_max_body_size."),
        ("assistant", f"I looked further. {'It passes nginx now, and the application behind it takes less. ' * 3}"),
        ("tool", "$ sed -i s/2m/16m/ app.toml\n"),
    ],
    ids=["of the question", "long", "done"],
)
def test_an_answer_to_a_judgement_is_not_lost(memory: Memory, tmp_path: Path, answer: tuple[str, str]) -> None:
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, STILL, answer, ("assistant", "See there.")))
    text = entries(memory, "tulip photo upload refused 413 client_max_body_size")
    assert any(answer[1].strip()[:20] in f"{entry.answered} {entry.done}" for entry in text)


def test_a_matching_answer_is_not_replaced_by_an_earlier_failure(memory: Memory, tmp_path: Path) -> None:
    cause = ("assistant", "The real cause is client_max_body_size.")
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, ("user", "No, still broken."), cause))
    first = entries(memory, "client_max_body_size upload of a photo")[0]
    assert (first.answered, [one.asked for one in first.before]) == (cause[1], [UPLOAD])


def test_an_attempt_whose_command_failed_is_not_quoted_as_the_answer(memory: Memory, tmp_path: Path) -> None:
    plan = ("assistant", "I raise the limit for a photo of the gallery to 2 MB, so no upload is refused with 413.")
    check = ("tool", "$ make upload\n413 Request Entity Too Large")
    cause = ("assistant", "The proxy refuses a photo, too. Its limit is 8 MB now, as for the upload.")
    index(
        memory,
        tmp_path / "history",
        (("user", UPLOAD), plan, check, cause, ("user", "Thanks, it works.")),
        failed=check[1],
    )
    assert entries(memory)[0].answered == cause[1]


def test_the_last_answer_is_quoted_if_it_has_few_words_of_the_question(memory: Memory, tmp_path: Path) -> None:
    conclusion = ("assistant", "40 of 40 pass. The cause was `client_max_body_size` in the second server block.")
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, conclusion, ("user", "Thanks, it works.")))
    assert entries(memory)[0].answered == f"{conclusion[1]}\n{TRIED[1]}"


PLAN = f"1. Read nginx.conf. 2. Fix: {UPLOAD}"


@pytest.mark.parametrize(("answers", "answered"), [((), PLAN), ((TRIED,), TRIED[1])], ids=["alone", "answered"])
def test_a_plan_does_not_take_the_place_of_an_answer(
    memory: Memory, tmp_path: Path, answers: tuple[tuple[str, str], ...], answered: str
) -> None:
    call = [{"type": "tool_use", "id": "plan", "name": "ExitPlanMode", "input": {"plan": PLAN}}]
    approval = [{"type": "tool_result", "tool_use_id": "plan", "content": "User has approved your plan."}]
    messages = (("user", UPLOAD), ("assistant", call), ("user", approval), *answers)
    lines = (
        {
            "type": role, "uuid": f"u{number}", "sessionId": "tulip", "cwd": "/home/ada/garden",
            "timestamp": f"2026-05-01T08:{number:02}:07.000Z",
            "message": {"role": role, "id": f"m{number}", "content": content},
        }
        for number, (role, content) in enumerate(messages)
    )  # fmt: skip
    (tmp_path / "tulip.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    memory.index([tmp_path / "tulip.jsonl"])
    (entry,) = entries(memory)
    assert entry.answered == answered


def test_a_judgement_with_a_request_keeps_its_entry(memory: Memory, tmp_path: Path) -> None:
    further = ("user", f"{STILL[1]}. Add a test for the upload of a tulip photo.")
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, further, LOST))
    assert further[1] in {entry.asked for entry in entries(memory)}


CHECK = "$ npx vitest run gallery.spec.ts"
FAILED = (
    ("user", "The tulip photo upload is refused with 413 in gallery.spec.ts"),
    ("tool", f"{CHECK}\n1 failed, 3 passed"),
    ("assistant", "I tried it with a smaller photo of a tulip. gallery.spec.ts is still refused with 413."),
    ("user", "no, still refused"),
    ("assistant", "Sorry."),
)
WORKED = (
    ("user", "Which proxy stands before the gallery, does it answer 413 where a photo of a tulip is uploaded?"),
    ("assistant", "It was the proxy that refused an upload of a tulip photo with 413; its limit is 8 MB now."),
    ("tool", f"{CHECK}\nTests  4 passed (4)"),
    ("user", "works, thanks"),
)


@pytest.mark.parametrize("failed", [None, FAILED[1][1]], ids=["result", "error"])
def test_the_later_attempt_that_worked_leads_the_only_entry(memory: Memory, tmp_path: Path, failed: str | None) -> None:
    index(memory, tmp_path / "history", FAILED, WORKED, failed=failed)
    (entry,) = entries(memory)
    assert (entry.outcome.verdict, [one.outcome for one in entry.before]) == ("worked", ["failed"])


CHAIN = (
    ("user", "The tulip photo upload is refused with 413, why?"),
    ("assistant", "The refused upload of a tulip photo: nginx has a limit of 1 MB, and I raised it to 8 MB."),
    ("user", "No, the tulip photo upload is still refused with 413."),
    ("assistant", "Then the proxy before nginx refuses a tulip photo with 413; which one is it?"),
    ("user", "The proxy is Caddy, and its limit refuses the upload of a tulip photo with 413."),
    ("assistant", "I set `max_size 8MB` for Caddy, so that it accepts the tulip photo upload that got a 413."),
    ("user", "works, thanks"),
)


def test_attempts_that_follow_each_other_are_one_entry_led_by_the_success(memory: Memory, tmp_path: Path) -> None:
    index(memory, tmp_path / "history", CHAIN)
    first = entries(memory)[0]
    assert (first.outcome.verdict, first.asked) == ("worked", CHAIN[4][1])
    assert (first.before[0].asked, first.before[0].outcome) == (CHAIN[0][1], "failed")
    assert len(entries(memory)) == 1


def test_a_thread_that_went_on_to_other_things_shows_the_lines_that_answer_the_question(
    memory: Memory, tmp_path: Path
) -> None:
    answer = "nginx refuses a photo above 1 MB.\nSet `client_max_body_size` to 8m for a tulip photo."
    turns = (("user", UPLOAD), ("assistant", answer), ("user", "and can it be sorted?"), ("assistant", "By date, yes."))
    index(memory, tmp_path / "history", turns)
    text = memory.recall("tulip photo upload refused 413", 1500).text
    assert text.index("> Set `client_max_body_size` to 8m for a tulip photo.") < text.index("Ended:\n> By date, yes.")


def test_an_end_that_is_about_the_question_too_comes_first(memory: Memory, tmp_path: Path) -> None:
    answer = "nginx refuses a photo above 1 MB.\nSet `client_max_body_size` to 8m for a tulip photo."
    later = "Yes, the upload of a tulip photo is refused with 413 only above 8 MB."
    turns = (("user", UPLOAD), ("assistant", answer), ("user", "and can admins do it?"), ("assistant", later))
    index(memory, tmp_path / "history", turns)
    text = memory.recall("Uploading a photo of a tulip is refused with 413", 1500).text
    assert text.index(f"Ended:\n> {later}") < text.index("Before it")


def test_a_rejected_attempt_that_matched_stays_on_one_line(memory: Memory, tmp_path: Path) -> None:
    answer = "nginx refuses a photo.\nI set `client_max_body_size` to 2m for a tulip photo."
    index(memory, tmp_path / "history", (("user", UPLOAD), ("assistant", answer), STILL, TRIED))
    (entry,) = entries(memory)
    assert [one.is_match for one in entry.before] == [False]


def test_a_small_budget_keeps_the_success_of_a_thread(memory: Memory, tmp_path: Path) -> None:
    index(memory, tmp_path / "history", CHAIN)
    assert "max_size" in memory.recall("tulip photo upload refused 413", 260).text


FAILING, PASSING = (
    "$ pytest tests/upload.py -x\nExit code 1\n1 failed",
    "$ pytest tests/upload.py -q\n3 passed in 0.20s",
)
CAUSE = ("assistant", "The request stops at nginx, which allows 1 MB, so the photo of a tulip is refused with 413.")
OTHER = "$ pytest tests/roses.py -q\n3 passed in 0.20s"
RAISE = "Set client_max_body_size in the edge configuration of the staging cluster to eight megabytes, like the gateway has it."


@pytest.mark.parametrize(
    ("run", "has_worked"), [(PASSING, True), (OTHER, False)], ids=["the same file", "another file"]
)
def test_an_undecided_diagnosis_leads_to_the_later_episode_that_repaired_its_command(
    memory: Memory, tmp_path: Path, run: str, has_worked: bool
) -> None:
    turns = (
        ("user", UPLOAD), ("tool", FAILING), CAUSE, ("user", RAISE), ("assistant", "It stands in edge.conf, line 3, next to the timeout. I raised client_max_body_size to 8m."), ("tool", run), ("assistant", "It passes."),
    )  # fmt: skip
    index(memory, tmp_path / "history", turns, failed=FAILING)
    (entry, *_) = memory.recall(UPLOAD, 3000).entries
    assert UPLOAD.startswith(entry.title.rstrip("…"))
    assert (entry.asked == RAISE) is has_worked


def test_everything_that_an_entry_shows_counts_as_given(memory: Memory, tmp_path: Path) -> None:
    index(memory, tmp_path / "history", CHAIN)
    (entry,) = entries(memory)
    assert memory.recall("tulip photo upload refused 413", 3000, given=entry.ids).entries == ()


def test_an_answer_to_a_complaint_keeps_its_entry(memory: Memory, tmp_path: Path) -> None:
    cause = "The real cause is visibility_timeout: the queue hands a tulip out again after 30 s, while the upload takes 40. It is 90 now."
    messages = (
        ("user", "The upload worker sends every tulip twice, please find out why."),
        ("assistant", "I put a lock around the upload of a tulip."),
        ("user", "No, still broken after a restart."),
        ("assistant", cause),
    )
    index(memory, tmp_path / "history", messages)
    assert any(
        "visibility_timeout" in entry.answered for entry in entries(memory, "visibility_timeout of the upload queue")
    )


def test_a_tool_output_that_only_shares_a_word_gets_no_entry(memory: Memory, tmp_path: Path) -> None:
    decided = (("user", "Should we use yarn or pnpm in the garden?"), ("assistant", "Pnpm: yarn has no strict mode."))
    ran = tuple(
        (("user", f"Colour the {plant}."), ("tool", "$ pnpm test\nTests  143 passed (143)"), ("assistant", "Coloured."))
        for plant in ("tulip", "daisy", "crocus")
    )
    index(memory, tmp_path / "history", decided, *ran)
    assert [entry.asked for entry in entries(memory, "yarn or pnpm")] == [decided[0][1]]


def test_an_episode_has_one_time_and_one_source_whichever_turn_of_it_matched(memory: Memory, tmp_path: Path) -> None:
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, ("user", "works, thanks")))
    asked = memory.recall("uploading a photo of a tulip to the garden gallery is refused")
    answered = memory.recall("raised the limit for photos of the gallery to 8 MB")
    assert [block.entries[0].hit.role for block in (asked, answered)] == ["user", "assistant"]
    for block in (asked, answered):
        assert re.search(r"^## 1\. Uploading .* · garden · 2026-05-01 \d\d:00 · worked$", block.text, re.MULTILINE)
        assert re.search(r"^Source: .*c1\.jsonl:1 \(turn 0\) · id 1\b", block.text, re.MULTILINE)
    assert answered.text.endswith("; matched: line 3 · id 3 · resume 1\n")


@pytest.mark.parametrize("budget", [1, 60])
def test_the_suggested_budget_is_sufficient(memory: Memory, tmp_path: Path, budget: int) -> None:
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED))
    small = memory.recall("tulip photo upload refused 413", budget)
    assert small.entries == ()
    assert budget == 1 or f"a budget of {small.least} would hold one" in small.text
    enough = memory.recall("tulip photo upload refused 413", small.least)
    assert (len(enough.entries), enough.least) == (1, 0)


def test_a_budget_without_room_does_not_claim_an_empty_result(program, tmp_path: Path) -> None:
    with Memory.open(program.database) as memory:
        index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED))
    run = program("recall", "tulip photo upload refused 413", "--budget", "5")
    assert (run.status, run.stdout) == (1, "")
    assert re.search(r"a budget of 5 tokens is too small for any entry; --budget \d+ is enough", run.stderr)


@pytest.mark.parametrize(
    "raw",
    [
        'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        '[API Error: [{\n  "error": {\n    "code": 529,\n    "message": "Overloaded",\n    "status": "UNAVAILABLE"\n  }\n}\n]]',
    ],
    ids=["one line", "several lines"],
)
def test_a_cut_session_shows_the_last_request_and_the_message_of_the_service(
    memory: Memory, tmp_path: Path, raw: str
) -> None:
    request = ("user", "Also refuse a tulip photo above 20 MB in the gallery, and test the upload.")
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, request, ("assistant", raw)))
    shown = memory.recall("tulip photo upload refused 413", 3000).text
    assert request[1] in shown
    assert "API Error: Overloaded" in shown
    assert "{" not in shown


def record(number: int, kind: str, content: object) -> dict[str, object]:
    """Return a record of a Claude Code session."""
    return {
        "type": kind, "sessionId": "7d0a", "cwd": "/home/ada/garden", "isSidechain": False, "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None, "timestamp": f"2026-05-01T08:0{number}:00Z",
        "message": {"id": f"m{number}", "role": kind, "content": content},
    }  # fmt: skip


def index_records(memory: Memory, path: Path, records: Sequence[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    memory.index([path])


def test_edits_without_words_are_an_attempt(memory: Memory, tmp_path: Path) -> None:
    change = {"file_path": "/home/ada/garden/nginx.conf", "old_string": "1m", "new_string": "4m"}
    records = [
        record(0, "user", UPLOAD),
        record(1, "assistant", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": change}]),
        record(2, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "The file has been updated."}]),
        record(3, "user", STILL[1]),
        record(4, "assistant", [{"type": "text", "text": TRIED[1]}]),
    ]
    index_records(memory, tmp_path / "7d0a.jsonl", records)
    (entry,) = entries(memory)
    assert [(one.asked, one.answered, one.outcome) for one in entry.before] == [(UPLOAD, "nginx.conf", "failed")]


def test_a_mere_commit_is_no_end_of_a_thread(memory: Memory, tmp_path: Path) -> None:
    commit = (("user", "Commit it."), ("tool", "$ git commit -am Gallery\n[main 1a2b3c4] Gallery"), ("assistant", "Committed."))  # fmt: skip
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, *commit))
    (entry,) = entries(memory)
    assert (entry.asked, entry.answered) == (UPLOAD, TRIED[1])


def test_a_note_of_the_result_in_a_document_is_no_end_of_a_thread(memory: Memory, tmp_path: Path) -> None:
    change = {"file_path": "/home/ada/garden/docs/runbook.md", "old_string": "1 MB", "new_string": "8 MB"}
    records = [
        record(0, "user", UPLOAD),
        record(1, "assistant", [{"type": "text", "text": TRIED[1]}]),
        record(2, "user", "The tulip photo is there. Note the limit in the runbook."),
        record(3, "assistant", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": change}]),
        record(4, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "The file has been updated."}]),
        record(5, "assistant", [{"type": "text", "text": "The runbook has it."}]),
    ]
    index_records(memory, tmp_path / "7d0a.jsonl", records)
    (entry,) = entries(memory)
    assert (entry.asked, entry.answered) == (UPLOAD, TRIED[1])


@pytest.mark.parametrize("budget", [240, 270, 340])
def test_the_short_form_keeps_the_last_request(memory: Memory, tmp_path: Path, budget: int) -> None:
    request = "Also refuse a tulip photo above 20 MB in the gallery, and test the upload."
    done = (
        "Photos above 20 MB are refused now. The check reads the header. It runs before the body arrives. A bench of roses "
        "and one of lilies pass. The proxy logs each refusal with its size. The page names the limit beside the button. The "
        "mail to the gardener links the page. The old limit is gone from the manual. The spec covers both sides."
    )
    index(memory, tmp_path / "history", (("user", UPLOAD), EDIT, TRIED, ("user", request), ("assistant", done)))
    short = memory.recall("tulip photo upload refused 413", budget)
    assert short.entries[0].is_short
    assert request in short.text
