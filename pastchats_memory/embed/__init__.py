"""Turn texts into unit vectors: the `Embedder` protocol."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from pastchats_memory.arrays import Vector
from pastchats_memory.text.identifiers import is_foreign
from pastchats_memory.text.words import is_other_language

ENGLISH = "all-MiniLM-L6-v2"
"""End of the names of the packaged model and of its original."""


def is_english(name: str) -> bool:
    """Check whether a model has learnt English alone, so that texts in other scripts are all alike to it."""
    return name.endswith(ENGLISH)


def is_unread(name: str, text: str) -> bool:
    """Check whether a text is in a script that the model never learnt."""
    return is_english(name) and is_foreign(text)


def is_unlearnt(name: str, text: str) -> bool:
    """Check whether a text is in a script or a language that the model never learnt."""
    return is_english(name) and (is_foreign(text) or is_other_language(text))


class Embedder(Protocol):
    """A model that turns texts into unit vectors of one length; a use that loads it may raise ModelUnavailable."""

    @property
    def name(self) -> str:
        """The name of the model in `embedding_meta.model_name`, such as `sentence-transformers/all-MiniLM-L6-v2`."""
        ...

    @property
    def version(self) -> str:
        """Names the weights, prefixes, pooling and windows: it changes whenever the same text gets another vector."""
        ...

    @property
    def dim(self) -> int:
        """Length of every vector."""
        ...

    def load(self) -> None:
        """Load now what the first text would load."""
        ...

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a float32 unit vector of shape (dim,) for each text, in order; it depends on its text alone."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, float32 of shape (dim,); some models give a document another prefix."""
        ...
