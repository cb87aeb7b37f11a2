"""What a search promises whatever the ranking: as many hits as asked for, pages that join, filters that act before the cut."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import ModelUnavailable, UsageFault
from pastchats_memory.search import rank
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request

COUNT = 60


def _line(number: int) -> dict:
    return {
        "conversation_id": f"c{number // 20}",
        "project": ("garden", "shed")[number % 2],
        "role": ("user", "assistant")[number // 2 % 2],
        "content": f"Sentence {number} about {('beans', 'roses', 'rain')[number % 3]}",
        **({"timestamp": f"2026-01-{1 + number // 10:02}T{number % 10:02}:30:15.000Z"} if number % 5 else {}),
    }


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("search")
    lines = "".join(json.dumps(_line(number)) + "\n" for number in range(COUNT))
    (folder / "chat.jsonl").write_text(lines, encoding="utf-8")
    (folder / "notes").mkdir()
    (folder / "notes" / "plan.md").write_text("# Plan\n\nBeans first.\n\n## Later\n\nRoses.\n", encoding="utf-8")
    with Memory.open(folder / "memory.db") as opened:
        opened.index([folder])
        yield opened


@pytest.fixture
def _in_utc(monkeypatch: pytest.MonkeyPatch):
    """Days without a zone begin and end with those of UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
@pytest.mark.parametrize("limit", [1, 10, COUNT, COUNT + 2, 1000])
def test_a_search_returns_the_requested_number_of_hits_ranked_from_1(memory: Memory, mode: str, limit: int) -> None:
    hits = memory.search("beans in the rain", mode=mode, limit=limit)
    assert [hit.rank for hit in hits] == list(range(1, min(limit, COUNT + 2) + 1))
    assert len({hit.id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_pages_joined_are_the_long_list(memory: Memory, mode: str) -> None:
    whole = memory.search("beans in the rain", mode=mode, limit=30)
    pages = [hit for page in (1, 2, 3) for hit in memory.search("beans in the rain", mode=mode, limit=10, page=page)]
    assert [(hit.rank, hit.id) for hit in pages] == [(hit.rank, hit.id) for hit in whole]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({"project": "shed"}, lambda line: line["project"] == "shed"),
        ({"role": "assistant"}, lambda line: line["role"] == "assistant"),
        ({"since": "2026-01-03"}, lambda line: line.get("timestamp", "") >= "2026-01-03"),
        ({"until": "2026-01-03"}, lambda line: "2026" < line.get("timestamp", "") < "2026-01-04"),
        (
            {"since": "2026-01-02", "until": "2026-01-02"},
            lambda line: line.get("timestamp", "").startswith("2026-01-02"),
        ),
        ({"until": "2026-01-02T01:30"}, lambda line: "2026" < line.get("timestamp", "") <= "2026-01-02T01:30:59.999Z"),
        ({"since": "2026-01-02T01:30:15Z", "project": "shed"}, None),
        ({"project": "nobody"}, lambda _: False),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
@pytest.mark.usefixtures("_in_utc")
def test_filters_keep_exactly_the_rows_that_pass(memory: Memory, mode: str, filters: dict, passes) -> None:
    passes = passes or (
        lambda line: line["project"] == "shed" and line.get("timestamp", "") >= "2026-01-02T01:30:15.000Z"
    )
    expected = {line["content"] for line in map(_line, range(COUNT)) if passes(line)}
    hits = memory.search("sentence about beans, roses or rain", mode=mode, limit=1000, **filters)
    assert {hit.content for hit in hits} - {"Beans first.", "Roses."} == expected


def test_a_type_is_notes_or_everything_else(memory: Memory) -> None:
    notes = memory.search("beans", type="note", limit=1000)
    assert {hit.type for hit in notes} == {"note"}
    assert len(notes) == 2
    assert {hit.type for hit in memory.search("beans", type="prompt", limit=1000)} == {"prompt"}
    with pytest.raises(UsageFault):
        memory.search("beans", type="song")


def test_a_threshold_keeps_what_is_at_least_as_similar(memory: Memory) -> None:
    everything = memory.search("beans", mode="semantic", limit=1000)
    least = everything[20].similarity
    assert [hit.id for hit in memory.search("beans", mode="semantic", limit=1000, min_similarity=least)] == [
        hit.id for hit in everything if hit.similarity >= least
    ]
    words = memory.search("beans", mode="keyword", limit=1000, min_similarity=least)
    assert words
    assert all(hit.similarity >= least for hit in words)


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_the_relevance_of_a_row_is_the_same_in_every_mode_and_a_threshold_keeps_rows_that_reach_it(
    memory: Memory, mode: str
) -> None:
    of_row = {hit.id: hit.relevance for hit in memory.search("beans in the rain", limit=1000)}
    everything = memory.search("beans in the rain", mode=mode, limit=1000, threshold=0)
    assert {hit.id: hit.relevance for hit in everything}.items() <= of_row.items()
    least = sorted(hit.relevance for hit in everything)[len(everything) // 2]
    kept = memory.search("beans in the rain", mode=mode, limit=1000, threshold=least)
    assert [hit.id for hit in kept] == [hit.id for hit in everything if hit.relevance >= least]
    assert 0 < len(kept) < len(everything)


def test_the_two_thresholds_are_kept_apart(memory: Memory) -> None:
    everything = memory.search("beans in the rain", limit=1000, threshold=0)
    for relevance, similarity in ((0.9, -1), (0, 0.5), (0.5, 0.4)):
        kept = memory.search("beans in the rain", limit=1000, threshold=relevance, min_similarity=similarity)
        by_hand = [hit for hit in everything if hit.relevance >= relevance and hit.similarity >= similarity]
        assert [hit.id for hit in kept] == [hit.id for hit in by_hand]


def test_without_sqlite_vec_every_mode_answers_the_same(memory: Memory) -> None:
    path = memory.status().database
    with Memory.open(path, vec0=False) as exact:
        assert exact.status().engine == "exact"
        for mode in ("hybrid", "semantic", "keyword"):
            for filters in ({}, {"project": "shed"}, {"since": "2026-01-03"}, {"type": "note"}):
                assert exact.search("beans in the rain", mode=mode, limit=40, **filters) == memory.search(
                    "beans in the rain", mode=mode, limit=40, **filters
                )


class Lost(PackagedEmbedder):
    """The packaged model on a machine where its file is gone."""

    def embed_query(self, text: str):  # noqa: ARG002 - the protocol's signature
        raise ModelUnavailable("the packaged model cannot be loaded", "Reinstall pastchats-memory.")


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_without_a_model_words_answer_and_a_warning_says_so(memory: Memory, mode: str) -> None:
    hits = search(memory._database, Lost(), Request("beans", mode=mode))  # noqa: SLF001 - no public way to lose a model
    assert len(hits) == 10
    assert [hit.id for hit in hits] == [hit.id for hit in memory.search("beans", mode="keyword")]
    assert len(hits.warnings) == 1
    assert "by words alone" in hits.warnings[0]


def test_an_index_without_a_model_stores_turns_that_get_their_vectors_later(tmp_path: Path) -> None:
    class Broken(PackagedEmbedder):
        def embed(self, texts):  # noqa: ARG002 - the protocol's signature
            raise ModelUnavailable("the packaged model cannot be loaded", "Reinstall pastchats-memory.")

    (tmp_path / "chat.jsonl").write_text(
        "".join(json.dumps(_line(number)) + "\n" for number in range(4)), encoding="utf-8"
    )
    with Memory.open(tmp_path / "memory.db") as opened:
        broken = Memory(opened._database, Broken())  # noqa: SLF001 - no public way to lose a model
        assert broken.index([tmp_path]).counts()["turns_added"] == 4
        assert (opened.status().turns, opened.status().pending_vectors) == (4, 4)
        opened.index([tmp_path])
        assert opened.status().pending_vectors == 0


def test_authorship_counts_less_for_an_impersonal_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank, "IMPERSONAL", 0.0)
    with Memory.open(tmp_path / "memory.db") as memory:
        for role in ("assistant", "user"):  # equal in all else, so that the first of them would come first
            memory.store_turn(
                role, "The bike stands behind the shed.", f"said by the {role}", f"event of {role}", "house"
            )
        first = {
            question: memory.search(question)[0].role for question in ("where did I leave my bike", "where is the bike")
        }
    assert first == {"where did I leave my bike": "user", "where is the bike": "assistant"}
