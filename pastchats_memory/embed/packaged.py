"""The model in the package: all-MiniLM-L6-v2 as int8 ONNX, English, offline, made by scripts/build_packaged_model.py.

A vector is a function of its text alone: one window goes through the network at a time, because the activations are
scaled over whatever is in a call.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np

from pastchats_memory.embed import Vector
from pastchats_memory.embed.wordpiece import FOLDER, REINSTALL, encode, tokenizer
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

    Window = NDArray[np.int64]

START, END = 101, 102
ROOM = 254
"""Tokens of text in a window: 256 less [CLS] and [SEP]."""
WINDOWS = 4
"""A longer text is known by its first three windows and its last."""
CHARACTERS = 16_000
"""What the tokenizer sees of a longer text: half from its start, half from its end."""
AHEAD = 16
"""Texts under way per thread, so that a stream of any length takes constant memory."""


class PackagedEmbedder:
    """The packaged model as an `Embedder`; nothing is loaded before the first text."""

    name = "sentence-transformers/all-MiniLM-L6-v2"
    version = f"int8-151e31ca/windows-{ROOM}x{WINDOWS}-mean"
    dim = 384

    def __init__(self, threads: int | None = None) -> None:
        """Use as many threads for a stream of texts; by default one a core."""
        self._threads = threads or os.cpu_count() or 1

    def load(self) -> None:
        """Load now what the first text would load (about 60 ms); raises ModelUnavailable."""
        tokenizer()
        _ = self._session

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """One float32 unit vector of shape (384,) per text, in their order, as the texts come."""
        self.load()
        rest = iter(texts)
        with ThreadPoolExecutor(self._threads, "embed") as pool:
            under_way: deque[Future[Vector]] = deque()
            under_way.extend(pool.submit(self.embed_query, text) for text in islice(rest, AHEAD * self._threads))
            while under_way:
                yield under_way.popleft().result()
                under_way.extend(pool.submit(self.embed_query, text) for text in islice(rest, 1))

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, float32 of shape (384,); the same as of a document with this text."""
        vectors = [self._run(window) for window in cut(text)]
        if len(vectors) == 1:
            return vectors[0]
        mean = np.mean(vectors, axis=0, dtype=np.float32)
        return cast("Vector", mean / np.linalg.norm(mean))

    def _run(self, window: Window) -> Vector:
        return cast("Vector", self._session.run(None, {"ids": window})[0][0])

    @cached_property
    def _session(self) -> InferenceSession:
        try:
            import onnxruntime

            content = (FOLDER / "model.onnx").read_bytes()
        except (ImportError, OSError) as fault:
            raise ModelUnavailable(f"the packaged model cannot be loaded: {fault}", REINSTALL) from fault
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def cut(text: str) -> list[Window]:
    """The windows of a text, each int64 of shape (1, tokens) with tokens <= 256; at least one and at most WINDOWS."""
    if len(text) > CHARACTERS:
        text = f"{text[: CHARACTERS // 2]} {text[-CHARACTERS // 2 :]}"
    ids = encode(text).ids
    parts = [ids[at : at + ROOM] for at in range(0, len(ids), ROOM)] or [[]]
    if len(parts) > WINDOWS:
        parts = [*parts[: WINDOWS - 1], parts[-1]]
    return [np.array([[START, *part, END]], np.int64) for part in parts]
