"""Many at once over one database: two index, four ask, one forgets, each in a process of its own.

    python tests/torture/crowd.py --seconds 600

No error may reach any of them; what is found has what was asked for, and was not forgotten before it was asked for; rows that
nobody forgets never become fewer; no writer waits for the lock for more than five seconds, in which the whole machine did not stand
still: another process, which only sleeps, tells. Ends with 1, and says who saw what, when it is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]  # the folder of tests, as pytest has it

import stage  # noqa: E402 - after the folders that they lie in
from waiting import HANG_S  # noqa: E402 - after the folders that they lie in
from whole import assert_whole  # noqa: E402 - after the folders that they lie in

from pastchats_memory import Memory  # noqa: E402 - after the folders that they lie in
from pastchats_memory.errors import DeletionUnfinished  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store import database as database_module  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.database import Database, open_database  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.vectors import catch_up_at_opening  # noqa: E402 - after the folders that they lie in

INDEXERS, SEARCHERS = 2, 4
TURNS = 30
MOST_WAIT = 5.0
"""Seconds."""
MOST_WORK = 1.0
"""Seconds of the processor's time that a transaction may take: what others wait for on a machine that has nothing else to do."""
STANDSTILL = 0.5
"""Seconds by which who only sleeps wakes late, where all processes were stopped."""
FILES = 40
"""Conversations of each indexer before it begins to add to those that it has."""
READING = ("SELECT", "BEGIN", "ROLLBACK")
OURS = f"{os.sep}pastchats_memory{os.sep}"
LARGE = 400
"""Turns of a conversation now and then, which is forgotten in steps."""


KEPT = 50
"""Waits of a process, the longest."""

Span = tuple[float, float]


def length(span: Span) -> float:
    """Seconds."""
    return span[1] - span[0]


def without(span: Span, others: Iterable[Span]) -> float:
    """Seconds of it that lie in none of the others, which do not overlap."""
    return length(span) - sum(max(0.0, min(span[1], end) - max(span[0], start)) for start, end in others)


class Watch:
    """What one process saw."""

    def __init__(self, folder: Path, role: str) -> None:
        self.folder = folder
        self.role = role
        self.rounds = 0
        self.waits: list[Span] = []
        """From when to when transactions waited for the lock, the longest last."""
        self.held = self.worked = 0.0
        """Seconds that one held it, and of the processor's time meanwhile."""
        self.held_by = ""
        """Who held it for the longest time."""
        self.chance = random.Random(role)  # noqa: S311 - no secret

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Measure how long transactions wait to begin, and how long the lock is held: by them, or by a statement alone."""
        run, begun = Database.run, [0.0, 0.0]

        def measured(database: Database, statement: str, values: object = ()) -> list[tuple[object, ...]]:
            is_alone = not database.connection.in_transaction
            start, work = time.monotonic(), time.process_time()
            try:
                return run(database, statement, values)  # type: ignore[arg-type] # as it was given
            finally:
                if statement == "BEGIN IMMEDIATE":
                    self.wait(start, time.monotonic())
                    begun[:] = time.monotonic(), time.process_time()
                elif statement == "COMMIT" and begun[0]:
                    self.hold(*begun)
                    begun[:] = 0.0, 0.0
                elif is_alone and not statement.startswith(READING):
                    self.hold(start, work, statement)

        Database.run = measured  # type: ignore[method-assign] # measured from outside
        try:
            yield
        finally:
            Database.run = run  # type: ignore[method-assign] # as it was

    def wait(self, start: float, end: float) -> None:
        """The lock was waited for so long."""
        self.waits = sorted([*self.waits, (start, end)], key=length)[-KEPT:]

    def hold(self, start: float, work: float, statement: str = "") -> None:
        """The lock was held since then."""
        self.worked = max(self.worked, time.process_time() - work)
        if time.monotonic() - start > self.held:
            self.held = time.monotonic() - start
            self.held_by = statement or " < ".join(
                f"{frame.name}:{frame.lineno}"
                for frame in reversed(traceback.extract_stack())
                if OURS in frame.filename
            )

    def forgotten(self) -> set[str]:
        """Words of conversations that were forgotten by now."""
        return set((self.folder / "forgotten").read_text().split())


def write_conversation(path: Path, conversation: str, project: str, turns: range) -> None:
    """Add turns to a conversation, each with its word."""
    with path.open("a") as file:
        for turn in turns:
            body = {
                "conversation_id": conversation,
                "project": project,
                "role": ("user", "assistant")[turn % 2],
                "content": f"Turn {turn} of {conversation} speaks of the lighthouse and its lamp.",
                "timestamp": f"2026-04-01T{turn // 3600 % 24:02}:{turn // 60 % 60:02}:{turn % 60:02}.123Z",
            }
            file.write(json.dumps(body) + "\n")


def index(watch: Watch) -> None:
    """Conversations that stay, and some that are to be forgotten, new and grown."""
    own = watch.folder / watch.role
    own.mkdir(exist_ok=True)
    number = watch.rounds % FILES
    project = "going" if number % 4 == 0 else "kept"
    word = f"{project}{watch.role}n{watch.rounds if project == 'going' else number}"
    path = own / f"{word}.jsonl"
    start = path.read_bytes().count(b"\n") if path.exists() else 0
    length = LARGE if project == "going" and number % 8 == 0 else TURNS
    write_conversation(path, word, project, range(start, start + length))
    with Memory.open(watch.folder / "memory.db") as memory:
        memory.index([own])
    if project == "going":
        with (watch.folder / "ready").open("a") as ready:
            ready.write(f"{word}\n")


def ask(watch: Watch) -> None:
    """Each answer has the words, and nothing that was forgotten before; rows that stay never become fewer."""
    gone = watch.forgotten()
    with Memory.open(watch.folder / "memory.db") as memory:
        kept = memory._database.value("SELECT count(*) FROM prompts WHERE source_project = 'kept'")  # noqa: SLF001 - counted
        least = getattr(watch, "kept", 0)
        assert kept >= least, f"{least} rows that nobody forgets have become {kept}"
        watch.kept = kept  # type: ignore[attr-defined] # of the searchers alone
        mode = watch.chance.choice(("keyword", "hybrid", "semantic"))
        for hit in memory.search("lighthouse lamp", mode=mode, limit=50):
            assert "lighthouse" in hit.content, hit
            assert hit.conversation_id not in gone, f"{hit.conversation_id} was forgotten, and {mode} finds it"
            # It may be forgotten between the question and this one, but is never another row.
            assert all(item.content == hit.content for item in memory.show(hit.id, 0)), hit
        if gone:
            word = watch.chance.choice(sorted(gone))
            assert not [hit for hit in memory.search(word, mode="keyword") if hit.conversation_id == word], word
        memory.recall("lighthouse lamp")


def forget(watch: Watch) -> None:
    """A conversation that was indexed goes, and is not found from then on."""
    ready = (watch.folder / "ready").read_text().split()
    waiting = [word for word in ready if word not in watch.forgotten()]
    if not waiting:
        time.sleep(0.2)
        return
    with Memory.open(watch.folder / "memory.db") as memory:
        assert memory.forget(conversation=waiting[0], dry_run=True), f"nothing of {waiting[0]} was there"
        with suppress(DeletionUnfinished):  # others read an older state for as long as it waits
            memory.forget(conversation=waiting[0])
        assert not memory.forget(conversation=waiting[0], dry_run=True)
    with (watch.folder / "forgotten").open("a") as forgotten:
        forgotten.write(f"{waiting[0]}\n")


def sleep(watch: Watch) -> None:
    """Wake ten times a second; where it is late, the whole machine was, and it counts as a wait."""
    start = time.monotonic()
    time.sleep(0.1)
    if time.monotonic() - start > STANDSTILL:
        watch.wait(start, time.monotonic())


def part(folder: Path, role: str, action: Callable[[Watch], None], until: float, most_rounds: int) -> int:
    """Start a process that repeats its action until the time is over, or so many times; return its number."""
    child = os.fork()
    if child:
        return child
    watch, fault = Watch(folder, role), ""
    try:
        with watch.waiting():
            while watch.rounds < most_rounds if most_rounds else time.monotonic() < until:
                action(watch)
                watch.rounds += 1
    except BaseException:  # noqa: BLE001 - whatever it is, it is what is looked for
        fault = traceback.format_exc()
    finally:
        seconds = {"longest_hold_s": watch.held, "most_work_s": watch.worked}
        report = {"role": role, "rounds": watch.rounds, **{name: round(value, 2) for name, value in seconds.items()}}
        report |= {"held_by": watch.held_by, "waits": watch.waits, "fault": fault}
        (folder / f"report-{role}").write_text(json.dumps(report))
        os._exit(0)


def main() -> None:
    """Start them, wait, and look at what is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int, default=0, help="rounds of each process, whatever the clock says")
    parser.add_argument(
        "--most-wait", type=float, default=MOST_WAIT, help="seconds for the lock [default: %(default)s]"
    )
    options = parser.parse_args()
    stage.make_cheap(stage.LARGE)
    if options.rounds:  # nothing may depend on the clock
        database_module.BUSY_MS = 1000 * HANG_S
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("ready", "forgotten"):
            (folder / file).touch()
        Memory.open(folder / "memory.db").close()
        until = time.monotonic() + options.seconds
        parts = [(f"indexer{number}", index) for number in range(INDEXERS)]
        parts += [(f"searcher{number}", ask) for number in range(SEARCHERS)]
        parts += [("forgetter", forget), ("sleeper", sleep)]
        children = [part(folder, role, action, until, options.rounds) for role, action in parts]
        for child in children:
            os.waitpid(child, 0)
        text = [json.loads(file.read_text()) for file in sorted(folder.glob("report-*"))]
        with open_database(folder / "memory.db") as database:
            catch_up_at_opening(database)
            assert_whole(database)
            turns = database.value("SELECT count(*) FROM prompts")
        standstills = next(one.pop("waits") for one in text if one["role"] == "sleeper")
        for one in text:
            waits = [without(span, standstills) for span in one.pop("waits", ())]
            one["longest_wait_s"] = round(max(waits, default=0.0), 2)
        longest = max(one["longest_wait_s"] for one in text)
        faults = [one["fault"] for one in text if one["fault"]]
        forgotten = len((folder / "forgotten").read_text().split())
    is_in_time = max(one["most_work_s"] for one in text) <= MOST_WORK and longest <= options.most_wait
    is_well = not faults and (options.rounds or is_in_time) and all(one["rounds"] for one in text)
    about = {"turns": turns, "forgotten": forgotten, "longest_wait_s": longest}
    about["stood_still_s"] = round(sum(map(length, standstills)), 2)
    print(json.dumps({**about, "processes": text}, indent=1))
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
