"""A repeated request or error means that the work failed."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, MADE, REQUEST, verdict

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome


def test_a_repeated_prompt_means_failed() -> None:
    assert verdict(ANSWER, next_message=REQUEST.content) == "failed"
    assert verdict(ANSWER, next_message=f"{REQUEST.content} It is the one with the clock.") == "failed"
    assert verdict(ANSWER, next_message=REQUEST.content.replace("login", "logout")) == "unknown"
    assert derive_outcome((EpisodeTurn("user", "prompt", "yes"), ANSWER), "yes").verdict == "unknown"


TEMPLATE = (
    "Implement the phase below. Read the plan first, keep to its order, change no other file, run every check that the project "
    "has, write one line for each change into the log, and stop if any of the checks is red twice. Then report in a table what "
    "you changed, why, how you tried it, and which questions are left for the people who read your report tomorrow morning.\n"
    "```\n{}\n```"
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Phase 1", "Phase 2"),
        ("the clock", "the calendar"),
        ("words of a paste\n" * 600 + "tulips", "words of a paste\n" * 600 + "gates"),
    ],
    ids=["number", "name", "far below"],
)
def test_prompts_that_differ_within_a_fence_are_different(first: str, second: str) -> None:
    turns = (EpisodeTurn("user", "prompt", TEMPLATE.format(first)), MADE)
    assert derive_outcome(turns, TEMPLATE.format(second)).signal != "asked_again"
    assert derive_outcome(turns, TEMPLATE.format(first)).signal == "asked_again"


def test_a_corrected_spelling_asks_the_same_again() -> None:
    turns = (EpisodeTurn("user", "prompt", TEMPLATE.format("the calender")), MADE)
    assert derive_outcome(turns, TEMPLATE.format("the calendar")).signal == "asked_again"


def test_a_prompt_with_requested_files_is_no_repetition() -> None:
    wants = EpisodeTurn("assistant", "answer", "Please add `login.py` to the chat, so that I can change it.")
    assert verdict(wants, next_message=f"/add login.py\n{REQUEST.content}") == "unknown"
    assert verdict(MADE, next_message=f"/add login.py\n{REQUEST.content}") == "failed"


def test_a_repeated_trial_is_no_repeated_request() -> None:
    trial = EpisodeTurn("user", "command", "/run npx detox test e2e/checkout.e2e.js")
    turns = (trial, EpisodeTurn("user", "prompt", "still times out after 60 s"), MADE)
    assert derive_outcome(turns, f"{trial.content}\nworks, thanks").verdict == "worked"
    assert derive_outcome(turns, f"{trial.content}\nstill times out after 60 s").verdict == "failed"


def test_a_short_prompt_that_points_at_something_is_no_repeated_request() -> None:
    check = "Can you check this cell?"
    assert derive_outcome((EpisodeTurn("user", "prompt", check), ANSWER), check).verdict == "unknown"
    exact = "Can you check this cell for the clock that is read twice?"
    assert derive_outcome((EpisodeTurn("user", "prompt", exact), ANSWER), exact).verdict == "failed"


@pytest.mark.parametrize(
    "words", ["@/tmp/terminals/build/log/1.txt", "@/tmp/terminals/build/log/1.txt @/tmp/make/log/2.txt"]
)
def test_a_file_alone_may_hold_something_else_the_next_time(words: str) -> None:
    question = EpisodeTurn("user", "prompt", words)
    assert derive_outcome((question, ANSWER), words).verdict == "unknown"
    reported = f"The build fails with {words}"
    assert derive_outcome((EpisodeTurn("user", "prompt", reported), ANSWER), reported).verdict == "failed"


def test_a_line_of_at_signs_ends() -> None:
    """OpenSSH prints one; a pattern that took them for files never came to an end."""
    framed = f"{'@' * 59}\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n{'@' * 59}\nSomeone could be eavesdropping."
    assert (
        derive_outcome((EpisodeTurn("user", "prompt", framed), ANSWER), "Which key does it mean?").verdict == "unknown"
    )


def test_only_marked_comments_are_requests() -> None:
    context = "│def read_clock():\n│    return clock()\n" * 4
    above = 'Find the "AI" comments below (marked with █) in the code files I\'ve shared with you.\nThey contain my questions.'
    first, second = (
        f"{above}\n\nsrc/clock/reading_the_clock_once.py:\n⋮\n{context}█# {question} AI?"
        for question in ("Why is the clock read twice?", "Where would a cache belong?")
    )
    for following, expected in ((first, "failed"), (second, "unknown")):
        assert derive_outcome((EpisodeTurn("user", "prompt", first), ANSWER), following).verdict == expected
    assert (
        derive_outcome((REQUEST, ANSWER), first.replace("Why is the clock", "still broken, it is")).verdict == "failed"
    )


def test_the_same_request_in_the_plural_is_the_same_request() -> None:
    turns = (EpisodeTurn("user", "prompt", "fix the error in roster.ts"), MADE)
    assert derive_outcome(turns, "fix the errors in roster.ts").signal == "asked_again"


def test_the_same_error_again_is_failed_whatever_line_it_stands_on_by_now() -> None:
    error = "TypeError: Cannot read properties of undefined (reading 'clock')\n    at Watch (src/Watch.jsx:{}:5)"
    question = EpisodeTurn("user", "prompt", f"I get this when I open the page:\n{error.format(12)}")
    assert derive_outcome((question, MADE), error.format(14)).signal == "asked_again"
    traced = 'Traceback (most recent call last):\n  File "watch.py", line 3\nImportError: cannot import name clock from watch'
    imported = EpisodeTurn("user", "prompt", "fix it: ImportError: cannot import name clock from watch")
    assert derive_outcome((imported, MADE), f"$ python watch.py\n{traced}").verdict == "failed"
    assert derive_outcome((question, MADE), "TypeError: hands is not iterable").verdict == "mixed", "another one"
    wanted = EpisodeTurn("assistant", "answer", "Please paste the whole output of the console.")
    whole = f"All there is:\n{error.format(12)}\n    at Clock"
    assert derive_outcome((question, wanted), whole).verdict == "unknown", "it was asked for"
    runs = [f"{name}\nError: Process completed with exit code 1." for name in ("Run make lint", "Run make test")]
    assert derive_outcome((EpisodeTurn("user", "prompt", runs[0]), MADE), runs[1]).verdict == "unknown", (
        "every run ends so"
    )


def test_another_printed_error_is_the_next_one() -> None:
    printed = (
        "engine.js:264 Error generating question for {}: TypeError: Cannot read properties of undefined (reading '{}')"
    )
    question = EpisodeTurn("user", "prompt", printed.format("C06", "max"))
    edit = EpisodeTurn("assistant", "answer", "The level has its own parameters now.", {"tools": ("Edit engine.js",)})
    assert derive_outcome((question, edit), printed.format("M06", "min")).verdict == "mixed", "it is the next one"
    assert derive_outcome((question, edit), printed.format("C06", "max")).verdict == "failed"
