"""The user's messages are classified as replies when turns are indexed, and what is stored goes with the turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession, UnavailableEmbedder
from pastchats_memory.episodes import replies as classifying
from pastchats_memory.episodes.derive import derive, weights_version
from pastchats_memory.episodes.outcome.reply import KINDS, read_weights
from pastchats_memory.episodes.replies import classify_replies, open_packaged
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.store import outcomes, replies
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.text.hashes import text_hash

REQUEST = ("user", "Speed up the start of the ferry timetable.")
ANSWER = ("assistant", "I read the tides once instead of twice.")
YES, THANKS = ("user", "yes, go ahead"), ("user", "Perfect, thank you!")
TURNS = (REQUEST, ANSWER, YES, ANSWER, THANKS, ANSWER)


class NextRelease(PackagedEmbedder):
    """The packaged model as a later release might have it."""

    version = "int8-next"


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return write_messages(tmp_path / "history" / "chat.jsonl", *TURNS)


@pytest.fixture
def memory(tmp_path: Path, history: Path):
    with Memory.open(tmp_path / "memory.db") as opened:
        opened.index([history])
        yield opened


def database_of(memory: Memory) -> Database:
    return memory._database  # noqa: SLF001 - what is stored is looked at, not only what is said


def listed(database: Database) -> list[tuple[str, str | None]]:
    return database.run("SELECT content, kind FROM replies JOIN prompts ON id = prompt_id ORDER BY turn_index")


def unavailable() -> ModelSession:
    gone = ModelUnavailable("the packaged model is gone")
    return ModelSession(UnavailableEmbedder(PackagedEmbedder.name, PackagedEmbedder.version, gone))


def test_an_index_run_classifies_each_message_of_the_user_but_the_first(memory: Memory) -> None:
    assert listed(database_of(memory)) == [(YES[1], "agrees"), (THANKS[1], "confirms")]
    assert replies.read_version(database_of(memory)) == weights_version()


def test_a_forgotten_message_takes_its_meaning_along(memory: Memory) -> None:
    id_ = database_of(memory).value("SELECT id FROM prompts WHERE content = ?", (YES[1],))
    memory.forget(str(id_))
    assert listed(database_of(memory)) == [(THANKS[1], "confirms")]
    assert database_of(memory).value("SELECT count(*) FROM replies") == 1


def test_a_changed_message_waits_until_the_next_run(memory: Memory, history: Path) -> None:
    database = database_of(memory)
    changed = ("No, undo that.", text_hash("No, undo that."))
    database.run("UPDATE prompts SET content = ?, text_hash = ? WHERE turn_index = 2", changed)
    assert listed(database)[0] == ("No, undo that.", None)
    memory.index([history])
    assert listed(database)[0][1] in KINDS


@pytest.mark.parametrize("run", ["index", "reindex"])
def test_other_weights_classify_every_message_anew(memory: Memory, history: Path, run: str) -> None:
    database = database_of(memory)
    before = listed(database)
    database.run("UPDATE replies SET kind = 'other'")
    database.run("UPDATE embedding_meta SET value = 'older' WHERE key = ?", (replies.WEIGHTS,))
    _ = memory.index([history]) if run == "index" else memory.reindex_outcomes()
    assert listed(database) == before


def test_outcomes_after_an_update_trust_no_meaning_of_older_weights(memory: Memory) -> None:
    database = database_of(memory)
    database.run("UPDATE embedding_meta SET value = 'older' WHERE key = ?", (replies.WEIGHTS,))
    derive(database)
    assert {kind for _, kind in listed(database)} == {None}


def test_without_the_packaged_model_messages_wait_for_it(memory: Memory) -> None:
    database = database_of(memory)
    before = listed(database)
    database.run("UPDATE replies SET kind = NULL")
    classify_replies(database, unavailable())
    assert {kind for _, kind in listed(database)} == {None}
    classify_replies(database, open_packaged())
    assert listed(database) == before


def test_a_run_that_was_ended_between_two_batches_is_completed_by_the_next(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = database_of(memory)
    before = listed(database)
    database.run("UPDATE replies SET kind = NULL")
    monkeypatch.setattr(classifying, "BATCH", 1)
    packaged = open_packaged()
    original, stored = replies.store_replies, []

    def store_once(*arguments) -> None:
        if stored:
            raise KeyboardInterrupt
        stored.append(original(*arguments))

    with monkeypatch.context() as patch:
        patch.setattr(replies, "store_replies", store_once)
        with pytest.raises(KeyboardInterrupt):
            classify_replies(database, packaged)
    assert [kind for _, kind in listed(database)] == ["agrees", None]
    classify_replies(database, packaged)
    assert listed(database) == before


def test_the_meaning_is_the_same_whatever_model_the_database_uses(
    memory: Memory, tmp_path: Path, history: Path
) -> None:
    statement = "SELECT kind, probability, complaint, approval FROM replies ORDER BY prompt_id"
    with Memory(open_database(tmp_path / "other.db", create=True), NextRelease()) as other:
        other.index([history])
        assert database_of(other).run(statement) == database_of(memory).run(statement)


def test_a_new_meaning_makes_the_outcome_due_from_the_message_on(memory: Memory) -> None:
    database = database_of(memory)
    assert outcomes.pending(database) == 0
    database.run("UPDATE replies SET kind = 'rejects' WHERE prompt_id IN (SELECT id FROM prompts WHERE turn_index = 4)")
    assert [due.from_index for due in outcomes.due(database, 9)] == [4]


def test_the_first_part_of_a_message_with_words_counts(memory: Memory, tmp_path: Path) -> None:
    parts = (("user", "/clear"), ("user", "The timetable is empty now."), ("user", "yes"))
    memory.index([write_messages(tmp_path / "more" / "parts.jsonl", REQUEST, ANSWER, *parts, conversation="parts")])
    database = database_of(memory)
    ids = [id_ for (id_,) in database.run("SELECT id FROM prompts WHERE conversation_id = 'parts' ORDER BY turn_index")]
    found = replies.find_reply(database, ids[2:])
    assert found is not None
    assert found == replies.find_reply(database, ids[3:4])
    assert database.value("SELECT kind FROM replies WHERE prompt_id = ?", (ids[2],)) == ""


def test_hostile_text_gets_a_meaning_like_any_other(memory: Memory, tmp_path: Path) -> None:
    texts = (
        "\u202e\u0000no",
        "🙂" * 9000,
        "'; DROP TABLE replies; --",
        "[" * 5000,
        " \u200b ",
        "ß" * 300,
        "{{{{",
        "\ufffd",
    )
    turns = [turn for text in texts for turn in (("user", text), ANSWER)]
    memory.index([write_messages(tmp_path / "more" / "hostile.jsonl", REQUEST, ANSWER, *turns, conversation="hostile")])
    found = database_of(memory).run("SELECT kind, probability FROM replies")
    assert all(kind == "" or (kind in KINDS and 0 < probability <= 1) for kind, probability in found)


def test_the_weights_are_for_the_packaged_model_and_all_kinds() -> None:
    known = read_weights()
    assert known["model"] == PackagedEmbedder.version
    assert set(known["least"]) == {*KINDS, "complaint", "approval", "content"}
    assert len(known["weights"]) == len(KINDS)
