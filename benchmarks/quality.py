"""Measure how well search finds what people judged relevant.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/quality.py [SET_FOLDER ...] [--databases DIR]

`judged.py` says what a set is. Messages are ranked to 100; a unit (session, exchange) takes the place of its best message. The plain forms are written here once more, straight on the tables: BM25 of one
FTS5 OR of all words, cosine in NumPy, and the textbook's reciprocal rank fusion (k = 60) of those two.

`hybrid` is compared with the better of `keyword` and `semantic`, by set, level and metric: mean difference, the 95 %
interval of a paired bootstrap over queries and the p of a paired permutation test. Then one step of the ranking is taken
away at a time, and shown is what that changes. `--plain` leaves this part out. Last come the aims and how far each was reached.

`--together TRANSCRIPTS` puts the queries to one memory of all sets and those transcripts, where each set is a crowd of its own.

    python benchmarks/quality.py --middles TRANSCRIPTS...

asks the questions of `middles.tsv`: sentences from the middles of long answers, word for word and in other words. Each row names
the public repository and the file of its answer, which must be among the transcripts.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw
import numpy as np
import orjson
from judged import DEPTH, LEVELS, METRICS, SEED, Set, add_arguments, metrics, open_sets, until
from numpy.typing import NDArray

from pastchats_memory import Memory
from pastchats_memory.arrays import Floats
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.search import candidates, hits, query, rank
from pastchats_memory.store.database import Database
from pastchats_memory.text.words import words

AIMS = {
    ("locomo", "turn", "R@10"): 0.80,
    ("locomo", "turn", "nDCG@10"): 0.62,
    ("locomo", "session", "H@1"): 0.82,
    ("locomo", "session", "H@5"): 0.96,
    ("beam-100k", "exchange", "nDCG@10"): 0.64,
    ("beam-100k", "turn", "nDCG@10"): 0.50,
    ("realmem", "session", "nDCG@10"): 0.62,
    ("cosqa", "turn", "nDCG@10"): 0.62,
}
"""What hybrid search is to reach, by set, level and metric."""
TOGETHER = "together"
"""Name of the database of all sets."""
TEXTBOOK_K = 60
RESAMPLES = 1000
ALMOST_NOTHING = 1e-9
"""A weight that still lists the rows which have the word, but after all others."""

Ranking = Callable[[Mapping[str, Any]], list[int]]


class Plain:
    """The textbook's rankings, straight on the tables."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._embedder = PackagedEmbedder()
        rows = self._connection.execute(
            "SELECT p.id, p.source_project, p.timestamp, e.vector_json FROM prompts p "
            "JOIN prompt_embeddings e ON e.prompt_id = p.id ORDER BY p.id"
        ).fetchall()
        self._ids = np.array([row[0] for row in rows])
        self._projects = np.array([row[1] for row in rows])
        self._times = np.array([row[2] or "" for row in rows])
        self._matrix = np.array([orjson.loads(str(row[3])) for row in rows], np.float64)
        self._matrix /= np.linalg.norm(self._matrix, axis=1, keepdims=True)

    def units(self) -> dict[int, dict[str, str | None]]:
        """By row the unit that it belongs to on each level."""
        return {
            id_: {"conversation_id": conversation, **json.loads(metadata or "{}")}
            for id_, conversation, metadata in self._connection.execute(
                "SELECT id, conversation_id, metadata_json FROM prompts"
            )
        }

    def bm25(self, judged_query: Mapping[str, Any]) -> list[int]:
        """One OR of all words."""
        expression = " OR ".join(f'"{word}"' for word in words(judged_query["text"]))
        found = self._connection.execute(
            "SELECT p.id FROM prompts_fts f JOIN prompts p ON p.id = f.rowid WHERE prompts_fts MATCH ?1 "
            "AND (?2 IS NULL OR p.source_project = ?2) AND (?3 IS NULL OR p.timestamp <= ?3) "
            "ORDER BY bm25(prompts_fts), p.id LIMIT ?4",
            (expression, judged_query["haystack"], until(judged_query), DEPTH),
        )
        return [id_ for (id_,) in found]

    def cosine(self, judged_query: Mapping[str, Any]) -> list[int]:
        """All rows of the haystack."""
        last = until(judged_query)
        past = True if last is None else (self._times != "") & (self._times <= last)
        own = True if judged_query["haystack"] is None else self._projects == judged_query["haystack"]
        rows = np.flatnonzero(own & past & (self._ids > 0))
        similarities = self._matrix[rows] @ self._embedder.embed_query(judged_query["text"])
        return [int(id_) for id_ in self._ids[rows[np.argsort(-similarities, kind="stable")[:DEPTH]]]]

    def rrf(self, judged_query: Mapping[str, Any]) -> list[int]:
        """Fuse the two rankings by reciprocal rank."""
        scores: dict[int, float] = defaultdict(float)
        for ranking in (self.bm25(judged_query), self.cosine(judged_query)):
            for place, id_ in enumerate(ranking, start=1):
                scores[id_] += 1 / (TEXTBOOK_K + place)
        return sorted(scores, key=lambda id_: (-scores[id_], id_))[:DEPTH]


def searched(memory: Memory, mode: str) -> Ranking:
    """Return a search by the program in a mode."""

    def ranking(judged_query: Mapping[str, Any]) -> list[int]:
        filters = {"project": judged_query["haystack"], "until": judged_query.get("until") or None}
        found = memory.search(judged_query["text"], mode=mode, limit=DEPTH, **filters)
        return [int(hit.id) for hit in found if hit.task is None]

    return ranking


@contextmanager
def instead(module: Any, **values: object) -> Iterator[None]:
    """Replace some of a module's constants and functions for a while."""
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def uncentred(judged_query: Floats, rows: Floats, background: Floats) -> Floats:
    """`rank.standard_scores` without taking out what the corpus has in common."""
    usual = background @ judged_query
    return np.asarray((rows @ judged_query - usual.mean()) / (float(usual.std()) or 1.0))


def no_middles(_database: Database, _ids: Sequence[int]) -> tuple[list[int], Floats]:
    """`middles.read_middles` of a memory without long answers."""
    return [], np.empty((0, PackagedEmbedder.dim))


ABLATIONS: dict[str, tuple[ModuleType, dict[str, Any]]] = {
    "without the third list": (rank, {"WEIGHTS": {**rank.WEIGHTS, rank.EVIDENCE: 0.0}}),
    "without presence": (rank, {"PRESENCE": 0.0}),
    "without phrases": (rank, {"PHRASE": 0.0}),
    "without the rows around": (rank, {"NEIGHBOURS": 0.0}),
    "roles around alike": (rank, {"OTHER_ROLE": 1.0}),
    "without the conversation": (rank, {"CONVERSATION": 0.0}),
    "without who typed it": (rank, {"TYPED": 0.0}),
    "without centring": (candidates, {"standard_scores": uncentred}),
    "without who is named": (rank, {"NAMED": 0.0}),
    "without the middles": (candidates, {"read_middles": no_middles}),
    "middles without a lead": (candidates, {"SECOND_CHANCE": 0.0}),
    "without who tells when": (rank, {"HAS_TIME": 0.0}),
    "without surprise": (rank, {"SURPRISE": 0.0}),
    "without the crowd": (rank, {"CROWD": 2 * DEPTH}),
    "emphasis 1": (rank, {"EMPHASIS": 1.0}),
    "function words count 1": (query, {"FUNCTION_WORD": 1.0}),
    "function words count 0": (query, {"FUNCTION_WORD": ALMOST_NOTHING}),
}


class Scores:
    """Of one set: metrics by level and ranking, a row a query."""

    def __init__(self, of: Set, units: Mapping[int, Mapping[str, str | None]], *, everywhere: bool) -> None:
        self._queries = [{**query, "haystack": None} for query in of.queries] if everywhere else of.queries
        self._units = units
        self._relevant = {level: found for level in LEVELS if (found := of.relevant(level))}
        self.rows: dict[str, dict[str, NDArray[np.float64]]] = {level: {} for level in self._relevant}
        self.milliseconds: dict[str, NDArray[np.float64]] = {}
        """By ranking what each query took by the clock and of the processor, shape (queries, 2)."""

    def add(self, name: str, ranking: Ranking) -> None:
        """Run a ranking over all queries."""
        ranked, took = [], []
        for judged_query in self._queries:
            start = np.array([time.perf_counter(), time.process_time()])
            ranked.append((judged_query["query_id"], ranking(judged_query)))
            took.append(1000 * (np.array([time.perf_counter(), time.process_time()]) - start))
        self.milliseconds[name] = np.array(took)
        for level, relevant in self._relevant.items():
            key = LEVELS[level][1]
            self.rows[level][name] = np.array(
                [
                    list(metrics(self._ordered(ids, key), relevant[query_id]).values())
                    for query_id, ids in ranked
                    if relevant.get(query_id)
                ]
            )

    def _ordered(self, ids: Sequence[int], key: str) -> list[str]:
        return list(dict.fromkeys(unit for id_ in ids if (unit := self._units[id_].get(key)) is not None))


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """95 % of the means of resampled queries, shape (queries,)."""
    chosen = np.random.default_rng(SEED).integers(len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.percentile(differences[chosen].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def chance(differences: NDArray[np.float64]) -> float:
    """Return how often random signs give a mean as far from zero (paired permutation test)."""
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), size=(RESAMPLES, len(differences)))
    as_far = np.abs((signs * differences).mean(axis=1)) >= abs(differences.mean()) - 1e-12
    return float((as_far.sum() + 1) / (RESAMPLES + 1))


def show(of: Set, scores: Scores) -> None:
    """Format the tables of a set as Markdown."""
    print(
        f"\n## {of.name}\n\nMilliseconds a query, median and 95th percentile by the clock, and of the processor, 100 hits each:"
    )
    for name in ("keyword", "semantic", "hybrid"):
        (median, busy), (high, busiest) = np.percentile(scores.milliseconds[name], [50, 95], axis=0)
        print(f"- {name}: {median:.1f}, {high:.1f}, and {busy:.1f}, {busiest:.1f}")
    for level, rows in scores.rows.items():
        ablated = [name for name in rows if name in ABLATIONS]
        print(f"\n### {of.name}, {level} ({len(rows['hybrid'])} queries)\n\n| ranking | {' | '.join(METRICS)} |")
        print(f"|---|{'---:|' * len(METRICS)}")
        for name in (name for name in rows if name not in ablated):
            print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in rows[name].mean(axis=0)) + " |")
        for number, metric in enumerate(METRICS):
            better = max(("keyword", "semantic"), key=lambda name: rows[name][:, number].mean())
            differences = rows["hybrid"][:, number] - rows[better][:, number]
            low, high = interval(differences)
            verdict = "at least" if differences.mean() >= 0 else "BELOW" if high < 0 else "below, within chance"
            tested = f"[{low:+.4f}, {high:+.4f}] p {chance(differences):.3f}"
            print(f"- {metric}: {differences.mean():+.4f} {tested} {verdict} {better}")
        for name in ablated:
            differences = rows[name] - rows["hybrid"]
            low, high = interval(differences[:, -1])
            shown = ", ".join(f"{m} {value:+.4f}" for m, value in zip(METRICS, differences.mean(axis=0), strict=True))
            print(f"- hybrid {name}: {shown} [{low:+.4f}, {high:+.4f}]")


def show_aims(measured: Mapping[str, Scores]) -> None:
    """Print how far each aim was reached, in both halves, with the 95 % interval of the hybrid's mean."""
    print("\n## Against the aims\n\n| set | level | metric | plain BM25 | keyword | semantic | hybrid | aim | |")
    print("|---|---|---|--:|--:|--:|---|--:|---|")
    for (name, level, metric), aim in AIMS.items():
        if name not in measured:
            continue
        rows = {ranking: values[:, METRICS.index(metric)] for ranking, values in measured[name].rows[level].items()}
        halves = " | ".join(f"{rows[ranking].mean():.3f}" for ranking in ("plain BM25", "keyword", "semantic"))
        low, high = interval(rows["hybrid"])
        verdict = "reached" if rows["hybrid"].mean() >= aim else "within the interval" if high >= aim else "not reached"
        print(
            f"| {name} | {level} | {metric} | {halves} | {rows['hybrid'].mean():.3f} [{low:.3f}, {high:.3f}] | {aim:.2f} | {verdict} |"
        )
    levels = [rows for one in measured.values() for rows in one.rows.values()]
    for ranking, others in (
        ("hybrid", ("keyword", "semantic")),
        ("keyword", ("plain BM25",)),
        ("semantic", ("plain cosine",)),
    ):
        apart = [
            rows[ranking].mean(axis=0) - np.max([rows[name].mean(axis=0) for name in others], axis=0) for rows in levels
        ]
        print(
            f"- {ranking} against {' or '.join(others)}: {sum(int((row < -ALMOST_NOTHING).sum()) for row in apart)} of "
            f"{sum(map(len, apart))} means below, the least {min(row.min() for row in apart):+.4f}; nDCG@10 "
            f"{np.mean([row[-1] for row in apart]):+.4f} on average"
        )


def measure(of: Set, path: Path, *, everywhere: bool, ablated: bool) -> Scores:
    """All rankings over a set, whose database may have other sets as well."""
    plain = Plain(path)
    scores = Scores(of, plain.units(), everywhere=everywhere)
    with Memory.open(path) as memory, instead(hits, excerpt=lambda text, *_: text):
        # snippets are not what is measured here, and would take most of the time
        scores.add("plain BM25", plain.bm25)
        scores.add("keyword", searched(memory, "keyword"))
        scores.add("plain cosine", plain.cosine)
        scores.add("semantic", searched(memory, "semantic"))
        scores.add("textbook RRF", plain.rrf)
        scores.add("hybrid", searched(memory, "hybrid"))
        for name, (module, values) in ABLATIONS.items() if ablated else ():
            with instead(module, **values):
                scores.add(name, searched(memory, "hybrid"))
    return scores


def ask_middles(transcripts: Sequence[Path], database: Path) -> None:
    """Print how well the questions about middles find their answers, with the vectors of the middles and without."""
    with (Path(__file__).parent / "middles.tsv").open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    with Memory.open(database) as memory:
        memory.index(transcripts)
        for name in ("without the middles", "middles without a lead", "hybrid"):
            module, values = ABLATIONS.get(name, (candidates, {}))
            for kind in ("word for word", "other words"):
                rows = []
                for one in questions:
                    with instead(module, **values):
                        found = [" ".join(hit.content.split()) for hit in memory.search(one[kind], limit=DEPTH)]
                    first = one["answer begins"]
                    rows.append(list(metrics([text[: len(first)] for text in found], {first}).values()))
                print(f"{name}, {kind} ({len(rows)}): ", end="")
                print(", ".join(f"{m} {value:.4f}" for m, value in zip(METRICS, np.mean(rows, axis=0), strict=True)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--plain", action="store_true", help="without taking steps of the ranking away")
    parser.add_argument(
        "--middles", nargs="+", type=Path, help="ask about the middles of long answers in these transcripts"
    )
    parser.add_argument("--together", type=Path, metavar="TRANSCRIPTS", help="one memory of all sets and these")
    arguments = parser.parse_args()
    if arguments.middles:
        with tempfile.TemporaryDirectory() as scratch:
            ask_middles(arguments.middles, Path(scratch, "memory.db"))
        return
    with open_sets(arguments) as (found, folder):
        measured = {}
        paths = {one.name: one.indexed(folder, TOGETHER if arguments.together else one.name) for one in found}
        if arguments.together:
            with Memory.open(folder / f"{TOGETHER}.db") as memory:
                memory.index([arguments.together], project="others")
        for one in found:
            measured[one.name] = measure(
                one, paths[one.name], everywhere=arguments.together is not None, ablated=not arguments.plain
            )
            show(one, measured[one.name])
        if measured:
            show_aims(measured)


if __name__ == "__main__":
    main()
