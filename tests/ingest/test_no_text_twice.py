"""M5: the same text goes through the model once, wherever and however often it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.store.database import open_database

ROWS, DISTINCT = 100, 60


class Counting(PackagedEmbedder):
    """The packaged model, which notes what goes through it."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.texts: list[str] = []

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        listed = list(texts)
        self.texts += listed
        return super().embed(listed)


def test_duplicate_texts_are_embedded_once(tmp_path: Path) -> None:
    sentences = [f"Sentence {place % DISTINCT}" for place in range(ROWS)]
    for file in range(4):
        part = [
            (("user", "assistant")[place % 2], text) for place, text in enumerate(sentences[file * 25 : file * 25 + 25])
        ]
        write_messages(tmp_path / "history" / f"{file}.jsonl", *part, conversation=f"c{file}")
    embedder = Counting()
    with Memory(open_database(tmp_path / "memory.db", create=True), embedder) as memory:
        report = memory.index([tmp_path / "history"])
        assert report.counts()["turns_added"] == ROWS
        assert sorted(embedder.texts) == sorted(set(sentences))
        assert (report.embedded, report.cached) == (DISTINCT, ROWS - DISTINCT)
        again = memory.index([tmp_path / "history"], force=True)
        assert (again.embedded, len(embedder.texts)) == (0, DISTINCT)
        write_messages(tmp_path / "history" / "later.jsonl", ("user", "Sentence 7"), conversation="c9")
        later = memory.index([tmp_path / "history"])
        assert (later.counts()["turns_added"], later.embedded, later.cached) == (1, 0, 1)
    assert len(embedder.texts) == DISTINCT
