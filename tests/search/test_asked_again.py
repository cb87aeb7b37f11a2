"""A memory that stays open answers each question as one that is opened for it, whatever others did in between."""

from __future__ import annotations

from typing import Any

from program import Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.store.vectors import blocks

QUESTION = "why does the webhook receiver see every delivery twice"
WAYS: tuple[dict[str, Any], ...] = ({}, {"role": "user"}, {"mode": "semantic"})


def assert_as_if_just_opened(memory: Memory, own_demo: Program) -> None:
    for ways in WAYS:
        with Memory.open(own_demo.database) as fresh:
            assert memory.search(QUESTION, **ways) == fresh.search(QUESTION, **ways)


def test_the_next_answer_shows_changes_of_another_process(own_demo: Program) -> None:
    copy = own_demo.home / "copy.db"
    assert own_demo("backup", copy).status == 0
    with Memory.open(own_demo.database) as memory:
        assert_as_if_just_opened(memory, own_demo)
        with memory._database.snapshot():  # noqa: SLF001 - what it keeps shows nowhere else
            assert blocks.cached_parts(memory._database)  # noqa: SLF001 - the test looks below the public face
        best = memory.search(QUESTION)[0].id
        assert own_demo("forget", "--id", best, "--yes").status == 0
        assert best not in [hit.id for hit in memory.search(QUESTION)]
        assert_as_if_just_opened(memory, own_demo)
        write_messages(own_demo.home / "more" / "chat.jsonl", ("user", QUESTION), ("assistant", "Deliveries repeat."))
        assert own_demo("index", own_demo.home / "more").status == 0
        assert memory.search(QUESTION)[0].content == QUESTION
        assert_as_if_just_opened(memory, own_demo)
        assert own_demo("restore", copy, "--yes").status == 0
        assert QUESTION not in [hit.content for hit in memory.search(QUESTION)]
        assert_as_if_just_opened(memory, own_demo)


def test_forgotten_rows_are_in_no_further_answer(own_demo: Program) -> None:
    with Memory.open(own_demo.database) as memory:
        for _ in range(2):
            assert_as_if_just_opened(memory, own_demo)
            best = memory.search(QUESTION)[0].id
            memory.forget(best)
            assert best not in [hit.id for hit in memory.search(QUESTION)]
