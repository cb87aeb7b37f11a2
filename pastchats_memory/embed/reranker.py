"""Score texts by a cross-encoder, which reads question and text together.

Its scores cannot be stored, so it reads only the few texts that a search found. It runs as fastembed's TextCrossEncoder
does, from the same cache; a test keeps the two equal.

Each use of a model raises ModelUnavailable if the model cannot be used.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed.hub import find_model
from pastchats_memory.embed.onnx import LocalModel
from pastchats_memory.embed.profiles import Profile
from pastchats_memory.embed.registry import ModelSettings
from pastchats_memory.embed.windows import pad
from pastchats_memory.errors import ModelUnavailable

NAME = "Xenova/ms-marco-MiniLM-L-6-v2"
"""The smallest cross-encoder of fastembed's list."""
PROFILE = Profile(NAME)
OTHER_WAY = ", or leave --rerank out"


class CrossEncoder(LocalModel):
    """The cross-encoder in the cache."""

    otherwise = OTHER_WAY

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a number for each text, larger is better; shape (texts,)."""
        self.load()
        pairs = self.windows.encode_pairs(question, texts)

        def read(batch: Sequence[int]) -> NDArray[np.float32]:
            ids, mask = pad([pairs[place][0] for place in batch])
            types, _ = pad([pairs[place][1] for place in batch])
            return self._numbers(self.run(ids, mask, types)[0])

        scores = np.empty(len(pairs))
        for batch, made in self.run_batches([len(ids) for ids, _ in pairs], read):
            scores[batch] = made
        return scores

    def _numbers(self, output: NDArray[np.float32]) -> NDArray[np.float32]:
        if output.ndim != 2 or not np.isfinite(output[:, 0]).all():  # noqa: PLR2004 - rows and numbers
            raise ModelUnavailable(f"the model {self.name} gives no number a text", f"Move it away{OTHER_WAY}.")
        return output[:, 0]


def cross_encoder(settings: ModelSettings, *, may_fetch: bool) -> CrossEncoder:
    """Return the cross-encoder of `search --rerank`, which is looked for and loaded at its first use."""
    fetching = "only search --rerank fetches it"
    find = partial(
        find_model, NAME, PROFILE, settings.caches, may_fetch=may_fetch, fetching=fetching, otherwise=OTHER_WAY
    )
    return CrossEncoder(NAME, find, settings.threads)
