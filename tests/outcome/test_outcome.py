"""What shows how an episode ended, signal by signal, and which of two signals wins."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pastchats_memory.outcome import UNKNOWN, Row, TaskChange, outcome_of

ASKED = Row("user", "prompt", "Make the login test pass, it is flaky since Monday.")
GREEN = Row("tool", "result", "$ pytest -q\n............\n12 passed in 0.81s")
RED = Row(
    "tool", "error", "$ pytest -q\nExit code 1\nFAILED tests/test_login.py::test_flaky\n1 failed, 11 passed in 0.90s"
)
LOOKING = Row("assistant", "answer", "The clock is read twice, let me look at it.")
ANSWER = Row("assistant", "answer", "The clock was read twice in that test, which is why it failed at midnight.")
DONE = Row("assistant", "answer", "Fixed: the clock is read once.")


def verdict(*turns: Row, following: str = "") -> str:
    return outcome_of((ASKED, *turns), following).verdict


def test_an_answer_that_nothing_follows_is_unknown() -> None:
    assert outcome_of((ASKED, ANSWER)) == UNKNOWN


@pytest.mark.parametrize(
    "words",
    [
        "thanks!",
        "Perfect, now the other one",
        "ok great, that works",
        "it works now",
        "commit!",
        "danke",
        "gracias",
        "可以，开始实施",
        "спасибо, работает",
    ],
)
def test_words_that_accept_are_worked(words: str) -> None:
    assert verdict(ANSWER, following=words) == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "still broken",
        "no, that is wrong",
        "it doesn't work",
        "that did not fix it",
        "undo that",
        "same error as before",
        "thanks, but it still fails",
        "great, another crash",
        "Deployed to staging. I stopped the receiver for a minute, and it fell over at once.",
        "funktioniert nicht",
        "no funciona",
        "не работает",
        "还是报错",
    ],
)
def test_words_that_reject_are_failed(words: str) -> None:
    assert verdict(ANSWER, following=words) == "failed"


@pytest.mark.parametrize("words", ["Which port does the server use?", "the README is in docs", "no problem", "A"])
def test_words_that_say_neither_are_unknown(words: str) -> None:
    assert verdict(ANSWER, following=words) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "wow, it actually worked",
        "this is a useful summary, thanks",
        "that looks good",
        "now everything works",
        "works like a charm",
        "/diff\n/add app.py\nperfect",
        "git commit -am 'fix the clock'",
        "push it to main",
        "merci, ça marche",
    ],
)
def test_praise_and_a_commit_by_the_person_are_worked(words: str) -> None:
    assert verdict(ANSWER, following=words) == "worked"


@pytest.mark.parametrize(
    "words",
    [
        "/diff\n/undo",
        "git checkout -- app.py",
        "please revert that",
        "it still does not load",
        "this did not solve the problem",
        "that threw an error: undefined is not a function",
        "now I get a new exception",
        "everything is broken now",
        "not true",
        "are you sure? you are saying the same things repeatedly",
        "nothing happens when I click",
        "i cant see it",
        "perfect, but it still crashes",
        "ok. uh. no. it runs on another branch",
        "great job breaking the build, wonderful, another crash",
        "всё ещё не работает",
        "ne marche pas",
    ],
)
def test_words_that_say_it_does_not_work_are_failed(words: str) -> None:
    assert verdict(ANSWER, following=words) == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "no, I meant the other test",
        "you forgot the second file",
        "don't use a mock there",
        "this is not correct for leap years",
        "we don't want a retry in there",
    ],
)
def test_a_correction_of_work_in_sight_is_mixed(words: str) -> None:
    assert verdict(LOOKING, GREEN, DONE, following=words) == "mixed"


@pytest.mark.parametrize("words", ["the gradient is a little too much", "good, but the margin is off", "not quite"])
def test_words_that_find_it_there_but_not_right_are_mixed(words: str) -> None:
    assert verdict(ANSWER, following=words) == "mixed"


@pytest.mark.parametrize(
    "words",
    [
        "why is it slower in ci?",
        "hmm",
        "3 more",
        "there is an error in the log",
        "where is the file?",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
    ],
)
def test_doubt_takes_the_weight_from_a_claim(words: str) -> None:
    assert verdict(LOOKING, DONE) == "worked"
    assert verdict(LOOKING, DONE, following=words) == "unknown"


def test_a_new_and_long_request_is_no_doubt() -> None:
    assert verdict(LOOKING, DONE, following="Review of the change\n\n1. A bug remains in the parser.") == "worked"


def test_a_yes_to_leave_or_to_an_offered_fix_shows_nothing() -> None:
    leave = Row("assistant", "answer", "I would rename three files. I need your permission to write.")
    offer = Row("assistant", "answer", "The clock is read twice. Would you like me to fix it?")
    plan = Row("assistant", "answer", f"{'First the schema, then the migration. ' * 9}Does this order work?")
    assert verdict(leave, following="yes") == "unknown"
    assert verdict(offer, following="yes please") == "unknown"
    assert verdict(plan, following="yes") == "worked"


def test_what_the_person_did_as_asked_is_no_praise() -> None:
    ask = Row("assistant", "answer", "Please run `npm install` and try again.")
    assert verdict(ask, following="done") == "unknown"
    assert verdict(ask, following="done, it works") == "worked"


@pytest.mark.parametrize(
    "claim",
    [
        "Nothing has been pushed to it.",
        "Once the migration is applied, the column is there.",
        "The test is not fixed.",
        "I'll get this fixed now.",
    ],
)
def test_what_is_denied_conditional_or_announced_is_no_claim(claim: str) -> None:
    assert verdict(LOOKING, Row("assistant", "answer", claim)) == "unknown"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("$ pytest -q\n12 passed in 0.81s", "worked"),
        ("$ go test ./...\n--- FAIL: TestTotal (0.00s)\nFAIL", "failed"),
        ("$ cargo build 2>&1 | tail\nerror[E0382]: borrow of moved value", "failed"),
        ("$ npx tsc --noEmit; echo EXIT=$?\nEXIT=0", "worked"),
        ("$ npx tsc --noEmit\nsrc/a.ts(3,1): error TS2322: Type", "failed"),
        ("$ npm run build\n> shop@1.0.0 build", "worked"),
        ("$ npm run build | tail -1\n> shop@1.0.0 build", "unknown"),
    ],
)
def test_the_result_of_a_check_decides_where_nobody_says_anything(output: str, expected: str) -> None:
    told = Row("assistant", "answer", "That is how the test fails or passes in the middle of the night.")
    assert verdict(LOOKING, Row("tool", "result", output), told) == expected


def test_each_kind_of_check_counts_by_its_last_run() -> None:
    lint = Row("tool", "result", "$ ruff check .\nAll checks passed!")
    told = Row("assistant", "answer", "The names are in order, and the list is sorted.")
    assert verdict(RED, lint, told) == "unknown"
    assert verdict(RED, lint, GREEN, told) == "worked"


def test_an_edit_after_a_red_check_gives_a_claim_its_weight_back() -> None:
    edit = Row("assistant", "answer", "Let me mend it.", {"tools": ("Edit app.py",)})
    assert verdict(LOOKING, edit, RED, DONE) == "unknown"
    assert verdict(LOOKING, RED, edit, DONE) == "worked"


def test_the_last_check_beats_earlier_ones() -> None:
    assert verdict(RED, LOOKING, RED, GREEN, ANSWER) == "worked"
    assert verdict(GREEN, LOOKING, RED, ANSWER) == "failed"


def test_a_failing_grep_is_no_check() -> None:
    assert verdict(Row("tool", "error", "$ grep -n todo app.py\nExit code 1"), ANSWER) == "unknown"


def test_the_persons_words_beat_the_check() -> None:
    assert verdict(RED, ANSWER, following="works, thanks") == "worked"
    assert verdict(GREEN, DONE, following="it still fails on my machine") == "failed"
    assert verdict(GREEN, DONE, following="you forgot the second test") == "mixed"


def test_the_same_prompt_again_is_failed() -> None:
    assert verdict(ANSWER, following=ASKED.content) == "failed"
    assert verdict(ANSWER, following=f"{ASKED.content} It is the one with the clock.") == "failed"
    assert verdict(ANSWER, following=ASKED.content.replace("login", "logout")) == "unknown"
    assert outcome_of((Row("user", "prompt", "yes"), ANSWER), "yes").verdict == "worked"


def test_a_pasted_error_of_the_recommended_command_is_failed() -> None:
    advice = Row("assistant", "answer", "Run `npm run dev` in another terminal.")
    pasted = "(venv) mira@home shop % npm run dev\nnpm error Missing script: dev"
    assert verdict(advice, following=pasted) == "failed"
    assert verdict(advice, following="mira@home % docker ps\nError: no daemon") == "unknown"


def test_an_error_that_nobody_answered_is_failed() -> None:
    assert verdict(LOOKING, Row("tool", "error", "Traceback (most recent call last):\nKeyError: 'x'")) == "failed"


def test_prose_about_interruptions_is_none() -> None:
    prose = f"{'The loop runs until the queue is empty. ' * 9}A KeyboardInterrupt ends it."
    assert verdict(Row("assistant", "answer", prose)) == "unknown"
    assert verdict(Row("assistant", "answer", "API Error: 529 overloaded_error")) == "failed"
    assert verdict(ANSWER, Row("tool", "error", "Traceback (most recent call last):\n^C KeyboardInterrupt")) == "failed"
    assert verdict(ANSWER, Row("tool", "error", "^C again to exit\n\n^C KeyboardInterrupt")) == "unknown"


def test_an_interruption_is_failed_unless_it_was_done_before() -> None:
    flagged = {"flags": ("interrupted",), "tools": ("Read app.py",)}
    assert verdict(LOOKING, Row("assistant", "answer", "Let me read on.", flagged)) == "failed"
    assert verdict(LOOKING, Row("assistant", "answer", "Fixed both places.", flagged)) == "worked"


def test_an_answer_torn_in_the_middle_of_a_block_is_no_end() -> None:
    whole = "app.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```"
    torn = f"{whole}\n\nshop.py\n```python\n<<<<<<< SEARCH\na"
    applied = {"files": ("app.py",)}
    assert verdict(Row("assistant", "answer", whole, applied)) == "worked"
    assert verdict(Row("assistant", "answer", torn)) == "failed"
    assert verdict(Row("assistant", "answer", whole, {**applied, "flags": ("interrupted",)})) == "worked"
    assert verdict(Row("assistant", "answer", torn), following="thanks, that was enough") == "worked"


def test_a_commit_and_an_edit_in_sight_are_worked() -> None:
    assert verdict(Row("assistant", "answer", "Renamed it.", {"commits": ("6dec692",)})) == "worked"
    block = "app.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    applied = Row("assistant", "answer", block, {"files": ("app.py",)})
    unmatched = Row("tool", "error", "# 1 block failed to match!")
    assert verdict(Row("assistant", "answer", block)) == "unknown"
    assert verdict(applied) == "worked"
    assert verdict(Row("assistant", "answer", block), unmatched) == "failed"
    assert verdict(Row("assistant", "answer", block, {"commits": ("6dec692",)}), unmatched) != "worked"


def test_a_claim_at_the_end_counts_too() -> None:
    told = f"{'The clock was read twice in that test. ' * 20}The change was applied successfully."
    assert verdict(LOOKING, Row("assistant", "answer", told)) == "worked"


def test_a_claim_counts_only_where_steps_are_in_sight() -> None:
    assert verdict(DONE) == "unknown"
    assert verdict(LOOKING, DONE) == "worked"
    assert (
        verdict(LOOKING, Row("assistant", "answer", "Fixed the first. Still waiting on the second one.")) == "unknown"
    )


@pytest.mark.parametrize(
    ("tools", "then", "expected"),
    [
        (("Edit app.py",), (), "worked"),
        (("apply_patch app.py",), (), "worked"),
        (("Read app.py",), (), "unknown"),
        (("Bash git commit -m 'Read the clock once'",), (), "worked"),
        (("Bash git push",), (Row("tool", "error", "$ git push\nrejected: non-fast-forward"),), "unknown"),
        (("Bash gh pr create --fill",), (), "worked"),
    ],
)
def test_what_tools_did_counts_where_no_error_follows(
    tools: tuple[str, ...], then: tuple[Row, ...], expected: str
) -> None:
    step = Row("assistant", "answer", "On with it.", {"tools": tools})
    assert verdict(step, *then, Row("assistant", "answer", "The clock is read in one place.")) == expected


def test_a_task_that_was_completed_or_got_stuck_tells_the_end() -> None:
    def ended(*changes: TaskChange) -> str:
        return outcome_of((ASKED, LOOKING, ANSWER), tasks=changes).verdict

    assert ended(TaskChange("Make the login test pass", "completed")) == "worked"
    assert ended(TaskChange("Make the login test pass", "blocked")) == "failed"
    assert ended(TaskChange("Make the login test pass", "in_progress")) == "unknown"


def test_an_admission_is_failed_and_beside_a_result_mixed() -> None:
    admission = Row("assistant", "answer", "I could not reproduce it.")
    assert verdict(admission) == "failed"
    assert verdict(GREEN, Row("assistant", "answer", "I can't test the upload itself.")) == "mixed"


def test_the_evidence_names_the_line_and_the_turn() -> None:
    (shown,) = outcome_of((ASKED, LOOKING, GREEN, ANSWER)).evidence
    assert (shown.quotation, shown.place) == ("12 passed in 0.81s", 2)
    (said,) = outcome_of((ASKED, ANSWER), "Thanks!\nAnd the port?").evidence
    assert (said.quotation, said.place) == ("Thanks!", 2)


def test_no_pattern_is_compiled_before_the_first_outcome() -> None:
    code = (
        "import re; made = []; compile_ = re._compiler.compile\n"
        "re._compiler.compile = lambda p, f=0: made.append(p) or compile_(p, f)\n"
        "import pastchats_memory.outcome as o; loaded = sum(len(p) > 400 for p in made)\n"
        "o.outcome_of((o.Row('user', 'prompt', 'a'), o.Row('assistant', 'answer', 'b')), 'no')\n"
        "print(loaded, sum(len(p) > 400 for p in made))"
    )
    loaded, after = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    ).stdout.split()
    assert int(loaded) == 0 < int(after)


def test_hostile_texts_cost_no_more_than_their_length() -> None:
    for piece in ("<<<<<<< SEARCH\n", "$ % $ % ", "a: ", "still ", "1 ", "x" * 50 + "\n"):
        text = piece * (400_000 // len(piece))
        outcome_of((ASKED, Row("tool", "result", f"$ pytest\n{text}"), Row("assistant", "answer", text)), text)


def test_a_command_that_failed_last_is_failed_where_the_answer_says_what_hinders() -> None:
    asked = Row("user", "prompt", "Deploy it to staging.")
    red = Row("tool", "error", "$ fly deploy\nExit code 1\nError: not enough memory on builder")
    tools = {"tools": ("Write Dockerfile", "Bash fly deploy")}
    hindered = Row("assistant", "answer", "The builder can't get the memory that it needs.", tools)
    found = outcome_of((asked, red, hindered))
    assert (found.verdict, found.evidence[0].quotation) == ("failed", "Error: not enough memory on builder")
    mended = Row("tool", "result", "$ fly deploy\nMachine update succeeded")
    assert outcome_of((asked, red, mended, hindered)).verdict != "failed"
    retried = Row(
        "assistant", "answer", "It can't deploy there.", {"tools": ("Bash fly deploy", "Bash fly deploy -r ams")}
    )
    assert outcome_of((asked, red, retried)).verdict == "unknown"
    question = Row("user", "prompt", "Why does the deploy fail?")
    assert outcome_of((question, red, hindered)).verdict == "unknown"


def test_a_red_check_that_was_asked_for_is_no_failure() -> None:
    asked = Row("user", "prompt", "The login test fails one run in six. Find out why it is flaky.")
    told = Row("assistant", "answer", "Five of thirty fail: the limiter answers 429 when two workers share a user.")
    assert outcome_of((asked, RED, told)).verdict == "unknown"
    assert outcome_of((ASKED, RED, told)).verdict == "failed"


def test_an_edit_counts_as_after_a_red_check_by_the_order_of_the_calls() -> None:
    told = "Two tests contradict each other, and I left both as they are."
    before = Row("assistant", "answer", told, {"tools": ("Edit app.py", "Bash pytest -q")})
    after = Row("assistant", "answer", told, {"tools": ("Bash pytest -q", "Edit app.py")})
    assert verdict(RED, before) == "failed"
    assert verdict(RED, after) == "worked"


def test_a_push_that_was_refused_is_no_commit() -> None:
    refused = Row("tool", "error", "$ git push\nExit code 1\nerror: failed to push some refs")
    asks = Row("assistant", "answer", "The remote has newer commits.", {"tools": ("Bash git push",)})
    assert outcome_of((Row("user", "prompt", "push it"), refused, asks)).verdict == "unknown"


def test_an_edit_that_the_person_refused_was_not_made() -> None:
    flags = {"tools": ("Edit app.py",), "flags": ("interrupted",)}
    refused = Row("assistant", "answer", "This touches fourteen files, app.py first.", flags)
    assert verdict(refused, following="no. small steps, please") == "failed"


def test_a_prompt_that_got_no_answer_is_failed() -> None:
    stopped = Row("user", "prompt", "Speed up the start.", {"flags": ("interrupted",)})
    assert outcome_of((stopped,)).verdict == "failed"
    assert outcome_of((Row("user", "prompt", "Speed up the start."),)).verdict == "unknown"
    assert outcome_of((Row("system", "summary", "The start was to be faster."),)) == UNKNOWN


def test_an_error_that_names_what_was_asked_for_or_made_is_failed() -> None:
    asked = Row("user", "prompt", "Add a --dry-run flag.")
    made = Row("assistant", "answer", "It prints what would be done.", {"files": ("cmd/backup.sh",)})
    for error in ("flag provided but not defined: -dry-run", "backup.sh: line 3: syntax error: unexpected `('"):
        assert outcome_of((asked, made), error).verdict == "failed"
    assert outcome_of((asked, made), "Error: cannot reach the database").verdict == "unknown"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("it's 3x slower now, thanks", "mixed"),
        ("wow thanks, it's 3x slower now", "failed"),
        ("no no no. keep the store for tests", "failed"),
        ("that's the wrong file", "failed"),
        ("failed again on CI just now", "failed"),
        ("looks exactly the same to me", "failed"),
        ("there's still 12 of them", "failed"),
        ("did that, rebooted, same thing", "failed"),
        ("too clever. go back to what it was", "failed"),
        ("reverted, this locked out the office", "failed"),
        ("it closes now but it also clears the form", "mixed"),
        ("ok pushed it, QA says the crash is gone", "worked"),
        ("no more errors, cheers", "worked"),
        ("prod is back up", "worked"),
        ("ah, that makes sense. add a check for it", "worked"),
        ("you're right!", "worked"),
        ("できました、ありがとうございます", "worked"),
        ("deu certo, obrigado!", "worked"),
        ("エラーになります", "failed"),
        ("remote ist es noch da, geht immer noch nicht", "failed"),
        ("is it still used anywhere?", "unknown"),
        ("I don't see any problem with it", "unknown"),
        ("Let's not rush to conclusions.", "unknown"),
    ],
)
def test_what_is_said_next_is_read_by_what_it_means_for_the_work(words: str, expected: str) -> None:
    edit = Row("assistant", "answer", "The clock is read in one place.", {"tools": ("Edit app.py",)})
    assert verdict(edit, following=words) == expected
