"""Train the model that classifies replies, and write `pastchats_memory/episodes/outcome/reply_weights.json`.

    python scripts/train_replies.py TRANSCRIPTS

It learns from sentences that we wrote, and from replies of public transcripts whose kinds were found by reading. The
repository has no text of these, but their places (`benchmarks/outcome/replies/labels.tsv`). TRANSCRIPTS is the folder with the
files of `sources.tsv`: each repository is a folder `owner+name`, at the commit that is named there. Nothing is fetched.

It prints precision and recall by kind and by language. Each public reply is classified by a model that saw no reply of its
repository, each sentence by one that saw four fifths of the sentences. The same files give the same weights.

The data file has:
    model: version of the packaged model whose vectors were used.
    least: probability by kind from which on a class is clear: nine of ten public replies were then classified right. A kind for
        which no probability suffices has 1.01. `complaint`, `approval` and `content` are sums over several kinds.
    scale, weights: a row for each kind, in whole numbers to be divided by the scale. The first column is the constant.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums of several threads differ in their last digits

import numpy as np
import orjson
from logistic_regression import Floats, estimate, fit
from numpy.typing import NDArray

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.episodes.outcome.episode import find_opening
from pastchats_memory.episodes.outcome.reply import APPROVALS, COMPLAINTS, KINDS, WEIGHTS, make_features
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Turn
from pastchats_memory.store import vectors

DATA = Path(__file__).parents[1] / "benchmarks" / "outcome" / "replies"
OWN = "own sentences"
"""Stands for the repository of the sentences that we wrote."""
FOLDS = 5
PENALTY = 7.5e-4
"""Of the squares of the weights."""
STEPS = 150
SCALE = 32
"""A weight is stored as this multiple of it, rounded."""
PRECISION = 0.9
MIN_CLEAR = 8
"""Replies that a threshold must be found with."""
NEVER = 1.01
"""Threshold of a kind that is never clear."""

GROUPS = {
    "complaint": [KINDS.index(kind) for kind in COMPLAINTS],
    "approval": [KINDS.index(kind) for kind in APPROVALS],
    "content": [number for number, kind in enumerate(KINDS) if kind not in COMPLAINTS],
}
"""Numbers of the kinds of each meaning that several kinds share."""


class Example(NamedTuple):
    """The first sentences of a reply, and its kind."""

    repository: str
    language: str
    kind: str
    text: str

    @property
    def fold(self) -> int:
        """Return the number of its part in the cross-validation."""
        key = self.text if self.repository == OWN else self.repository
        return zlib.crc32(key.encode()) % FOLDS


def read_sentences() -> Iterator[Example]:
    """Yield the sentences that we wrote; a heading names the language and the kind of those below."""
    language = kind = ""
    for line in (DATA / "sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            _, language, kind = line.split()
        elif line and not line.startswith("#"):
            yield Example(OWN, language, kind, find_opening(line))


def read_replies(transcripts: Path) -> Iterator[Example]:
    """Yield the labelled replies. Raises ValueError if a transcript is not the one that was read."""
    by_file: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
    for line in (DATA / "labels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        repository, path, *label = line.split("\t")
        by_file[repository, path].append(label)
    for (repository, path), labels in by_file.items():
        texts = _read_messages(transcripts / repository.replace("/", "+") / path)
        for place, digest, language, kind in labels:
            if (int(place), digest) not in texts:
                raise ValueError(f"{repository}/{path}:{place} is not the reply that was read")
            yield Example(repository, language, kind, find_opening(texts[int(place), digest]))


def _read_messages(path: Path) -> dict[tuple[int, str], str]:
    """Return the user's messages in a transcript, by line and digest."""
    source = SourceFile(path)
    found = detect_format(source)
    turns = found.read(source) if found else ()
    return {
        (turn.line, digest_text(turn.content)): turn.content
        for turn in turns
        if isinstance(turn, Turn) and turn.role == "user"
    }


def digest_text(text: str) -> str:
    """Return the digest by which a labelled reply is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def compute_features(examples: Sequence[Example]) -> Floats:
    """Return the features, of shape (examples, features), as the product computes them."""
    texts = list(dict.fromkeys(one.text for one in examples))
    codes = dict(zip(texts, vectors.decode([*map(vectors.encode, PackagedEmbedder().embed(texts))]), strict=True))
    return np.array([make_features(one.text, codes[one.text]) for one in examples])


def fit_kinds(features: Floats, kinds: NDArray[np.intp]) -> Floats:
    """Return the weights, of shape (kinds, features)."""
    return fit(features, np.eye(len(KINDS))[kinds], PENALTY, STEPS)


def cross_validate(examples: Sequence[Example], features: Floats, kinds: NDArray[np.intp]) -> Floats:
    """Return the probabilities of each example by a model that saw nothing of its fold."""
    folds = np.array([one.fold for one in examples])
    is_own = np.array([one.repository == OWN for one in examples])
    found = np.zeros((len(examples), len(KINDS)))
    for fold in range(FOLDS):
        for group in (is_own, ~is_own):
            held_out = group & (folds == fold)
            if held_out.any():
                found[held_out] = estimate(fit_kinds(features[~held_out], kinds[~held_out]), features[held_out])
    return found


def choose_thresholds(probabilities: Floats, kinds: NDArray[np.intp]) -> dict[str, float]:
    """Return by meaning the least probability from which on the wanted precision is reached."""
    best = probabilities.argmax(axis=1)
    least: dict[str, float] = {}
    for number, kind in enumerate(KINDS):
        least[kind] = _choose_threshold(probabilities[best == number, number], kinds[best == number] == number)
    for meaning, group in GROUPS.items():
        least[meaning] = _choose_threshold(probabilities[:, group].sum(axis=1), np.isin(kinds, group))
    return least


def _choose_threshold(shares: Floats, is_right: NDArray[np.bool_]) -> float:
    order = np.argsort(-shares, kind="stable")
    counts = np.arange(1, len(order) + 1)
    enough = np.flatnonzero((np.cumsum(is_right[order]) / counts >= PRECISION) & (counts >= MIN_CLEAR))
    return float(np.ceil(shares[order[enough[-1]]] * 1000) / 1000) if len(enough) else NEVER


def print_figures(title: str, probabilities: Floats, kinds: NDArray[np.intp], least: dict[str, float]) -> None:
    """Print precision and recall of each kind, of all classes and of the clear ones."""
    best, shares = probabilities.argmax(axis=1), probabilities.max(axis=1)
    clear = shares >= np.array([least[KINDS[number]] for number in best])
    print(f"\n{title}: {len(kinds)} replies, {np.mean(best == kinds):.0%} right")
    for number, kind in enumerate(KINDS):
        known, found = kinds == number, best == number
        right, sure = known & found, found & clear
        print(
            f"  {kind:8} {known.sum():5} | precision {_share(right, found)} recall {_share(right, known)} "
            f"| clear: precision {_share(right & clear, sure)} recall {_share(right & clear, known)}"
        )

    for meaning, group in GROUPS.items():
        known, sure = np.isin(kinds, group), probabilities[:, group].sum(axis=1) >= least[meaning]
        print(
            f"  {meaning:9} {known.sum():4} | precision {_share(known & sure, sure)} recall {_share(known & sure, known)}"
        )


def _share(some: NDArray[np.bool_], of: NDArray[np.bool_]) -> str:
    return f"{some.sum():4} of {of.sum():4}"


def write_weights(weights: Floats, least: dict[str, float]) -> None:
    """Write the data file."""
    rounded = np.rint(weights * SCALE).astype(int).tolist()
    content = {"model": PackagedEmbedder.version, "least": least, "scale": SCALE, "weights": rounded}
    WEIGHTS.write_bytes(orjson.dumps(content) + b"\n")


def main() -> int:
    """Train, print the figures, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path)
    examples = [*read_sentences(), *read_replies(parser.parse_args().transcripts)]
    features = compute_features(examples)
    kinds = np.array([KINDS.index(one.kind) for one in examples])
    probabilities = cross_validate(examples, features, kinds)
    is_public = np.array([one.repository != OWN for one in examples])
    languages = np.array([one.language for one in examples])
    least = choose_thresholds(probabilities[is_public], kinds[is_public])
    print("least probability of a clear class:", least)
    for title, group in (("public replies", is_public), ("own sentences", ~is_public)):
        print_figures(title, probabilities[group], kinds[group], least)
        for language in sorted(set(languages[group])):
            part = group & (languages == language)
            print_figures(f"{title}, {language}", probabilities[part], kinds[part], least)
    write_weights(fit_kinds(features, kinds), least)
    return 0


if __name__ == "__main__":
    sys.exit(main())
