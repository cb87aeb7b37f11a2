"""What it means that the person asks for the same thing once more."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, ASKED, MADE, verdict

from pastchats_memory.outcome import Row, outcome_of


def test_the_same_prompt_again_is_failed() -> None:
    assert verdict(ANSWER, following=ASKED.content) == "failed"
    assert verdict(ANSWER, following=f"{ASKED.content} It is the one with the clock.") == "failed"
    assert verdict(ANSWER, following=ASKED.content.replace("login", "logout")) == "unknown"
    assert outcome_of((Row("user", "prompt", "yes"), ANSWER), "yes").verdict == "unknown"


def test_the_same_prompt_with_the_files_that_the_answer_wanted_is_no_second_try() -> None:
    wants = Row("assistant", "answer", "Please add `login.py` to the chat, so that I can change it.")
    assert verdict(wants, following=f"/add login.py\n{ASKED.content}") == "unknown"
    assert verdict(MADE, following=f"/add login.py\n{ASKED.content}") == "failed"


def test_to_try_again_what_was_done_is_no_second_request() -> None:
    trial = Row("user", "command", "/run npx detox test e2e/checkout.e2e.js")
    turns = (trial, Row("user", "prompt", "still times out after 60 s"), MADE)
    assert outcome_of(turns, f"{trial.content}\nthat was it, thanks").verdict == "worked"
    assert outcome_of(turns, f"{trial.content}\nstill times out after 60 s").verdict == "failed"


def test_a_short_prompt_that_points_at_something_may_point_at_something_else_the_next_time() -> None:
    check = "Can you check this cell?"
    assert outcome_of((Row("user", "prompt", check), ANSWER), check).verdict == "unknown"
    exact = "Can you check this cell for the clock that is read twice?"
    assert outcome_of((Row("user", "prompt", exact), ANSWER), exact).verdict == "failed"


@pytest.mark.parametrize(
    "words", ["@/tmp/terminals/build/log/1.txt", "@/tmp/terminals/build/log/1.txt @/tmp/make/log/2.txt"]
)
def test_a_file_alone_may_hold_something_else_the_next_time(words: str) -> None:
    asked = Row("user", "prompt", words)
    assert outcome_of((asked, ANSWER), words).verdict == "unknown"
    said = f"The build fails with {words}"
    assert outcome_of((Row("user", "prompt", said), ANSWER), said).verdict == "failed"


def test_a_warning_framed_in_at_signs_holds_nothing_up() -> None:
    """OpenSSH prints one; a pattern that took them for files never came to an end."""
    framed = f"{'@' * 59}\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n{'@' * 59}\nSomeone could be eavesdropping."
    assert outcome_of((Row("user", "prompt", framed), ANSWER), "Which key does it mean?").verdict == "unknown"


def test_of_comments_that_a_client_put_below_its_own_words_only_those_it_marks_are_asked_for() -> None:
    context = "│def read_clock():\n│    return clock()\n" * 4
    above = 'Find the "AI" comments below (marked with █) in the code files I\'ve shared with you.\nThey contain my questions.'
    first, second = (
        f"{above}\n\nsrc/clock/reading_the_clock_once.py:\n⋮\n{context}█# {asked} AI?"
        for asked in ("Why is the clock read twice?", "Where would a cache belong?")
    )
    for following, expected in ((first, "failed"), (second, "unknown")):
        assert outcome_of((Row("user", "prompt", first), ANSWER), following).verdict == expected
    assert outcome_of((ASKED, ANSWER), first.replace("Why is the clock", "still broken, it is")).verdict == "failed"


def test_the_same_request_in_the_plural_is_the_same_request() -> None:
    turns = (Row("user", "prompt", "fix the error in roster.ts"), MADE)
    assert outcome_of(turns, "fix the errors in roster.ts").signal == "asked_again"


def test_the_same_error_again_is_failed_whatever_line_it_stands_on_by_now() -> None:
    error = "TypeError: Cannot read properties of undefined (reading 'clock')\n    at Watch (src/Watch.jsx:{}:5)"
    asked = Row("user", "prompt", f"I get this when I open the page:\n{error.format(12)}")
    assert outcome_of((asked, MADE), error.format(14)).signal == "asked_again"
    traced = 'Traceback (most recent call last):\n  File "watch.py", line 3\nImportError: cannot import name clock from watch'
    imported = Row("user", "prompt", "fix it: ImportError: cannot import name clock from watch")
    assert outcome_of((imported, MADE), f"$ python watch.py\n{traced}").verdict == "failed"
    assert outcome_of((asked, MADE), "TypeError: hands is not iterable").verdict == "unknown", "another one"
    wanted = Row("assistant", "answer", "Please paste the whole output of the console.")
    whole = f"All there is:\n{error.format(12)}\n    at Clock"
    assert outcome_of((asked, wanted), whole).verdict == "unknown", "it was asked for"
    runs = [f"{name}\nError: Process completed with exit code 1." for name in ("Run make lint", "Run make test")]
    assert outcome_of((Row("user", "prompt", runs[0]), MADE), runs[1]).verdict == "unknown", "every run ends so"


def test_another_error_in_a_line_that_a_program_printed_is_no_complaint_about_the_last() -> None:
    printed = (
        "engine.js:264 Error generating question for {}: TypeError: Cannot read properties of undefined (reading '{}')"
    )
    asked = Row("user", "prompt", printed.format("C06", "max"))
    edit = Row("assistant", "answer", "The level has its own parameters now.", {"tools": ("Edit engine.js",)})
    assert outcome_of((asked, edit), printed.format("M06", "min")).verdict == "unknown", "it may be the next one"
    assert outcome_of((asked, edit), printed.format("C06", "max")).verdict == "failed"
