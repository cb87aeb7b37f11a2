"""When recall should say nothing: how often it speaks with and without something to find, by the floor of relevance.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/recall_floor.py [SET_FOLDER ...] [--databases DIR]

A judged query is asked of its own haystack, where there is something to find (present); of the same haystack without
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
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import quality
from numpy.typing import NDArray

from pastchats_memory import Memory, rank
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.recall import LEAST_RELEVANCE
from pastchats_memory.search.terms import terms_of
from pastchats_memory.store import lexical, vectors
from pastchats_memory.store.database import open_database

KINDS = ("present", "removed", "other")
ELSEWHERE = 3
OTHER_SPOKEN = 0.05
FLOORS = (0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
FEWEST_ROWS = 20
"""A haystack of which less is left is not asked."""
STEPS = 50
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


Bools = NDArray[np.bool_]
EMBEDDER = PackagedEmbedder()


class Haystacks:
    """The rows of a set's database, and how well each fits a question."""

    def __init__(self, path: Path) -> None:
        self._database = open_database(path)
        rows = self._database.run(
            "SELECT id, source_project, conversation_id, timestamp, metadata_json FROM prompts ORDER BY id"
        )
        ids, self._unit_vectors = vectors.matrix(self._database, [row[0] for row in rows])
        self._ids = np.array(ids)
        self.projects = np.array([row[1] for row in rows])
        self.conversations = np.array([row[2] or str(row[0]) for row in rows])
        self._times = np.array([row[3] or "" for row in rows])
        self.metadata = [row[4] for row in rows]
        self._last: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def of(self, project: str | None, until: str | None = None) -> Bools:
        """Which rows are searched."""
        past = True if until is None else (self._times != "") & (self._times <= until)
        return np.asarray(
            (True if project is None else self.projects == project) & past & np.ones(len(self._ids), bool)
        )

    def best(self, question: str, among: Bools) -> float:
        """The largest fit of a row, before the logistic curve: as `rank.relevance`, which is undone here."""
        cosines, shares = self._asked(question)
        relevant = rank.relevance(cosines[among], shares[among], int(among.sum())).max()
        return float(rank.MIDDLE + np.log(relevant / (1 - relevant)) / rank.STEEPNESS)

    def _asked(self, question: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of all rows the cosine and the share of the question's weight."""
        if question not in self._last:
            terms = terms_of(self._database, question)
            found = np.zeros(len(self._ids))
            for word, rows in lexical.postings(self._database, terms.looked_up, Filters()).items():
                found[np.searchsorted(self._ids, rows.ids)] += terms.weights[word]
            cosines = self._unit_vectors @ vectors.unit(embedded(question))
            self._last = {question: (cosines, found * terms.coverage / (sum(terms.weights.values()) or 1.0))}
        return self._last[question]


@cache
def embedded(question: str) -> NDArray[np.float32]:
    """By the packaged model."""
    return EMBEDDER.embed_query(question)


def fits(found: Sequence[quality.Set], databases: Path) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By set and kind the largest fit for each question that can be asked so."""
    haystacks = {one.name: Haystacks(one.indexed(databases)) for one in found}
    everywhere = [(name, project) for name, of in haystacks.items() for project in sorted(set(of.projects.tolist()))]
    draw = np.random.default_rng(quality.SEED)
    fit: dict[str, dict[str, list[float]]] = {one.name: {kind: [] for kind in KINDS} for one in found}
    for one in found:
        here = haystacks[one.name]
        elsewhere = [place for place in everywhere if place[0] != one.name]
        for asked, relevant in judged(one, here):
            among = here.of(asked["haystack"], quality.until(asked))
            fit[one.name]["present"].append(here.best(asked["text"], among))
            left = among & ~np.isin(here.conversations, here.conversations[among & relevant])
            if left.sum() >= FEWEST_ROWS:
                fit[one.name]["removed"].append(here.best(asked["text"], left))
            for place in draw.choice(len(elsewhere), min(ELSEWHERE, len(elsewhere)), replace=False):
                name, project = elsewhere[place]
                fit[one.name]["other"].append(haystacks[name].best(asked["text"], haystacks[name].of(project)))
    return {name: {kind: np.array(values) for kind, values in kinds.items()} for name, kinds in fit.items()}


def judged(one: quality.Set, here: Haystacks) -> Iterator[tuple[Mapping[str, Any], Bools]]:
    """The queries with judgements, and which rows are relevant by the widest unit that was judged."""
    level = next(level for level in ("session", "turn") if one.relevant(level))
    key = quality.LEVELS[level][1]
    units = np.array(
        [_unit(row, metadata, key) for row, metadata in zip(here.conversations, here.metadata, strict=True)]
    )
    relevant = one.relevant(level)
    for asked in one.queries:
        if relevant.get(asked["query_id"]):
            yield asked, np.isin(units, list(relevant[asked["query_id"]]))


def _unit(conversation: str, metadata: str, key: str) -> str:
    return conversation if key == "conversation_id" else str(orjson.loads(metadata or "{}").get(key))


def relevance(
    fit: NDArray[np.float64], middle: float = rank.MIDDLE, steepness: float = rank.STEEPNESS
) -> NDArray[np.float64]:
    """0 to 1."""
    return np.asarray(1 / (1 + np.exp(-steepness * (fit - middle))))


def fitted(fit: Sequence[Mapping[str, NDArray[np.float64]]]) -> tuple[float, float]:
    """Middle and steepness of the logistic curve that tells present from other best (Newton's method)."""
    parts = [(kinds[kind], float(kind == "present")) for kinds in fit for kind in ("present", "other")]
    rows = np.concatenate([np.stack([np.ones(len(x)), x], axis=1) for x, _ in parts])
    truth = np.concatenate([np.full(len(x), y) for x, y in parts])
    weight = np.concatenate([np.full(len(x), 1 / len(x)) for x, _ in parts])
    at = np.zeros(2)
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-rows @ at))
        slope = rows.T @ (weight * (likely - truth))
        at -= np.linalg.solve((rows * (weight * likely * (1 - likely))[:, None]).T @ rows + 1e-9 * np.eye(2), slope)
    return float(-at[0] / at[1]), float(at[1])


def show_floors(fit: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> None:
    """Share of questions at which recall speaks, present / other / removed."""
    print(f"\n| relevance ≥ | {' | '.join(fit)} | mean |\n|--:|{'--:|' * (len(fit) + 1)}")
    for floor in FLOORS:
        spoken = {
            name: [float((relevance(kinds[kind]) >= floor).mean()) for kind in ("present", "other", "removed")]
            for name, kinds in fit.items()
        }
        mean = np.mean(list(spoken.values()), axis=0)
        cells = [" / ".join(f"{value:.2f}" for value in row) for row in [*spoken.values(), mean]]
        print(f"| {floor} | {' | '.join(cells)} |")
    for kind in ("other", "removed"):
        floor = np.quantile(np.concatenate([relevance(kinds[kind]) for kinds in fit.values()]), 1 - OTHER_SPOKEN)
        answered = np.mean([(relevance(kinds["present"]) > floor).mean() for kinds in fit.values()])
        print(
            f"\nspeaking at {OTHER_SPOKEN:.0%} of {kind} takes a floor of {floor:.2f} and speaks at {answered:.0%} of present"
        )


def show_left_out(fit: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> None:
    """What a curve and a floor from three sets do on the fourth."""
    middle, steepness = fitted(list(fit.values()))
    print(f"\nall sets: middle {middle:.3f}, steepness {steepness:.1f}")
    print("\n| left out | middle | steepness | floor | present | other | removed |\n|---|--:|--:|--:|--:|--:|--:|")
    for left_out in fit:
        others = [kinds for name, kinds in fit.items() if name != left_out]
        curve = fitted(others)
        floor = np.quantile(np.concatenate([relevance(kinds["other"], *curve) for kinds in others]), 1 - OTHER_SPOKEN)
        cells = [
            f"{(relevance(fit[left_out][kind], *curve) > floor).mean():.2f}" for kind in ("present", "other", "removed")
        ]
        print(f"| {left_out} | {curve[0]:.3f} | {curve[1]:.1f} | {floor:.2f} | {' | '.join(cells)} |")


def show_answered(found: Sequence[quality.Set], databases: Path) -> None:
    """Of recall as it is: how many blocks hold something relevant, and their entries."""
    print(
        f"\nrecall at its floor of {LEAST_RELEVANCE}, budget 1,500:\n\n| set | speaks | answered | entries |\n|---|--:|--:|--:|"
    )
    for one in found:
        level = next(level for level in ("session", "turn") if one.relevant(level))
        relevant, key = one.relevant(level), quality.LEVELS[level][1]
        rows: dict[str, list[float]] = defaultdict(list)
        with Memory.open(one.indexed(databases)) as memory:
            for asked in one.queries:
                if not relevant.get(asked["query_id"]) or asked.get("until"):
                    continue  # recall has no `until`: it is always asked now
                block = memory.recall(asked["text"], project=asked["haystack"])
                units = {
                    hit.conversation_id if key == "conversation_id" else hit.metadata.get(key) for hit in block.hits
                }
                rows["speaks"].append(bool(block.hits))
                rows["answered"].append(bool(units & relevant[asked["query_id"]]))
                rows["entries"].append(len(block.hits))
        if rows:
            print(f"| {one.name} | " + " | ".join(f"{np.mean(values):.2f}" for values in rows.values()) + " |")


def show_demo(databases: Path) -> None:
    """The questions and names above."""
    path = databases / "demo.db"
    with Memory.open(path) as memory:
        for folder, project in HISTORIES:
            memory.index([DEMO / folder], project=project)
    demo = Haystacks(path)
    print(f"\nthe demo history, floor {LEAST_RELEVANCE}:")
    for name, questions in (("answered", ANSWERED), ("unanswered", UNANSWERED), ("names", NAMES)):
        values = {text: float(relevance(np.array(demo.best(text, demo.of(None))))) for text in questions}
        spoken = [value >= LEAST_RELEVANCE for value in values.values()]
        odd = [
            f"{text} ({values[text]:.2f})"
            for text, said in zip(values, spoken, strict=True)
            if said == (name == "unanswered")
        ]
        print(f"- {name}: speaks at {np.mean(spoken):.2f} of {len(questions)}; wrong: {', '.join(odd) or 'none'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--databases", type=Path, help="where the databases are kept (default: a temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.databases or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        show_demo(folder)
        found = quality.sets(arguments.sets)
        if len(found) > 1:
            fit = fits(found, folder)
            show_floors(fit)
            show_left_out(fit)
        show_answered(found, folder)


if __name__ == "__main__":
    main()
