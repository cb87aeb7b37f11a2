"""Let calls of the system fail: once, from one on, as on a full disk; or let no file grow beyond a number of bytes.

    python tests/torture/fault_loop.py
    python tests/torture/fault_loop.py --every 1 --scenes outcomes,task-delete

Of each kind of call, which is what is asked of which file for which statement, the first, one in the middle and the last
fail; or every n-th call, whatever it is. A command that meets a fault either copes or says so in a sentence and ends with 2.
Whatever it did, the database that is left must be whole, and the next run, which meets none, must end in the state of a run
that never did. Ends with 1, and says where to look, when it is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from kill_loop import Measured, difference, finish, measured, run, seen
from moments import Moment, Page
from scenes import SCENES, make_cheap, scene

DEEDS = ("fail", "fail on", "full", "limit")
ROOM = (16_384, 131_072)
"""Bytes that a file may have, or may have more than the database before."""
EXPLAINED = 2


def moments(known: Measured, deed: str, every: int | None, first: int) -> list[Moment]:
    """When it meets a fault."""
    if deed == "limit":
        had = len(known.scene.before or b"")
        return [Moment("bytes", room + more, deed) for room in ROOM for more in {0, had}]
    if every is None:
        calls = sorted({kind[place] for kind in known.kinds for place in (0, len(kind) // 2, -1)})
    else:
        calls = list(range(1, sum(map(len, known.kinds)) + 1, every))
    return [Moment("call", number, deed) for number in calls if number >= first]


def meet(known: Measured, page: Page, aside: Path, moment: Moment) -> int:
    """Run a scene that meets a fault, look at what is left, and run it to its end; the first run's exit code."""
    scene = known.scene
    scene.reset()
    code = run(scene, page, moment)
    said = (scene.home / "said").read_text(encoding="utf-8")
    assert "Traceback" not in said, said
    assert code in (*scene.codes, EXPLAINED), f"it ended with {code}: {said}"
    assert code != EXPLAINED or said.startswith("Error: ") or "\nError: " in said, said
    now = seen(scene, aside=aside)
    if not scene.is_repeatable:
        if now == known.after:
            return code
        assert now == known.before, f"half of it was done: {difference(now, known.before)}"
    finish(scene, page)
    now = seen(scene)
    assert now == known.after, f"the next run ended in another state: {difference(now, known.after)}"
    return code


def main() -> None:
    """Every scene, in each of the ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, help="n-th call fails [default: three of each kind]")
    parser.add_argument("--first", type=int, default=1, help="call that may fail")
    parser.add_argument("--scenes", default=",".join(SCENES), help="which of %(default)s")
    parser.add_argument("--deeds", default=",".join(DEEDS), help="which of %(default)s")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    page, tally = Page(), Counter[str]()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    make_cheap()
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        for named in options.scenes.split(","):
            known = measured(scene(named, folder, partial(finish, page=page)), page, folder / "aside")
            for deed in options.deeds.split(","):
                for moment in moments(known, deed, options.every, options.first):
                    try:
                        code = meet(known, page, folder / "aside", moment)
                    except Exception as fault:
                        kept = Path(tempfile.mkdtemp(prefix="torture-failed-")) / "home"
                        shutil.copytree(known.scene.home, kept)
                        print(f"{known.scene.name}, {moment}: {fault}\n{page.trace}\nkept in {kept}")
                        raise
                    tally[f"{known.scene.name}, {deed}: {'explained' if code == EXPLAINED else 'coped with'}"] += 1
    if options.json:
        print(json.dumps({"faults": tally.total(), "places": tally}))
        return
    print(f"{tally.total()} faults, no database damaged, every next run as if there had been none")
    for what, number in tally.items():
        print(f"{number:6} {what}")


if __name__ == "__main__":
    main()
