"""Kill the program over and over: by the clock from outside, at a statement, at a write that is half done.

    python tests/torture/kill_loop.py --kills 1000 --seed 1

After every kill the database that is left is opened and must be whole; every few kills the command is run to its end and
must end in the same state as when nothing disturbed it. Ends with 1, and says where to look, when it is not so. The
histogram says where the kills fell, by what the killed process had noted before it was hit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1])]  # the folder of tests, as pytest has it

from moments import CALLS_BY_KIND, Moment, Page, fork  # noqa: E402 - after the folders that they lie in
from scenes import SCENES, Scene, scene  # noqa: E402 - after the folders that they lie in
from stage import LARGE, make_cheap  # noqa: E402 - after the folders that they lie in
from whole import assert_whole, state  # noqa: E402 - after the folders that they lie in

from pastchats_memory.store.database import open_database  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.vectors import catch_up_at_opening  # noqa: E402 - after the folders that they lie in

State = dict[str, list[tuple]] | None
"""What `whole.state` says; None where there is no database, or one that is damaged as it was before."""
WAYS = ("clock", "statement", "write", "torn write")
MOST_IN_A_ROW = 3
"""Kills of one database before the command is run to its end."""


@dataclass
class Tally:
    """What became of the kills."""

    kills: int = 0
    in_transaction: int = 0
    too_late: int = 0
    finished: int = 0
    places: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)
    """Of each way those inside a transaction."""
    scenes: Counter[str] = field(default_factory=Counter)


class Kind(NamedTuple):
    """Calls of the system for one statement and one file."""

    call: str
    numbers: list[int]
    """Which they were of all that the process made."""


@dataclass
class Measured:
    """A scene, what it does when nothing disturbs it, and what of its database is to be seen before and after."""

    scene: Scene
    seconds: float
    statements: int
    kinds: list[Kind]
    changes: int
    before: State
    after: State


def run(
    scene: Scene,
    page: Page,
    moment: Moment | None = None,
    *,
    kill_after: float | None = None,
    leaves: Path | None = None,
) -> int:
    """The exit code of a process that does the scene's deed; -9 where it was killed."""
    child = fork(scene.run, scene.home, scene.environment, page, moment, leaves)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def finish(scene: Scene, page: Page) -> None:
    """Run it to its end."""
    code = run(scene, page)
    assert code in scene.codes, f"{scene.name} ended with {code}: {(scene.home / 'output').read_text()}"


def seen(scene: Scene, *, aside: Path | None = None) -> State:
    """The state of the database, which must be whole; of a copy of its files where the original is not to be touched."""
    path = scene.database
    if not path.exists() or scene.is_as_before:
        return None
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(mode=0o700)
        for name in ("memory.db", "memory.db-wal", "memory.db-journal"):
            if (path.parent / name).exists():
                shutil.copy2(path.parent / name, aside / name)
        path = aside / "memory.db"
    with open_database(path) as database:
        catch_up_at_opening(database)
        assert_whole(database)
        return state(database)


def measured(scene: Scene, page: Page, aside: Path) -> Measured:
    """Run it undisturbed."""
    scene.reset()
    before = seen(scene, aside=aside)
    start = time.monotonic()
    finish(scene, page)
    seconds = time.monotonic() - start
    trace = page.trace
    kinds = [Kind(*kind) for kind in json.loads((scene.home / CALLS_BY_KIND).read_text())]
    return Measured(scene, seconds, trace.statements, kinds, trace.changes, before, seen(scene))


def strike(known: Measured, page: Page, way: str, chance: random.Random) -> int:
    """One run that is to be killed in this way; its exit code."""
    match way:
        case "clock":
            return run(known.scene, page, kill_after=chance.uniform(0, known.seconds))
        case "statement":
            moment = Moment("statement", chance.randint(1, known.statements))
        case _:
            moment = Moment("change", chance.randint(1, known.changes), "kill" if way == "write" else "tear")
    return run(known.scene, page, moment)


def torture(known: Measured, page: Page, aside: Path, tally: Tally, chance: random.Random, most: int) -> None:
    """Kill a scene a few times in a row, look each time, and run it to its end. Raises AssertionError."""
    scene = known.scene
    scene.reset()
    for _ in range(min(chance.randint(1, MOST_IN_A_ROW), most)):
        way = chance.choice(WAYS)
        code = strike(known, page, way, chance)
        if code == -signal.SIGKILL:
            trace = page.trace
            tally.kills += 1
            tally.in_transaction += trace.place.startswith("in a transaction")
            tally.places[trace.place] += 1
            tally.ways[way] += 1
            tally.within[way] += trace.place.startswith("in a transaction")
            tally.scenes[scene.name] += 1
        else:
            assert code in scene.codes, f"it ended with {code}: {(scene.home / 'output').read_text()}"
            tally.too_late += 1
        if is_done(known, aside):
            return
    finish_as_undisturbed(known, page)
    tally.finished += 1


def is_done(known: Measured, aside: Path) -> bool:
    """Look at what is left, and return whether a scene that cannot be repeated is done. Raises AssertionError if half is."""
    now = seen(known.scene, aside=aside)
    if known.scene.is_repeatable:
        return False
    if now == known.after:
        return True
    assert now == known.before, f"half of it was done: {difference(now, known.before)}"
    return False


def finish_as_undisturbed(known: Measured, page: Page) -> None:
    """Run a scene to its end. Raises AssertionError if it ends in another state than a run that nothing disturbed."""
    finish(known.scene, page)
    now = seen(known.scene)
    assert now == known.after, f"the next run ended in another state: {difference(now, known.after)}"


def difference(found: State, wanted: State) -> str:
    """The first rows that only one of the two has."""
    if found is None or wanted is None:
        return f"{found and len(found)} tables, not {wanted and len(wanted)}"
    return "; ".join(
        f"{name}: {[row for row in found[name] if row not in wanted[name]][:2]} "
        f"instead of {[row for row in wanted[name] if row not in found[name]][:2]}"
        for name in found
        if found[name] != wanted[name]
    )


def print_tally(tally: Tally, *, as_json: bool) -> None:
    """The histogram."""
    share = tally.in_transaction / tally.kills
    if as_json:
        about = {"kills": tally.kills, "in_transaction": tally.in_transaction, "finished": tally.finished}
        print(json.dumps(about | {"scenes": tally.scenes, "ways": tally.ways, "places": tally.places}))
        return
    print(f"{tally.kills} kills, {share:.0%} inside a transaction; {tally.too_late} came too late; ", end="")
    print(f"{tally.finished} times run to the end, in the state of a run that was never killed")
    shares = [f"{tally.within[way] / number:.0%} of those at a {way}" for way, number in tally.ways.most_common()]
    print(f"Inside a transaction: {', '.join(shares)}")
    for counted in (tally.ways, tally.scenes, tally.places):
        print()
        for name, number in counted.most_common():
            print(f"{number:6} {name:60} {'#' * round(60 * number / tally.kills)}")


def main() -> None:
    """Kill until it is enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None, help="of the moments [default: another one each time]")
    parser.add_argument("--scenes", default=",".join(SCENES), help="which of %(default)s")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seed = int.from_bytes(os.urandom(4)) if options.seed is None else options.seed
    chance, page, tally = random.Random(seed), Page(), Tally()  # noqa: S311 - no secret
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    make_cheap(LARGE)
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        made = (scene(name, folder, LARGE, partial(finish, page=page)) for name in options.scenes.split(","))
        known = [measured(each, page, folder / "aside") for each in made]
        weights = [each.scene.weight for each in known]
        rounds = 0
        while tally.kills < options.kills:
            (each,) = [known[rounds]] if rounds < len(known) else chance.choices(known, weights)
            rounds += 1
            try:
                torture(each, page, folder / "aside", tally, chance, options.kills - tally.kills)
            except Exception as fault:
                kept = Path(tempfile.mkdtemp(prefix="torture-failed-")) / "home"
                shutil.copytree(each.scene.home, kept)
                print(
                    f"{each.scene.name}, seed {seed}, after {tally.kills} kills: {fault}\n{page.trace}\nkept in {kept}"
                )
                raise
    print(f"seed {seed}", file=sys.stderr)
    print_tally(tally, as_json=options.json)


if __name__ == "__main__":
    main()
