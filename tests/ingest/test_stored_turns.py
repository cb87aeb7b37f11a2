"""P6: a turn stored while it is said, once for each event, and one row with its copy in a transcript."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory, MemoryFault

ASKED = "Why does the kiln trip its relay at 900 degrees?"
SENT_AT = "2026-05-04T08:00:31Z"
"""24 seconds after `write_messages` has it."""


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


def rows(memory: Memory) -> list[tuple[str, str, str]]:
    hits = memory.search("kiln relay", mode="semantic", limit=50)
    return sorted((hit.content, hit.source_path, hit.source_project) for hit in hits)


def test_a_stored_turn_is_found_by_words_and_by_meaning_at_once(memory: Memory) -> None:
    stored = memory.store_turn("user", ASKED, "c1", "e1", "pottery", SENT_AT, client="claude")
    (hit,) = memory.search("kiln relay", mode="keyword")
    assert (hit.id, hit.source_path, hit.source_project, hit.role) == (stored.id, "live:claude", "pottery", "user")
    assert (hit.conversation_id, hit.timestamp, hit.source_line) == ("c1", "2026-05-04T08:00:31.000Z", None)
    assert memory.search("the oven switches off when it is hot", mode="semantic")[0].id == stored.id
    assert memory.status().embeddings == memory.status().turns == 1
    assert all(finding.is_well for finding in memory.doctor())


def test_a_repeated_event_changes_nothing_even_much_later(memory: Memory, tmp_path: Path) -> None:
    first = memory.store_turn("user", ASKED, "c1", "e1", "pottery", SENT_AT)
    again = memory.store_turn("user", ASKED, "c1", "e1", "pottery", "2026-05-04T19:00:00Z")
    assert (again.id, again.is_new, first.is_new) == (first.id, False, True)
    memory.index([write_messages(tmp_path / "a.jsonl", ("user", ASKED))])  # the transcript takes the row over
    assert memory.store_turn("user", ASKED, "c1", "e1", "pottery").id == first.id
    assert len(rows(memory)) == 1


def test_equal_words_of_another_event_role_or_conversation_are_another_turn(memory: Memory) -> None:
    memory.store_turn("user", "go on", "c1", "e1", "pottery", SENT_AT)
    memory.store_turn("user", "go on", "c1", "e2", "pottery", "2026-05-04T08:00:32.500Z")
    memory.store_turn("assistant", "go on", "c1", "e1", "pottery", SENT_AT)
    memory.store_turn("user", "go on", "c2", "e1", "pottery", SENT_AT)
    memory.store_turn("user", "go on", "c1", None, "pottery", SENT_AT.replace("31", "40"))
    assert memory.status().turns == 5


@pytest.mark.parametrize("transcript_first", [False, True])
@pytest.mark.parametrize("event", ["e1", None, "7d1f0a52-5b0e-4c1b-9a55-0f3f7d6f2c11"])
def test_a_stored_turn_and_its_transcript_are_one_row_in_either_order(
    memory: Memory, tmp_path: Path, event: str | None, *, transcript_first: bool
) -> None:
    file = write_messages(tmp_path / "a.jsonl", ("user", ASKED), ("assistant", "Its relay is too small."))
    if transcript_first:
        memory.index([file])
    memory.store_turn("user", ASKED, "c1", event, "elsewhere", SENT_AT)
    memory.index([file])
    memory.store_turn("assistant", "Its relay is too small.", "c1", event, "elsewhere", "2026-05-04T08:01:30Z")
    assert rows(memory) == [("Its relay is too small.", str(file), "garden"), (ASKED, str(file), "garden")]
    assert memory.status().embeddings == 2


def test_more_than_a_minute_apart_they_are_two_turns(memory: Memory, tmp_path: Path) -> None:
    memory.store_turn("user", ASKED, "c1", "e1", "pottery", "2026-05-04T08:05:00Z")
    memory.index([write_messages(tmp_path / "a.jsonl", ("user", ASKED))])
    assert len(rows(memory)) == 2


def test_secrets_and_our_own_blocks_are_left_out(memory: Memory) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.store_turn("user", f"push with {token} please", "c1", "e1", "pottery")
    (hit,) = memory.search("push", mode="keyword")
    assert token not in hit.content
    block = memory.recall("push with a token").text
    with pytest.raises(MemoryFault, match="nothing to store"):
        memory.store_turn("assistant", block if "Source:" in block else "# Memory Recall\n\nQuery: x\n", "c1", "e2")


@pytest.mark.parametrize(
    ("role", "content", "time"), [("user", " \n", None), (" ", "words", None), ("user", "words", "noon")]
)
def test_an_invalid_turn_is_refused_and_not_stored(memory: Memory, role: str, content: str, time: str | None) -> None:
    with pytest.raises(MemoryFault):
        memory.store_turn(role, content, timestamp=time)
    assert memory.status().turns == 0


def test_turns_of_a_conversation_keep_their_order(memory: Memory) -> None:
    for number, words in enumerate(["first", "second", "third"]):
        memory.store_turn("user", f"{words} firing of the kiln", "c1", f"e{number}", "pottery")
    hits = memory.search("firing of the kiln", mode="keyword")
    assert sorted((hit.turn_index, hit.content.split()[0]) for hit in hits) == [
        (0, "first"),
        (1, "second"),
        (2, "third"),
    ]


def test_a_folder_that_opted_out_is_not_remembered(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".pastchats-ignore").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MemoryFault, match="not to be remembered"):
        memory.store_turn("user", ASKED)
