"""Train the model that finds superseding sentences, and write `pastchats_memory/episodes/supersession_weights.txt`.

    python scripts/train_supersession.py

It learns from sentences that we wrote: `benchmarks/outcome/superseding.txt`, the pairs of `replacing.tsv` that are not kept for
tests, and as harmless ones those of `benchmarks/outcome/replies/sentences.txt`. It prints how many sentences are right that it had not seen. The same files give the same weights.

The data file has the weights of each kind, in whole numbers to be divided by the scale. The first one is the constant.
"""

from __future__ import annotations

import os
import random
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums of several threads differ in their last digits

import numpy as np
from logistic_regression import Floats, estimate, fit
from numpy.typing import NDArray

from pastchats_memory.episodes import supersession
from pastchats_memory.episodes.supersession import (
    BUCKETS,
    KINDS,
    MIN_SHARED,
    SCALE,
    SHARED,
    SUBJECTS,
    WEIGHTS,
    is_same_subject,
    list_marks,
    list_subject,
    make_features,
    split_tokens,
)
from pastchats_memory.text.sentences import split_sentences

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "outcome"))

from replacing import LEARNED, wordings

DATA = Path(__file__).parents[1] / "benchmarks" / "outcome"
SPACELESS = ("ja", "zh")
AND = {"en": " and ", "de": " und ", "fr": " et ", "es": " y ", "it": " e ", "pt": " e ", "nl": " en ", "ru": " и "}
FILLS, JOINED = 3, 40
"""Fills of each sentence, and joined clauses of each kind; other languages than English have half of these."""
PAIRED = 4
"""Times that a pair is learned."""
MISSING = 0.15
"""Share of sentences whose old thing, or whose subject, the earlier text calls otherwise."""
FOLDS = 3
PENALTY = 1e-4
"""Of the squares of the weights."""
STEPS = 200


class Example(NamedTuple):
    """The marks of a sentence, and its kind."""

    kind: str
    pattern: str
    """The sentence before its places were filled."""
    marks: list[str]

    @property
    def fold(self) -> int:
        """Return the number of its part in the cross-validation."""
        return zlib.crc32(self.pattern.encode()) % FOLDS


def read_sections(path: Path) -> dict[tuple[str, str], list[str]]:
    """Return the lines of a file by language and kind, which a heading names."""
    sections: dict[tuple[str, str], list[str]] = defaultdict(list)
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            lines = sections[line.split()[1], line.split()[2]]
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


def make_examples() -> Iterator[Example]:
    """Yield filled sentences, joined clauses, and replies."""
    draw = random.Random(1)  # noqa: S311 - no secret is made with it # nosec B311
    sections = read_sections(DATA / "superseding.txt")
    for (language, kind), patterns in sections.items():
        if kind != "fill":
            known = {"ended": "changes", "started": "changes", "stays": "other", "about": "other", "plain": "other"}
            for pattern in patterns:
                for fill in draw.sample(sections[language, "fill"], FILLS):
                    yield fill_pattern(known.get(kind, kind), pattern, fill, draw)
    for language in dict.fromkeys(language for language, _ in sections):
        for kind, pattern in join_clauses(language, sections, draw):
            yield fill_pattern(kind, pattern, draw.choice(sections[language, "fill"]), draw)
    yield from [*read_pairs()] * PAIRED
    for replies in read_sections(DATA / "replies" / "sentences.txt").values():
        for reply in replies:
            words = [token.text for token in split_tokens(reply) if token.cue in SUBJECTS and token.text]
            subject = draw.sample(words, min(len(words), draw.randrange(4)))
            yield Example("other", reply, list_marks(split_tokens(reply), subject))


def read_pairs() -> Iterator[Example]:
    """Yield the later sentences of the pairs that are not kept for tests; a pair about two things shows nothing."""
    for pair in (pair for part in LEARNED for pair in wordings(part)):
        subject = list_subject(split_tokens(pair.earlier))
        if pair.replaces or is_same_subject(subject, list_subject(split_tokens(pair.later)), MIN_SHARED):
            for sentence in split_sentences(pair.later):
                marks = list_marks(split_tokens(sentence), subject)
                if SHARED in marks:
                    yield Example("changes" if pair.replaces else "other", pair.later, marks)


def join_clauses(
    language: str, sections: dict[tuple[str, str], list[str]], draw: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield sentences of two clauses with their kind."""
    kinds = (
        ("changes", "ended", "started"), ("changes", "started", "ended"), ("changes", "started", "plain"), ("changes", "plain", "started"),
        ("changes", "ended", "plain"), ("other", "stays", "about"), ("other", "about", "stays"), ("other", "about", "plain"),
        ("other", "plain", "stays"), ("other", "stays", "plain"),
    )  # fmt: skip
    joints = [", ", ", ", ". ", "; ", ": ", AND.get(language, ", ")]
    for _ in range(JOINED if language == "en" else JOINED // 2):
        for kind, *parts in kinds:
            joint = draw.choice([",", "。"] if language in SPACELESS else joints)
            yield kind, joint.join(draw.choice(sections[language, part]) for part in parts) + draw.choice([".", ""])


def fill_pattern(kind: str, pattern: str, fill: str, draw: random.Random) -> Example:
    """Return a sentence about the things of a fill; the subject is what the earlier text would name."""
    subject, old, new = fill.split("|")
    chance = draw.random()
    named = f"{subject}." if chance < MISSING else old if chance < 2 * MISSING else f"{subject}. {old}"
    sentence = pattern.replace("{t}", subject).replace("{o}", old).replace("{n}", new)
    known = [] if kind == "decides" else list_subject(split_tokens(named))
    return Example(kind, pattern, list_marks(split_tokens(sentence), known))


def compute_features(examples: list[Example]) -> Floats:
    """Return the features, of shape (examples, features)."""
    features = np.zeros((len(examples), BUCKETS + 1), np.float32)
    features[:, 0] = 1
    for row, one in zip(features, examples, strict=True):
        numbers = [*make_features(one.marks)]
        row[numbers] = 1 / len(numbers) ** 0.5
    return features


def fit_kinds(features: Floats, kinds: NDArray[np.intp]) -> Floats:
    """Return the weights, of shape (kinds, features)."""
    return fit(features, np.eye(len(KINDS), dtype=np.float32)[kinds], PENALTY, STEPS)


def main() -> int:
    """Train, print the figures, and write the weights."""
    examples = [*make_examples()]
    features = compute_features(examples)
    kinds = np.array([KINDS.index(one.kind) for one in examples])
    folds = np.array([one.fold for one in examples])
    found = np.zeros(len(examples), np.intp)
    for fold in range(FOLDS):
        weights = fit_kinds(features[folds != fold], kinds[folds != fold])
        found[folds == fold] = estimate(weights, features[folds == fold]).argmax(axis=1)
    print(f"{len(examples)} sentences, {np.mean(found == kinds):.0%} right when unseen")
    for number, kind in enumerate(KINDS):
        right = ((found == number) & (kinds == number)).sum()
        print(f"  {kind:8} precision {right} of {(found == number).sum()}, recall {right} of {(kinds == number).sum()}")
    rounded = np.rint(fit_kinds(features, kinds) * SCALE).astype(int)
    rows = (f"{kind}: {' '.join(map(str, row))}" for kind, row in zip(KINDS, rounded, strict=True))
    (Path(supersession.__file__).with_name(WEIGHTS)).write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
