"""Say what a user's reply means for the answer before it.

A linear model reads the vector of the first sentences, which the packaged model makes, and parts of their words.
`scripts/train_replies.py` writes its weights.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import orjson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ReplyKind = Literal["rejects", "partly", "confirms", "agrees", "new", "other"]
"""`rejects`: the work failed. `partly`: a part of it did. `confirms`: it worked. `agrees`: yes, or go on. `new`: another
request, or a neutral question. `other`: a complaint about another thing."""
KINDS: tuple[ReplyKind, ...] = get_args(ReplyKind)
COMPLAINTS = ("rejects", "partly", "other")
APPROVALS = ("confirms", "agrees")
WEIGHTS = Path(__file__).with_name("reply_weights.json")
BUCKETS = 2048
"""Number of features of words, onto which parts of words are hashed."""
SIZES = (1, 2, 3)
"""Characters of a part of a word in a script of many letters, such as Chinese."""
FIRST = 2
"""Words that count also by their place."""
_WORD = re.compile(r"[^\W_]+|[?？!！…]|```|\n")


class Reply(NamedTuple):
    """The most probable meaning of a reply."""

    kind: ReplyKind
    probability: float
    complaint: float = 0.0
    """Probability that it complains, about this work or another thing."""
    approval: float = 0.0
    """Probability that it confirms or agrees."""

    @property
    def is_approval(self) -> bool:
        """Return whether nine of ten such replies, or more, confirmed or agreed."""
        return self.approval >= _least("approval")

    @property
    def is_content(self) -> bool:
        """Return whether nine of ten such replies, or more, complained about nothing."""
        return 1 - self.complaint >= _least("content")


def _least(meaning: str) -> float:
    return float(read_weights()["least"][meaning])


@cache
def read_weights() -> dict[str, Any]:
    """Return the content of the data file: `scripts/train_replies.py` describes it."""
    return orjson.loads(WEIGHTS.read_bytes())  # type: ignore[no-any-return] # the script writes an object


@cache
def _read_matrix() -> NDArray[np.float64]:
    """Return the weights of the features, of shape (kinds, features)."""
    import numpy as np

    return np.array(read_weights()["weights"], np.float64) / read_weights()["scale"]  # type: ignore[no-any-return]


def classify(opening: str, codes: NDArray[np.int8]) -> Reply:
    """Return the meaning of a reply.

    Args:
        opening: its first sentences.
        codes: the packaged model's vector of these, of shape (384,), as whole numbers.
    """
    import numpy as np

    logits = _read_matrix() @ make_features(opening, codes)
    shares = np.exp(logits - logits.max())
    by_kind = dict(zip(KINDS, (shares / shares.sum()).tolist(), strict=True))
    best = max(KINDS, key=by_kind.__getitem__)
    complaint, approval = (sum(by_kind[kind] for kind in kinds) for kinds in (COMPLAINTS, APPROVALS))
    return Reply(best, by_kind[best], complaint, approval)


def make_features(opening: str, codes: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the features: a constant, the unit vector, and the parts of words, of unit length too."""
    import numpy as np

    vector = codes / np.linalg.norm(codes.astype(np.float64))
    parts = np.zeros(BUCKETS)
    for part in {*split_words(opening)}:
        parts[zlib.crc32(part.encode("utf-8", "replace")) % BUCKETS] += 1
    return np.concatenate(([1.0], vector, parts / (np.linalg.norm(parts) or 1)))


def split_words(text: str) -> Iterator[str]:
    """Yield words, pairs of words and marks, the first words, and the length; of other scripts also parts of words."""
    words = _WORD.findall(text.lower())
    yield f"length {len(text).bit_length()}"
    yield from (f"first {word}" for word in words[:FIRST])
    yield from map(" ".join, pairwise(["^", *words, "$"]))
    for word in words:
        marked = f" {word} "
        yield marked
        if not word.isascii():
            yield from (marked[at : at + size] for size in SIZES for at in range(len(marked) - size + 1))
