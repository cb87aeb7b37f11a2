"""Measure how long a question takes as the memory grows, one's own or a team's.

    python benchmarks/scale.py own [--turns N ...] [--rounds N]
    python benchmarks/scale.py team [--turns N ...] [--questions N] [--only ours|postgresql|milvus]

`own`: the databases are written through the store rather than from files (a million turns would take an hour), once, in
batches, and kept. Texts are words of `corpus.py` in Zipf's frequencies with an identifier now and then, log-normal in
length, one prompt in eight one that everybody types. Vectors are those of 5,000 texts that went through the model with
noise added (cosine about .8), equal for equal texts. Each question is asked whole, its embedding included, of a memory
that stays open and that nobody writes to, but for `search after a write`; `parts` are the same questions' look-ups by themselves.

`team` measures bytes and time a turn in a team's PostgreSQL and in Milvus Lite, beside our own engine. All get the same texts and vectors. A question goes to a server as a member's `search --team` asks it, and to our engine
as `search` does. Times of our engine and of Milvus Lite, which runs in the same process, are processor time. PostgreSQL is a server
of its own, so its times are elapsed time.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import corpus
import numpy as np
import timing
from numpy.typing import NDArray

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.model import Filters
from pastchats_memory.search.request import Request
from pastchats_memory.store import fulltext, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.vectors import blocks, vec0
from pastchats_memory.team.ask import search
from pastchats_memory.team.connect import open_server
from pastchats_memory.team.milvus import open_milvus
from pastchats_memory.team.postgres import open_postgres
from pastchats_memory.team.server import Condition, Row, TeamServer, digest_name, split_into_batches
from pastchats_memory.team.trial import start_trial, stop_trial

BATCH = 8192
"""Turns a transaction."""
TURNS, TEAM_TURNS = (100_000, 1_000_000), (10_000, 200_000)
START_MS = 1_735_689_600_000
"""The first turn's time: 2025-01-01, in milliseconds."""
QUESTION_WORDS = 9
MEMBERS = 10
MODEL = digest_name(f"{PackagedEmbedder.name}\0{PackagedEmbedder.version}")
Clock = Callable[[], float]
NOTHING_STAYS = SharingLimits(frozenset(), lambda _: False)
EVERY = "SELECT prompt_id FROM vec_prompts WHERE embedding MATCH vec_int8(?) AND k = ?"


class Texts:
    """Turns of made-up talk, the same ones for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self._words = np.array(corpus.vocabulary()[0], dtype=object)
        self._weights = np.array(corpus.vocabulary()[1])

    def batch(self, start: int, count: int) -> list[str]:
        """Return the texts of so many turns from this one on."""
        median = np.where((np.arange(start, start + count) % 2) == 0, 75, 250)
        lengths = np.clip(median * np.exp(self._random.normal(0, 1.1, count)) / 5.4, 1, 3000).astype(int)
        drawn = self._random.random(int(lengths.sum())) * self._weights[-1]
        utterances = self._words[np.searchsorted(self._weights, drawn)]
        for place in np.flatnonzero(self._random.random(len(utterances)) > 0.97):
            utterances[place] = f"{utterances[place]}_{self._words[self._random.integers(200, len(self._words))]}"
        ends = np.cumsum(lengths)
        texts = [" ".join(utterances[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
        often = np.flatnonzero((self._random.random(count) < 1 / 8) & (median == 75))
        for place in often:
            texts[place] = corpus.OFTEN[self._random.integers(len(corpus.OFTEN))]
        return texts


class Directions:
    """Unit vectors that lie about as those of real texts do, equal ones for equal texts."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._real = np.stack(list(PackagedEmbedder().embed(itertools.islice(texts, corpus.DISTINCT))))
        self._often: dict[str, NDArray[np.float32]] = {}

    def batch(self, texts: list[str], seed: int) -> NDArray[np.float32]:
        """Shape (len(texts), dim)."""
        random = np.random.default_rng(seed)
        noise = random.standard_normal((len(texts), self._real.shape[1]), np.float32)
        noise *= corpus.NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
        found = self._real[random.integers(len(self._real), size=len(texts))] + noise
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        for row, text in enumerate(texts):
            if text in corpus.OFTEN:
                found[row] = self._often.setdefault(text, found[row].copy())
        return found


def write(database: Database, start: int, texts: list[str], directions: NDArray[np.float32]) -> None:
    """One batch of turns, their vectors, full text and both engines, in one transaction."""
    numbers = range(start, start + len(texts))
    times = np.datetime_as_string(np.array([START_MS + 45_000 * number for number in numbers], "datetime64[ms]"))
    with database.transaction():
        database.run_many(
            "INSERT INTO prompts(id, source_path, source_project, conversation_id, turn_index, role, content, timestamp, "
            "content_hash, metadata_json, text_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?)",
            [
                (
                    number + 1,
                    f"/home/me/project-{number // 40 % corpus.PROJECTS}/{number // 40:08}.jsonl",
                    f"project-{number // 40 % corpus.PROJECTS}",
                    f"{number // 40:08}-0000-4000-8000-000000000000",
                    number % 40,
                    ("user", "assistant")[number % 2],
                    text,
                    f"{moment}Z",
                    hashlib.sha256(str(number).encode()).hexdigest(),
                    hashlib.sha256(text.encode()).digest(),
                )
                for number, text, moment in zip(numbers, texts, times, strict=True)
            ],
        )
        database.run_many(
            "INSERT INTO prompt_embeddings(prompt_id, model, dim, vector_json) VALUES (?, ?, ?, ?)",
            [
                (number + 1, PackagedEmbedder.name, PackagedEmbedder.dim, vectors.encode(vector))
                for number, vector in zip(numbers, directions, strict=True)
            ],
        )
        vectors.catch_up(database)


def database(turns: int) -> Path:
    """Return a database of so many turns, which later runs use again."""
    made_by = (Path(__file__), Path(corpus.__file__), Path(vectors.__file__).parents[1] / "schema.sql")
    recipe = hashlib.sha256(b"".join(path.read_bytes() for path in made_by)).hexdigest()[:12]
    path = corpus.CACHE / f"scale-{turns}-{recipe}.db"
    if path.exists():
        return path
    print(f"building {path}, once", flush=True)
    corpus.CACHE.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    directions = Directions(iter(Texts(seed=2).batch(0, corpus.DISTINCT)))
    texts = Texts()
    with open_database(unfinished, create=True) as opened:
        with opened.transaction():
            set_meta(
                opened,
                {
                    "model_name": PackagedEmbedder.name,
                    "model_version": PackagedEmbedder.version,
                    "embedding_dim": str(PackagedEmbedder.dim),
                },
            )
        for start in range(0, turns, BATCH):
            utterances = texts.batch(start, min(BATCH, turns - start))
            write(opened, start, utterances, directions.batch(utterances, seed=start))
        fulltext.merge_scattered(opened)
    unfinished.rename(path)
    return path


def questions(path: Path, count: int) -> list[str]:
    """List the first words of turns from all over the memory."""
    with open_database(path) as opened:
        last = opened.value("SELECT max(id) FROM prompts")
        chosen = [1 + number * 7_919 % last for number in range(20 * count)]
        found = [opened.value("SELECT content FROM prompts WHERE id = ?", (id_,)) for id_ in chosen]
    return [" ".join(text.split()[:QUESTION_WORDS]) for text in found if len(text.split()) > QUESTION_WORDS][:count]


def measure(path: Path, rounds: int) -> None:
    """One line a way of asking: medians over the questions, and the 95th percentile."""
    queries = questions(path, rounds)
    with (
        Memory.open(path) as memory,
        Memory.open(path, vec0=False) as without,
        open_database(path) as opened,
        open_database(path) as other,  # with nothing cached
    ):
        embedder = PackagedEmbedder()
        near = {text: embedder.embed_query(text) for text in queries}
        nothing = np.empty(0, np.int64)
        proposed = {
            text: blocks.find_candidates(
                opened, blocks.CandidateScan(vectors.unit(near[text]).astype(np.float32), 100, nothing, None)
            )[0].tolist()
            for text in queries
        }

        def knn(text: str) -> object:
            return vec0.nearest(
                other, vectors.decode([vectors.encode(near[text])])[0], 100 + vectors.MARGIN, proposed[text]
            )

        ways: dict[str, Callable[[str], object]] = {
            "search": memory.search,
            "search, no extension": without.search,
            "search, one project": lambda text: memory.search(text, project="project-3"),
            "search, one role": lambda text: memory.search(text, role="user"),
            "search --mode keyword": lambda text: memory.search(text, mode="keyword"),
            "search --mode semantic": lambda text: memory.search(text, mode="semantic"),
            "recall": memory.recall,
            "part: nearest": lambda text: vectors.nearest(opened, near[text], 100, Filters()),
            "part: blocks": lambda text: blocks.find_candidates(
                opened, blocks.CandidateScan(vectors.unit(near[text]).astype(np.float32), 100, nothing, None)
            ),
            "part: vec0 among the proposed": knn,
            "part: vec0 over all rows": lambda text: other.run(
                EVERY, (vectors.decode([vectors.encode(near[text])]).tobytes(), 100 + vectors.MARGIN)
            ),
            "part: score of the proposed": lambda text: vectors.score(opened, near[text], proposed[text]),
        }
        took = timing.interleaved(
            {name: asking(way, queries) for name, way in ways.items()}, rounds=len(queries), warm_up=2
        )
        after: dict[str, Callable[[str], object]] = {  # by themselves: of these all others would have to read again
            "search after a write": lambda text: touch(opened) and memory.search(text),
            "search, one role, after a write": lambda text: touch(opened) and memory.search(text, role="user"),
        }
        took |= timing.interleaved({name: asking(way, queries) for name, way in after.items()}, rounds=len(queries))
    middle = statistics.median(len(ids) for ids in proposed.values())
    print(f"proposed for the 100 nearest: {middle:.0f} (median), {max(map(len, proposed.values()))} (most)")
    print(f"{'':32}{'median ms':>10}{'p95':>8}{'cpu':>8}")
    for name, spent in took.items():
        walls, cpu = timing.walls(spent), statistics.median(one.cpu for one in spent)
        print(
            f"{name:32}{1000 * statistics.median(walls):10.1f}{1000 * np.quantile(walls, 0.95):8.1f}{1000 * cpu:8.1f}"
        )


def touch(database: Database) -> bool:
    """Commit a change that rewrites a block of vectors and changes nothing else.

    Storing a turn does the same to the block.
    """
    with database.transaction():
        database.run("INSERT INTO embedding_meta(key, value) VALUES ('touched', '')")
        database.run("DELETE FROM embedding_meta WHERE key = 'touched'")
        database.run("UPDATE vector_blocks SET scales = scales WHERE block = 0")
    return True


def asking(way: Callable[[str], object], queries: list[str]) -> Callable[[], object]:
    """Return the function, with the next question at each call."""
    left = itertools.cycle(queries)
    return lambda: way(next(left))


def batches(turns: int) -> Iterator[tuple[int, list[str], NDArray[np.float32]]]:
    """Yield the first number, the texts and the vectors of some turns."""
    texts, directions = Texts(), Directions(iter(Texts(seed=2).batch(0, corpus.DISTINCT)))
    for start in range(0, turns, BATCH):
        some = texts.batch(start, min(BATCH, turns - start))
        yield start, some, directions.batch(some, seed=start)


def fill_own(path: Path, turns: int) -> float:
    """Write the turns into a database of ours, and return the milliseconds a turn."""
    spent = 0.0
    with open_database(path, create=True) as opened:
        model = {"model_name": PackagedEmbedder.name, "model_version": PackagedEmbedder.version}
        with opened.transaction():
            set_meta(opened, {**model, "embedding_dim": str(PackagedEmbedder.dim)})
        for start, texts, near in batches(turns):
            spent += time_act(partial(write, opened, start, texts, near))
    return 1000 * spent / turns


def fill_team(server: TeamServer, turns: int, clock: Clock = time.process_time) -> float:
    """Write the turns as `team push` does, and return the milliseconds a turn."""
    spent = 0.0
    for start, texts, near in batches(turns):
        some = [
            build_row(start + place, text, vector) for place, (text, vector) in enumerate(zip(texts, near, strict=True))
        ]
        for batch in split_into_batches(iter(some), lambda row: len(row["text"])):
            spent += time_act(partial(server.put, batch), clock)
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
        "at": START_MS + 45_000 * number, "body": place | {"metadata": metadata},
        "dense": np.rint(vector * 127 / np.abs(vector).max()).tolist(),
    }  # fmt: skip


def list_questions(count: int) -> list[str]:
    """Return the first words of some turns."""
    texts = [text.split() for text in Texts(seed=1).batch(0, BATCH)]
    return [" ".join(words[:QUESTION_WORDS]) for words in texts if len(words) > QUESTION_WORDS][:count]


def median_ms(ask: Callable[[str], object], count: int, clock: Clock = time.process_time) -> float:
    """Return the median milliseconds of a question, after one to warm up."""
    first, *others = list_questions(count + 1)
    ask(first)
    return 1000 * statistics.median(time_act(partial(ask, text), clock) for text in others)


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
        listed = time_act(lambda: list(collection.select(Condition(), ["id", "digest"])))
    report("Milvus Lite", turns, write_ms, disk_bytes(path), answer_ms)
    with open_milvus(str(path), None) as collection:
        opened = time_act(collection.load)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"          list of all ids {listed:.1f} s, opened again in {opened:.1f} s, most memory {most:,.0f} MB",
        flush=True,
    )


LARGE = 500_000
"""Turns from which the index of vectors is built after all rows are there, as an administrator does for a large move."""


def measure_postgres(folder: Path, turns: int, count: int) -> None:
    """Measure PostgreSQL as a member of the team, and print two lines."""
    path, session = folder / f"postgres-{turns}", ModelSession(PackagedEmbedder())
    folder.chmod(0o755)  # root runs the server as another user
    (_, member) = start_trial(path, PackagedEmbedder.dim).people
    clock = time.perf_counter
    with (
        open_server(member.endpoint, None) as server,
        open_postgres(member.endpoint.replace(f"{member.name}@", "postgres@"), None) as administrator,
        open_database(folder / "own-pg.sqlite", create=True) as own,
    ):
        if turns >= LARGE:
            administrator.run("DROP INDEX pastchats.rows_dense")
        write_ms = fill_team(server, turns, clock)
        if turns >= LARGE:
            administrator.run("SET maintenance_work_mem = '3GB'")
            build = "CREATE INDEX rows_dense ON pastchats.rows USING hnsw (dense public.halfvec_cosine_ops)"
            print(f"          index of vectors built in {time_act(partial(administrator.run, build), clock):.0f} s")
        server.load()
        answers = [
            median_ms(lambda text: search(own, session, server, Request(text, mode=mode), NOTHING_STAYS), count, clock)  # noqa: B023 - called at once
            for mode in ("hybrid", "keyword", "semantic")
        ]
        begin = server.list_changes(Condition(), "")
        listed = [
            time_act(partial(server.list_changes, Condition(), horizon), clock) for horizon in ("", begin.horizon)
        ]
    report("PostgreSQL", turns, write_ms, disk_bytes(path / "base"), answers[0])
    print(
        f"          by words {answers[1]:.1f} ms, by meaning {answers[2]:.1f} ms, list of all ids {listed[0]:.1f} s, of what is new {listed[1]:.3f} s"
    )
    stop_trial(path)


def time_act(act: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Return the seconds that an act takes: of processor time, unless another clock is given."""
    begin = clock()
    act()
    return clock() - begin


def report(name: str, turns: int, write_ms: float, size: int, answer_ms: float) -> None:
    """Print what was measured."""
    sizes = f"{write_ms:8.2f} ms a turn to write{size / turns:8.0f} bytes a turn"
    print(f"{turns:>9,} {name:12}{sizes}{answer_ms:9.1f} ms a question", flush=True)


MEASURED = {"ours": measure_own, "postgresql": measure_postgres, "milvus": measure_team}


def measure_own_memory(options: argparse.Namespace) -> None:
    """Build what is missing, measure and print."""
    for turns in options.turns or TURNS:
        path = database(turns)
        print(f"\n{turns:,} turns, {path.stat().st_size / 1e9:.2f} GB; {timing.machine()}")
        measure(path, options.rounds)


def measure_servers(options: argparse.Namespace) -> None:
    """Measure each engine with each number of turns."""
    with tempfile.TemporaryDirectory() as folder:
        for turns in options.turns or TEAM_TURNS:
            for name, measure_one in MEASURED.items():
                if options.only in (None, name):
                    measure_one(Path(folder), turns, options.questions)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    own = kinds.add_parser("own")
    own.add_argument("--rounds", type=int, default=30)
    own.set_defaults(measure=measure_own_memory)
    team = kinds.add_parser("team")
    team.add_argument("--questions", type=int, default=20)
    team.add_argument("--only", choices=tuple(MEASURED))
    team.set_defaults(measure=measure_servers)
    for kind in (own, team):
        kind.add_argument("--turns", type=int, nargs="+")
    options = parser.parse_args()
    options.measure(options)


if __name__ == "__main__":
    main()
