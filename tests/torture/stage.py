"""Where scenes are made: how large they are, what their histories hold, and how the program is made cheap for them."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from pastchats_memory.arrays import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.ingest import writer
from pastchats_memory.maintenance import redact_stored
from pastchats_memory.store import deletion, scrub, sources, tombstones, vectors
from pastchats_memory.store.vectors import reindex

FIXTURES = Path(__file__).parents[2] / "fixtures"
FIRST_MOMENT = 1_770_000_000


@dataclass(frozen=True)
class Size:
    """How much a scene has to write."""

    demo: bool
    """Whether its history has the sessions and notes of the demo, too."""
    issues: tuple[str, ...]
    """Files of tasks."""
    chats: int
    turns: int
    """Turns that a chat has more than the one that it copies."""
    batch: int
    """Turns that an index run writes at once."""
    rows: int | None
    """That are deleted, embedded and looked through at once by what goes in steps; None: as many as the program takes, with its pauses."""


LARGE = Size(True, ("beads-q4-links.jsonl", "beads-q1-times.jsonl"), chats=4, turns=24, batch=24, rows=None)
"""Large enough for transactions of which SQLite writes a part before they are committed."""
SMALL = Size(False, ("beads-q1-times.jsonl",), chats=3, turns=4, batch=8, rows=4)
"""As small as can be while there are batches, steps, copies, and a task with a comment: hundreds of calls of the system."""


@dataclass(frozen=True)
class Stage:
    """A folder in which a scene is made."""

    home: Path
    size: Size

    def write_history(self, *, grown: bool) -> None:
        """Sessions, chats that copy one another, notes, tasks; grown: files are longer, edited, moved, new."""
        folder = self.home / "history"
        shutil.rmtree(folder, ignore_errors=True)
        if self.size.demo:
            _copy_demo(folder, grown=grown)
        for number in range(self.size.chats):
            self._write_chat(
                folder / ("moved" if grown and number == 1 else "chats") / f"{number}.jsonl", number, grown
            )
        notes = folder / "notes"
        notes.mkdir(exist_ok=True)
        (notes / "plan.md").write_text(
            "# Plan\n\nDig.\n\n## Later\n\nPlant.\n"
            + ("\n## At last\n\nHarvest.\n" if grown else "\n## Never\n\nRest.\n"),
            encoding="utf-8",
        )
        for name in self.size.issues:
            shutil.copy(FIXTURES / "beads" / name, folder / name)
        for place, file in enumerate(sorted(folder.rglob("*"))):
            if file.is_file():
                modified = FIRST_MOMENT + place + (1000 if grown and "moved" not in file.parts else 0)
                os.utime(file, (modified, modified))

    def _write_chat(self, path: Path, number: int, grown: bool) -> None:
        """Every second chat goes on with a copy of the one before it."""
        turns = self.size.turns
        first, last = number // 2 * turns * 2, number // 2 * turns * 2 + (turns if number % 2 == 0 else turns * 2)
        lines = (
            {
                "conversation_id": f"c{number}",
                "project": "garden",
                "role": ("user", "assistant")[place % 2],
                "content": f"Sentence {place} of chat {number // 2}" + (" and more" if place % 5 == 0 else ""),
                "timestamp": f"2026-05-04T{8 + place // 60:02}:{place % 60:02}:07.{number // 2:03}Z",
            }
            for place in range(first, last if grown or number % 2 else last - turns // 2)
        )
        write_lines(path, lines)


def write_lines(path: Path, lines: Iterable[object]) -> None:
    """A file of JSON lines, in a folder that may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _copy_demo(folder: Path, *, grown: bool) -> None:
    shutil.copytree(FIXTURES / "demo" / "history", folder)
    sessions = sorted(folder.rglob("*.jsonl"))
    if not grown:
        for file in sessions[:3]:
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(lines[: len(lines) * 2 // 3]))
        sessions[-1].unlink()


class _Standing(datetime):
    """A clock that stands still, so that runs that get equally far leave the same bytes."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime(2026, 6, 1, 12, tzinfo=UTC).astimezone(tz)


def make_cheap(size: Size) -> None:
    """Vectors from checksums, so that what happens falls into what writes; small batches, so that a small history takes many."""

    def embed(self: PackagedEmbedder, texts: Iterable[str]) -> Iterator[Vector]:
        yield from map(self.embed_query, texts)

    def embed_query(self: PackagedEmbedder, text: str) -> Vector:
        vector = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dim)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    PackagedEmbedder.embed = embed  # type: ignore[method-assign] # cheap vectors: the moment of death is the point
    PackagedEmbedder.embed_query = embed_query  # type: ignore[method-assign] # cheap vectors: the moment of death is the point
    PackagedEmbedder.refuse_altered = lambda _: None  # type: ignore[method-assign] # it is not asked for vectors
    PackagedEmbedder.load = lambda _: None  # type: ignore[method-assign] # cheap vectors: the moment of death is the point
    writer.BATCH_TURNS = size.batch
    if size.rows is not None:
        deletion.MIN_STEP = deletion.MAX_STEP = reindex.BATCH = redact_stored.BATCH = reindex.STEP = vectors.STEP = (
            size.rows
        )
        deletion.PAUSE = vectors.PAUSE = scrub.PAUSE = 0.0
        tombstones.os = SimpleNamespace(urandom=bytes)  # type: ignore[assignment] # one key for all, so that hashes are alike
        deletion.datetime = reindex.datetime = sources.datetime = _Standing  # type: ignore[misc] # as a clock may be
