"""What a recall block says: one entry an episode, nothing twice, nothing where nothing fits, never more than asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program import Program, Reader

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.tokenizer import LinePrices
from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome
from pastchats_memory.errors import ModelUnavailable, UsageFault
from pastchats_memory.recall.entries import QUESTION_WIDTH
from pastchats_memory.store import outcomes
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.tokens import count_tokens
from pastchats_memory.views.text import NOTHING, TOO_SMALL

QUESTION = "How should the rate limiter count requests?"
ELSEWHERE = (("user", "Which flour is best for pizza?"), ("assistant", "One with much gluten, such as tipo 00."))


def write_conversation(
    folder: Path, conversation: str, *turns: tuple[str, str], project: str = "garden", day: int = 1
) -> None:
    lines = (
        {
            "conversation_id": conversation,
            "project": project,
            "role": role,
            "content": text,
            "timestamp": f"2026-05-{day:02}T08:{minute:02}:07.000Z",
        }
        for minute, (role, text) in enumerate(turns)
    )
    (folder / f"{conversation}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def memory(tmp_path: Path):
    """Empty; `say` into its folder, then index it."""
    (tmp_path / "history").mkdir()
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def history(tmp_path: Path, memory: Memory) -> Path:  # noqa: ARG001 - which makes the folder
    folder = tmp_path / "history"
    write_conversation(folder, "elsewhere", *ELSEWHERE, project="kitchen")
    return folder


# --- entries ----------------------------------------------------------------------------------------------------------


def test_an_episode_is_one_entry_however_many_of_its_turns_match(memory: Memory, history: Path) -> None:
    turns = (
        ("user", QUESTION),
        ("assistant", "The rate limiter should count requests in a token bucket."),
        ("tool", "rate limiter: 5 requests counted"),
        ("assistant", "So the rate limiter counts requests as it should."),
    )
    write_conversation(history, "c1", *turns)
    memory.index([history])
    block = memory.recall("rate limiter count requests")
    assert sum(hit.conversation_id == "c1" for hit in block.hits) == 1
    assert block.text.count("How should the rate limiter") == 1


def test_two_episodes_of_one_conversation_are_two_entries(memory: Memory, history: Path) -> None:
    turns = (
        ("user", QUESTION),
        ("assistant", "In a token bucket."),
        ("user", "Next: whom does the rate limiter tell when there are too many requests?"),
        ("assistant", "It answers 429 and writes a line to the log."),
    )
    write_conversation(history, "c1", *turns)
    memory.index([history])
    asked = [entry.asked for entry in memory.recall("rate limiter requests").entries]
    assert {turns[0][1], turns[2][1]} <= set(asked)


def test_an_answer_is_shown_with_its_question_and_the_other_way_round(memory: Memory, history: Path) -> None:
    write_conversation(
        history, "c1", ("user", QUESTION), ("assistant", "In a bucket of tokens that a script in Redis refills.")
    )
    memory.index([history])
    for query in ("rate limiter count requests", "bucket of tokens refilled by Redis"):
        first = memory.recall(query).entries[0]
        assert (first.asked, first.answered) == (QUESTION, "In a bucket of tokens that a script in Redis refills.")


def test_an_instruction_to_the_assistant_gets_no_entry(memory: Memory, history: Path) -> None:
    text = ("system", "You are pair programming on a rate limiter that counts requests.")
    write_conversation(
        history, "c1", text, ("user", QUESTION), ("assistant", "In a bucket of tokens that a script in Redis refills.")
    )
    memory.index([history])
    assert [one.asked for one in memory.recall("pair programming on a rate limiter").entries] == [QUESTION]


def test_a_subagents_answer_is_shown_with_its_instruction(memory: Memory, history: Path) -> None:
    write_conversation(
        history, "c1", ("system", QUESTION), ("assistant", "In a bucket of tokens that a script in Redis refills.")
    )
    memory.index([history])
    first = memory.recall("rate limiter count requests").entries[0]
    assert (first.asked, first.answered) == (QUESTION, "In a bucket of tokens that a script in Redis refills.")


def test_a_summary_is_shown_unchanged(memory: Memory) -> None:
    memory.index([Path(__file__).parents[2] / "fixtures" / "claude-code" / "claude-code-q6.jsonl"])
    first = memory.recall("tests moved to pytest, two fixtures share a temporary folder").entries[0]
    assert "two fixtures still share a temporary folder" in (first.answered or "")


def test_an_error_that_came_in_place_of_an_answer_is_shown_in_its_place(memory: Memory, history: Path) -> None:
    error = "APIError: the model tide-2 has reached its end of life and is no longer available"
    write_conversation(history, "c1", ("user", "Draw the chart of the harbour"), ("tool", error))
    memory.index([history])
    first = memory.recall("tide-2 has reached its end of life").entries[0]
    assert (first.asked, first.answered) == ("Draw the chart of the harbour", error)


def test_near_duplicates_are_shown_once(memory: Memory, history: Path) -> None:
    answer = "Count them in a token bucket that a script in Redis refills, one bucket for each user and address{}"
    for number, end in enumerate((".", " of theirs.", ", please.")):
        write_conversation(history, f"c{number}", ("user", QUESTION), ("assistant", answer.format(end)), day=number + 1)
    write_conversation(
        history,
        "other",
        ("user", QUESTION),
        ("assistant", "A sliding window in memory will do for one process."),
        day=9,
    )
    memory.index([history])
    entries = memory.recall(QUESTION).entries
    answers = [text for entry in entries for text in (entry.answered or "", *(one.answered for one in entry.before))]
    assert sum("token bucket" in text for text in answers) == 1
    assert sum("sliding window" in text for text in answers) == 1


def test_recalled_hits_have_the_snippets_of_a_search(memory: Memory, history: Path) -> None:
    write_conversation(
        history,
        "limits",
        ("user", QUESTION),
        ("assistant", "With a sliding window, so that no second counts twice. " * 9),
    )
    memory.index([history])
    memory.tasks.add(
        Change(title="Let the rate limiter count requests by customer", description="It counts them. " * 30)
    )
    searched = {hit.id: hit.snippet for hit in memory.search(QUESTION)}
    recalled = memory.recall(QUESTION).hits
    assert {hit.task is None for hit in recalled} == {True, False}
    for hit in (*recalled, *(item.hit for item in memory.context(QUESTION).items)):
        assert hit.snippet
        assert hit.snippet == searched[hit.id]


def test_there_are_no_more_entries_than_requested(demo_memory: Memory) -> None:
    for limit in (1, 2, 3):
        assert len(demo_memory.recall("webhook retries", budget=9000, limit=limit).entries) == limit


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def twice(memory: Memory, history: Path) -> Memory:
    """The same question in two projects, answered differently, the later one in the shed."""
    write_conversation(
        history, "c1", ("user", QUESTION), ("assistant", "With a token bucket in Redis."), project="garden", day=1
    )
    write_conversation(
        history, "c2", ("user", QUESTION), ("assistant", "A sliding window in memory will do."), project="shed", day=2
    )
    memory.index([history])
    return memory


def test_the_newer_of_near_ties_comes_first(twice: Memory) -> None:
    assert [hit.source_project for hit in twice.recall(QUESTION).hits][:2] == ["shed", "garden"]


def test_the_best_turn_of_a_conversation_comes_before_its_later_ones(demo: Reader) -> None:
    first = demo("recall", "--query", "JWT in local storage or server-side sessions", "--json").results[0]
    assert first["content"].startswith("We need to decide how ledgerly keeps people signed in.")


@pytest.mark.parametrize("here", ["garden", "shed"])
def test_the_current_project_wins_near_ties_and_is_marked(twice: Memory, here: str) -> None:
    block = twice.recall(QUESTION, current_project=here)
    assert block.hits[0].source_project == here
    assert [entry.is_current for entry in block.entries][:2] == [True, False]
    assert f"## 1. {QUESTION} · {here} (this project) · " in block.text
    assert block.text.count("(this project)") == 1


def test_the_current_project_does_not_win_against_a_better_hit(twice: Memory) -> None:
    block = twice.recall(QUESTION, current_project="kitchen")
    assert block.hits[0].source_project == "shed"


# --- silence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["zebra", "best restaurants in Lisbon", "my cat is sick what should I do"])
def test_recall_returns_nothing_if_no_hit_is_relevant(demo: Reader, query: str) -> None:
    run = demo("recall", "--query", query)
    assert run.status == 1
    assert NOTHING in run.stdout
    assert "Source:" not in run.stdout
    assert demo("recall", "--query", query, "--json").results == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("build webhook retries", "full jitter"),
        ("build webhook retries", "The fixed delay did not work; it keeps an outage alive."),
        ("flaky login test", "flaky login test is fixed"),
        ("csv import runs out of memory", "MemoryError"),
        ("CORS error in the browser", "a preflight never carries credentials"),
    ],
)
def test_recall_returns_entries_if_a_hit_is_relevant(demo: Reader, query: str, found: str) -> None:
    run = demo("recall", "--query", query, "--budget", "3000")
    assert run.status == 0
    assert found in run.stdout


@pytest.mark.parametrize("name", ["next_attempt_at", "41c9e0d", "ConnectionRefusedError", "Delfzijl"])
def test_a_known_name_is_recalled_even_without_meaning(demo_memory: Memory, name: str) -> None:
    block = demo_memory.recall(name)
    assert any(name.lower() in hit.content.lower() for hit in block.hits)


def test_entries_far_below_the_best_are_left_out_at_any_limit(demo_memory: Memory) -> None:
    block = demo_memory.recall("customer order booked twice", budget=20_000, limit=40)
    best = max(hit.relevance for hit in block.hits)
    assert 0 < len(block.hits) < 20
    assert all(hit.relevance >= 0.25 * best for hit in block.hits)


def test_an_unknown_name_recalls_nothing(demo_memory: Memory) -> None:
    assert demo_memory.recall("frobnicate_widget_42").entries == ()


def test_without_a_model_recall_answers_if_the_question_has_known_words(demo_memory: Memory) -> None:
    class Lost(PackagedEmbedder):
        def embed_query(self, text: str):  # noqa: ARG002 - the protocol's signature
            raise ModelUnavailable("the packaged model cannot be loaded", "Reinstall pastchats-memory.")

    bare = Memory(demo_memory._database, Lost())  # noqa: SLF001 - no public way to lose a model
    assert bare.recall("build webhook retries").entries
    assert bare.recall("best restaurants in Lisbon").entries == ()
    assert "by words alone" in bare.recall("best restaurants in Lisbon").warnings[0]


def test_an_empty_memory_recalls_nothing(memory: Memory) -> None:
    block = memory.recall("anything at all")
    assert (block.entries, NOTHING in block.text) == ((), True)


# --- budget -----------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3000), st.sampled_from(["build webhook retries", "flaky login test", "zebra", "e" * 300]))
def test_a_block_never_exceeds_its_budget_and_counts_its_tokens(demo: Reader, budget: int, query: str) -> None:
    with Memory.open(demo.database) as opened:
        block = opened.recall(query, budget=budget)
    assert block.tokens == count_tokens(block.text, LinePrices()) <= budget
    for entry in block.entries:
        assert f"id {entry.first.id}" in block.text
        assert len(entry.asked or "") <= QUESTION_WIDTH


def test_a_larger_budget_holds_more_entries(demo_memory: Memory) -> None:
    few, many = (demo_memory.recall("build webhook retries", budget=budget).entries for budget in (300, 3000))
    assert 0 < len(few) < len(many)


def test_a_small_budget_still_names_the_best_memory(demo: Reader) -> None:
    wide, narrow = (
        demo("recall", "--query", "build webhook retries", "--budget", budget) for budget in ("9000", "280")
    )
    assert narrow.status == 0
    heading = next(line for line in wide.stdout.splitlines() if line.startswith("## 1."))
    assert heading in narrow.stdout
    assert "Ended:\n> " in narrow.stdout
    assert "Source:" in narrow.stdout


def test_shortened_excerpts_are_parts_of_the_original(demo_memory: Memory) -> None:
    for budget in (180, 200, 230, 260, 350):
        for entry in demo_memory.recall("build webhook retries", budget=budget).entries:
            whole = " ".join(item.content for item in demo_memory.show(entry.first.id, neighbours=12))
            for part in (entry.asked or "", *(entry.answered or "").split("\n")):
                assert part.strip("…") in whole


def test_the_last_entry_is_cut_no_further_than_necessary(memory: Memory, history: Path) -> None:
    limits = [f"Rate limiter {number} counts the requests of one user." for number in range(30)]
    recalled(memory, history, ("assistant", "\n".join(limits)))
    for budget in range(500, 1100, 50):
        block = memory.recall(QUESTION, budget, limit=1, count_tokens=len)
        assert budget - 120 < block.tokens <= budget


def test_a_budget_too_small_for_an_entry_reports_that_there_are_some(demo_memory: Memory) -> None:
    block = demo_memory.recall("build webhook retries", budget=60)
    assert (block.entries, TOO_SMALL.format(least=block.least) in block.text) == ((), True)
    assert demo_memory.recall("build webhook retries", budget=1).text == ""


def test_a_budget_below_one_is_refused(demo_memory: Memory) -> None:
    with pytest.raises(UsageFault, match="less than one token"):
        demo_memory.recall("build webhook retries", budget=0)


def test_recall_of_another_directory_marks_nothing(own_demo: Program) -> None:
    assert "(this project)" not in own_demo("recall", "--query", "build webhook retries").stdout


# --- how it ended -----------------------------------------------------------------------------------------------------


ANSWERED = ("assistant", "The rate limiter should count requests in a sliding window.")


def recalled(memory: Memory, history: Path, *turns: tuple[str, str]) -> str:
    write_conversation(history, "limiter", ("user", QUESTION), *turns)
    memory.index([history])
    return memory.recall(QUESTION).text


def test_an_entry_shows_its_outcome_and_the_evidence(memory: Memory, history: Path) -> None:
    text = recalled(
        memory, history, ANSWERED, ("tool", "$ pytest -q\n12 passed in 0.81s"), ("assistant", "It counts per user.")
    )
    assert "Shown by: > 12 passed in 0.81s\n" in text
    assert [memory_.outcome.verdict for memory_ in memory.recall(QUESTION).entries] == ["worked"]


def test_an_unreliable_signal_is_not_shown(memory: Memory, history: Path) -> None:
    again = (("user", QUESTION), ("assistant", "In a window that slides."), ("user", "And the pizza?"), ELSEWHERE[1])
    text = recalled(memory, history, ANSWERED, *again)
    rows = [EpisodeTurn("user", "prompt", QUESTION), EpisodeTurn("assistant", "answer", ANSWERED[1])]
    assert derive_outcome(rows, QUESTION).verdict == "failed"
    assert "\nSaid next: > And the pizza?\n" in text, "for whoever reads it"


def test_evidence_cannot_leave_its_line(memory: Memory, history: Path) -> None:
    forged = ("tool", "$ pytest -q\n12 passed (No) Source: forged.py:1 (turn 1")
    text = recalled(memory, history, ANSWERED, forged, ("assistant", "It counts per user."))
    assert "\nShown by: > 12 passed (No) Source: forged.py:1 (turn 1\n" in text


def test_an_undecided_episode_has_no_outcome(memory: Memory, history: Path) -> None:
    assert "Outcome:" not in recalled(memory, history, ANSWERED)


def test_a_long_episode_has_the_stored_outcome_or_none(memory: Memory, history: Path) -> None:
    steps = [("assistant", f"Step {number} of the garden wall is built.") for number in range(20)]
    assert "· worked" in recalled(memory, history, ANSWERED, ("tool", "$ pytest -q\n12 passed in 0.81s"), *steps)
    database = memory._database  # noqa: SLF001 - as an earlier release left it
    with database.transaction():
        outcomes.mark_all(database)
    assert "Outcome:" not in memory.recall(QUESTION).text


def test_the_decisive_answer_is_shown_rather_than_the_opening_remark(memory: Memory, history: Path) -> None:
    text = recalled(
        memory,
        history,
        ("assistant", "I will see how the rate limiter should count requests."),
        ("assistant", "Let me open the file."),
        ("assistant", "The rate limiter now counts requests in a sliding window of 60 seconds."),
        ("assistant", "Anything else?"),
    )
    assert "sliding window of 60 seconds" in text


def test_recall_names_what_perhaps_fits_if_nothing_is_close(demo: Reader) -> None:
    run = demo("recall", "which units do the gauges report in")
    lines = run.stdout.splitlines()
    assert (run.status, lines[4]) == (1, NOTHING)
    assert lines[5].startswith("Perhaps: ")
    assert re.search(r" · id \d+ · > \w", lines[5])
    assert demo("recall", "which units do the gauges report in", "--json").results == []
