"""The newest conversations have the outcomes by which a person chooses one."""

from __future__ import annotations

from program import Program

from pastchats_memory import Memory


def test_a_last_word_of_thanks_hides_no_outcome_of_its_conversation(own_demo: Program) -> None:
    with Memory.open(own_demo.database) as memory:
        hits = memory.list_recent()
        assert set(memory.outcomes_of(hits).values()) == {"unknown"}
        assert {"worked", "failed"} <= set(memory.outcomes_of(hits, or_before=True).values())
