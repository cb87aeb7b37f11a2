"""What is killed: an index run over new and over grown files, a change of model, capture by hand and live, mending, migrations."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from program import Program

from pastchats_memory import Memory, cli, redact
from pastchats_memory.embed import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import MemoryFault
from pastchats_memory.ingest import writer
from pastchats_memory.store import trigrams
from pastchats_memory.store.database import open_database
from pastchats_memory.store.pages import PAGE

FIXTURES = Path(__file__).parents[2] / "fixtures"
CHATS, SAID = 4, 24
FIRST_MOMENT = 1_770_000_000


def make_cheap() -> None:
    """Vectors from checksums, so that kills fall into what writes; small batches, so that a small history takes many."""

    def embed(self: PackagedEmbedder, texts: Iterable[str]) -> Iterator[Vector]:
        yield from map(self.embed_query, texts)

    def embed_query(self: PackagedEmbedder, text: str) -> Vector:  # noqa: ARG001 - in the place of a method
        vector = np.random.default_rng(zlib.crc32(text.encode())).normal(size=384)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    PackagedEmbedder.embed = embed  # type: ignore[method-assign] # cheap vectors: the moment of death is the point
    PackagedEmbedder.embed_query = embed_query  # type: ignore[method-assign] # cheap vectors: the moment of death is the point
    PackagedEmbedder.load = lambda _: None  # type: ignore[method-assign] # cheap vectors: the moment of death is the point
    writer.BATCH_TURNS = 24
    trigrams.STEP = 2


@dataclass
class Scene:
    """A command over a database as it was before, in a folder that the command does not change."""

    name: str
    home: Path
    run: Callable[[], int]
    before: bytes | None = None
    """The database; None: there is none yet."""
    is_repeatable: bool = True
    """Whether to run it again after it was done ends in the same state."""
    codes: tuple[int, ...] = (0,)
    """How it may end: done, or that there was nothing left to do."""
    weight: int = 1
    is_damaged: bool = False
    """The database is, before; it is that file, under this name or another, until there is a whole one."""
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        return self.home / "memory.db"

    @property
    def is_as_before(self) -> bool:
        """A damaged database has not been mended yet. Raises AssertionError where it lies nowhere any more."""
        if not self.is_damaged:
            return False
        kept = [file.read_bytes() == self.before for file in self.home.glob("memory.db*")]
        assert any(kept), "the damaged file is gone"
        return self.database.read_bytes() == self.before

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person's own."""
        return Program(self.home, variables={"OPENBLAS_NUM_THREADS": "1", **self.variables}).environment

    def reset(self) -> None:
        """The database as it was before, and nothing beside it."""
        for file in self.home.glob("memory.db*"):
            file.unlink()
        if self.before is not None:
            self.database.touch(mode=0o600)
            self.database.write_bytes(self.before)


def program(*arguments: str) -> Callable[[], int]:
    """The real program with these arguments."""
    return lambda: cli._run(list(arguments))  # noqa: SLF001 - what `main` does before it ends the process


Finish = Callable[[Scene], None]
"""Runs a scene to its end, to make from it the state before another one."""


def _index(home: Path, _: Finish) -> Scene:
    history(home / "history", grown=True)
    return Scene("index", home, program("index", "history"), weight=3)


def _index_grown(home: Path, finish: Finish) -> Scene:
    scene = Scene("index of grown files", home, program("index", "history"), weight=3)
    history(home / "history", grown=False)
    finish(scene)
    shutil.rmtree(home / "history")
    history(home / "history", grown=True)
    return scene


def _force(home: Path, finish: Finish) -> Scene:
    finish(_index(home, finish))
    return Scene("index --force", home, program("index", "--force", "history"))


def _reindex(home: Path, finish: Finish) -> Scene:
    history(home / "history", grown=True)
    finish(Scene("index with another version", home, _of_another_version(program("index", "history"))))
    return Scene("reindex", home, program("reindex", "--embeddings"), weight=2)


def _capture(home: Path, finish: Finish) -> Scene:
    finish(_index(home, finish))
    return Scene("capture", home, program("capture", "Water the roses", "--no"), is_repeatable=False)


def _live(home: Path, _: Finish) -> Scene:
    home.mkdir()
    return Scene("capture of turns", home, _store_turns)


def _forget(home: Path, finish: Finish) -> Scene:
    finish(_index(home, finish))
    forget = program("forget", "--query", "and more", "--yes")
    return Scene("forget", home, forget, codes=(0, 1), weight=2)


def _forget_many(home: Path, finish: Finish) -> Scene:
    """More rows than go at once."""
    finish(_index(home, finish))
    forget = program("forget", "--since", "2020-01-01", "--yes")
    return Scene("forget in steps", home, forget, codes=(0, 1), weight=2)


def _undo(home: Path, finish: Finish) -> Scene:
    """Of a forgetting whose tombstones are many."""
    finish(_forget_many(home, finish))
    return Scene("forget --undo", home, program("forget", "--undo", "1"), codes=(0, 1))


def _outcomes(home: Path, finish: Finish) -> Scene:
    finish(_index(home, finish))
    return Scene("reindex --outcomes", home, program("reindex", "--outcomes"))


def _redact(home: Path, finish: Finish) -> Scene:
    """Over what a release stored whose rules knew no secret."""
    for number in range(4):
        path = home / "history" / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        said = (
            {"conversation_id": f"c{number}", "project": "garden", "role": ("user", "assistant")[place % 2]}
            | {
                "content": f"Sentence {place} of {number} with {TOKEN}{place:02}{number}",
                "timestamp": f"2026-05-04T08:{place:02}:07Z",
            }
            for place in range(SAID)
        )
        path.write_text("".join(json.dumps(line) + "\n" for line in said), encoding="utf-8")
    issue = (FIXTURES / "beads" / "beads-q4-links.jsonl").read_text(encoding="utf-8")
    (home / "history" / "issues.jsonl").write_text(issue.replace('"title":"', f'"title":"{TOKEN}'), encoding="utf-8")
    finish(Scene("index without rules", home, _without_rules(program("index", "history"))))
    return Scene("redact --rescan", home, program("redact", "--rescan", "--yes"), weight=2)


TOKEN = "glpat-q7Rw2Xc9Lm4Tz8Vb1Nf"  # noqa: S105 - nobody's


def _without_rules(run: Callable[[], int]) -> Callable[[], int]:
    def without() -> int:
        redact.secrets = lambda *_: iter(())  # type: ignore[assignment] # as a release that knew none
        return run()

    return without


def _restore(home: Path, finish: Finish) -> Scene:
    finish(_index(home, finish))
    finish(Scene("backup", home, program("backup", "kept.db")))
    finish(Scene("forget", home, program("forget", "--query", "Sentence 7", "--yes")))
    return Scene("restore", home, program("restore", "kept.db", "--yes"))


def _doctor(home: Path, finish: Finish) -> Scene:
    """Over a database of whose turns some pages are overwritten, and nothing else."""
    finish(_index(home, finish))
    with open_database(home / "memory.db") as database:
        database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = [
            page
            for (page,) in database.run(
                "SELECT pageno FROM dbstat WHERE name = 'prompts' AND pagetype = 'leaf' LIMIT 3"
            )
        ]
    content = bytearray((home / "memory.db").read_bytes())
    for page in pages:
        content[(page - 1) * PAGE : page * PAGE] = b"\xa5" * PAGE
    (home / "memory.db").write_bytes(content)
    return Scene("doctor --yes", home, program("doctor", "--yes"), is_damaged=True)


def _with_tasks(home: Path, finish: Finish) -> str:
    """A task's key."""
    finish(_index(home, finish))
    for title in ("Water the roses", "Cut the roses"):
        finish(Scene("task add", home, program("task", "add", title, "--project", "garden")))
    with open_database(home / "memory.db") as database:
        return database.value("SELECT key FROM tasks WHERE title = ?", ("Water the roses",))


def _import_tasks(home: Path, finish: Finish) -> Scene:
    _with_tasks(home, finish)
    finish(Scene("task export", home, program("task", "export", "tasks.jsonl")))
    finish(Scene("purge", home, program("purge", "--yes")))
    finish(Scene("index", home, program("index", "history/chats")))
    return Scene("task import", home, program("task", "import", "tasks.jsonl"))


def _attach(home: Path, finish: Finish) -> Scene:
    """Enough text for several chunks."""
    key = _with_tasks(home, finish)
    (home / "build.log").write_text("".join(f"Step {number} of the build is done.\n" for number in range(400)))
    return Scene("task attach", home, program("task", "attach", key, "build.log"))


def _delete_task(home: Path, finish: Finish) -> Scene:
    key = _with_tasks(home, finish)
    return Scene("task delete", home, program("task", "delete", key, "--yes"), is_repeatable=False)


def _migration(home: Path, version: str) -> Scene:
    home.mkdir()
    scene = Scene(f"migration from {version}", home, program("status"))
    _write_older(scene, version)
    return scene


def _older(home: Path, _: Finish) -> Scene:
    """Over a database whose rows are in no index of trigrams yet."""
    history(home / "history", grown=False)
    scene = Scene("index into an older database", home, program("index", "history"))
    _write_older(scene, "10")
    return scene


def _write_older(scene: Scene, version: str) -> None:
    scene.database.write_bytes(gzip.decompress((FIXTURES / "databases" / f"schema-{version}.db.gz").read_bytes()))


VERSIONS = sorted(
    (file.name.split(".")[0].removeprefix("schema-") for file in (FIXTURES / "databases").glob("*.db.gz")), key=int
)
SCENES: Mapping[str, Callable[[Path, Finish], Scene]] = {
    "index": _index,
    "grown": _index_grown,
    "force": _force,
    "reindex": _reindex,
    "capture": _capture,
    "live": _live,
    "forget": _forget,
    "forget-many": _forget_many,
    "undo": _undo,
    "outcomes": _outcomes,
    "restore": _restore,
    "redact": _redact,
    "older": _older,
    "doctor": _doctor,
    "task-import": _import_tasks,
    "task-attach": _attach,
    "task-delete": _delete_task,
    **{f"migration-{version}": lambda home, _, version=version: _migration(home, version) for version in VERSIONS},
}


def scene(name: str, folder: Path, finish: Finish) -> Scene:
    """The scene of a name, with its home in a folder and the state before in it."""
    made = SCENES[name](folder / name, finish)
    made.before = made.database.read_bytes() if made.database.exists() else None
    return made


def _of_another_version(run: Callable[[], int]) -> Callable[[], int]:
    def with_it() -> int:
        PackagedEmbedder.version = f"{PackagedEmbedder.version}, an earlier one"
        return run()

    return with_it


def _store_turns() -> int:
    try:
        _say_turns()
    except MemoryFault as fault:
        print(f"Error: {fault.message}")
        return 2
    return 0


def _say_turns() -> None:
    with Memory.open() as memory:
        for number in range(12):
            memory.store_turn(
                ("user", "assistant")[number % 2],
                f"Sentence {number} of today, said while it is said.",
                f"live-{number % 3}",
                f"event-{number}",
                "greenhouse",
                f"2026-06-01T10:{number:02}:07.000Z",
            )


def history(folder: Path, *, grown: bool) -> None:
    """Sessions, chats that copy one another, notes, tasks; grown: files are longer, edited, moved, new."""
    shutil.copytree(FIXTURES / "demo" / "history", folder)
    sessions = sorted(folder.rglob("*.jsonl"))
    if not grown:
        for file in sessions[:3]:
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(lines[: len(lines) * 2 // 3]))
        sessions[-1].unlink()
    for number in range(CHATS):
        _chat(folder / ("moved" if grown and number == 1 else "chats") / f"{number}.jsonl", number, grown=grown)
    notes = folder / "notes"
    (notes / "plan.md").write_text(
        "# Plan\n\nDig.\n\n## Later\n\nPlant.\n" + ("\n## At last\n\nHarvest.\n" if grown else "\n## Never\n\nRest.\n"),
        encoding="utf-8",
    )
    for name in ("beads-q4-links.jsonl", "beads-q1-times.jsonl"):
        shutil.copy(FIXTURES / "beads" / name, folder / name)
    for place, file in enumerate(sorted(folder.rglob("*"))):
        if file.is_file():
            said_at = FIRST_MOMENT + place + (1000 if grown and "moved" not in file.parts else 0)
            os.utime(file, (said_at, said_at))


def _chat(path: Path, number: int, *, grown: bool) -> None:
    """Every second chat goes on with a copy of the one before it."""
    first, last = number // 2 * SAID * 2, number // 2 * SAID * 2 + (SAID if number % 2 == 0 else SAID * 2)
    lines = (
        {
            "conversation_id": f"c{number}",
            "project": "garden",
            "role": ("user", "assistant")[place % 2],
            "content": f"Sentence {place} of chat {number // 2}" + (" and more" if place % 5 == 0 else ""),
            "timestamp": f"2026-05-04T{8 + place // 60:02}:{place % 60:02}:07.{number // 2:03}Z",
        }
        for place in range(first, last if grown or number % 2 else last - SAID // 2)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
