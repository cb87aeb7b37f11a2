"""Requests supersede an earlier decision. A wrong verdict is worse than none."""

from __future__ import annotations

import sys

import pytest
from program import REPOSITORY

from pastchats_memory.episodes.supersession import STRONG, _read_cues, supersedes

sys.path.insert(0, str(REPOSITORY / "benchmarks" / "outcome"))

from replacing import PARTS, wordings

LEAST_RECALL = 0.55


def says(earlier: str, later: str) -> bool:
    return supersedes(later, earlier, "Done.")


@pytest.mark.parametrize("part", PARTS)
def test_no_wording_that_merely_mentions_both_things_supersedes(part: str) -> None:
    assert [one.later for one in wordings(part) if one.is_known and not one.replaces] == []


@pytest.mark.parametrize("part", PARTS)
def test_most_wordings_that_replace_a_decision_are_known(part: str) -> None:
    replacing = [one for one in wordings(part) if one.replaces]
    assert sum(one.is_known for one in replacing) >= LEAST_RECALL * len(replacing)


def test_most_replacing_wordings_of_two_hands_that_are_not_learned_are_known() -> None:
    unlearned = [*wordings("everyday_untouched"), *wordings("other_hand")]
    assert sum(one.is_known for one in unlearned if one.replaces) >= 24


def test_a_long_text_is_work_and_neither_decides_nor_changes_anything() -> None:
    work = " Open the page. Look at the header. Write down what is missing."
    decided, change = "The sessions are in Redis.", "We moved the sessions from Redis to Postgres."
    assert says(decided, change)
    assert not says(decided, change + work)
    assert not says(decided + work, change)


def test_a_sentence_that_names_little_of_the_decision_changes_nothing() -> None:
    assert not says(
        "On each match day, every team plays against all teams.",
        "The league page with its table, its colours, its filters and the chart of each match day is gone.",
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The build is done with exit code 1.", "The build is done with exit code 1 again."),
        ("Open a branch for the login form.", "Since yesterday the login form has a branch of a colleague."),
        ("Keep the coats of the guests in the hall.", "Replace the mirror in the hall, the guests see no coats."),
        ("Keep the name of the guest in the card.", "The card of the guest: fill in the name, replacing the dots."),
    ],
)
def test_a_task_or_a_report_in_the_same_words_changes_nothing(earlier: str, later: str) -> None:
    assert not says(earlier, later)


def test_a_product_that_two_requests_share_is_no_subject() -> None:
    later = "Move sessions to Postgres instead of Redis, Redis evicts them."
    assert says("Use Redis for sessions, with connect-redis.", later)
    assert not says("Cache the product list in Redis for 60 seconds.", later)
    assert not says("Set up Redis in docker compose for local development", later)


@pytest.mark.parametrize(
    "later",
    [
        "a.go:96:4: QF1012: Use fmt.Fprintf(...) instead of WriteString(fmt.Sprintf(...)) (staticcheck)",
        "zsh: command not found: redis",
        "> Replace Redis with Postgres for the sessions.",
        "```\nreplace Redis with Postgres for the sessions\n```",
    ],
)
def test_program_output_and_quotations_supersede_nothing(later: str) -> None:
    assert not says("Use Redis for the sessions and fmt.Sprintf with go 96", later)


@pytest.mark.parametrize(
    "later",
    [
        "compare tabs and spaces for the indentation",
        "why do we use tabs instead of spaces?",
        "tabs and spaces both work for me",
        "Are tabs out of fashion?",
        "The indent is gone when I paste tabs",
        "I wonder whether tabs are out, we could indent with spaces from now on",
    ],
)
def test_a_request_that_merely_mentions_both_things_supersedes_nothing(later: str) -> None:
    assert not says("Indent the sources with tabs.", later)


def test_a_request_that_says_it_replaces_a_decision_needs_the_same_subject() -> None:
    later = "the docs go into the repository now, this replaces the decision of March"
    assert says("Keep the docs in the wiki.", later)
    assert not says("Keep the secrets in the vault.", later)
    assert not says("Write docs for the parser.", later)
    apart = "Keep the keys of the boats on the board in the office. That replaces the rule of March."
    assert says("rule: the keys of the boats stay with the skipper", apart)
    assert not says("rule: the bilge of the boats is dry in the evening", apart)


def test_a_decision_of_an_answer_is_superseded() -> None:
    later = "Thumbnails are no longer made in the browser: the upload worker makes them."
    assert supersedes(later, "Please decide.", "The thumbnails are generated in the browser with a canvas.")
    assert not supersedes(later, "Please decide.", "The invoices are printed in the office.")


def test_a_question_or_a_report_of_a_failure_decides_nothing_that_is_superseded() -> None:
    later = "We moved the sessions from Redis to Postgres."
    assert says("The sessions are in Redis.", later)
    assert not says("Why are the sessions in Redis?", later)
    assert not says("Error: the sessions in Redis are lost.", later)


def test_each_cue_of_a_change_has_words_of_many_languages() -> None:
    known = _read_cues()
    for cue in STRONG:
        assert cue in known.phrases.values()
        assert cue in known.spaceless.values()


def test_the_same_version_replaces_nothing() -> None:
    assert not says("pin node 20 in CI", "Switch to node 20 everywhere")
    assert not says("pin node 18 in CI", "Switch to page 20")
