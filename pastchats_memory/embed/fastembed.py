"""Run models that need more than a graph and a tokenizer.

fastembed runs them: static models, Qwen3, Jina v3.

Each use of a model raises ModelUnavailable if the model cannot be used.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.arrays import Vector
from pastchats_memory.embed.hub import INDEXING, PATIENCE, ask_soon, model_missing, print_notice
from pastchats_memory.embed.profiles import PROFILES
from pastchats_memory.embed.runtime import be_discreet
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from fastembed import TextEmbedding


class FastembedEmbedder:
    """A model that fastembed loads and runs as an `Embedder`, one text a call, so that a vector depends on it alone."""

    def __init__(self, name: str, cache: Path, threads: int, *, may_fetch: bool) -> None:
        self.name = name
        self._cache = cache
        self._threads = threads
        self._may_fetch = may_fetch

    @cached_property
    def _model(self) -> "TextEmbedding":
        be_discreet()
        from fastembed import TextEmbedding
        from loguru import logger

        logger.disable("fastembed")  # what goes wrong is said once, by us
        known = [str(model["model"]) for model in TextEmbedding.list_supported_models()]
        if self.name.lower() not in map(str.lower, known):
            raise _unknown(self.name, known)
        try:
            return TextEmbedding(self.name, str(self._cache), self._threads, local_files_only=True)
        except ValueError as fault:
            if not self._may_fetch:
                raise model_missing(self.name, self._cache, INDEXING) from fault
        from huggingface_hub.utils import httpx

        try:
            ask_soon(_reach_hub)
            print_notice(f"Downloading {self.name} to {self._cache}")
            return TextEmbedding(self.name, str(self._cache), self._threads)
        except (OSError, ValueError, httpx.HTTPError) as fault:
            raise model_missing(self.name, self._cache, str(fault)) from fault

    @cached_property
    def version(self) -> str:
        """The version of fastembed's rules, which decide everything else."""
        return f"fastembed/{self.dim}"

    @cached_property
    def dim(self) -> int:
        """Length of every vector."""
        return int(self._model.embedding_size)

    def load(self) -> None:
        """Load the model now."""
        _ = self._model

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a float32 unit vector of shape (dim,) for each text, in order."""
        for vector in self._model.passage_embed(texts, batch_size=1):
            yield _unit(vector)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, float32 of shape (dim,)."""
        return next(_unit(vector) for vector in self._model.query_embed(text))


def _unit(vector: NDArray[Any]) -> Vector:
    length = float(np.linalg.norm(vector))
    if not length:  # a static model knows none of the words: any direction is as wrong as another
        vector = np.ones_like(vector)
        length = float(np.linalg.norm(vector))
    unit: Vector = (vector / length).astype(np.float32)
    return unit


def _reach_hub() -> None:
    from huggingface_hub import HfApi, get_session

    get_session().head(HfApi().endpoint, timeout=PATIENCE)


def _unknown(name: str, known: list[str]) -> ModelUnavailable:
    near = get_close_matches(name, [*known, *PROFILES, "packaged"], n=3, cutoff=0.4)
    suggestion = f"Did you mean {' or '.join(dict.fromkeys(near))}? " if near else ""
    return ModelUnavailable(
        f"there is no model {name}",
        f"{suggestion}A folder with an ONNX model goes by its path (./name), and a server's model needs an endpoint: "
        f"set PASTCHATS_MEMORY_ENDPOINT.",
    )
