"""A superseded decision is marked where it is listed, and its successor is named."""

from __future__ import annotations

from pathlib import Path

from program import write_session

from pastchats_memory import Memory
from pastchats_memory.views.history import render_digest
from pastchats_memory.views.terminal import list_hits

TABS = (
    ("user", "We will use tabs to indent the code of the kiln."),
    ("assistant", "The code is indented with tabs now."),
)
SPACES = (
    ("user", "We indent the code of the kiln with spaces instead of tabs from now on."),
    ("assistant", "The code is indented with spaces now."),
)
BRICKS = ("user", "Use red bricks for the floor of the kiln."), ("assistant", "The floor has red bricks now.")


def test_search_marks_a_superseded_decision(memory: Memory, history: Path) -> None:
    memory.index([write_session(history, *TABS, *BRICKS, *SPACES)])
    hits = {hit.content: hit for hit in memory.search("indent the code of the kiln with tabs or spaces")}
    old, new = hits[TABS[0][1]], hits[SPACES[0][1]]
    assert (old.replaced_by, new.replaced_by) == (new.id, "")


def test_a_digest_marks_a_superseded_decision(memory: Memory, history: Path) -> None:
    memory.index([write_session(history, *TABS, *BRICKS, *SPACES)])
    digest = memory.digest(since="2000-01-01")
    decided = {line.attempt.asked: line for line in digest.lines if line.section == "decided"}
    new = decided[SPACES[0][1]]
    assert (decided[TABS[0][1]].replaced_by, new.replaced_by) == (new.attempt.id, "")
    assert f"Superseded by: id {new.attempt.id}\n" in render_digest(digest)


def test_the_terminal_marks_a_superseded_decision_in_results(memory: Memory, history: Path) -> None:
    memory.index([write_session(history, *TABS, *BRICKS, *SPACES)])
    hits = memory.search("indent the code of the kiln with tabs or spaces")
    new = next(hit for hit in hits if hit.content == SPACES[0][1])
    assert f"Superseded by: id {new.id}\n" in list_hits(hits, {}, str, explain=False, is_first=True)


def test_check_prior_work_names_the_successor(memory: Memory, history: Path) -> None:
    memory.index([write_session(history, *TABS, *BRICKS, *SPACES)])
    found = memory.check_prior_work("indent the code of the kiln with tabs")
    assert found.verdict == "superseded"
    assert "replaced the decision" in found.reason
