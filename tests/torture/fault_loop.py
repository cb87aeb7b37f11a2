"""Let the n-th call of the system fail, for every n: once, from then on, or as on a full disk.

    python tests/torture/fault_loop.py --every 1
    python tests/torture/fault_loop.py --every 40 --scenes grown,reindex

A command that meets a fault either copes or says so in a sentence and ends with 2. Whatever it did, the database that is
left must be whole, and the next run, which meets none, must end in the state of a run that never did. Ends with 1, and says
where to look, when it is not so.
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

DEEDS = ("fail", "fail on", "full")
EXPLAINED = 2


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
    """Every n-th call of every scene, in each of the ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="call is let fail [default: each]")
    parser.add_argument("--first", type=int, default=1, help="of them")
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
                for number in range(options.first, known.calls + 1, options.every):
                    moment = Moment("call", number, deed)
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
