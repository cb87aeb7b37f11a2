"""A team at work: eight processes of four roles push, pull, forget and withdraw, while they are killed and the server restarts.

    python tests/torture/team_crowd.py --rounds 200

At the end every copy has what its reader may see of the others, no more and no less. Ends with 1, and says whose copy differs, when
it is not so. It needs the library of a PostgreSQL to try.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "team"), str(Path(__file__).parents[1])]  # as pytest has them

from places import PEOPLE, PostgresDatabase, PostgresProcess, run_postgres  # noqa: E402 - after the folders that they lie in

from pastchats_memory.config import Config  # noqa: E402 - after the folders that they lie in
from pastchats_memory.errors import MemoryFault, TeamUnavailable  # noqa: E402 - after the folders that they lie in
from pastchats_memory.memory import Memory  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.copy_path import copy_path  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.database import open_database  # noqa: E402 - after the folders that they lie in

PROJECTS = ("billing", "kiln", "payroll")
READERS = ("ada", "bob")
"""Who may read `payroll`, beside the authors of its rows."""
MEMORIES = 2
"""Of each person."""
STEPS = 12
"""Of a process, unless it is killed."""


def open_memory(home: Path, endpoint: str) -> Memory:
    """Return a person's memory, which shares all projects."""
    home.mkdir(parents=True, exist_ok=True)
    config = Config(home / "memory.db", team_endpoint=endpoint)
    return Memory.open(home / "memory.db", create=True, config=config)


def work(home: Path, endpoint: str, seed: int, steps: int) -> None:
    """Do some steps at random. A server that is away is no fault."""
    chance = random.Random(seed)  # noqa: S311 - it chooses steps
    with open_memory(home, endpoint) as memory:
        for step in range(steps):
            try:
                take_step(memory, home, f"{home.name} {seed} {step}", chance)
            except TeamUnavailable as fault:
                print(fault.message, file=sys.stderr)


def take_step(memory: Memory, home: Path, name: str, chance: random.Random) -> None:
    """Write a conversation, or do something with what is there."""
    project = chance.choice(PROJECTS)
    act = chance.choice(("write", "write", "push", "push", "pull", "forget", "withdraw"))
    if act == "write":
        path = home / f"{name.replace(' ', '-')}.jsonl"
        lines = [
            {"role": role, "content": f"{role} of {name}", "conversation_id": name} for role in ("user", "assistant")
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        memory.index([path], project)
        memory.team.share(project)
    elif act == "push":
        push(memory)
    elif act == "pull":
        memory.team.pull()
    elif act == "forget":
        memory.forget(query=f"{home.name} {chance.randrange(9)}")
    elif project in {one.project for one in memory.team.status().projects}:
        memory.team.withdraw([project])


def push(memory: Memory) -> None:
    """Push, unless nothing is shared yet."""
    try:
        memory.team.push()
    except MemoryFault as fault:
        if "nothing is shared" not in fault.message:
            raise


def run_crowd(
    folder: Path, server: PostgresProcess, rounds: int, steps: int = STEPS, memories: int = MEMORIES
) -> list[str]:
    """Let the crowd work, and return whose copies differ at the end.

    In each round one process takes all its steps, and another is killed wherever it is. Who has ended begins again.
    """
    place = PostgresDatabase(server)
    for reader in READERS:
        place.run(f"INSERT INTO pastchats.readers VALUES ('payroll', '{reader}')")
    homes = {folder / f"{name}{number}": name for name in PEOPLE for number in range(memories)}
    chance = random.Random(0)  # noqa: S311 - it chooses whom to kill
    running = {home: _start(home, place.endpoint_for(name), 0, steps) for home, name in homes.items()}
    for round_ in range(1, rounds + 1):
        finisher, victim = chance.sample(list(homes), 2)
        running[finisher].wait()
        running[victim].kill()
        if round_ == rounds // 2:
            server.restart()  # while everybody works
        for home, process in running.items():
            if process.poll() is not None:
                running[home] = _start(home, place.endpoint_for(homes[home]), round_, steps)
    for process in running.values():
        process.wait()
    return compare_copies(homes, place)


def compare_copies(homes: dict[Path, str], place: PostgresDatabase) -> list[str]:
    """Let everybody push and then pull, and return whose copies differ from what they may see."""
    for act in (push, lambda memory: memory.team.pull()):
        for home, name in homes.items():
            with open_memory(home, place.endpoint_for(name)) as memory:
                act(memory)
    faults = []
    for home, name in homes.items():
        with open_database(home / "memory.db") as own, open_database(copy_path(home / "memory.db")) as copy:
            member = own.value("SELECT ifnull(max(member), '') FROM team_members")
            have = {id_ for (id_,) in copy.run("SELECT id FROM team_rows WHERE kind = 'turn'")}
            texts = copy.value("SELECT count(*) FROM visible_prompts")
        others = (
            f"SELECT id FROM pastchats.rows WHERE kind = 'turn' AND NOT (member = '{member}' AND author = session_user)"
        )
        want = {id_ for (id_,) in place.run(others, name)}
        if have != want or texts != len(want):
            faults.append(f"{home.name}: {len(have)} rows and {texts} turns of {len(want)}")
    total = place.run("SELECT count(*) FROM pastchats.rows")[0][0]
    if not total:
        faults.append("nobody shared anything")
    print(f"{total} rows of {len(homes)} memories; {len(faults)} copies differ")
    return faults


def _start(home: Path, endpoint: str, seed: int, steps: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--work", str(home), endpoint, str(seed), str(steps)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(words: Sequence[str] | None = None) -> int:
    """Run the crowd, or one of its processes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--work", nargs=4, metavar=("HOME", "ENDPOINT", "SEED", "STEPS"))
    given = parser.parse_args(words)
    if given.work:
        home, endpoint, seed, steps = given.work
        work(Path(home), endpoint, int(seed), int(steps))
        return 0
    import tempfile

    with tempfile.TemporaryDirectory() as folder, run_postgres() as server:
        faults = run_crowd(Path(folder), server, given.rounds)
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
