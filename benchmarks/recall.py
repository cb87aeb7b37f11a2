"""Measure how often recall speaks, with and without something to find, and whether its block holds the decisive line.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/recall.py floor [SET_FOLDER ...] [--databases DIR]
    python benchmarks/recall.py paraphrases recall|hook FOLDER [--database FILE]
    python benchmarks/recall.py lines FOLDER [--tasks first|fresh|unseen] [--database FILE] [--bytes N] [--misses]

`floor`: a judged query is asked of its own haystack, where there is something to find (present); of the same haystack without
every conversation that holds anything relevant (removed); and of ELSEWHERE haystacks of other sets, drawn at random
(other). *Removed* is the hardest there is: what is left is by the same people about the same project, and where
judgements are incomplete something that fits is still there. *Other* is easier than a history that merely fails to
answer. The questions below are asked of the transcripts in `fixtures/demo`; half of those without an answer there are
about neighbouring matters of the same trade.

Recall speaks when the largest relevance of a row reaches its floor (`rank.relevance`). The first table has for each
floor the share of questions at which it speaks. The second fits middle and steepness of the logistic curve on three sets (logistic regression, each set
and each kind of equal weight) and applies them, with the floor at which OTHER_SPOKEN of the three sets' other questions
are spoken at, to the fourth. The third says how much of it is answered: a relevant turn or conversation is in the block
that `recall` makes with its own floor.

`paraphrases` asks recall, or the prompt hook, in other words than the sessions that answer, and about things that are not there. For
`recall`, FOLDER has real sessions of many agents and exports of chats. `paraphrases.tsv` has 40 questions that they answer,
and 40 about other things. The rule was made with one half of each; the other half was asked once.

For `hook`, FOLDER has the sessions of Claude Code whose ids begin as `hook/paraphrases.tsv` says, and others of the same projects. The
40 prompts were written from the sessions' own first words before any of them was asked. The others are about another thing, or
only steer the work.

`lines` counts the blocks that hold the decisive line of an earlier solution. FOLDER has the transcripts that the files in `usefulness/`
name: of each task a question as a later session would ask it, and file, line and SHA-256 (16 hex digits) of the line or the
sentence that decided the earlier one. No text of any transcript is stored.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from judged import LEVELS, SEED, Bools, Floats, Rows, Set, add_arguments, logistic, open_sets, until
from numpy.typing import NDArray

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.hooks import answers
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.model import Filters
from pastchats_memory.model.episodes import RecallBlock
from pastchats_memory.recall.selection import LEAST_RELEVANCE
from pastchats_memory.search import rank
from pastchats_memory.search.lexical import weigh_terms
from pastchats_memory.search.query import query_text
from pastchats_memory.store import fulltext, vectors

HERE = Path(__file__).parent
QUESTIONS = {"recall": HERE / "paraphrases.tsv", "hook": HERE / "hook" / "paraphrases.tsv"}
TASKS = {
    name: HERE / "usefulness" / file
    for name, file in (("first", "tasks.tsv"), ("fresh", "fresh.tsv"), ("unseen", "unseen.tsv"))
}
"""Forty tasks with which the weights of lines were chosen, forty that were written afterwards, and forty that were written before the
room of a block was divided among its entries."""
BYTES = 1500
ENTRIES = 3
"""As a prompt's hook asks for."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
KINDS = ("present", "removed", "other")
ELSEWHERE = 3
OTHER_SPEAKS = 0.05
FLOORS = (0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
FEWEST_ROWS = 20
"""A haystack of which less is left is not asked."""
DEMO = HERE.parent / "fixtures" / "demo"
ANSWERED = (
    "build webhook retries",
    "flaky login test",
    "csv import runs out of memory",
    "CORS error in the browser",
    "why did the retries cause a thundering herd",
    "exponential backoff with jitter",
    "idempotency key for webhooks",
    "customer order booked twice",
    "add an index to a large postgres table without locking it",
    "migration hangs in production",
    "redis or postgres for the queue",
    "sign out everywhere",
    "JWT or server-side sessions",
    "tides in the chart are an hour late",
    "summer time bug in the chart",
    "MemoryError in pandas read_csv",
    "make the import resumable",
    "rate limit 429 in tests",
    "preflight request gets a 401",
    "tkinter crashes when drawing from a thread",
    "which units do the gauges report in",
    "speed up inserting millions of rows into sqlite",
    "CDN served stale responses without headers",
    "how many attempts until a delivery is dead",
    "my bread does not rise",
)
"""Questions that something in the demo history answers."""
UNANSWERED = (
    "zebra",
    "best restaurants in Lisbon",
    "my cat is sick what should I do",
    "how to change a bicycle tyre",
    "who won the world cup in 1998",
    "write a birthday poem for my grandmother",
    "knitting pattern for a scarf",
    "symptoms of iron deficiency",
    "cheap flights to Tokyo in May",
    "learn to play the guitar",
    "how do vaccines work",
    "tax deductions for a home office",
    "kubernetes ingress with TLS",
    "center a div with flexbox",
    "set up eslint and prettier",
    "train a neural network with PyTorch",
    "GraphQL schema for a blog",
    "publish an app in the App Store",
    "regular expression for email addresses",
    "dark mode for the settings page",
    "resize images on upload to S3",
    "translate the user interface into French",
    "rust borrow checker error",
    "merge conflict in package-lock.json",
    "terraform module for a VPC",
)
"""Questions that nothing there answers: twelve about other things, thirteen about programming."""


NAMES = (
    "next_attempt_at",
    "41c9e0d",
    "0042_due_index.sql",
    "LockNotAvailable",
    "MAX_IN_FLIGHT",
    "ConnectionRefusedError",
    "EdDSA",
    "Delfzijl",
)
"""Names that stand in the demo history."""
HISTORIES = (("history", None), ("exports", "chatgpt"))


EMBEDDER = PackagedEmbedder()


class Haystacks(Rows):
    """The rows of a set's database, and how well each fits a question."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._last: dict[str, tuple[Floats, Floats]] = {}

    def best(self, question: str, among: Bools) -> float:
        """Return the largest fit of a row before the logistic curve.

        It inverts `rank.relevance`.
        """
        cosines, shares = self._measure_query(question)
        relevant = rank.relevance(cosines[among], shares[among], int(among.sum())).max()
        return float(rank.MIDDLE + np.log(relevant / (1 - relevant)) / rank.STEEPNESS)

    def _measure_query(self, question: str) -> tuple[Floats, Floats]:
        """Return the cosine of each row, and its share of the question's weight."""
        if question not in self._last:
            terms = weigh_terms(self.database, query_text(question))
            found = np.zeros(len(self.ids))
            for word, rows in fulltext.postings(self.database, terms.importances, Filters()).items():
                found[np.searchsorted(self.ids, rows.ids)] += terms.weights[word]
            cosines = self.unit_vectors @ vectors.unit(embedded(question))
            self._last = {question: (cosines, found * terms.coverage / (sum(terms.weights.values()) or 1.0))}
        return self._last[question]


@cache
def embedded(question: str) -> NDArray[np.float32]:
    """By the packaged model."""
    return EMBEDDER.embed_query(question)


def fits(found: Sequence[Set], databases: Path) -> dict[str, dict[str, Floats]]:
    """By set and kind the largest fit for each question that can be asked so."""
    haystacks = {one.name: Haystacks(one.indexed(databases)) for one in found}
    everywhere = [(name, project) for name, of in haystacks.items() for project in sorted(set(of.projects.tolist()))]
    draw = np.random.default_rng(SEED)
    fit: dict[str, dict[str, list[float]]] = {one.name: {kind: [] for kind in KINDS} for one in found}
    for one in found:
        here = haystacks[one.name]
        elsewhere = [place for place in everywhere if place[0] != one.name]
        for query, relevant in here.judged(one):
            among = here.of(query["haystack"], until(query))
            fit[one.name]["present"].append(here.best(query["text"], among))
            left = among & ~np.isin(here.conversations, here.conversations[among & relevant])
            if left.sum() >= FEWEST_ROWS:
                fit[one.name]["removed"].append(here.best(query["text"], left))
            for place in draw.choice(len(elsewhere), min(ELSEWHERE, len(elsewhere)), replace=False):
                name, project = elsewhere[place]
                fit[one.name]["other"].append(haystacks[name].best(query["text"], haystacks[name].of(project)))
    return {name: {kind: np.array(values) for kind, values in kinds.items()} for name, kinds in fit.items()}


def relevance(fit: Floats, middle: float = rank.MIDDLE, steepness: float = rank.STEEPNESS) -> Floats:
    """0 to 1."""
    return np.asarray(1 / (1 + np.exp(-steepness * (fit - middle))))


def fitted(fit: Sequence[Mapping[str, Floats]]) -> tuple[float, float]:
    """Middle and steepness of the logistic curve that tells present from other best."""
    parts = [(kinds[kind], float(kind == "present")) for kinds in fit for kind in ("present", "other")]
    rows = np.concatenate([x[:, None] for x, _ in parts])
    truth = np.concatenate([np.full(len(x), y) for x, y in parts])
    weight = np.concatenate([np.full(len(x), 1 / len(x)) for x, _ in parts])
    constant, steepness = logistic(rows, truth, weight).tolist()
    return -constant / steepness, steepness


def show_floors(fit: Mapping[str, Mapping[str, Floats]]) -> None:
    """Share of questions at which recall speaks, present / other / removed."""
    print(f"\n| relevance ≥ | {' | '.join(fit)} | mean |\n|--:|{'--:|' * (len(fit) + 1)}")
    for floor in FLOORS:
        speaks = {
            name: [float((relevance(kinds[kind]) >= floor).mean()) for kind in ("present", "other", "removed")]
            for name, kinds in fit.items()
        }
        mean = np.mean(list(speaks.values()), axis=0)
        cells = [" / ".join(f"{value:.2f}" for value in row) for row in [*speaks.values(), mean]]
        print(f"| {floor} | {' | '.join(cells)} |")
    for kind in ("other", "removed"):
        floor = np.quantile(np.concatenate([relevance(kinds[kind]) for kinds in fit.values()]), 1 - OTHER_SPEAKS)
        answered = np.mean([(relevance(kinds["present"]) > floor).mean() for kinds in fit.values()])
        print(
            f"\nspeaking at {OTHER_SPEAKS:.0%} of {kind} takes a floor of {floor:.2f} and speaks at {answered:.0%} of present"
        )


def show_left_out(fit: Mapping[str, Mapping[str, Floats]]) -> None:
    """Measure a curve and a floor from three sets on the fourth."""
    middle, steepness = fitted(list(fit.values()))
    print(f"\nall sets: middle {middle:.3f}, steepness {steepness:.1f}")
    print("\n| left out | middle | steepness | floor | present | other | removed |\n|---|--:|--:|--:|--:|--:|--:|")
    for left_out in fit:
        others = [kinds for name, kinds in fit.items() if name != left_out]
        curve = fitted(others)
        floor = np.quantile(np.concatenate([relevance(kinds["other"], *curve) for kinds in others]), 1 - OTHER_SPEAKS)
        cells = [
            f"{(relevance(fit[left_out][kind], *curve) > floor).mean():.2f}" for kind in ("present", "other", "removed")
        ]
        print(f"| {left_out} | {curve[0]:.3f} | {curve[1]:.1f} | {floor:.2f} | {' | '.join(cells)} |")


def show_answered(found: Sequence[Set], databases: Path) -> None:
    """Print how many present blocks contain a relevant hit, and how many entries they have."""
    print(
        f"\nrecall at its floor of {LEAST_RELEVANCE}, budget 1,500:\n\n| set | speaks | answered | entries |\n|---|--:|--:|--:|"
    )
    for one in found:
        level = next(level for level in ("session", "turn") if one.relevant(level))
        relevant, key = one.relevant(level), LEVELS[level][1]
        rows: dict[str, list[float]] = defaultdict(list)
        with Memory.open(one.indexed(databases)) as memory:
            for query in one.queries:
                if not relevant.get(query["query_id"]) or query.get("until"):
                    continue  # recall has no `until`: it is always asked now
                block = memory.recall(query["text"], project=query["haystack"])
                units = {
                    hit.conversation_id if key == "conversation_id" else hit.metadata.get(key) for hit in block.hits
                }
                rows["speaks"].append(bool(block.hits))
                rows["answered"].append(bool(units & relevant[query["query_id"]]))
                rows["entries"].append(len(block.hits))
        if rows:
            print(f"| {one.name} | " + " | ".join(f"{np.mean(values):.2f}" for values in rows.values()) + " |")


def show_demo(databases: Path) -> None:
    """Return the questions and names above."""
    path = databases / "demo.db"
    with Memory.open(path) as memory:
        for folder, project in HISTORIES:
            memory.index([DEMO / folder], project=project)
    demo = Haystacks(path)
    print(f"\nthe demo history, floor {LEAST_RELEVANCE}:")
    for name, questions in (("answered", ANSWERED), ("unanswered", UNANSWERED), ("names", NAMES)):
        values = {text: float(relevance(np.array(demo.best(text, demo.of(None))))) for text in questions}
        speaks = [value >= LEAST_RELEVANCE for value in values.values()]
        odd = [
            f"{text} ({values[text]:.2f})"
            for text, is_answered in zip(values, speaks, strict=True)
            if is_answered == (name == "unanswered")
        ]
        print(f"- {name}: speaks at {np.mean(speaks):.2f} of {len(questions)}; wrong: {', '.join(odd) or 'none'}")


def measure_floor(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    with open_sets(arguments) as (found, folder):
        show_demo(folder)
        if len(found) > 1:
            fit = fits(found, folder)
            show_floors(fit)
            show_left_out(fit)
        show_answered(found, folder)


def ask_recall(memory: Memory, row: dict[str, str]) -> tuple[str, str]:
    """Return the kind of a question with its half, and whether recall is right."""
    has_answer = bool(memory.recall(row["question"]).entries)
    is_right = has_answer == bool(row["answered_by"])
    return f"{'answerable' if row['answered_by'] else 'other'}, {row['half']}", _name_result(is_right, has_answer)


def ask_hook(memory: Memory, row: dict[str, str]) -> tuple[str, str]:
    """Return the kind of a prompt, and whether the hook is right: a block has to have the session that answers."""
    block = answers.find_block(HookEvent(prompt=row["prompt"], session="new", cwd=row["folder"]), str(memory.path))
    found = [entry.first.conversation_id or "" for entry in block.entries] if block else []
    wanted = tuple(row["answered_by"].split())
    is_right = any(one.startswith(wanted) for one in found) if wanted else not found
    return "answered" if wanted else "about nothing", _name_result(is_right, bool(found))


def _name_result(is_right: bool, has_answer: bool) -> str:
    return "right" if is_right else "wrong" if has_answer else "silent"


def measure_paraphrases(arguments: argparse.Namespace) -> None:
    """Ask all questions, print what went wrong, and count."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        database = arguments.database or Path(scratch) / "paraphrases.db"
        is_new = not database.exists()
        with Memory.open(database) as memory, QUESTIONS[arguments.asked].open(encoding="utf-8", newline="") as file:
            if is_new:
                memory.index([arguments.folder])
            for row in csv.DictReader(file, delimiter="\t"):
                kind, result = (ask_hook if arguments.asked == "hook" else ask_recall)(memory, row)
                counts[f"{kind}: {result}"] += 1
                if result != "right":
                    print(f"{kind}: {result}: {row.get('question') or row['prompt']}")
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


@dataclass(frozen=True)
class Task:
    """A question, and the line of an earlier answer that would settle it."""

    question: str
    file: str
    line: int
    digest: str


def plain(text: str) -> str:
    """Return a text without marks of quotation and emphasis, every run of blanks one blank."""
    return " ".join(re.sub(r"^>\s?|[*`]+", "", text, flags=re.MULTILINE).split())


def pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text and their sentences."""
    for line in text.split("\n"):
        yield plain(line)
        yield from (plain(sentence) for sentence in _SENTENCE.split(line))


def digest(piece: str) -> str:
    """Return the digest by which a line is known."""
    return hashlib.sha256(piece.encode()).hexdigest()[:16]


def read_tasks(name: str) -> list[Task]:
    """Return the tasks of a table."""
    with TASKS[name].open(encoding="utf-8", newline="") as file:
        return [
            Task(row["question"], row["file"], int(row["line"]), row["digest"])
            for row in csv.DictReader(file, delimiter="\t")
        ]


def decisive_line(folder: Path, task: Task) -> str | None:
    """Return the line with the task's digest, or None if the transcript changed."""
    source = SourceFile(folder / task.file)
    reader = detect_format(source)
    for turn in reader.read(source) if reader else ():
        if getattr(turn, "line", 0) == task.line and (content := getattr(turn, "content", "")):
            for piece in pieces(content):
                if digest(piece) == task.digest:
                    return piece
    return None


def measure_lines(arguments: argparse.Namespace) -> None:
    """Ask for each task and print how many blocks hold its line."""
    lines = {task: decisive_line(arguments.folder, task) for task in read_tasks(arguments.tasks)}
    known = {task: line for task, line in lines.items() if line is not None}
    if lacking := len(lines) - len(known):
        print(f"{lacking} lines are not in the folder, or their readers give them otherwise", file=sys.stderr)
    with (
        tempfile.TemporaryDirectory() as scratch,
        Memory.open(arguments.database or Path(scratch) / "memory.db") as memory,
    ):
        if arguments.database is None:
            memory.index([arguments.folder])
        blocks = {
            task: memory.recall(
                task.question, arguments.bytes, limit=ENTRIES, count_tokens=lambda text: len(text.encode())
            )
            for task in known
        }
        report(arguments.tasks, blocks, known, names=arguments.misses)


def report(name: str, blocks: dict[Task, RecallBlock], known: dict[Task, str], *, names: bool) -> None:
    """Print the counts, and with `names` the tasks whose line is missing."""
    held = [task for task, block in blocks.items() if known[task] in plain(block.text)]
    found = [
        task for task, block in blocks.items()
        if any(hit.source_path.endswith(task.file) for hit in block.hits)
    ]  # fmt: skip
    size = sum(len(block.text.encode()) for block in blocks.values()) / len(blocks)
    print(
        f"{name}: {len(held)} of {len(blocks)} blocks hold the decisive line; {len(found)} cite its transcript; "
        f"{size:.0f} bytes on average, {max(len(block.text.encode()) for block in blocks.values())} at most"
    )
    for task in blocks if names else ():
        if task not in held:
            print(f"  missed{'' if task in found else ' (transcript not cited)'}: {task.question}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    floor = kinds.add_parser("floor")
    add_arguments(floor)
    floor.set_defaults(measure=measure_floor)
    paraphrases = kinds.add_parser("paraphrases")
    paraphrases.add_argument("asked", choices=QUESTIONS)
    paraphrases.add_argument("folder", type=Path)
    paraphrases.add_argument("--database", type=Path)
    paraphrases.set_defaults(measure=measure_paraphrases)
    lines = kinds.add_parser("lines")
    lines.add_argument("folder", type=Path)
    lines.add_argument("--database", type=Path)
    lines.add_argument("--tasks", choices=TASKS, default="first")
    lines.add_argument("--bytes", type=int, default=BYTES, help="of a block")
    lines.add_argument("--misses", action="store_true", help="name the tasks whose line is missing")
    lines.set_defaults(measure=measure_lines)
    arguments = parser.parse_args()
    arguments.measure(arguments)


if __name__ == "__main__":
    main()
