"""How rows are to be ranked by characters of scripts without spaces, where the index knows rows and not how often.

    PASTCHATS_BENCH=<folder of retrieval sets> python benchmarks/trigrams_ranked.py

No judged set in such a script is at hand. So every English word becomes ideographs, the same ones each time: one for a
function word, two for another, out of three thousand of which some are much more frequent, so that words have characters
in common as they do in Chinese; and blanks vanish. Asked are pairs of neighbours, ranked by full BM25, by BM25 as if
each stood there once, and by inverse document frequency alone; beside them the words themselves, which no index of such
a script has. nDCG@10 by turn.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from judged import Set, metrics, sets
from numpy.typing import NDArray

from pastchats_memory.text.identifiers import ngrams
from pastchats_memory.text.words import FUNCTION_WORDS

CHARACTERS = 3000
FREQUENT = 600
"""The mean of the exponential distribution out of which they are drawn."""
RANKINGS = {
    "BM25": (1.2, 0.75, True),
    "once": (1.2, 0.75, False),
    "once, length counting half": (1.2, 0.4, False),
    "presence": (1.2, 0.0, False),
}
"""By name k1, b and whether it counts how often."""


@cache
def spelled(word: str) -> str:
    """The ideographs of a word."""
    chooser = random.Random(hashlib.sha256(word.encode()).digest())  # noqa: S311 - the same ones everywhere
    size = 1 if word in FUNCTION_WORDS else 2
    return "".join(chr(0x4E00 + min(CHARACTERS - 1, int(chooser.expovariate(1 / FREQUENT)))) for _ in range(size))


def without_spaces(text: str) -> str:
    """The text in ideographs, with a comma for every mark."""
    return "".join(spelled(part.lower()) if part.isalnum() else "," for part in re.findall(r"[^\W_]+|[.,;:!?\n]", text))


def pairs(text: str) -> list[str]:
    """All pairs of neighbours, also those that come again."""
    runs = without_spaces(text).split(",")
    return [run[at : at + 2] for run in runs for at in range(len(run) - 1)]


def scores(split: Callable[[str], list[str]], of: Set, haystack: Sequence[dict[str, str]]) -> list[list[float]]:
    """nDCG@10 of every query of a haystack in each of the RANKINGS."""
    documents = [Counter(split(one["content"])) for one in haystack]
    lengths = np.array([document.total() for document in documents])
    rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, document in enumerate(documents):
        for part, times in document.items():
            rows[part].append((place, times))
    relevant = of.relevant("turn")
    found = []
    for asked in of.queries:
        if asked["haystack"] != haystack[0]["haystack"] or asked["query_id"] not in relevant:
            continue
        parts = {part: np.array(rows[part]) for part in dict.fromkeys(split(asked["text"])) if part in rows}
        scored = []
        for k1, b, counts in RANKINGS.values():
            saturation: NDArray[np.float64] = k1 * (1 - b + b * lengths / lengths.mean())
            total = np.zeros(len(documents))
            for having in parts.values():
                weight = math.log(1 + (len(documents) - len(having) + 0.5) / (len(having) + 0.5))
                times = having[:, 1] if counts else np.ones(len(having))
                total[having[:, 0]] += weight * times * (k1 + 1) / (times + saturation[having[:, 0]])
            order = np.lexsort((np.arange(len(total)), -total))[:10]
            ranked = [haystack[place]["doc_id"] for place in order.tolist() if total[place] > 0]
            scored.append(metrics(ranked, relevant[asked["query_id"]])["nDCG@10"])
        found.append(scored)
    return found


def main() -> None:
    """Measure and print."""
    assert ngrams(without_spaces("retry policy"))  # noqa: S101 - what is made up here is what the product takes for such a script
    print(f"| set | cut into | {' | '.join(RANKINGS)} |\n|---|---|{'--:|' * len(RANKINGS)}")
    ways: dict[str, Callable[[str], list[str]]] = {
        "pairs": pairs,
        "words": lambda text: [w.lower() for w in re.findall(r"[^\W_]+", text)],
    }
    for one in sets(()):
        haystacks = [
            [{**json.loads(line), "haystack": path.stem} for line in path.read_text(encoding="utf-8").splitlines()]
            for path in one.haystacks
        ]
        for way, split in ways.items():
            means = np.mean([score for rows in haystacks for score in scores(split, one, rows)], axis=0)
            print(f"| {one.name} | {way} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    main()
