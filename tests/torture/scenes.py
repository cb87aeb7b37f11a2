"""What is killed: an index run over new and over grown files, a change of model, capture by hand and live, mending, restoring, synchronising."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moments import EXCHANGE
from program import Program
from stage import FIXTURES, Size, Stage, write_lines

from pastchats_memory import Memory, cli
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import MemoryFault
from pastchats_memory.redact import marks
from pastchats_memory.store.database import open_database
from pastchats_memory.store.sqlite_pages import PAGE


@dataclass
class Scene:
    """A command over a database as it was before, in a folder that the command does not change."""

    name: str
    home: Path
    run: Callable[[], int]
    before: bytes | None = None
    """The database; None: there is none yet."""
    exchanged: Mapping[str, bytes] = field(default_factory=dict)
    """By path, the files of the folder `EXCHANGE` before; a command may change them."""
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
        """The database and the synchronised folder as they were before, and nothing beside them."""
        for file in self.home.glob("memory.db*"):
            file.unlink()
        if self.before is not None:
            self.database.touch(mode=0o600)
            self.database.write_bytes(self.before)
        shutil.rmtree(self.home / EXCHANGE, ignore_errors=True)
        for path, content in self.exchanged.items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_bytes(content)


def program(*arguments: str) -> Callable[[], int]:
    """The real program with these arguments."""
    return lambda: cli._run(list(arguments))  # noqa: SLF001 - what `main` does before it ends the process


Finish = Callable[[Scene], None]
"""Runs a scene to its end, to make from it the state before another one."""


def _index(stage: Stage, _: Finish) -> Scene:
    stage.write_history(grown=True)
    return Scene("index", stage.home, program("index", "history"), weight=3)


def _index_grown(stage: Stage, finish: Finish) -> Scene:
    scene = Scene("index of grown files", stage.home, program("index", "history"), weight=3)
    stage.write_history(grown=False)
    finish(scene)
    stage.write_history(grown=True)
    return scene


def _force(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    return Scene("index --force", stage.home, program("index", "--force", "history"))


def _reindex(stage: Stage, finish: Finish) -> Scene:
    stage.write_history(grown=True)
    finish(Scene("index with another version", stage.home, _of_another_version(program("index", "history"))))
    return Scene("reindex", stage.home, program("reindex", "--embeddings"), weight=2)


def _capture(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    return Scene("capture", stage.home, program("capture", "Water the roses", "--no"), is_repeatable=False)


def _live(stage: Stage, _: Finish) -> Scene:
    stage.home.mkdir()
    return Scene("capture of turns", stage.home, lambda: _store_turns(min(12, stage.size.turns)))


def _forget(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    forget = program("forget", "--query", "and more", "--yes")
    return Scene("forget", stage.home, forget, codes=(0, 1), weight=2)


def _forget_many(stage: Stage, finish: Finish) -> Scene:
    """More rows than go at once."""
    finish(_index(stage, finish))
    forget = program("forget", "--since", "2020-01-01", "--yes")
    return Scene("forget in steps", stage.home, forget, codes=(0, 1), weight=2)


def _prune(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    return Scene("prune", stage.home, program("prune", "--before", "2026-05-04T08:03", "--yes"), codes=(0, 1))


def _purge(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    return Scene("purge", stage.home, program("purge", "--yes"), codes=(0, 1))


def _undo(stage: Stage, finish: Finish) -> Scene:
    """Of a forgetting whose tombstones are many."""
    finish(_forget_many(stage, finish))
    return Scene("forget --undo", stage.home, program("forget", "--undo", "1"), codes=(0, 1))


def _outcomes(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    return Scene("reindex --outcomes", stage.home, program("reindex", "--outcomes"))


def _redact(stage: Stage, finish: Finish) -> Scene:
    """Over what a release stored whose rules knew no secret."""
    for number in range(stage.size.chats):
        lines = (
            {"conversation_id": f"c{number}", "project": "garden", "role": ("user", "assistant")[place % 2]}
            | {
                "content": f"Sentence {place} of {number} with {TOKEN}{place:02}{number}",
                "timestamp": f"2026-05-04T08:{place:02}:07Z",
            }
            for place in range(stage.size.turns)
        )
        write_lines(stage.home / "history" / f"{number}.jsonl", lines)
    issue = (FIXTURES / "beads" / stage.size.issues[0]).read_text(encoding="utf-8")
    issues = stage.home / "history" / "issues.jsonl"
    issues.write_text(issue.replace('"title":"', f'"title":"{TOKEN}'), encoding="utf-8")
    finish(Scene("index without rules", stage.home, _without_rules(program("index", "history"))))
    return Scene("redact --rescan", stage.home, program("redact", "--rescan", "--yes"), weight=2)


TOKEN = "glpat-q7Rw2Xc9Lm4Tz8Vb1Nf"  # noqa: S105 - nobody's


def _without_rules(run: Callable[[], int]) -> Callable[[], int]:
    def without() -> int:
        marks.find_secrets = lambda *_: []  # type: ignore[assignment] # as a release that knew none
        return run()

    return without


def _restore(stage: Stage, finish: Finish) -> Scene:
    finish(_index(stage, finish))
    finish(Scene("backup", stage.home, program("backup", "kept.db")))
    finish(Scene("forget", stage.home, program("forget", "--query", "Sentence 7", "--yes")))
    return Scene("restore", stage.home, program("restore", "kept.db", "--yes"))


def _doctor(stage: Stage, finish: Finish) -> Scene:
    """Over a database of whose turns every second page is overwritten, and nothing else."""
    stage.write_history(grown=True)
    long = (
        {
            "conversation_id": "long",
            "role": ("user", "assistant")[place % 2],
            "content": f"Sentence {place}." + " …" * 900,
        }
        for place in range(6)
    )
    write_lines(stage.home / "history" / "long.jsonl", long)
    finish(Scene("index", stage.home, program("index", "history")))
    with open_database(stage.home / "memory.db") as database:
        database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        leaves = database.run("SELECT pageno FROM dbstat WHERE name = 'prompts' AND pagetype = 'leaf'")
    content = bytearray((stage.home / "memory.db").read_bytes())
    for (page,) in leaves[1::2]:
        content[(page - 1) * PAGE : page * PAGE] = b"\xa5" * PAGE
    (stage.home / "memory.db").write_bytes(content)
    return Scene("doctor --yes", stage.home, program("doctor", "--yes"), is_damaged=True)


def _with_tasks(stage: Stage, finish: Finish) -> str:
    """A task's key."""
    finish(_index(stage, finish))
    for title in ("Water the roses", "Cut the roses"):
        finish(Scene("task add", stage.home, program("task", "add", title, "--project", "garden")))
    with open_database(stage.home / "memory.db") as database:
        return database.value("SELECT key FROM tasks WHERE title = ?", ("Water the roses",))


def _import_tasks(stage: Stage, finish: Finish) -> Scene:
    _with_tasks(stage, finish)
    finish(Scene("task export", stage.home, program("task", "export", "tasks.jsonl")))
    finish(Scene("purge", stage.home, program("purge", "--yes")))
    finish(Scene("index", stage.home, program("index", "history/chats")))
    return Scene("task import", stage.home, program("task", "import", "tasks.jsonl"))


def _attach(stage: Stage, finish: Finish) -> Scene:
    """Enough text for several chunks."""
    key = _with_tasks(stage, finish)
    steps = (f"Step {number} of the build is done.\n" for number in range(100 * stage.size.chats))
    (stage.home / "build.log").write_text("".join(steps))
    return Scene("task attach", stage.home, program("task", "attach", key, "build.log"))


def _delete_task(stage: Stage, finish: Finish) -> Scene:
    key = _with_tasks(stage, finish)
    return Scene("task delete", stage.home, program("task", "delete", key, "--yes"), is_repeatable=False)


def _sync(stage: Stage, finish: Finish) -> Scene:
    """Exchange turns, a task and a forgetting with another machine, both of which have news."""
    stage.write_history(grown=True)
    (stage.home / EXCHANGE).mkdir()
    exchange = ("sync", EXCHANGE, "--plain")
    other = ("--db", "other.db")
    for arguments in (
        ("index", "history/chats"),
        exchange,
        ("task", "add", "Water the roses", "--project", "garden"),
        ("index", "history", *other),
        ("task", "add", "Cut the roses", "--project", "garden", *other),
        ("forget", "--query", "and more", "--yes", *other),
        (*exchange, *other),
    ):
        finish(Scene(" ".join(arguments), stage.home, program(*arguments)))
    return Scene("sync", stage.home, program(*exchange), weight=2)


SCENES: Mapping[str, Callable[[Stage, Finish], Scene]] = {
    "index": _index,
    "grown": _index_grown,
    "force": _force,
    "reindex": _reindex,
    "capture": _capture,
    "live": _live,
    "forget": _forget,
    "forget-many": _forget_many,
    "prune": _prune,
    "purge": _purge,
    "undo": _undo,
    "outcomes": _outcomes,
    "restore": _restore,
    "redact": _redact,
    "doctor": _doctor,
    "task-import": _import_tasks,
    "task-attach": _attach,
    "task-delete": _delete_task,
    "sync": _sync,
}


def scene(name: str, folder: Path, size: Size, finish: Finish) -> Scene:
    """The scene of a name, with its home in a folder and the state before in it."""
    made = SCENES[name](Stage(folder / name, size), finish)
    made.before = made.database.read_bytes() if made.database.exists() else None
    files = (file for file in (made.home / EXCHANGE).rglob("*") if file.is_file())
    made.exchanged = {str(file.relative_to(made.home)): file.read_bytes() for file in files}
    return made


def _of_another_version(run: Callable[[], int]) -> Callable[[], int]:
    def with_it() -> int:
        PackagedEmbedder.version = f"{PackagedEmbedder.version}, an earlier one"
        return run()

    return with_it


def _store_turns(turns: int) -> int:
    try:
        _say_turns(turns)
    except MemoryFault as fault:
        print(f"Error: {fault.message}")
        return 2
    return 0


def _say_turns(turns: int) -> None:
    with Memory.open() as memory:
        for number in range(turns):
            memory.store_turn(
                ("user", "assistant")[number % 2],
                f"Sentence {number} of today, said while it is said.",
                f"live-{number % 3}",
                f"event-{number}",
                "greenhouse",
                f"2026-06-01T10:{number:02}:07.000Z",
            )
