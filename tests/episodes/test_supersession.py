"""Requests supersede an earlier decision. A wrong verdict is worse than none."""

from __future__ import annotations

import sys

import pytest
from program import REPOSITORY

from pastchats_memory.episodes.supersession import STRONG, _read_cues, supersedes

sys.path.insert(0, str(REPOSITORY / "benchmarks" / "outcome"))

from replacing import PARTS, Wording, wordings

ISSUED = [*wordings("plain"), *wordings("everyday_untouched")]
LEAST_PRECISION, LEAST_RECALL = 0.89, 0.8


def says(earlier: str, later: str) -> bool:
    return supersedes(later, earlier, "Done.")


@pytest.mark.parametrize("one", ISSUED, ids=[one.later[:40] for one in ISSUED])
def test_labelled_wordings_supersede_as_labelled(one: Wording) -> None:
    assert one.is_known == one.replaces


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_the_wordings_has_high_precision(part: str) -> None:
    known = [one.replaces for one in wordings(part) if one.is_known]
    assert sum(known) >= LEAST_PRECISION * len(known)
    assert sum(known) >= LEAST_RECALL * sum(one.replaces for one in wordings(part))


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
