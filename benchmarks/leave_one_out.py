"""Do the ranking's numbers hold on a set that had no part in choosing them?

    PASTCHATS_BENCH=<folder of sets> python benchmarks/leave_one_out.py [SET_FOLDER ...] [--databases DIR]

Each judged query goes through `Memory.search` once, and what the ranking was given is kept (`rank.Signals`, the lists of
words and meaning). The order is then made again by `rank.evidence` and the sums of `rank.fuse` for other numbers, which takes half a
millisecond, so that they can be searched for: each number begins in the middle of its range and moves, one after the other, to the value of GRID
that does best on the sets that are not left out, if it is better there by more than a standard error (Breiman, Friedman, Olshen, Stone 1984,
section 3.4.3), until a round changes nothing. So a number of which these sets tell nothing stays where it began. SURPRISE is not searched: three of four sets
do not show what it is for. What does best is the mean over sets and levels of nDCG@10 minus that of the better half, less PENALTY times whatever any
metric falls below the better half.

Shown: what each number in use is worth; for all sets together, and for each set left out, what the search chose, and how the set that was left out fares
against the better of its halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import quality
from judged import DEPTH, METRICS, Floats, Set, asked_for
from numpy.typing import NDArray

import pastchats_memory.search
from pastchats_memory import Memory
from pastchats_memory.search import candidates, hits, rank

GRID = {
    "GOOD_MATCH": (3.0, 3.5, 4.0, 4.5, 5.0),
    "EMPHASIS": (1.0, 1.25, 1.5),
    "SURPRISE": (1.5,),
    "PRESENCE": (0.0, 0.3, 0.6, 0.9),
    "PHRASE": (0.0, 0.4, 0.8, 1.2),
    "NEIGHBOURS": (0.0, 0.25, 0.5),
    "OTHER_ROLE": (0.0, 0.25, 0.5, 0.75, 1.0),
    "CONVERSATION": (0.0, 0.2, 0.4, 0.6),
    "TYPED": (0.0, 1.0, 2.0, 3.0, 4.0),
    "NAMED": (0.0, 1.0, 2.0),
    "TELLS_TIME": (0.0, 1.0, 2.0),
    "DATED": (0.0, 4.0, 8.0),
}
START = {name: (min(values) + max(values)) / 2 for name, values in GRID.items()}
WITHOUT = {**dict.fromkeys(GRID, 0.0), "EMPHASIS": 1.0, "OTHER_ROLE": 1.0}
"""What a number is when its step of the ranking is left out."""
PENALTY = 0.25
HALVES = ("keyword", "semantic")

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Asked:
    """What the ranking was given for one query."""

    signals: rank.Signals
    pool: NDArray[np.int64]
    """The ids that the signals are of, ascending; shape (n,)."""
    places: Mapping[str, NDArray[np.int64]]
    """By list its rows' places in the pool, best first."""

    @property
    def by_meaning(self) -> list[int]:
        """The ids that meaning alone gives."""
        return [int(id_) for id_ in self.pool[self.places[rank.MEANING]]]

    def order(self) -> list[int]:
        """The order of `rank.fuse`, by the numbers that `rank` has now, without its explanation: many times as fast."""
        together = np.argsort(-rank.evidence(self.signals, 0.5), kind="stable")
        total = np.zeros(len(self.pool))
        for name, places in {**self.places, rank.EVIDENCE: together}.items():
            total[places] += rank.WEIGHTS[name] / (rank.RRF_K + np.arange(1, len(places) + 1))
        return [int(id_) for id_ in self.pool[np.argsort(-total, kind="stable")[:DEPTH]]]


class Recorded:
    """A set whose order can be made again and again."""

    def __init__(self, of: Set, databases: Path) -> None:
        path = of.indexed(databases)
        self.name = of.name
        self._scores = quality.Scores(of, quality.Plain(path).units())
        with Memory.open(path) as memory, quality.instead(hits, excerpt=lambda text, *_: text):
            self._scores.add("keyword", quality.searched(memory, "keyword"))
            self._asked = {asked["query_id"]: _recorded(memory, asked) for asked in of.queries}
        self._scores.add("semantic", lambda asked: self._asked[asked["query_id"]].by_meaning)

    def tried(self, numbers: Numbers) -> dict[str, Floats]:
        """By level the metrics of each query, shape (queries, metrics), less the mean of the better half."""
        with quality.instead(rank, **numbers):
            self._scores.add("tried", lambda asked: self._asked[asked["query_id"]].order())
        return {
            level: rows["tried"] - np.maximum(*(rows[half].mean(axis=0) for half in HALVES))
            for level, rows in self._scores.rows.items()
        }


def _recorded(memory: Memory, asked: Mapping[str, Any]) -> Asked:
    seen: list[Any] = []

    def evidence(signals: rank.Signals, meaning: float) -> rank.Floats:
        seen.append(signals)
        return rank.evidence(signals, meaning)

    def fuse(lists: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> list[rank.Ranked]:
        seen.append({name: lists[name] for name in (rank.WORDS, rank.MEANING)})
        return rank.fuse(lists, weights)

    with quality.instead(candidates, evidence=evidence), quality.instead(pastchats_memory.search, fuse=fuse):
        quality.searched(memory, "hybrid")(asked)
    signals, lists = seen[:2]
    pool_ids = np.array(sorted({id_ for ids in lists.values() for id_ in ids}))
    return Asked(signals, pool_ids, {name: np.searchsorted(pool_ids, ids) for name, ids in lists.items()})


class Search:
    """One number after the other."""

    def __init__(self, sets: Sequence[Recorded]) -> None:
        self._sets = sets
        self._known: dict[tuple[float, ...], dict[str, dict[str, Floats]]] = {}

    def _tried(self, numbers: Numbers) -> dict[str, dict[str, Floats]]:
        key = tuple(numbers.values())
        if key not in self._known:
            self._known[key] = {one.name: one.tried(numbers) for one in self._sets}
        return self._known[key]

    def against_halves(self, numbers: Numbers) -> dict[str, dict[str, Floats]]:
        """By set and level the means of all metrics minus those of the better half."""
        tried = self._tried(numbers)
        return {name: {level: rows.mean(axis=0) for level, rows in levels.items()} for name, levels in tried.items()}

    def worth(self, numbers: Numbers, without: str | None) -> float:
        """What is made as large as possible, over all sets but one."""
        of_sets = [
            np.mean([row[-1] + PENALTY * np.minimum(row, 0).sum() for row in levels.values()])
            for name, levels in self.against_halves(numbers).items()
            if name != without
        ]
        return float(np.mean(of_sets))

    def gain(self, new: Numbers, old: Numbers, without: str | None) -> float:
        """How much more the new numbers are worth than the old ones; 0 where that is within a standard error.

        The levels of a set judge the same queries, so their mean varies like one of them.
        """
        before, after = self._tried(old), self._tried(new)
        variances = [
            np.mean([(rows - before[name][level])[:, -1].var() / len(rows) for level, rows in levels.items()])
            for name, levels in after.items()
            if name != without
        ]
        gained = self.worth(new, without) - self.worth(old, without)
        return gained if gained > np.sqrt(np.sum(variances)) / len(variances) else 0.0

    def best(self, without: str | None) -> dict[str, float]:
        """The numbers that a search from START ends at."""
        numbers = dict(START)
        while True:
            before = dict(numbers)
            for name, values in GRID.items():
                better = {value: self.gain({**numbers, name: value}, numbers, without) for value in values}
                value = max(values, key=better.__getitem__)
                numbers[name] = value if better[value] else numbers[name]
            if numbers == before:
                return numbers


def show_worth(search: Search, in_use: Numbers) -> None:
    """What becomes of nDCG@10 without each of the numbers in use."""
    with_all = search.against_halves(in_use)
    rows = [(one, level) for one, levels in with_all.items() for level in levels]
    print(f"\nin use: {dict(in_use)}, worth {search.worth(in_use, None):+.4f}\n")
    print(f"| | {' | '.join(f'{one} {level}' for one, level in rows)} | mean |\n|---|{'--:|' * (len(rows) + 1)}")
    for name in in_use:
        without = search.against_halves({**in_use, name: WITHOUT[name]})
        changes = [float(without[one][level][-1] - with_all[one][level][-1]) for one, level in rows]
        cells = " | ".join(f"{change:+.3f}" for change in changes)
        print(f"| {name} {WITHOUT[name]:g} | {cells} | {np.mean(changes):+.4f} |", flush=True)


def show(search: Search, names: Sequence[str]) -> None:
    """What was chosen with all sets and with each set left out, and how that one fares against the better of its halves."""
    chosen = {without: search.best(without) for without in (None, *names)}
    print(f"\n| chosen with | {' | '.join(GRID)} |\n|---|{'--:|' * len(GRID)}")
    for without, numbers in chosen.items():
        cells = " | ".join(f"{value:g}" for value in numbers.values())
        print(f"| {'all sets' if without is None else f'all but {without}'} | {cells} |")
    print(f"\n| left out | level | {' | '.join(METRICS)} |\n|---|---|{'--:|' * len(METRICS)}")
    for name in names:
        for level, row in search.against_halves(chosen[name])[name].items():
            print(f"| {name} | {level} | {' | '.join(f'{value:+.3f}' for value in row)} |")


def main() -> None:
    """Measure and print."""
    with asked_for(__doc__ or "") as (found, folder, _):
        recorded = [Recorded(one, folder) for one in found]
        if recorded:
            search = Search(recorded)
            show_worth(search, {name: getattr(rank, name) for name in GRID})
            if len(recorded) > 1:
                show(search, [one.name for one in recorded])


if __name__ == "__main__":
    main()
