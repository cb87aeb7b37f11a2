"""Measure bytes and milliseconds a turn in Milvus Lite, beside our own engine.

    python benchmarks/team_scale.py [--turns N ...] [--questions N]

Both get the texts and vectors of `scale.py`. A question goes to Milvus as `search --team` asks it, and to our engine as `search`
does. Both are open, and nothing else uses them.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import corpus
import orjson
import scale

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.search.request import Request
from pastchats_memory.store.database import open_database
from pastchats_memory.store.sources import set_meta
from pastchats_memory.team.ask import search
from pastchats_memory.team.client import Collection, Row, in_batches, open_collection
from pastchats_memory.team.report import Limits
from pastchats_memory.team.rows import name_key

TURNS = (10_000, 200_000)
MEMBERS = 10
NOTHING_STAYS = Limits(frozenset(), lambda _: False)


def build_own(path: Path, turns: int) -> float:
    """Build our database, and return the milliseconds a turn."""
    texts, directions = scale.Texts(), scale.Directions(iter(scale.Texts(seed=2).batch(0, corpus.DISTINCT)))
    took = 0.0
    with open_database(path, create=True) as opened:
        model = {"model_name": PackagedEmbedder.name, "model_version": PackagedEmbedder.version}
        with opened.transaction():
            set_meta(opened, {**model, "embedding_dim": str(PackagedEmbedder.dim)})
        for start in range(0, turns, scale.BATCH):
            some = texts.batch(start, min(scale.BATCH, turns - start))
            vectors = directions.batch(some, seed=start)
            begin = time.perf_counter()
            scale.write(opened, start, some, vectors)
            took += time.perf_counter() - begin
    return 1000 * took / turns


def rows(path: Path) -> Iterator[Row]:
    """Yield the turns of our database as `team push` writes them."""
    model = name_key(f"{PackagedEmbedder.name}\0{PackagedEmbedder.version}")
    with open_database(path) as opened:
        for id_, source, project, conversation, index, role, content, timestamp, name, vector in opened.rows(
            "SELECT p.id, source_path, source_project, conversation_id, turn_index, role, content, timestamp, content_hash, "
            "vector_json FROM prompts p JOIN prompt_embeddings e ON e.prompt_id = p.id ORDER BY p.id"
        ):
            metadata = {"format": "claude-code", "branch": "main", "kind": "prompt"}
            place = {"conversation_id": conversation, "turn_index": index, "timestamp": timestamp, "line": index + 1}
            yield {
                "id": name, "kind": "turn", "member": name_key(str(id_ % MEMBERS)), "author": "ada", "project": project,
                "project_key": name_key(project), "role": role, "outcome": "unknown", "citation": f"desk:{source}:{index + 1}",
                "model": model, "digest": name[:32], "text": content, "at": scale.START_MS + 45_000 * id_,
                "body": place | {"metadata": metadata}, "dense": orjson.loads(vector),
            }  # fmt: skip


def fill(collection: Collection, path: Path, turns: int) -> float:
    """Write the turns into the collection, and return the milliseconds a turn."""
    begin = time.perf_counter()
    collection.create(PackagedEmbedder.dim)
    for batch in in_batches(rows(path), lambda row: len(row["text"])):
        collection.put(batch)
    return 1000 * (time.perf_counter() - begin) / turns


def median_ms(ask: Callable[[str], object], questions: list[str]) -> float:
    """Return the median milliseconds of a question, after two to warm up."""
    took = []
    for question in [*questions[:2], *questions]:
        begin = time.perf_counter()
        ask(question)
        took.append(time.perf_counter() - begin)
    return 1000 * statistics.median(took[2:])


def disk_bytes(path: Path) -> int:
    """Return the bytes of a file with its companions, or of all files in a folder."""
    found = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    return sum(one.stat().st_size for one in found if one.is_file())


def measure(folder: Path, turns: int, count: int) -> None:
    """Build both, ask both, and print one line each."""
    own, shared = folder / f"{turns}-memory.sqlite", folder / f"{turns}-team.db"
    write_ms = build_own(own, turns)
    questions = scale.questions(own, count)
    with Memory.open(own) as memory:
        answer_ms = median_ms(memory.search, questions)
    _report("our engine", turns, write_ms, disk_bytes(own), answer_ms)
    with open_collection(str(shared), None) as collection, open_database(own) as database:
        write_ms = fill(collection, own, turns)
        collection.load()
        session = ModelSession(PackagedEmbedder())
        first = _time(lambda: search(database, session, collection, Request(questions[0]), NOTHING_STAYS))
        answer_ms = median_ms(
            lambda text: search(database, session, collection, Request(text), NOTHING_STAYS), questions
        )
        listed = _time(lambda: list(collection.select("", ["id", "digest"])))
    _report("Milvus Lite", turns, write_ms, disk_bytes(shared), answer_ms)
    print(f"  first question {first:.1f} s, list of all ids {listed:.1f} s", end="")
    with open_collection(str(shared), None) as collection:
        print(f", opened and loaded again in {_time(collection.load):.1f} s", end="")
    print(f"; most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def _time(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def _report(name: str, turns: int, write_ms: float, size: int, answer_ms: float) -> None:
    print(
        f"{turns:>9,} {name:12}{write_ms:8.2f} ms a turn written{size / turns:8.0f} bytes a turn{answer_ms:8.1f} ms a question",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, nargs="+", default=TURNS)
    parser.add_argument("--questions", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for turns in given.turns:
            measure(Path(folder), turns, given.questions)


if __name__ == "__main__":
    main()
