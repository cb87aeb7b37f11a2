"""Measure bytes and time a turn in a team's PostgreSQL and in Milvus Lite, beside our own engine.

    python benchmarks/team_scale.py [--turns N ...] [--questions N] [--only ours|postgresql|milvus]

All get the texts and vectors of `scale.py`. A question goes to a server as a member's `search --team` asks it, and to our engine
as `search` does. Times of our engine and of Milvus Lite, which runs in the same process, are processor time. PostgreSQL is a server
of its own, so its times are elapsed time.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import corpus
import numpy as np
import scale
from numpy.typing import NDArray

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.search.request import Request
from pastchats_memory.store.database import open_database
from pastchats_memory.store.sources import set_meta
from pastchats_memory.team.ask import search
from pastchats_memory.team.connect import open_server
from pastchats_memory.team.milvus import open_milvus
from pastchats_memory.team.server import Condition, Row, TeamServer, digest_name, split_into_batches
from pastchats_memory.team.trial import start_trial, stop_trial

TURNS = (10_000, 200_000)
MEMBERS = 10
MODEL = digest_name(f"{PackagedEmbedder.name}\0{PackagedEmbedder.version}")
Clock = Callable[[], float]
NOTHING_STAYS = SharingLimits(frozenset(), lambda _: False)


def batches(turns: int) -> Iterator[tuple[int, list[str], NDArray[np.float32]]]:
    """Yield the first number, the texts and the vectors of some turns."""
    texts, directions = scale.Texts(), scale.Directions(iter(scale.Texts(seed=2).batch(0, corpus.DISTINCT)))
    for start in range(0, turns, scale.BATCH):
        some = texts.batch(start, min(scale.BATCH, turns - start))
        yield start, some, directions.batch(some, seed=start)


def fill_own(path: Path, turns: int) -> float:
    """Write the turns into a database of ours, and return the milliseconds a turn."""
    spent = 0.0
    with open_database(path, create=True) as opened:
        model = {"model_name": PackagedEmbedder.name, "model_version": PackagedEmbedder.version}
        with opened.transaction():
            set_meta(opened, {**model, "embedding_dim": str(PackagedEmbedder.dim)})
        for start, texts, near in batches(turns):
            spent += measure(partial(scale.write, opened, start, texts, near))
    return 1000 * spent / turns


def fill_team(server: TeamServer, turns: int, clock: Clock = time.process_time) -> float:
    """Write the turns as `team push` does, and return the milliseconds a turn."""
    spent = 0.0
    for start, texts, near in batches(turns):
        some = [
            build_row(start + place, text, vector) for place, (text, vector) in enumerate(zip(texts, near, strict=True))
        ]
        for batch in split_into_batches(iter(some), lambda row: len(row["text"])):
            spent += measure(partial(server.put, batch), clock)
    return 1000 * spent / turns


def build_row(number: int, text: str, vector: NDArray[np.float32]) -> Row:
    """Return a row as `team push` writes it."""
    name, project = hashlib.sha256(str(number).encode()).hexdigest(), f"project-{number // 40 % corpus.PROJECTS}"
    metadata = {"format": "claude-code", "branch": "main", "kind": "prompt"}
    conversation = f"{number // 40:08}-0000-4000-8000-000000000000"
    place = {"conversation_id": conversation, "turn_index": number % 40, "timestamp": None}
    return {
        "id": name, "kind": "turn", "member": digest_name(str(number % MEMBERS)), "author": "ada", "project": project,
        "role": ("user", "assistant")[number % 2], "outcome": "unknown", "model": MODEL, "digest": name[:32], "text": text,
        "at": scale.START_MS + 45_000 * number, "body": place | {"metadata": metadata},
        "dense": np.rint(vector * 127 / np.abs(vector).max()).tolist(),
    }  # fmt: skip


def questions(count: int) -> list[str]:
    """Return the first words of some turns."""
    texts = [text.split() for text in scale.Texts(seed=1).batch(0, scale.BATCH)]
    return [" ".join(words[: scale.QUESTION_WORDS]) for words in texts if len(words) > scale.QUESTION_WORDS][:count]


def median_ms(ask: Callable[[str], object], count: int, clock: Clock = time.process_time) -> float:
    """Return the median milliseconds of a question, after one to warm up."""
    first, *others = questions(count + 1)
    ask(first)
    return 1000 * statistics.median(measure(partial(ask, text), clock) for text in others)


def disk_bytes(path: Path) -> int:
    """Return the bytes of a file with its companions, or of all files in a folder."""
    found = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    return sum(one.stat().st_size for one in found if one.is_file())


def measure_own(folder: Path, turns: int, count: int) -> None:
    """Measure our engine, and print one line."""
    path = folder / f"{turns}.sqlite"
    write_ms = fill_own(path, turns)
    with Memory.open(path) as memory:
        report("our engine", turns, write_ms, disk_bytes(path), median_ms(memory.search, count))


def measure_team(folder: Path, turns: int, count: int) -> None:
    """Measure Milvus Lite, and print two lines."""
    path, session = folder / f"{turns}.db", ModelSession(PackagedEmbedder())
    with open_milvus(str(path), None) as collection, open_database(folder / "own.sqlite", create=True) as own:
        collection.create(PackagedEmbedder.dim)
        write_ms = fill_team(collection, turns)
        collection.load()
        answer_ms = median_ms(lambda text: search(own, session, collection, Request(text), NOTHING_STAYS), count)
        listed = measure(lambda: list(collection.select(Condition(), ["id", "digest"])))
    report("Milvus Lite", turns, write_ms, disk_bytes(path), answer_ms)
    with open_milvus(str(path), None) as collection:
        opened = measure(collection.load)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"          list of all ids {listed:.1f} s, opened again in {opened:.1f} s, most memory {most:,.0f} MB",
        flush=True,
    )


def measure_postgres(folder: Path, turns: int, count: int) -> None:
    """Measure PostgreSQL as a member of the team, and print two lines."""
    path, session = folder / f"postgres-{turns}", ModelSession(PackagedEmbedder())
    folder.chmod(0o755)  # root runs the server as another user
    (_, member) = start_trial(path, PackagedEmbedder.dim).people
    clock = time.perf_counter
    with open_server(member.endpoint, None) as server, open_database(folder / "own-pg.sqlite", create=True) as own:
        write_ms = fill_team(server, turns, clock)
        server.load()
        answers = [
            median_ms(lambda text: search(own, session, server, Request(text, mode=mode), NOTHING_STAYS), count, clock)  # noqa: B023
            for mode in ("hybrid", "keyword", "semantic")
        ]
        begin = server.list_changes(Condition(), "")
        listed = [measure(partial(server.list_changes, Condition(), horizon), clock) for horizon in ("", begin.horizon)]
    report("PostgreSQL", turns, write_ms, disk_bytes(path / "base"), answers[0])
    print(
        f"          by words {answers[1]:.1f} ms, by meaning {answers[2]:.1f} ms, list of all ids {listed[0]:.1f} s, of what is new {listed[1]:.3f} s"
    )
    stop_trial(path)


def measure(act: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Return the seconds that an act takes: of processor time, unless another clock is given."""
    begin = clock()
    act()
    return clock() - begin


def report(name: str, turns: int, write_ms: float, size: int, answer_ms: float) -> None:
    """Print what was measured."""
    sizes = f"{write_ms:8.2f} ms a turn to write{size / turns:8.0f} bytes a turn"
    print(f"{turns:>9,} {name:12}{sizes}{answer_ms:9.1f} ms a question", flush=True)


MEASURED = {"ours": measure_own, "postgresql": measure_postgres, "milvus": measure_team}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, nargs="+", default=TURNS)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--only", choices=tuple(MEASURED))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for turns in given.turns:
            for name, measure_one in MEASURED.items():
                if given.only in (None, name):
                    measure_one(Path(folder), turns, given.questions)


if __name__ == "__main__":
    main()
