"""Score texts by a cross-encoder, which reads question and text together.

Its scores cannot be stored, so it reads only the few texts that a search found. It runs as fastembed's TextCrossEncoder
does, from the same cache; a test keeps the two equal.

Each use of a model raises ModelUnavailable if the model cannot be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed import hub
from pastchats_memory.embed.onnx import BATCH_TOKENS, Files, LocalModel, make_batches
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
        from concurrent.futures import ThreadPoolExecutor  # brings logging; a search by vectors does without

        self.load()
        pairs = self.windows.encode_pairs(question, texts)

        def read(batch: Sequence[int]) -> NDArray[np.float32]:
            ids, mask = pad([pairs[place][0] for place in batch])
            types, _ = pad([pairs[place][1] for place in batch])
            return self._numbers(self.run(ids, mask, types)[0])

        parts = list(make_batches([len(ids) for ids, _ in pairs], BATCH_TOKENS))
        scores = np.empty(len(pairs))
        with ThreadPoolExecutor(self._threads, "rerank") as pool:
            for batch, made in zip(parts, pool.map(read, parts), strict=True):
                scores[batch] = made
        return scores

    def _numbers(self, output: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return one number for each row."""
        if output.ndim != 2 or not np.isfinite(output[:, 0]).all():  # noqa: PLR2004 - rows and numbers
            raise ModelUnavailable(f"the model {self.name} gives no number a text", f"Move it away{OTHER_WAY}.")
        return output[:, 0]


def cross_encoder(settings: ModelSettings, *, may_fetch: bool) -> CrossEncoder:
    """Return the cross-encoder of `search --rerank`, which is looked for and loaded at its first use."""

    def find() -> Files:
        found = hub.find_snapshot(settings.caches, PROFILE)
        if found is not None:
            return found
        cache = settings.caches[0] if settings.caches else Path()
        if not may_fetch:
            raise hub.model_missing(NAME, cache, "only search --rerank fetches it", OTHER_WAY)
        return hub.fetch_model(NAME, PROFILE, cache, hub.print_notice, OTHER_WAY)

    return CrossEncoder(NAME, find, settings.threads)
