"""Rows with vectors put straight into the store, and the answer that NumPy gives about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.sources import set_meta

DIM = 16
ROLES = ("user", "assistant", "note", "a role with quite a long name")
PROJECTS = ("garden", "shed", "")


@dataclass(frozen=True)
class Row:
    """What of a row decides whether a filter lets it through, and its vector."""

    vector: NDArray[np.float32]
    project: str = "garden"
    role: str = "user"
    timestamp: str | None = None


@dataclass(frozen=True)
class Corpus:
    """A database file and the rows in it by id."""

    path: Path
    rows: dict[int, Row]
    seed: int = 3


def unit(random: np.random.Generator, dim: int = DIM) -> NDArray[np.float32]:
    vector = random.normal(size=dim)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def moment(number: int) -> str:
    return f"2026-01-{1 + number // 86_400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.250Z"


def insert(database: Database, rows: dict[int, Row]) -> None:
    """Write rows under their ids, in one transaction, as `put` does."""
    with database.transaction():
        write(database, rows)


def write(database: Database, rows: dict[int, Row]) -> None:
    """The same inside the caller's transaction."""
    set_meta(
        database,
        {
            "embedding_dim": str(len(next(iter(rows.values())).vector)),
            "model_name": PackagedEmbedder.name,
            "model_version": PackagedEmbedder.version,
        },
    )
    database.run_many(
        "INSERT INTO prompts(id, source_path, source_project, turn_index, role, content, timestamp, content_hash, "
        "text_hash) VALUES (?, '/a.jsonl', ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                id_,
                row.project,
                id_,
                row.role,
                f"turn {id_}",
                row.timestamp,
                f"{id_:064}",
                hashlib.sha256(b"x").digest(),
            )
            for id_, row in rows.items()
        ],
    )
    database.run_many(
        "INSERT INTO prompt_embeddings(prompt_id, model, dim, vector_json) VALUES (?, 'random', ?, ?)",
        [(id_, len(row.vector), vectors.encode(row.vector)) for id_, row in rows.items()],
    )
    vectors.catch_up(database)


def made(path: Path, rows: int, ties: Sequence[int], needles: int = 0) -> Corpus:
    """A database of so many rows, with blocks of equal vectors of the given sizes scattered over it."""
    random = np.random.default_rng(3)
    matrix = random.normal(size=(rows, DIM))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    order, start = random.permutation(rows), 0
    for size in ties:
        matrix[order[start : start + size]] = matrix[order[start]]
        start += size
    found = {
        number + 1: Row(
            matrix[number].astype(np.float32),
            PROJECTS[number % 3],
            ROLES[number // 3 % 4],
            None if number % 11 == 0 else moment(number),
        )
        for number in range(rows)
    }
    for id_ in np.linspace(7, rows - 7, needles, dtype=int).tolist():
        found[id_] = Row(found[id_].vector, "needle", "user", moment(id_))
    with open_database(path, create=True) as database:
        insert(database, found)
    return Corpus(path, found)


def passes(row: Row, filters: Filters) -> bool:
    """What a filter means, in Python."""
    return all(
        (
            filters.project is None or row.project == filters.project,
            filters.role is None or row.role == filters.role,
            filters.since is None or (row.timestamp is not None and row.timestamp >= filters.since),
            filters.until is None or (row.timestamp is not None and row.timestamp <= filters.until),
            filters.notes is None or (row.role == "note") == filters.notes,
        )
    )


def by_hand(rows: dict[int, Row], query: NDArray[np.float32], k: int, filters: Filters) -> list[tuple[int, float]]:
    """The k nearest by cosine of the vectors as they are stored, equal ones by id: every row compared, none proposed."""
    ids = [id_ for id_, row in sorted(rows.items()) if passes(row, filters)]
    if not ids:
        return []
    matrix = np.array([json.loads(vectors.encode(rows[id_].vector)) for id_ in ids], dtype=np.float64)
    wide = np.array(json.loads(vectors.encode(query)), dtype=np.float64)
    cosines = (matrix * wide).sum(axis=1) / np.linalg.norm(matrix, axis=1) / np.linalg.norm(wide)
    scored = [(id_, round(float(cosine), 6)) for id_, cosine in zip(ids, cosines, strict=True)]
    return sorted(scored, key=lambda one: (-one[1], one[0]))[:k]


def answers(database: Database, query: NDArray[np.float32], k: int, filters: Filters) -> list[tuple[int, float]]:
    return [(one.id, one.similarity) for one in vectors.nearest(database, query, k, filters)]
