"""Texts to unit vectors: the `Embedder` protocol and its real implementations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
ENGLISH = "all-MiniLM-L6-v2"
"""The end of the name of the packaged model and of its original."""


def is_english(name: str) -> bool:
    """Whether a model is known to have learnt English alone: in other scripts all texts are alike to it."""
    return name.endswith(ENGLISH)


class Embedder(Protocol):
    """A model that turns texts into unit vectors of one fixed length. Whatever needs it loaded raises ModelUnavailable."""

    @property
    def name(self) -> str:
        """What `embedding_meta.model_name` records, such as `sentence-transformers/all-MiniLM-L6-v2`."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the same text would get another vector: weights, prefixes, pooling, windows."""
        ...

    @property
    def dim(self) -> int:
        """Length of every vector."""
        ...

    def load(self) -> None:
        """Make ready now what the first text would make ready."""
        ...

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """One float32 unit vector of shape (dim,) per text, in the order of the texts; each a function of its text alone."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, float32 of shape (dim,); some models prefix it differently from a document."""
        ...
