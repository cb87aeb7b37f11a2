"""When recall should say nothing: how often it would speak with and without something to find, for a grid of floors.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/recall_floor.py [SET_FOLDER ...] [--databases DIR]

A judged query is asked of the memory of its own set, where there is something to find, and of the memory of every other
set, where there is nothing. That is easier than a question which one's own history merely happens not to answer: the
other memory is about other people and other things (not always: two of the sets talk about Python). The questions below
are asked of the transcripts in `fixtures/demo`, and half of those without an answer there are about neighbouring
matters of the same trade.

Whether recall is silent may depend on the best cosine, on the share of the question's weight that the corpus knows
(coverage), on the largest share of it that stands in one turn, and on how many standard deviations the best turn stands
out from the corpus (`rank.standing_out`). The table has for each rule the share of questions at which recall speaks,
with something to find / without. The mean is that of the sets. Names and numbers, which no set asks for, are asked of
the demo history by themselves.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import quality

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.query import words
from pastchats_memory.rank import standing_out
from pastchats_memory.recall import LEAST_SHARE, LEAST_SIMILARITY
from pastchats_memory.search import SAMPLE, _terms
from pastchats_memory.store import vectors
from pastchats_memory.store.database import open_database
from pastchats_memory.store.filters import spread_ids

DEMO = Path(__file__).parents[1] / "fixtures" / "demo"
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


@dataclass(frozen=True)
class Signals:
    """What recall can know before it decides."""

    similarity: float
    """Best cosine."""
    coverage: float
    """Share of the question's weight that the corpus knows."""
    share: float
    """Largest share of it in one turn."""
    deviations: float
    """By which the turn of the best cosine stands out."""


class Asked:
    """A memory's signals for any question."""

    def __init__(self, path: Path) -> None:
        self._database = open_database(path)
        self._embedder = PackagedEmbedder()
        turns = self._database.run("SELECT id, timestamp, content FROM prompts ORDER BY id")
        _, self._vectors = vectors.matrix(self._database, [id_ for id_, _, _ in turns])
        _, self._background = vectors.matrix(self._database, spread_ids(self._database, Filters(), SAMPLE))
        self._times = np.array([time or "" for _, time, _ in turns])
        self._rows_of: dict[str, list[int]] = defaultdict(list)
        for row, (_, _, content) in enumerate(turns):
            for word in words(content):
                self._rows_of[word].append(row)

    def signals(self, question: str, until: str | None = None) -> Signals:
        """Of all turns, or of those up to a moment, as recall has them of its hits."""
        allowed = np.ones(len(self._times), bool) if until is None else (self._times != "") & (self._times <= until)
        direction = vectors.unit(self._embedder.embed_query(question))
        cosines = np.where(allowed, self._vectors @ direction, -1.0)
        best = self._vectors[[int(cosines.argmax())]]
        terms = _terms(self._database, question)
        weights = np.zeros(len(self._times))
        for word, weight in terms.weights.items():
            weights[self._rows_of.get(word, [])] += weight
        share = terms.coverage * (weights * allowed).max() / (sum(terms.weights.values()) or 1.0)
        deviations = standing_out(direction, best, self._background)[0]
        return Signals(float(cosines.max()), terms.coverage, float(share), float(deviations))


def chosen(signals: Signals) -> bool:
    """As `recall` decides."""
    return signals.similarity >= LEAST_SIMILARITY or signals.share >= LEAST_SHARE


def rules() -> dict[str, Callable[[Signals], bool]]:
    """The grid: whether recall speaks."""
    found: dict[str, Callable[[Signals], bool]] = {
        "cosine ≥ .30 or coverage ≥ .5 (before)": lambda s: s.similarity >= 0.3 or s.coverage >= 0.5
    }
    for floor in (0.30, 0.40, 0.45, 0.48, 0.50, 0.55):
        found[f"cosine ≥ {floor:.2f}"] = lambda s, floor=floor: s.similarity >= floor
    for least in (0.5, 0.8, 0.95):
        found[f"coverage ≥ {least}"] = lambda s, least=least: s.coverage >= least
    for least in (0.5, 0.8, 0.95):
        found[f"share in one turn ≥ {least}"] = lambda s, least=least: s.share >= least
    for least in (3.5, 4.0, 5.0):
        found[f"stands out ≥ {least}"] = lambda s, least=least: s.deviations >= least
    for floor, least in ((0.35, 0.5), (0.45, 0.5), (0.45, 0.8)):
        found[f"cosine ≥ {floor:.2f} and coverage ≥ {least}"] = lambda s, floor=floor, least=least: (
            s.similarity >= floor and s.coverage >= least
        )
    found["cosine + coverage ÷ 10 ≥ .57"] = lambda s: s.similarity + s.coverage / 10 >= 0.57
    for floor, least in ((0.48, 0.8), (0.48, 0.95), (0.50, 0.8)):
        found[f"cosine ≥ {floor:.2f} or share ≥ {least}"] = lambda s, floor=floor, least=least: (
            s.similarity >= floor or s.share >= least
        )
    found[f"cosine ≥ {LEAST_SIMILARITY} or share ≥ {LEAST_SHARE} (chosen)"] = chosen
    return found


@dataclass
class Questions:
    """The signals of a set's questions in its own memory and in others'."""

    present: list[Signals]
    absent: list[Signals]


def asked_of_sets(found: Sequence[quality.Set], databases: Path) -> dict[str, Questions]:
    """Every judged question of every set, in every memory."""
    questions = {one.name: Questions([], []) for one in found}
    for memory in found:
        asked = Asked(memory.indexed(databases))
        for one in found:
            for question in one.queries:
                if one.name == memory.name:
                    questions[one.name].present.append(asked.signals(question["text"], quality.until(question)))
                else:
                    questions[one.name].absent.append(asked.signals(question["text"]))
    return questions


def asked_of_demo(databases: Path) -> tuple[Questions, list[Signals]]:
    """The questions above, and the names."""
    path = databases / "demo.db"
    with Memory.open(path) as memory:
        for folder, project in HISTORIES:
            memory.index([DEMO / folder], project=project)
    asked = Asked(path)
    return (
        Questions([asked.signals(text) for text in ANSWERED], [asked.signals(text) for text in UNANSWERED]),
        [asked.signals(text) for text in NAMES],
    )


def spoken(rule: Callable[[Signals], bool], signals: Sequence[Signals]) -> float:
    """Share of the questions at which a rule speaks."""
    return sum(map(rule, signals)) / len(signals)


def show(questions: dict[str, Questions], demo: Questions, names: Sequence[Signals]) -> None:
    """The grid as Markdown."""
    headings = ["rule", *questions, *(["mean"] if questions else []), "demo", "names"]
    print(f"| {' | '.join(headings)} |\n|---|{'--:|' * (len(headings) - 1)}")
    for name, rule in rules().items():
        pairs = [(spoken(rule, one.present), spoken(rule, one.absent)) for one in questions.values()]
        if pairs:
            pairs.append((statistics.fmean(a for a, _ in pairs), statistics.fmean(b for _, b in pairs)))
        pairs.append((spoken(rule, demo.present), spoken(rule, demo.absent)))
        shown = " | ".join(f"{present:.2f} / {absent:.2f}" for present, absent in pairs)
        print(f"| {name} | {shown} | {spoken(rule, names):.2f} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--databases", type=Path, help="where the databases are kept (default: a temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.databases or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        show(asked_of_sets(quality.sets(arguments.sets), folder), *asked_of_demo(folder))


if __name__ == "__main__":
    main()
