"""Let calls of the system fail: once, from one on, as on a full disk; kill at them; or let no file grow beyond a number of bytes.

    python tests/torture/fault_loop.py
    python tests/torture/fault_loop.py --every 1 --jobs 2

Of each kind of call, which is what is asked of which file for which statement, the first, one in the middle and the last
fail; or, in scenes that are as small as can be, every n-th call, whatever it is. A command that meets a fault either copes
or says so in a sentence and ends with 2. Whatever it did, the database that is left must be whole, and the next run, which
meets none, must end in the state of a run that never did. Where SQLite recovers the very bytes that were there before, or
that were looked at and gone on from already, they are not gone on from again. Ends with 1, and says where to look, when it is not so.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]  # the folder of tests, as pytest has it

import apsw  # noqa: E402 - after the folders that they lie in
import everything  # noqa: E402, F401 - for the processes that fork off
from kill_loop import Measured, finish, finish_as_undisturbed, is_done, measured, run  # noqa: E402 - after the folders that they lie in
from moments import CHANGING, EXCHANGE, Moment, Page, keep  # noqa: E402 - after the folders that they lie in
from scenes import SCENES, Scene, scene  # noqa: E402 - after the folders that they lie in
from stage import LARGE, SMALL, Size, Stage, make_cheap  # noqa: E402 - after the folders that they lie in

from pastchats_memory import Memory  # noqa: E402 - after the folders that they lie in

FAILURES = {"fail": None, "fail on": None, "full": ("write",), "kill": CHANGING, "tear": ("write",), "limit": ()}
"""What is done, and at which calls; None: at any. What happens before a call that changes nothing leaves what happens before the next that does."""
KILLS = ("kill", "tear")
ROOM = (16_384, 131_072)
"""Bytes that a file may have, or may have more than the database before."""
EXPLAINED = 2
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
"""Where files are memory, on systems that have it: what is there is read and written a hundred thousand times."""


ALIKE = (
    "UPDATE runs SET pid = 0, duration_s = 0",
    "UPDATE embedding_meta SET value = '0 0' WHERE key = 'unerased_by'",
    "UPDATE embedding_meta SET value = json_set(value, '$.pid', 0, '$.at', 0) WHERE key = 'going'",
)
"""Writes over what no two processes write alike."""


def moments(known: Measured, failure: str, every: int | None, first: int) -> list[Moment]:
    """When it meets a fault, or is killed."""
    if failure == "limit":
        had = len(known.scene.before or b"")
        return [Moment("bytes", room + more, failure) for room in ROOM for more in {0, had}]
    at = FAILURES[failure]
    kinds = [kind.numbers for kind in known.kinds if at is None or kind.call in at]
    if every is None:
        calls = sorted({numbers[place] for numbers in kinds for place in (0, len(numbers) // 2, -1)})
    else:
        calls = sorted(number for numbers in kinds for number in numbers)[::every]
    return [Moment("call", number, failure) for number in calls if number >= first]


def meet(known: Measured, page: Page, moment: Moment, leaves: Path) -> str:
    """Run a scene that meets a fault; what became of it. What a kill leaves was kept when nothing happened to it."""
    scene = known.scene
    scene.reset()
    if moment.failure in KILLS:
        shutil.rmtree(scene.home / EXCHANGE, ignore_errors=True)
        shutil.copytree(leaves / moment.failure / str(moment.number), scene.home, dirs_exist_ok=True)
        return "killed"
    code = run(scene, page, moment)
    return _became(scene, moment, code, page.trace.calls)


def go_on(known: Measured, page: Page, aside: Path, gone_on_from: set[bytes]) -> None:
    """Look at what is left, and run the scene to its end, unless that was done already."""
    left = _left(known.scene, aside)
    if left in gone_on_from:
        return
    if is_done(known, aside):
        return
    finish_as_undisturbed(known, page)
    gone_on_from.add(left)


def _became(scene: Scene, moment: Moment, code: int, calls: int) -> str:
    """Raises AssertionError where that is nothing that a run may end with."""
    text = (scene.home / "output").read_text(encoding="utf-8")
    assert "Traceback" not in text, text
    assert code in (*scene.codes, EXPLAINED), f"it ended with {code}: {text}"
    assert code != EXPLAINED or text.startswith("Error: ") or "\nError: " in text, text
    if moment.what == "call" and calls < moment.number:
        return "over before"
    return "explained" if code == EXPLAINED else "coped with"


def _left(scene: Scene, aside: Path) -> bytes:
    """A digest of the database as whoever opens it next will find it, what was not committed rolled back, and of what lies beside it.

    Of unfinished copies, which the next run takes away unread, only that they are there.
    """
    keep(scene.home, aside)
    if (aside / "memory.db").exists():
        with suppress(apsw.Error), closing(apsw.Connection(str(aside / "memory.db"))) as connection:
            for statement in ALIKE:
                connection.execute(statement)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    digest = sha256()
    for file in filter(Path.is_file, sorted(aside.rglob("*"))):
        content = b"" if ".partial" in file.name else file.read_bytes()
        named = re.sub(r"[.]\d+[.]partial", ".partial", file.name)  # by the process that wrote it
        digest.update(f"{named} {len(content)} ".encode() + content)
    return digest.digest()


@dataclass
class Swept:
    """A scene in one of the ways: what became of its runs, from how many databases the next one went on, and what went wrong."""

    became: Counter[str] = field(default_factory=Counter)
    gone_on_from: int = 0
    wrong: list[str] = field(default_factory=list)


def sweep(named: str, failure: str, every: int | None, first: int) -> Swept:
    """A scene, in one of the ways."""
    swept, page = Swept(), Page()
    with _folder() as folder:
        at = partial(finish, page=page)
        known = measured(scene(named, folder, SMALL if every else LARGE, at), page, folder / "aside")
        known.scene.reset()
        gone_on_from = {_left(known.scene, folder / "aside")}
        leaves = folder / "leaves"
        if failure in KILLS:
            for moment in moments(known, failure, every, first):
                (leaves / failure / str(moment.number)).mkdir(parents=True)
            assert run(known.scene, page, leaves=leaves) in known.scene.codes
        for moment in moments(known, failure, every, first):
            try:
                swept.became[meet(known, page, moment, leaves)] += 1
                go_on(known, page, folder / "aside", gone_on_from)
            except Exception as fault:  # noqa: BLE001 - whatever it is, the other moments have their turn
                kept = Path(tempfile.mkdtemp(prefix="torture-failed-")) / "home"
                shutil.copytree(known.scene.home, kept)
                swept.wrong.append(f"{known.scene.name}, {moment}: {fault}\n{page.trace}\nkept in {kept}")
        swept.gone_on_from = len(gone_on_from)
    return swept


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="torture-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


def warm_up(size: Size) -> None:
    """Have patterns compiled and modules imported before processes fork off."""
    make_cheap(size)
    with _folder() as folder:
        Stage(folder, size).write_history(grown=True)
        with Memory.open(folder / "memory.db") as memory:
            memory.index([folder / "history"])
    gc.collect()
    gc.freeze()


def main() -> None:
    """Every scene, in each of the ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--every", type=int, help="n-th call, in small scenes [default: three of each kind, in large ones]"
    )
    parser.add_argument("--first", type=int, default=1, help="call at which something may happen")
    parser.add_argument("--scenes", default=",".join(SCENES), help="which of %(default)s")
    parser.add_argument("--failures", default=",".join(FAILURES), help="which of %(default)s")
    parser.add_argument("--jobs", type=int, default=1, help="processes that do this side by side")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    warm_up(SMALL if options.every else LARGE)
    ways = [(named, failure) for named in options.scenes.split(",") for failure in options.failures.split(",")]
    start, table = time.monotonic(), dict[str, Swept]()
    with ProcessPoolExecutor(options.jobs, get_context("fork")) as pool:
        under_way = {way: pool.submit(sweep, *way, options.every, options.first) for way in ways}
        for (named, failure), future in under_way.items():
            table[f"{named}, {failure}"] = swept = future.result()
            about = f"{dict(swept.became)}, gone on from {swept.gone_on_from} databases"
            print(
                "\n".join([f"{time.monotonic() - start:6.0f} s  {named}, {failure}: {about}", *swept.wrong]),
                file=sys.stderr,
            )
    total = sum((swept.became for swept in table.values()), Counter[str]())
    wrong = [fault for swept in table.values() for fault in swept.wrong]
    if options.json:
        print(
            json.dumps(
                {"runs": total.total(), "became": total, "ways": {way: vars(swept) for way, swept in table.items()}}
            )
        )
    else:
        print(
            f"{total.total()} runs: {', '.join(f'{number} {what}' for what, number in total.most_common())};", end=" "
        )
        print(f"{sum(swept.gone_on_from for swept in table.values())} databases gone on from, {len(wrong)} faults")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
