"""M4: vectors of two models, or of two versions of one, never stand in one database."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.store.database import open_database


class NextRelease(PackagedEmbedder):
    """The packaged model as a later release might have it."""

    version = "int8-next"


@pytest.fixture
def history(tmp_path: Path) -> Path:
    write_messages(tmp_path / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "history"])
    return tmp_path / "history"


def test_a_new_version_of_the_model_adds_no_vector_to_the_old_ones(history: Path) -> None:
    write_messages(history / "more.jsonl", ("user", "And the gate?"), ("assistant", "Blue."))
    with Memory(open_database(history.parent / "memory.db"), NextRelease()) as memory:
        report = memory.index([history])
        assert (report.counts()["turns_added"], report.pending_vectors) == (2, 2)
        assert (memory.status().turns, memory.status().pending_vectors) == (4, 2)
        assert "reindex --embeddings" in " ".join(memory.search("gate").warnings)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_search_with_a_new_version_of_the_model_answers_by_words_and_says_so(history: Path, mode: str) -> None:
    with Memory(open_database(history.parent / "memory.db"), NextRelease()) as memory:
        hits = memory.search("fence", mode=mode)
    assert [(hit.id, hit.semantic_rank, hit.similarity) for hit in hits] == [("1", None, None)]
    assert len(hits.warnings) == (mode != "keyword")
    assert all("by words alone" in warning for warning in hits.warnings)


def test_a_recall_with_a_new_version_of_the_model_still_speaks_and_warns(history: Path) -> None:
    with Memory(open_database(history.parent / "memory.db"), NextRelease()) as memory:
        block = memory.recall("Is the fence painted?")
    assert [hit.id for hit in block.hits] == ["1"]
    assert block.warnings


def test_the_doctor_wants_it_mended(history: Path) -> None:
    with Memory(open_database(history.parent / "memory.db"), NextRelease()) as memory:
        ill = [finding for finding in memory.doctor() if not finding.is_well]
    assert [finding.check for finding in ill] == ["model"]
    assert "reindex --embeddings" in ill[0].remedy
