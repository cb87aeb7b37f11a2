"""Retrieval sets with judgements made by others, and what the scripts that measure on them share.

A set is a folder of `<haystack>.jsonl` (messages with `doc_id`, `conversation_id`, perhaps `exchange_id`),
`queries.jsonl` and `qrels*.tsv`. `Memory` indexes all haystacks of a set into one database, a project each; a query
searches its own haystack, and only the past where it says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory import Memory
from pastchats_memory.store import vectors
from pastchats_memory.store.database import open_database
from pastchats_memory.text.timestamps import parse_bound

LEVELS = {
    "turn": ("qrels.tsv", "doc_id"),
    "session": ("qrels_session.tsv", "conversation_id"),
    "exchange": ("qrels_exchange.tsv", "exchange_id"),
}
METRICS = ("R@1", "R@5", "R@10", "R@20", "H@1", "H@5", "MRR@10", "nDCG@10")
DEPTH = 100
SEED = 20261122
STEPS = 50

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Set:
    """A folder of haystacks with judged queries."""

    folder: Path

    @property
    def name(self) -> str:
        """The folder's."""
        return self.folder.name

    @property
    def haystacks(self) -> list[Path]:
        """One file each."""
        return sorted(path for path in self.folder.glob("*.jsonl") if path.name != "queries.jsonl")

    @property
    def queries(self) -> list[dict[str, Any]]:
        """As the file has them."""
        return [json.loads(line) for line in (self.folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]

    def relevant(self, level: str) -> dict[str, set[str]]:
        """Units by query; empty for a level without judgements."""
        path = self.folder / LEVELS[level][0]
        units: dict[str, set[str]] = defaultdict(set)
        for line in path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []:
            query_id, unit, grade = line.split("\t")
            if int(grade) > 0:
                units[query_id].add(unit)
        return units

    def indexed(self, databases: Path, name: str = "") -> Path:
        """Its database, made by the product where it is not there yet; with the name of another set, both share one."""
        path = databases / f"{name or self.name}.db"
        with Memory.open(path) as memory:
            for haystack in self.haystacks:
                memory.index([haystack], project=haystack.stem)
        return path


def metrics(ranked: Sequence[str], relevant: set[str]) -> dict[str, float]:
    """R@k, H@k, MRR@10 and nDCG@10 with binary gains, ideal cut at 10."""
    gains = [unit in relevant for unit in ranked]
    gain = sum(hit / math.log2(place + 2) for place, hit in enumerate(gains[:10]))
    return {
        **{f"R@{k}": sum(gains[:k]) / len(relevant) for k in (1, 5, 10, 20)},
        **{f"H@{k}": float(any(gains[:k])) for k in (1, 5)},
        "MRR@10": next((1 / (place + 1) for place, hit in enumerate(gains[:10]) if hit), 0.0),
        "nDCG@10": gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(relevant)))),
    }


def until(query: Mapping[str, Any]) -> str | None:
    """Return the last moment that a query may see, in the format of the table."""
    return parse_bound(query["until"], is_end=True) if query.get("until") else None


def sets(given: Sequence[Path]) -> list[Set]:
    """Those given, or those in PASTCHATS_BENCH; where there are none it says so."""
    bench = os.environ.get("PASTCHATS_BENCH")
    folders = list(given) or sorted(path.parent for path in Path(bench or os.devnull).glob("*/queries.jsonl"))
    if not folders:
        print("skipped: no retrieval sets here; name their folders, or set PASTCHATS_BENCH to the one that holds them")
    return [Set(folder) for folder in folders]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sets and the folder for databases to a command line."""
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--databases", type=Path, help="where the databases are kept (default: a temporary folder)")


@contextmanager
def open_sets(arguments: argparse.Namespace) -> Iterator[tuple[list[Set], Path]]:
    """Yield the sets of a command line, and the folder for databases."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.databases or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        yield sets(arguments.sets), folder


class Rows:
    """All rows of a set's database."""

    def __init__(self, path: Path) -> None:
        self.database = open_database(path)
        rows = self.database.run(
            "SELECT id, source_project, conversation_id, timestamp, metadata_json FROM prompts ORDER BY id"
        )
        ids, self.unit_vectors = vectors.matrix(self.database, [row[0] for row in rows])
        self.ids = np.array(ids)
        self.projects = np.array([row[1] for row in rows])
        self.conversations = np.array([row[2] or str(row[0]) for row in rows])
        self._times = np.array([row[3] or "" for row in rows])
        self._metadata = [row[4] for row in rows]

    def of(self, project: str | None, until: str | None = None) -> Bools:
        """Which rows are searched."""
        past = True if until is None else (self._times != "") & (self._times <= until)
        return np.asarray((True if project is None else self.projects == project) & past & np.ones(len(self.ids), bool))

    def units(self, key: str) -> list[str]:
        """Return the unit that each row belongs to."""
        if key == "conversation_id":
            return list(self.conversations)
        return [str(orjson.loads(metadata or "{}").get(key)) for metadata in self._metadata]

    def judged(self, one: Set) -> Iterator[tuple[Mapping[str, Any], Bools]]:
        """Yield each judged query with its relevant rows, by the widest judged unit."""
        level = next(level for level in ("session", "turn") if one.relevant(level))
        units, relevant = np.array(self.units(LEVELS[level][1])), one.relevant(level)
        for query in one.queries:
            if relevant.get(query["query_id"]):
                yield query, np.isin(units, list(relevant[query["query_id"]]))


def logistic(rows: Floats, truth: Floats, weight: Floats, penalty: float = 0.0) -> Floats:
    """Weights of a logistic regression, the constant first (Newton's method).

    Args:
        rows: shape (n, features).
        truth: shape (n,), 0 or 1.
        weight: shape (n,).
        penalty: of the squares of the weights, so that features that say the same share one.
    """
    with_one = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    ridge = np.diag([1e-9] + [max(penalty, 1e-9)] * rows.shape[1])
    at = np.zeros(with_one.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-with_one @ at))
        curve = (with_one * (weight * likely * (1 - likely))[:, None]).T @ with_one + ridge
        at -= np.linalg.solve(curve, with_one.T @ (weight * (likely - truth)) + ridge @ at)
    return at
