"""What the order of a search is made of: plain BM25, plain cosine, and the balance between them."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import orjson
import pytest
from program import Reader, write_messages

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.search.query import FUNCTION_WORD
from pastchats_memory.store import fulltext
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.words import FUNCTION_WORDS, words

LONGEST = 100_000


@pytest.fixture(scope="module")
def memory(demo: Reader):
    with Memory.open(demo.database) as opened:
        yield opened


def rarest_first(memory: Memory, text: str) -> list[str]:
    database = memory._database  # noqa: SLF001 - the statement below needs the same tables
    stems = fulltext.stems(database, words(text))
    rows = fulltext.document_frequencies(database, {stem for of_word in stems.values() for stem in of_word})
    return sorted(words(text), key=lambda word: min(rows[stem] for stem in stems[word]))


@pytest.mark.parametrize(
    "text",
    [
        "webhook retries",
        "thundering herd receiver jitter",
        "postgres index lock migration",
        "CSV",
        "chart one hour late",
    ],
)
def test_words_without_weights_are_ranked_as_one_statement_of_fts5_ranks_their_or(memory: Memory, text: str) -> None:
    chosen = [word for word in rarest_first(memory, text) if word not in FUNCTION_WORDS]
    database = memory._database  # noqa: SLF001 - compared with a statement of our own
    plainly = database.run(
        "SELECT rowid, -bm25(prompts_fts) AS score FROM prompts_fts WHERE prompts_fts MATCH ? ORDER BY score DESC, rowid",
        (" OR ".join(f'"{word}"' for word in chosen),),
    )
    summed: dict[int, float] = defaultdict(float)
    for rows in fulltext.postings(database, chosen, Filters()).values():
        assert rows.ids.tolist() == sorted(rows.ids.tolist())
        scores = rows.at(rows.ids, fulltext.sizes(database, rows.ids))
        assert (scores <= rows.ceilings).all()
        for id_, score in zip(rows.ids.tolist(), scores.tolist(), strict=True):
            summed[id_] += score
    assert len(plainly) > 1
    assert summed == pytest.approx(dict(plainly))
    hits = memory.search(" ".join(chosen), mode="keyword", limit=1000)
    by_words = sorted(hits, key=lambda hit: hit.lexical_rank or 0)
    assert [int(hit.id) for hit in by_words] == [id_ for id_, _ in plainly][:1000]


def test_a_function_word_adds_its_share_of_bm25(memory: Memory) -> None:
    database = memory._database  # noqa: SLF001 - compared with a statement of our own
    plainly = dict(database.run("SELECT rowid, -bm25(prompts_fts) FROM prompts_fts WHERE prompts_fts MATCH 'webhook'"))
    for id_, score in database.run(
        "SELECT rowid, -bm25(prompts_fts) FROM prompts_fts WHERE prompts_fts MATCH '\"after\"'"
    ):
        plainly[id_] = plainly.get(id_, 0.0) + FUNCTION_WORD * score
    hits = memory.search("after webhook", mode="keyword", limit=1000)
    by_words = sorted(hits, key=lambda hit: hit.lexical_rank or 0)
    assert [int(hit.id) for hit in by_words] == sorted(plainly, key=lambda id_: (-plainly[id_], id_))


def test_words_side_by_side_are_found_as_the_index_knows_them(memory: Memory) -> None:
    database = memory._database  # noqa: SLF001 - compared with the texts
    texts = dict(database.run("SELECT id, lower(content) FROM prompts"))
    found = fulltext.find_phrase(database, "thundering herd", Filters()).tolist()
    assert found == sorted(id_ for id_, text in texts.items() if "thundering herd" in text)
    assert found
    assert fulltext.find_phrase(database, 'no "such', Filters()).tolist() == []


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_pages_together_are_the_list_as_a_whole_and_no_row_comes_twice(memory: Memory, mode: str) -> None:
    query = "why does the import of the webhook table hang"
    whole = memory.search(query, mode=mode, limit=1000)
    assert len(whole) > 90
    for size in (7, 60, 99):
        paged = [
            hit for page in range(1, 1 + 1000 // size) for hit in memory.search(query, mode=mode, limit=size, page=page)
        ]
        assert [(hit.rank, hit.id, hit.score) for hit in paged] == [(hit.rank, hit.id, hit.score) for hit in whole]
    assert len({hit.id for hit in whole}) == len(whole)
    assert [hit.score for hit in whole] == sorted((hit.score for hit in whole), reverse=True)


def test_semantic_order_is_that_of_plain_cosines(memory: Memory) -> None:
    query = PackagedEmbedder().embed_query("why are the tides late").astype(float)
    query = np.rint(query * 127 / np.abs(query).max())
    database = memory._database  # noqa: SLF001 - compared with the stored vectors
    cosines = {}
    for id_, text in database.run("SELECT prompt_id, vector_json FROM prompt_embeddings", ()):
        row = np.array(orjson.loads(text))
        cosines[id_] = round(float(row @ query) / math.sqrt(float(row @ row) * float(query @ query)), 6)
    hits = memory.search("why are the tides late", mode="semantic", limit=1000)
    assert [int(hit.id) for hit in hits] == sorted(cosines, key=lambda id_: (-cosines[id_], id_))
    assert [hit.similarity for hit in hits] == pytest.approx([cosines[int(hit.id)] for hit in hits], abs=2e-6)


@pytest.mark.parametrize("text", ["webhook retries", "why are the tides late", "how was it"])
@pytest.mark.parametrize(("meaning", "mode"), [(0, "keyword"), (1, "semantic")])
def test_an_end_of_the_balance_gives_the_order_of_the_mode(
    memory: Memory, text: str, meaning: float, mode: str
) -> None:
    at_the_end = memory.search(text, meaning=meaning, limit=100)
    assert [hit.id for hit in at_the_end] == [hit.id for hit in memory.search(text, mode=mode, limit=100)]
    assert at_the_end


def test_between_the_ends_both_lists_contribute(memory: Memory) -> None:
    hits = memory.search("webhook retries", limit=20)
    assert {name for hit in hits for name in hit.contributions} == {"words", "meaning", "together"}
    assert all(hit.score == pytest.approx(sum(hit.contributions.values())) for hit in hits)


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
@pytest.mark.parametrize("kind", ["prose", "one word", "marks"])
def test_a_query_of_100_kilobytes_is_answered(memory: Memory, mode: str, kind: str) -> None:
    vocabulary = words(" ".join(item.content for item in memory.search("a", mode="semantic", limit=1000)))
    chooser = random.Random(1)  # noqa: S311 - the same words every time
    text = {
        "prose": " ".join(chooser.choices([*vocabulary, *(f"unheard{n}" for n in range(5000))], k=20_000))[:LONGEST],
        "one word": "x" * LONGEST,
        "marks": '"*() OR ' * (LONGEST // 8),
    }[kind]
    hits = memory.search(text, mode=mode)
    assert bool(hits) == (kind != "one word" or mode != "keyword")


def test_a_users_neighbour_counts_more_than_an_assistants(tmp_path: Path) -> None:
    messages = [
        {"conversation_id": role, "role": who, "content": text}
        for role in ("assistant", "user")
        for who, text in ((role, "The glaze of the stoneware peels."), ("user", "Celadon it is."))
    ]
    (tmp_path / "chat.jsonl").write_bytes(b"\n".join(map(orjson.dumps, messages)))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "chat.jsonl"])
        found = memory.search("stoneware that peels: celadon?")
    assert [hit.conversation_id for hit in found if hit.content == "Celadon it is."] == ["user", "assistant"]


def test_a_word_of_turns_alone_does_not_hide_tasks(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([write_messages(tmp_path / "chat.jsonl", ("user", "Where is the kiln?"), ("assistant", "Aft."))])
        key = memory.tasks.add(Change(title="Glaze the bowls")).key
        (hit,) = memory.search("glaze kiln", type="task")
        assert hit.id == f"t:{key}"
