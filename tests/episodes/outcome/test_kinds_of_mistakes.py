"""Each test is one kind of mistake that the rules made on histories that nobody here had read."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, DONE, GREEN, LOOKING, REQUEST, verdict

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome

EDITED = EpisodeTurn("assistant", "answer", "The clock is read once now.", {"tools": ("Edit src/clock.py",)})


def asked(words: str, next_message: str, answer: EpisodeTurn = ANSWER) -> str:
    return derive_outcome((EpisodeTurn("user", "prompt", words), answer), next_message).verdict


@pytest.mark.parametrize(
    "words",
    ["yes to all", "go ahead with all of them", "proceed with the next step", "continue with all of it", "ok, go on"],
)
def test_consent_that_is_given_twice_is_no_repeated_request(words: str) -> None:
    assert asked(words, words) != "failed"


def test_commands_are_compared_by_their_arguments() -> None:
    assert asked("/implement phase 2 of the plan", "/implement phase 3 of the plan") != "failed"
    assert asked("/publish", "/publish") != "failed"
    assert asked("/fix the login test on Monday", "/fix the login test on Monday") == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "The invoice mailer in billing/mailer.rb fails with strange numbers since yesterday, customers called twice already.",
        "Der Drucker im Lager druckt seit gestern falsche Etiketten in labels.rb, und niemand weiß warum das so ist.",
    ],
)
def test_a_complaint_about_another_thing_changes_nothing(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "unknown"


@pytest.mark.parametrize(
    "words", ["it fails", "That is wrong.", "No.", "nein, falsch", "不对", "違います", "The login test still fails"]
)
def test_a_complaint_about_the_last_work_needs_no_name(words: str) -> None:
    assert verdict(ANSWER, next_message=words) == "failed"


def test_a_refusal_counts_whatever_it_names() -> None:
    words = (
        "Deployed to staging. I stopped the fake receiver for ten minutes, and it fell over at once. Look at its log."
    )
    assert verdict(EDITED, next_message=words) == "failed"


def test_a_pasted_error_that_names_a_changed_file_outweighs_a_green_test() -> None:
    error = "Traceback (most recent call last):\n  File \"src/clock.py\", line 3, in read\nKeyError: 'hour'"
    assert verdict(EDITED, GREEN, DONE, next_message=error) == "failed"
    other = EpisodeTurn("user", "prompt", "TypeError: the clock has no attribute called minute\nMend it.")
    assert derive_outcome((other, EDITED, GREEN, DONE), error).verdict == "mixed"
    elsewhere = error.replace("clock.py", "mailer.py")
    assert verdict(EDITED, GREEN, DONE, next_message=elsewhere) != "worked"


@pytest.mark.parametrize(
    "words",
    [
        "The list is fixed, but the total is missing.",
        "Der Login klappt, aber die Abmeldung nicht.",
        "La liste marche, mais le total manque.",
        "La lista funciona, pero falta el total.",
        "A lista funcionou, mas falta o total.",
        "Список работает, но итога нет.",
        "列表可以了，但总数没有显示",
        "リストは動きましたが、合計がありません",
    ],
)
def test_praise_of_a_part_means_mixed(words: str) -> None:
    assert verdict(EDITED, next_message=words) == "mixed"


def test_a_pasted_log_of_a_run_that_worked_is_no_error() -> None:
    log = "$ make\nError: retrying the download of the list\nBuild succeeded\n12 passed in 0.81s"
    assert verdict(EDITED, next_message=log) != "failed"


def test_a_tool_that_was_refused_without_words_means_stopped() -> None:
    refused = EpisodeTurn("tool", "result", "$ pytest -q\nRefused by the user.")
    assert verdict(LOOKING, refused) == "stopped"
    assert verdict(LOOKING, refused, next_message="Look at the calendar first.") == "stopped"
    plan = EpisodeTurn("tool", "result", "ExitPlanMode\nRefused by the user.")
    assert verdict(LOOKING, plan, next_message="Look at the calendar first.") == "unknown"


@pytest.mark.parametrize("text", ["No response requested.", "(no content)"])
def test_a_stand_in_for_an_answer_is_no_answer(text: str) -> None:
    stand_in = EpisodeTurn("assistant", "answer", text)
    assert derive_outcome((REQUEST, stand_in), "How do I install `pip`?").verdict == "unknown"
    assert verdict(GREEN, ANSWER, stand_in) == "worked"


def test_a_check_that_the_machine_did_not_let_run_says_nothing() -> None:
    denied = EpisodeTurn("tool", "error", "$ go test ./...\ngo: download go1.25.3: mkdir /home/a/go: permission denied")
    red = EpisodeTurn("tool", "error", "$ pytest\nE  PermissionError: permission denied\n1 failed, 3 passed in 0.2s")
    assert verdict(EDITED, denied, DONE) == "unknown"
    assert verdict(EDITED, red) == "failed"
