"""How the entries of a block share its room."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from pastchats_memory.model import Hit
from pastchats_memory.model.episodes import Attempt, Evidence, Outcome, RecallBlock, RecallEntry
from pastchats_memory.recall.budget import fit_budget

WEIGHTS = {"kiln": 3.0, "glaze": 2.0, "temperature": 2.0}
FILLER = "The studio has a long table, and the shelves along the wall hold clay of many kinds for the course."
DECISIVE = "Set the kiln to 1,060 degrees, since the glaze needs a lower temperature."


def make_hit(id_: str) -> Hit:
    return Hit(
        rank=1, score=1.0, relevance=1.0, lexical_rank=1, semantic_rank=1, similarity=0.9, metadata={}, id=id_, type="prompt", role="user", content="", snippet="", source_project="pottery", conversation_id=f"c{id_}",
        timestamp="2026-05-01T08:00:00Z", turn_index=0, source_path=f"/home/ada/histories/pottery/{id_}.jsonl", source_line=3,
    )  # fmt: skip


def make_entry(id_: str, answered: str, verdict: str = "unknown", **fields: object) -> RecallEntry:
    shown = (Evidence("The kiln is fine now.", f"{id_}.jsonl", 4, None),) if verdict != "unknown" else ()
    asked = f"Why does the glaze run in the kiln, number {id_}?"
    return RecallEntry(make_hit(id_), asked, answered, Outcome(verdict, shown), is_current=False)._replace(**fields)


def fit(budget: int, *entries: RecallEntry) -> RecallBlock:
    return fit_budget("kiln glaze", entries, WEIGHTS, budget, lambda texts: [len(text.encode()) for text in texts])


def write_answer(*lines: str, fillers: int = 14) -> str:
    return "\n".join([*(f"{FILLER[:-1]}, row {number}." for number in range(fillers)), *lines])


def test_a_good_line_of_the_second_entry_takes_the_place_of_weak_lines_of_the_first() -> None:
    block = fit(900, make_entry("1", write_answer()), make_entry("2", write_answer(DECISIVE)))
    assert f"> {DECISIVE}\n" in block.text
    assert [entry.hit.id for entry in block.entries] == ["1", "2"]
    assert block.tokens <= 900


def test_entries_that_fit_are_whole() -> None:
    entries = (make_entry("1", write_answer(fillers=2)), make_entry("2", DECISIVE))
    assert fit(4000, *entries).entries == entries


@pytest.mark.parametrize("budget", [330, 500, 900, 1500])
@pytest.mark.parametrize("place", [1, 2], ids=["second", "third"])
def test_an_attempt_that_worked_is_never_dropped_for_one_that_failed(budget: int, place: int) -> None:
    failed = [make_entry(str(number), write_answer(DECISIVE), "failed") for number in range(place)]
    block = fit(budget, *failed, make_entry("9", write_answer("Close the lid."), "worked"))
    assert "9" in {entry.hit.id for entry in block.entries}


def test_a_short_entry_names_the_whole_path_without_the_turn() -> None:
    block = fit(700, make_entry("1", write_answer(DECISIVE)))
    assert block.text.endswith("Source: /home/ada/histories/pottery/1.jsonl:3 · id 1 · resume 1\n")


def test_the_home_folder_is_written_as_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME" if os.name == "posix" else "USERPROFILE", "/home/ada")
    assert fit(9000, make_entry("1", DECISIVE)).text.endswith(
        "Source: ~/histories/pottery/1.jsonl:3 (turn 0) · id 1 · resume 1\n"
    )


def make_match(answered: str) -> Attempt:
    return Attempt("7", "Why?", answered, "worked", "", None, "1.jsonl", 3, reply="Fine.", is_match=True)


def test_lines_of_the_attempt_that_matched_follow_the_end_of_its_thread() -> None:
    ended = "The shelves are oiled.\n" + write_answer()
    matched = make_match(f"{DECISIVE}\n{write_answer()}")
    block = fit(900, make_entry("1", ended, title="The kiln", before=(matched,)))
    assert "Ended:\n> The shelves are oiled.\n" in block.text
    assert f"Before it, worked · id 7:\n> {DECISIVE}\n" in block.text
    assert '\n— then the user: "Fine."\n' in block.text
    assert block.tokens <= 900


@pytest.mark.parametrize(("ending", "earlier"), [(0.2, 0.9), (0.9, 0.2)])
def test_lines_of_the_attempt_that_answers_the_question_most_likely_are_preferred(
    ending: float, earlier: float
) -> None:
    ended, matched = ("\n".join(f"The kiln needs shelf {kind}{n}." for n in range(20)) for kind in "ab")
    before = make_match(matched)._replace(likelihood=earlier)
    text = fit(900, make_entry("1", ended, before=(before,), likelihood=ending)).text
    assert (text.count("shelf b") > 4 * text.count("shelf a")) is (earlier > ending)
    assert (text.count("shelf a") > 4 * text.count("shelf b")) is (ending > earlier)


def test_lines_of_the_attempt_that_matched_are_preferred_to_equally_likely_ones() -> None:
    ended, matched = ("\n".join(f"The kiln needs shelf {kind}{n}." for n in range(20)) for kind in "ab")
    text = fit(900, make_entry("1", ended, before=(make_match(matched),))).text
    assert text.count("shelf b") > 4 * text.count("shelf a")


@pytest.mark.parametrize("budget", [900, 4000])
def test_a_thread_that_turned_to_another_thing_begins_with_the_attempt_that_matched(budget: int) -> None:
    entry = make_entry(
        "1", "The shelves are oiled.\n" + write_answer(), before=(make_match(DECISIVE),), has_turned=True
    )
    text = fit(budget, entry).text
    assert text.index(f"About this, worked · id 7:\n> {DECISIVE}\n") < text.index("Ended:\n> The shelves are oiled.")


def test_the_attempt_that_matched_stands_before_the_others() -> None:
    others = [Attempt(id_, "Why?", f"Number {id_}.", "unknown", "", None, "1.jsonl", 3) for id_ in ("5", "8")]
    block = fit(4000, make_entry("1", "The shelves are oiled.", before=(others[0], make_match(DECISIVE), others[1])))
    labels = [line.rpartition("id ")[2] for line in block.text.splitlines() if line.startswith("Before")]
    assert labels == ["7:", "5", "8"]


def test_an_earlier_attempt_that_says_the_answer_has_its_line() -> None:
    other = make_match(write_answer(DECISIVE))._replace(id="8", is_match=False)
    block = fit(1000, make_entry("1", write_answer(), title="The kiln", before=(other,)))
    assert DECISIVE in block.text.partition("\nBefore it")[2]


def test_a_rejected_attempt_has_its_first_line_before_one_that_nobody_rejected() -> None:
    tried = [make_match(f"{FILLER[:-1]}, {word}.")._replace(id=word, is_match=False) for word in ("oak", "elm")]
    refused = tried[1]._replace(outcome="failed", reply="The shelf fell down.")
    block = fit(560, make_entry("1", DECISIVE, title="The kiln", before=(tried[0], refused)))
    assert [one.id for one in block.entries[0].before] == ["elm"]


def test_a_list_of_an_earlier_attempt_keeps_its_lines() -> None:
    other = make_match("Two settings:\n- kiln 1,060\n- glaze thin")._replace(is_match=False)
    assert (
        "Before it, worked · id 7:\n> Two settings:\n> - kiln 1,060\n> - glaze thin\n— then"
        in fit(9000, make_entry("1", DECISIVE, title="The kiln", before=(other,))).text
    )


def test_the_ends_of_several_threads_come_before_the_details_of_one() -> None:
    ends = [f"Thread {number} ended well, with nothing of the question in it." for number in range(4)]
    entries = [
        make_entry(str(number), f"{end}\n{DECISIVE}\n{write_answer(DECISIVE)}") for number, end in enumerate(ends)
    ]
    block = fit(2400, *entries)
    assert [end for end in ends if end in block.text] == ends


@pytest.mark.parametrize("budget", [550, 600, 850, 1150])
def test_the_decisive_line_of_the_first_thread_comes_before_the_ends_of_all_others(budget: int) -> None:
    first = make_entry("0", f"The first thread ended well.\n{DECISIVE}\n{write_answer(DECISIVE)}")
    others = [make_entry(str(number), f"Thread {number} ended. {'It was long. ' * 8}") for number in range(1, 4)]
    assert DECISIVE in fit(budget, first, *others).text


def test_an_item_of_a_list_comes_with_the_line_that_introduces_it() -> None:
    answer = f"The course is full.\nDo this before the next firing:\n- sweep the floor of the studio\n- {DECISIVE}\n{write_answer()}"
    shown = fit(500, make_entry("1", answer)).text
    assert "> Do this before the next firing:\n> - " in shown


@pytest.mark.parametrize("budget", range(250, 1500, 50))
def test_no_line_is_only_an_ellipsis(budget: int) -> None:
    entries = [make_entry(str(number), write_answer(DECISIVE)) for number in range(3)]
    assert "> …\n" not in fit(budget, *entries).text


@pytest.mark.parametrize("budget", [450, 600, 900, 1500])
def test_the_reply_that_rejects_an_end_is_never_cut(budget: int) -> None:
    refusal = "That only hides the stain, and the glaze runs as before, so this is not what I asked you for."
    shown = (Evidence(refusal, "1.jsonl", 4, None),)
    for verdict in ("failed", "unknown"):
        entry = make_entry("1", write_answer(DECISIVE))._replace(outcome=Outcome(verdict, shown))
        assert refusal in fit(budget, entry).text


def test_a_whole_entry_names_the_whole_path() -> None:
    block = fit(9000, make_entry("1", DECISIVE))
    assert block.text.endswith("Source: /home/ada/histories/pottery/1.jsonl:3 (turn 0) · id 1 · resume 1\n")


def test_the_end_comes_first_then_its_evidence_actions_earlier_attempts_and_the_question() -> None:
    failure = Attempt(
        "5", "Lower the shelf", "I lowered it", "failed", "It runs", None, "5.jsonl", 1, reply="It runs still."
    )
    block = fit(4000, make_entry("1", DECISIVE, "worked", before=(failure,), done=("$ make fire", "kiln.toml")))
    assert block.text.split("\n")[4:] == [
        "## 1. pottery · 2026-05-01 08:00 · worked",
        "Ended:",
        f"> {DECISIVE}",
        "Shown by: > The kiln is fine now.",
        "Changed: kiln.toml · Ran: make fire",
        'Before it: > I lowered it — failed, the user: "It runs still." · id 5',
        "Asked: > Why does the glaze run in the kiln, number 1?",
        "Source: /home/ada/histories/pottery/1.jsonl:3 (turn 0) · id 1 · resume 1",
        "",
    ]


def test_a_prompt_without_an_answer_is_shown_as_unanswered() -> None:
    asked = make_entry("1", DECISIVE)._replace(answered=None)
    next_message = Outcome("unknown", (Evidence("Are you there?", "1.jsonl", 4),), "unanswered")
    assert "\nUnanswered\nAsked: >" in fit(4000, asked).text
    assert "\nUnanswered\nSaid next: > Are you there?\nAsked: >" in fit(4000, asked._replace(outcome=next_message)).text


def test_an_answer_that_no_budget_is_left_for_is_not_called_missing() -> None:
    entries = [make_entry(str(number), f"{DECISIVE} {'And so it goes on. ' * 40}") for number in range(1, 7)]
    for budget in range(60, 900, 20):
        assert "Unanswered" not in fit(budget, *entries).text


def test_the_parts_of_a_block_are_counted_together_since_each_count_may_ask_another_process() -> None:
    counted: list[int] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.append(len(texts))
        return [*map(len, texts)]

    entries = [make_entry(str(number), write_answer(DECISIVE)) for number in range(5)]
    assert fit_budget("kiln glaze", entries, WEIGHTS, 900, count).entries
    assert len(counted) == 3
    assert max(counted) > 5 * 14
