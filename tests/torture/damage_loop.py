"""Damage a database in every way that a disk can, and ask everything of it.

    python tests/torture/damage_loop.py --damages 300 --seed 1

Of each damaged copy every command must end with an answer or with a sentence: never with a traceback, a signal or no end.
Ends with 1, and says which damage, when it is not so. What the commands said is counted by exit code.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]  # the folder of tests, as pytest has it

import apsw  # noqa: E402 - after the folders that they lie in
from program import DEMO, Program  # noqa: E402 - after the folders that they lie in
from stage import LARGE, make_cheap  # noqa: E402 - after the folders that they lie in
from whole import assert_whole  # noqa: E402 - after the folders that they lie in

from pastchats_memory import Memory, cli  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.database import open_database  # noqa: E402 - after the folders that they lie in
from pastchats_memory.tasks.edit import Change  # noqa: E402 - after the folders that they lie in

PAGE = 4096
PATIENCE = 60
"""Seconds that a command may take."""
EXPLAINED = (0, 1, 2)
COMMANDS = (
    ("search", "login test"),
    ("search", "login test", "--mode", "keyword", "--json"),
    ("search", "login test", "--mode", "semantic", "--role", "user"),
    ("recall", "flaky login test"),
    ("context", "flaky login test"),
    ("show", "12", "--json"),
    ("task", "list"),
    ("lessons", "--all"),
    ("status",),
    ("verify",),
    ("forget", "--list"),
    ("doctor",),
    ("export", "out.jsonl", "--force"),
    ("backup", "copy.db", "--force"),
    ("index", "more.jsonl"),
    ("forget", "--id", "3", "--yes"),
    ("reindex", "--outcomes"),
    ("search", "zebra crossing"),
    ("doctor", "--yes"),
    ("search", "login test"),
)
"""Those that read come first, so that each finds the damage as it was made."""
MENDING = ("doctor", "--yes")


def flipped(content: bytearray, chance: random.Random) -> None:
    """A few bits somewhere."""
    for _ in range(chance.choice((1, 3, 30))):
        content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)


def overwritten(content: bytearray, chance: random.Random) -> None:
    """Whole pages that hold something else."""
    for _ in range(chance.choice((1, 2, 10))):
        start = chance.randrange(1, len(content) // PAGE) * PAGE
        content[start : start + PAGE] = chance.choice((bytes(PAGE), chance.randbytes(PAGE)))


def swapped(content: bytearray, chance: random.Random) -> None:
    """A page written in the place of another one."""
    one, other = (chance.randrange(1, len(content) // PAGE) * PAGE for _ in range(2))
    content[one : one + PAGE] = content[other : other + PAGE]


def cut(content: bytearray, chance: random.Random) -> None:
    """The end is missing."""
    del content[chance.randrange(0, len(content)) :]


def headless(content: bytearray, chance: random.Random) -> None:
    """The first bytes are gone, or some of the header's fields."""
    if chance.random() < 1 / 2:
        content[: chance.choice((16, 100, PAGE))] = bytes(chance.choice((16, 100, PAGE)))
    else:
        content[chance.randrange(16, 100)] = chance.randrange(256)


WAYS: tuple[Callable[[bytearray, random.Random], None], ...] = (flipped, overwritten, swapped, cut, headless)


def within(path: Path, chance: random.Random) -> str:
    """Rows of a derived table, or of another, that hold something else, as a faulty program would leave them."""
    connection = apsw.Connection(str(path))
    try:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage")
        ]
        table = chance.choice(
            [*tables, *(name for name in tables if "_" in name), *(name for name in tables if "fts" in name)]
        )
        columns = [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})")]
        column = chance.choice(columns)[0]
        wrong = chance.choice(
            ["NULL", "x''", "x'ff00ff'", "randomblob(200)", "-1", "9223372036854775807", "'{'", "CAST(x'c3' AS TEXT)"]
        )
        how = chance.choice([f"UPDATE {table} SET {column} = {wrong}", f"DELETE FROM {table}", f"DROP TABLE {table}"])
        where = " WHERE random() % 3 = 0" if how[0] != "D" or how[1] == "E" else ""
        for (trigger,) in list(connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            connection.execute(f"DROP TRIGGER {trigger}") if chance.random() < 1 / 4 else None
        try:
            connection.execute(how + where)
        except apsw.Error as fault:
            return f"{how}: {fault}"
    finally:
        connection.close()
    return how + where


def damaged(path: Path, chance: random.Random) -> str:
    """Damage a database; how."""
    if chance.random() < 1 / 3:
        return within(path, chance)
    way = chance.choice(WAYS)
    content = bytearray(path.read_bytes())
    way(content, chance)
    path.write_bytes(content)
    return way.__name__


def asked(home: Path, command: tuple[str, ...]) -> tuple[int, str]:
    """Exit code of a command in a process of its own, negative for a signal, and what it said."""
    output = home / "output"
    child = os.fork()
    if not child:
        signal.alarm(PATIENCE)
        code = 99
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        try:
            os.chdir(home)
            environment = Program(home).environment
            os.environ.clear()
            os.environ.update(environment)
            with redirect_stdout(out), redirect_stderr(err):
                code = cli._run(list(command))  # noqa: SLF001 - what `main` does before it ends the process
        except BaseException:  # noqa: BLE001 - whatever it is, it is what is looked for
            err.write(traceback.format_exc())
            code = 70
        finally:
            for stream in (out, err):
                stream.flush()
            output.write_bytes(err.buffer.getvalue()[-3000:] + out.buffer.getvalue()[-2000:])
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, output.read_text(errors="replace") if output.exists() else ""


def left(path: Path) -> int:
    """How many turns a database has that was mended, and is whole."""
    with Memory.open(path) as memory:
        turns = memory.status().turns
    with open_database(path) as database:
        assert_whole(database)
    return turns


def whole_database(folder: Path) -> bytes:
    """A memory of the demo history."""
    with Memory.open(folder / "whole.db") as memory:
        memory.index([DEMO / "history"])
        memory.tasks.add(Change(title="Mend the flaky login test"))
    return (folder / "whole.db").read_bytes()


def main() -> None:
    """Damage, ask, count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--damages", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first one, to make one of them again")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    make_cheap(LARGE)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    kept: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        before = whole_database(Path(folder))
        for number in range(arguments.first, arguments.first + arguments.damages):
            chance = random.Random(f"{arguments.seed}/{number}")  # noqa: S311 - no secret
            home = Path(folder) / str(number)
            home.mkdir(mode=0o700)
            (home / "more.jsonl").write_text(
                '{"role": "user", "content": "Where is the zebra crossing?"}\n{"role": "assistant", "content": "There."}\n'
            )
            database = home / "memory.db"
            database.touch(mode=0o600)
            database.write_bytes(before)
            how = damaged(database, chance)
            for command in COMMANDS:
                code, output = asked(home, command)
                counts[f"{command[0]} {code}"] += 1
                if code not in EXPLAINED:
                    faults.append(f"damage {number} ({how}): {' '.join(command)} ended with {code}\n{output[-1500:]}")
                    if not arguments.json:
                        print(faults[-1], flush=True)
                if command == MENDING and code == 0:
                    kept.append(left(database))
            shutil.rmtree(home)
    messages = {
        "damages": arguments.damages,
        "counts": dict(sorted(counts.items())),
        "answering": len(kept),
        "faults": faults,
    }
    messages["turns"] = {"least": min(kept, default=0), "median": sorted(kept)[len(kept) // 2] if kept else 0}
    print(json.dumps(messages) if arguments.json else json.dumps({**messages, "faults": len(faults)}, indent=1))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
