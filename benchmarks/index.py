"""Measure `index`: speed, peak memory, a run without news, and the size of the database.

    python benchmarks/index.py speed [--turns N] [--rounds N] [--threads N]
    python benchmarks/index.py embed [--rounds N] [--threads N]
    python benchmarks/index.py reading [--megabytes N] [--append N]
    python benchmarks/index.py unchanged [FILES]
    python benchmarks/index.py memory [--megabytes N]
    python benchmarks/index.py size [--turns N | FOLDER]
    PYTHON benchmarks/index.py parts

`speed` writes the same synthetic sessions into a fresh database in each round, beside a bare loop over their distinct texts. The
loop hands each text to tokenizers and onnxruntime directly, on as many threads. `embed` measures the model alone, over words from a fixed list.

`reading` gives **every text the same made-up vector**, so that the numbers are of reading, redacting and storing alone. Each
format's file is one of its own fixtures grown to so many bytes (`corpus.grow`), and its numbers are of processor time. `read` is the
reader alone, `to parsing` how many times as long it takes as a bare parse of the same bytes, `index` the whole run.

`unchanged` compares a run over unchanged files with a bare walk over them, by processor time of the whole command. `memory` runs
the command over a session of half a gigabyte; its peak resident memory is what the system says when it has ended (`wait4`).

`size` counts the bytes of database a turn by SQLite's dbstat; unused parts of pages count for the table they belong to. The
database is the one that `speed.py cold` asks, as indexing left it, or a new one of the transcripts of a FOLDER. `parts` lists the
packages of the installation that PYTHON belongs to, without optional ones, by the files that they installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import apsw
import corpus
import numpy as np
import timing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.tokenizer import FOLDER
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.store.database import Database, open_database

Result = TypeVar("Result")

WORDS = """the we to retry webhook after error when database index commit failed test with python function returns none
list of tokens window query search memory session user asked deploy server timeout because config branch merge release""".split()  # noqa: SIM905 - as a list it would fill a page
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TRIED, FEWEST = 60_000, 20
"""Bytes of a file by which it is seen whether a fixture can be gone on with, and the turns that it must then have."""
SESSION = "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31"
RUNS = 5
A_FOLDER = 50
LINES = '{"role": "user", "content": "Question {n}?"}\n{"role": "assistant", "content": "Answer {n}."}\n'
MEDIAN_RESULT, SPREAD = 6_000, 1.4
"""Characters of a tool result: log-normal, so that some are hundreds of kilobytes."""
HUGE = 4_000_000
"""Every two-thousandth is so long."""
PARTS = (
    ("texts and their fields", ("prompts",)),
    ("full text", ("prompts_fts",)),
    ("words of tool calls", ("tool_calls",)),
    ("trigrams", ("trigrams",)),
    ("vectors as JSON", ("prompt_embeddings",)),
    ("vec0", ("vec_prompts",)),
    ("blocks of the exact engine", ("vector_blocks",)),
    ("where each was seen", ("sightings", "sources")),
)
"""Each with the tables, and the tables that begin so, that belong to it."""


def bare(threads: int) -> Callable[[list[str]], int]:
    """Return a loop over texts that uses onnxruntime and tokenizers only.

    It cuts each text at one window.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(FOLDER / "model.onnx"), options, providers=["CPUExecutionProvider"])

    def loop(texts: list[str]) -> int:
        for text in texts:
            session.run(None, {"ids": np.array([tokenizer.encode(text).ids], np.int64)})
        return len(texts)

    def everything(texts: list[str]) -> int:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(loop, [texts[n::threads] for n in range(threads)]))

    return everything


def measure_embedding(options: argparse.Namespace) -> None:
    """Measure texts of several lengths and print a line for each."""
    threads, rounds = options.threads, options.rounds
    embedder = PackagedEmbedder(threads)
    ways: dict[str, Callable[[list[str]], int]] = {
        "bare": bare(threads),
        "ours": lambda texts: len(list(embedder.embed(texts))),
    }
    maker = random.Random(1)  # noqa: S311 - the same texts everywhere
    for kind, words, count in (("short", 18, 300), ("one window", 250, 60)):
        texts = [" ".join(maker.choices(WORDS, k=words)) for _ in range(count)]
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(rounds + 1):
            for name, way in ways.items():
                start = time.perf_counter()
                way(texts)
                if turn:  # the first round warms up
                    rates[name].append(count / (time.perf_counter() - start))
        medians = {name: statistics.median(values) for name, values in rates.items()}
        shown = "  ".join(f"{name} {value:6.1f} texts/s" for name, value in medians.items())
        print(f"{kind:12} {shown}  share {medians['ours'] / medians['bare']:.2f}")


def indexing(sessions: Path, threads: int) -> Callable[[], None]:
    """Return a function that indexes a folder into a new database."""
    embedder = PackagedEmbedder(threads)
    embedder.load()

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            database = open_database(Path(folder) / "memory.db", create=True)
            with Memory(database, embedder) as memory:
                memory.index([sessions])

    return run


def measure_speed(options: argparse.Namespace) -> None:
    """Measure whole runs beside the bare loop."""
    threads, turns = options.threads, options.turns
    texts = list(
        dict.fromkeys(utterance.text for session in corpus.conversations(turns) for utterance in session.turns)
    )
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder)
        corpus.write_sessions(sessions, turns)
        loop = bare(threads)
        ways = {"bare": lambda: loop(texts), "index": indexing(sessions, threads)}
        took = timing.interleaved(ways, options.rounds)
        seconds = {name: statistics.median(timing.walls(rounds)) for name, rounds in took.items()}
        shares = [first.wall / second.wall for first, second in zip(took["bare"], took["index"], strict=True)]
        print(f"{turns} turns, {len(texts)} distinct texts, {threads} threads")
        print(f"bare   {len(texts) / seconds['bare']:6.0f} texts/s")
        print(f"index  {turns / seconds['index']:6.0f} turns/s, {len(texts) / seconds['index']:.0f} texts/s")
        print(
            f"share  {statistics.median(shares):6.2f}  of rounds {' '.join(f'{share:.2f}' for share in sorted(shares))}"
        )


class Constant:
    """Gives every text one vector: what is measured is everything else."""

    name, version, dim = "constant", "1", 384

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the same unit vector for each text."""
        for _ in texts:
            yield self.embed_query("")

    def embed_query(self, text: str) -> Vector:
        """Return the same vector for any text."""
        del text
        vector: Vector = np.eye(1, self.dim, dtype=np.float32)[0]
        return vector


def run_index(database: Database, path: Path) -> tuple[IndexReport, float]:
    """One run over a path, and its seconds."""
    start = time.perf_counter()
    report = Memory(database, Constant()).index([path])
    return report, time.perf_counter() - start


def list_samples(place: Path) -> dict[str, Path]:
    """Return the largest fixture of each format that can be grown.

    Its reader must understand the grown file whole.
    """
    found: dict[str, Path] = {}
    fixtures = [
        path
        for path in FIXTURES.glob("*/*")
        if path.suffix in corpus.SUFFIXES and path.parent.name not in {"fuzz", "databases"}
    ]
    for number, path in enumerate(sorted(fixtures, key=lambda path: path.stat().st_size)):
        file = corpus.grow(path, place / str(number), TRIED)
        reader = detect_format(SourceFile(file))
        items = list(reader.read(SourceFile(file))) if reader else []
        turns = [item for item in items if isinstance(item, Turn)]
        counted = sum(turn.branch == "main" for turn in turns)
        if reader and counted > max(FEWEST, len(turns) / 2) and not any(isinstance(item, Unreadable) for item in items):
            found[reader.name + (" (SQLite)" if file.suffix == ".db" else "")] = path
    return dict(sorted(found.items()))


def measure(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of the work and the processor seconds that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def read(file: Path) -> int:
    """Count the turns that the reader alone yields."""
    source = SourceFile(file)
    reader = detect_format(source)
    return sum(isinstance(item, Turn) for item in reader.read(source)) if reader else 0


def read_formats(place: Path, megabytes: float) -> None:
    """Print a line for each format."""
    print(
        f"{'format':26} {'MB':>5} {'turns':>7} {'read MB/s':>10} {'turns/s':>8} {'to parsing':>11} {'index MB/s':>11} {'turns/s':>8}"
    )
    for name, sample in list_samples(place).items():
        file = corpus.grow(sample, place / name, int(megabytes * 1e6))
        size = file.stat().st_size / 1e6
        (_, parse), (turns, seconds) = measure(lambda: corpus.parse(file)), measure(lambda: read(file))  # noqa: B023 - called at once
        with open_database(place / f"{name}.db", create=True) as database:
            _, all_seconds = measure(lambda: run_index(database, file))  # noqa: B023 - called at once
        rates = f"{size / seconds:10.1f} {turns / seconds:8,.0f} {seconds / parse:11.0f} {size / all_seconds:11.1f} {turns / all_seconds:8,.0f}"
        print(f"{name:26} {size:5.1f} {turns:7,} {rates}", flush=True)


def record(number: int, kind: str, content: object) -> str:
    """Return a line of a Claude Code session."""
    message = {"role": kind, "content": content} | ({"id": f"msg_{number:024d}"} if kind == "assistant" else {})
    minutes, second = divmod(number, 60)
    body = {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012d}" if number > 1 else None,
        "sessionId": SESSION,
        "cwd": "/home/mira/src/courier",
        "timestamp": f"2026-03-{1 + minutes // 1440:02d}T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{second:02d}.123Z",
        "message": message,
    }
    return json.dumps(body) + "\n"


def session(path: Path, megabytes: int) -> int:
    """Prompts, calls, results of 9 KB and answers, until there are so many bytes; the number of the last line."""
    writer = corpus.Writer(seed=3)
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1e6:
            use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/src/{number}.py"}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": writer.text(9000, 0.0)}
            message = (("user", writer.text(80, 0.5)), ("assistant", [use]), ("user", [result]))
            for kind, content in (*message, ("assistant", [{"type": "text", "text": writer.text(270, 0.5)}])):
                number += 1
                file.write(record(number, kind, content))
    return number


def append(place: Path, megabytes: int) -> None:
    """Print what the first run over a large session takes, and the median of runs after one turn more."""
    path = place / "session" / "s.jsonl"
    path.parent.mkdir()
    number = session(path, megabytes)
    times = []
    with open_database(place / "session.db", create=True) as database:
        (first, seconds), used = measure(lambda: run_index(database, path.parent))
        for more in range(1, RUNS + 1):
            with path.open("a", encoding="utf-8") as file:
                file.write(record(number + more, "user", f"And now number {more}?"))
            report, again = run_index(database, path.parent)
            if report.added != 1:
                raise SystemExit(f"{report.added} turns were added, not one: the numbers would mean nothing")
            times.append(again)
    size = path.stat().st_size / 1e6
    print(
        f"\n{size:.0f} MB of Claude Code: first run {seconds:.1f} s, {used:.1f} s of the processor, "
        f"{size / used:.1f} MB/s of it, {first.added:,} turns"
    )
    print(f"one turn more: median {sorted(times)[RUNS // 2] * 1000:.0f} ms, slowest {max(times) * 1000:.0f} ms")


def write_files(folder: Path, files: int) -> None:
    """Write so many conversations of two turns, fifty a folder."""
    for number in range(files):
        place = folder / f"project-{number // A_FOLDER}"
        place.mkdir(exist_ok=True, parents=True)
        (place / f"{number}.jsonl").write_text(LINES.replace("{n}", str(number % 100)), encoding="utf-8")


def walk(folder: str) -> None:
    """Look at each entry once: `scandir` and `stat`, and nothing else."""
    with os.scandir(folder) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)


def use_processor(command: list[str]) -> float:
    """Return the seconds of processor that a command uses."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure_unchanged(options: argparse.Namespace) -> None:
    """Measure and print."""
    files = options.files
    with tempfile.TemporaryDirectory() as place:
        folder, database = Path(place) / "history", Path(place) / "memory.db"
        write_files(folder, files)
        with Memory.open(database) as memory:
            memory.index([folder])
        command = [sys.executable, "-m", "pastchats_memory", "index", str(folder), "--db", str(database)]
        looked = use_processor(command)
        quick = min(use_processor(command) for _ in range(RUNS))
        empty = min(use_processor([sys.executable, "-c", "pass"]) for _ in range(RUNS))
        start = time.process_time()
        walk(str(folder))
        bare = time.process_time() - start
    print(f"{files} unchanged files, seconds of processor, the least of {RUNS} runs")
    print(f"  bare scandir and stat             {bare:7.3f}")
    print(f"  python -c pass                    {empty:7.3f}")
    print(f"  index without a stamp             {looked:7.3f}")
    print(f"  index that finds the stamp        {quick:7.3f}")


def write_large_session(path: Path, megabytes: int) -> tuple[int, int]:
    """One session of that size; its lines and how many of them are turns."""
    writer = corpus.Writer(seed=2)
    pool = writer.text(2_000_000, 0.0).encode("ascii").decode()
    lines = turns = 0
    with path.open("w", encoding="utf-8") as file:
        for conversation in iter(lambda: writer.conversation(0), None):
            for turn in conversation.turns:
                record_id = str(uuid.UUID(int=lines))
                file.write(json.dumps(corpus.record(conversation, turn, record_id, None)) + "\n")
                turns, lines = turns + 1, lines + 1
                for _ in range(10):
                    lines += 1
                    length = HUGE if lines % 2000 == 0 else int(MEDIAN_RESULT * writer.spread(SPREAD))
                    file.write(json.dumps(tool_result(conversation, turn, lines, (pool * 3)[:length])) + "\n")
                if file.tell() > megabytes * 1_000_000:
                    return lines, turns
    raise AssertionError("conversations do not end")


def tool_result(
    conversation: corpus.Conversation, turn: corpus.Utterance, number: int, output: str
) -> dict[str, object]:
    """Return a tool's answer as Claude Code records it.

    It stands there twice, for the model and for the screen.
    """
    prompt_record = corpus.record(conversation, turn, str(uuid.UUID(int=number)), None)
    half = output[: len(output) // 2]
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": half}
    return {
        **prompt_record,
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {"stdout": half},
    }


def peak(*command: str) -> tuple[int, float]:
    """Peak resident bytes and seconds of a process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), time.perf_counter() - start


def measure_memory(options: argparse.Namespace) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        first = next(corpus.conversations(corpus.TURNS_A_CONVERSATION))
        small.write_text(json.dumps(corpus.record(first, first.turns[0], str(uuid.UUID(int=1)), None)) + "\n")
        lines, turns = write_large_session(large, options.megabytes)
        for path in (small, large):
            most, seconds = peak(timing.PROGRAM, "index", str(path), "--db", f"{path}.db")
            size = path.stat().st_size / 1e6
            print(f"{path.name:12} {size:7.1f} MB of transcript: peak {most / 1e6:6.1f} MB, {seconds:.1f} s")
        print(f"large.jsonl has {lines:,} lines, {turns:,} of them turns")


def part_of(table: str, parts: tuple[tuple[str, tuple[str, ...]], ...] = PARTS) -> str:
    """Return the part that a table or an index belongs to."""
    if "_by_" in table or table.startswith("sqlite_autoindex"):
        return "indexes"
    found = [name for name, tables in parts if any(table == own or table.startswith(own + "_") for own in tables)]
    return found[-1] if found else "the rest"


def measure_size(options: argparse.Namespace) -> None:
    """Count and print."""
    with tempfile.TemporaryDirectory() as scratch:
        if options.folder is None:
            count_bytes(corpus.database(options.turns))
            return
        path = Path(scratch) / "memory.db"
        with Memory.open(path) as memory:
            memory.index([options.folder])
        count_bytes(path)


def count_bytes(path: Path) -> None:
    """Print the bytes a turn of a database, part by part."""
    connection = apsw.Connection(str(path))
    turns, length = connection.execute("SELECT count(*), avg(length(content)) FROM prompts").fetchall()[0]
    turns, characters = int(turns or 0), float(length or 0)
    sizes: dict[str, int] = {}
    for table, size in connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
        part = part_of(table)
        sizes[part] = sizes.get(part, 0) + size
    print(f"{turns:,} turns of {characters:.0f} characters on average")
    for part, size in sorted(sizes.items(), key=lambda row: -row[1]):
        print(f"{part:30}{size / turns:9.0f} bytes a turn{size / 1e6:9.1f} MB")
    print(f"{'all':30}{sum(sizes.values()) / turns:9.0f} bytes a turn{path.stat().st_size / 1e6:9.1f} MB")


def measure_parts(_options: argparse.Namespace) -> None:
    """List the packages of this installation, largest first."""
    wanted, sizes = ["pastchats-memory"], {}
    while wanted:
        name = canonicalize_name(wanted.pop())
        if name in sizes or not (found := next(iter(metadata.distributions(name=name)), None)):
            continue
        files = [Path(str(file.locate())) for file in found.files or ()]
        sizes[name] = sum(file.stat().st_size for file in files if file.is_file())
        needs = [Requirement(line) for line in found.requires or ()]
        wanted += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    for name, size in sorted(sizes.items(), key=lambda row: -row[1]):
        print(f"{name:30}{size / 1e6:9.1f} MB")
    print(f"{f'all {len(sizes)}':30}{sum(sizes.values()) / 1e6:9.1f} MB")


def measure_reading(options: argparse.Namespace) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        if options.append:
            append(Path(folder), options.append)
        if options.megabytes:
            read_formats(Path(folder), options.megabytes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    for name, measure_kind, rounds in (("speed", measure_speed, 5), ("embed", measure_embedding, 11)):
        kind = kinds.add_parser(name)
        kind.add_argument("--turns", type=int, default=1000)
        kind.add_argument("--rounds", type=int, default=rounds)
        kind.add_argument("--threads", type=int, default=os.cpu_count() or 1)
        kind.set_defaults(measure=measure_kind)
    reading = kinds.add_parser("reading")
    reading.add_argument("--megabytes", type=float, default=3, help="of each format; 0 for none")
    reading.add_argument("--append", type=int, default=100, help="megabytes of the session that grows; 0 for none")
    reading.set_defaults(measure=measure_reading)
    unchanged = kinds.add_parser("unchanged")
    unchanged.add_argument("files", type=int, nargs="?", default=10_000)
    unchanged.set_defaults(measure=measure_unchanged)
    memory = kinds.add_parser("memory")
    memory.add_argument("--megabytes", type=int, default=500)
    memory.set_defaults(measure=measure_memory)
    size = kinds.add_parser("size")
    size.add_argument("folder", type=Path, nargs="?", help="real transcripts")
    size.add_argument("--turns", type=int, default=5_000, help="of the synthetic history, without a folder")
    size.set_defaults(measure=measure_size)
    kinds.add_parser("parts").set_defaults(measure=measure_parts)
    options = parser.parse_args()
    print(timing.machine())
    options.measure(options)


if __name__ == "__main__":
    main()
