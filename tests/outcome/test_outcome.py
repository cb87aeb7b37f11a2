"""What shows how an episode ended, signal by signal, and which of two signals wins."""

from __future__ import annotations

import pytest

from pastchats_memory.outcome import UNKNOWN, Row, outcome_of

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
    ("output", "expected"),
    [
        ("$ pytest -q\n12 passed in 0.81s", "worked"),
        ("$ python -m unittest\nRan 3 tests in 0.001s\n\nOK", "worked"),
        ("$ python -m unittest\nRan 3 tests in 0.001s\n\nFAILED (failures=1)", "failed"),
        ("$ npx jest\nTests:       2 failed, 5 passed, 7 total", "failed"),
        ("$ npx vitest run\n Tests  7 passed (7)", "worked"),
        ("$ go test ./...\nok  \tshop/cart\t0.012s", "worked"),
        ("$ go test ./...\n--- FAIL: TestTotal (0.00s)\nFAIL", "failed"),
        ("$ cargo test\ntest result: ok. 9 passed; 0 failed; 0 ignored", "worked"),
        ("$ cargo build 2>&1 | tail\nerror[E0382]: borrow of moved value", "failed"),
        ("$ mvn test\n[INFO] BUILD SUCCESS", "worked"),
        ("$ ./gradlew build\nBUILD FAILED in 3s", "failed"),
        ("$ npx tsc --noEmit\nsrc/a.ts(3,1): error TS2322: Type", "failed"),
        ("$ npx tsc --noEmit; echo EXIT=$?\nEXIT=0", "worked"),
        ("$ ruff check .\nAll checks passed!", "worked"),
        ("$ mypy .\nFound 3 errors in 1 file (checked 20 source files)", "failed"),
        ("$ mypy .\nSuccess: no issues found in 20 source files", "worked"),
        ("$ make\nmake: *** [all] Error 2", "failed"),
    ],
)
def test_the_result_of_a_check_decides_where_nobody_says_anything(output: str, expected: str) -> None:
    assert verdict(LOOKING, Row("tool", "result", output), ANSWER) == expected


def test_the_last_check_beats_earlier_ones() -> None:
    assert verdict(RED, LOOKING, RED, GREEN, ANSWER) == "worked"
    assert verdict(GREEN, LOOKING, RED, ANSWER) == "failed"


def test_a_failing_grep_is_no_check() -> None:
    assert verdict(Row("tool", "error", "$ grep -n todo app.py\nExit code 1"), ANSWER) == "unknown"


def test_the_persons_words_beat_the_check() -> None:
    assert verdict(RED, ANSWER, following="works, thanks") == "worked"
    assert verdict(GREEN, DONE, following="it still fails on my machine") == "mixed"


def test_the_same_prompt_again_is_failed() -> None:
    assert verdict(ANSWER, following=ASKED.content) == "failed"
    assert outcome_of((Row("user", "prompt", "yes"), ANSWER), "yes").verdict == "worked"


def test_a_pasted_error_of_the_recommended_command_is_failed() -> None:
    advice = Row("assistant", "answer", "Run `npm run dev` in another terminal.")
    pasted = "(venv) mira@home shop % npm run dev\nnpm error Missing script: dev"
    assert verdict(advice, following=pasted) == "failed"
    assert verdict(advice, following="mira@home % docker ps\nError: no daemon") == "unknown"


def test_an_error_that_nobody_answered_is_failed() -> None:
    assert verdict(LOOKING, Row("tool", "error", "Traceback (most recent call last):\nKeyError: 'x'")) == "failed"


def test_an_interruption_is_failed_unless_it_was_done_before() -> None:
    flagged = {"flags": ("interrupted",), "tools": ("Read app.py",)}
    assert verdict(LOOKING, Row("assistant", "answer", "Let me read on.", flagged)) == "failed"
    assert verdict(LOOKING, Row("assistant", "answer", "Fixed both places.", flagged)) == "worked"


def test_a_commit_and_an_edit_in_sight_are_worked() -> None:
    assert verdict(Row("assistant", "answer", "Renamed it.", {"commits": ("6dec692",)})) == "worked"
    block = "app.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    assert verdict(Row("assistant", "answer", block)) == "worked"
    assert verdict(Row("assistant", "answer", block), Row("tool", "error", "# 1 block failed to match!")) == "failed"


def test_a_claim_counts_only_where_steps_are_in_sight() -> None:
    assert verdict(DONE) == "unknown"
    assert verdict(LOOKING, DONE) == "worked"
    assert (
        verdict(LOOKING, Row("assistant", "answer", "Fixed the first. Still waiting on the second one.")) == "unknown"
    )


def test_an_admission_is_failed_and_beside_a_result_mixed() -> None:
    admission = Row("assistant", "answer", "I could not reproduce it.")
    assert verdict(admission) == "failed"
    assert verdict(GREEN, Row("assistant", "answer", "I can't test the upload itself.")) == "mixed"


def test_the_evidence_names_the_line_and_the_turn() -> None:
    (shown,) = outcome_of((ASKED, LOOKING, GREEN, ANSWER)).evidence
    assert (shown.quotation, shown.place) == ("12 passed in 0.81s", 2)
    (said,) = outcome_of((ASKED, ANSWER), "Thanks!\nAnd the port?").evidence
    assert (said.quotation, said.place) == ("Thanks!", 2)


def test_hostile_texts_cost_no_more_than_their_length() -> None:
    for piece in ("<<<<<<< SEARCH\n", "$ % $ % ", "a: ", "still ", "1 ", "x" * 50 + "\n"):
        text = piece * (400_000 // len(piece))
        outcome_of((ASKED, Row("tool", "result", f"$ pytest\n{text}"), Row("assistant", "answer", text)), text)
