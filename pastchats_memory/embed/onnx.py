"""Run any ONNX model in a folder of the cache or of the user.

The graph runs directly on onnxruntime. fastembed runs the same files in the same way, but takes half a second to import.

Each use of a model raises ModelUnavailable if the model cannot be used.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pastchats_memory.arrays import Vector
from pastchats_memory.embed.profiles import BUILT_IN, CLS, Profile
from pastchats_memory.embed.runtime import first_line, foreign_faults, open_graph
from pastchats_memory.embed.windows import Windows, pad
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

    from pastchats_memory.embed.windows import Ids

BATCH_TOKENS = 1024
"""Tokens of a call, padding included. Larger batches are slower, and each thread runs a call of its own."""
LONG_TEXT = 2048
"""Tokens from which a text runs without others; the memory of attention grows with their square."""
AHEAD = 512
"""Texts that are sorted by length at once, so that a stream of any length takes constant memory."""
SAMPLE = 1 << 16
"""Bytes of a file's start and end in its fingerprint."""
SCALES_OVER_THE_CALL = (b"DynamicQuantizeLinear", b"DynamicQuantizeMatMul", b"DynamicQuantizeLSTM")
"""Operations that give a text another vector in another batch."""
RECIPE = "1"
"""Version of the recipe; raised whenever the same files would give another vector."""

Files = tuple[Path, Profile]


class LocalModel:
    """A graph and a tokenizer in a folder, which is looked for on first use."""

    otherwise = ", or choose another with --model"
    """The last way out that an error message names."""

    def __init__(self, name: str, find: Callable[[], Files], threads: int) -> None:
        """Take a name, and a function that finds folder and profile, or raises ModelUnavailable."""
        self.name = name
        self._find = find
        self._threads = threads
        self._loading = Lock()

    @cached_property
    def _files(self) -> Files:
        return self._find()

    def load(self) -> None:
        """Load the graph and the tokenizer now."""
        with self._loading:
            _ = self.windows, self.session

    @cached_property
    def session(self) -> InferenceSession:
        """The graph as onnxruntime runs it."""
        folder, profile = self._files
        with self.translated():
            return open_graph(folder / profile.file)

    @cached_property
    def windows(self) -> Windows:
        """The tokenizer, which cuts texts to the model's window."""
        folder, profile = self._files
        with self.translated():
            return Windows(folder, profile.tokens)

    def run(self, ids: Ids, mask: Ids, types: Ids) -> list[NDArray[Any]]:
        """Return the graph's outputs for rows of tokens, whose inputs have the shape (rows, longest)."""
        fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        wanted = {graph_input.name for graph_input in self.session.get_inputs()}
        with self.translated():
            found: list[NDArray[Any]] = self.session.run(None, {name: fed[name] for name in fed if name in wanted})
        return found

    def run_batches(
        self, lengths: Sequence[int], run: Callable[[Sequence[int]], NDArray[np.float32]], tokens: int = BATCH_TOKENS
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Yield batches, as places of rows, with what is made of them, on a thread for each of several calls.

        That is at least as fast as one call on all threads.
        """
        from concurrent.futures import ThreadPoolExecutor  # brings logging; a single question does without

        parts = list(make_batches(lengths, tokens))
        alone = [batch for batch in parts if lengths[batch[0]] > LONG_TEXT]
        yield from ((batch, run(batch)) for batch in alone)
        together = parts[len(alone) :]
        with ThreadPoolExecutor(self._threads, "batch") as pool:
            yield from zip(together, pool.map(run, together), strict=True)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise ModelUnavailable for an error of onnxruntime, tokenizers or the disk about unusable files."""
        try:
            yield
        except foreign_faults() as fault:
            folder, profile = self._files
            fetch_again = f"Move {folder} away and run the same command again to fetch it anew"
            check = f"Check the files in {folder}"  # a user's own folder, which nothing brings back
            hint = f"{fetch_again if profile.repository else check}{self.otherwise}."
            raise ModelUnavailable(f"the model {self.name} cannot be used: {first_line(fault)}", hint) from fault


class LocalEmbedder(LocalModel):
    """A model in a folder as an `Embedder`."""

    @cached_property
    def version(self) -> str:
        """A hash of what decides the vectors: files, prefixes, pooling, window."""
        folder, profile = self._files
        with self.translated():
            files = "".join(_fingerprint(folder / name) for name in (profile.file, *profile.further, "tokenizer.json"))
        rules = (RECIPE, files, profile.pooling, profile.query, profile.document, profile.tokens)
        return f"onnx-{hashlib.sha256(repr(rules).encode()).hexdigest()[:12]}/{profile.dim or 'all'}"

    @cached_property
    def dim(self) -> int:
        """Length of every vector."""
        return self._files[1].dim or len(self.embed_query(""))

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a float32 unit vector of shape (dim,) for each text, in order."""
        rest = iter(texts)
        while ahead := list(islice(rest, AHEAD)):
            rows = self._rows(self._files[1].document, ahead)
            run = partial(self._run_some, rows)
            vectors: dict[int, Vector] = {}
            tokens = 0 if self._scales_over_the_call else BATCH_TOKENS
            for batch, made in self.run_batches([len(row) for row in rows], run, tokens):
                vectors |= zip(batch, made, strict=True)
            yield from (vectors[place] for place in range(len(rows)))

    def _run_some(self, rows: Sequence[Ids], places: Sequence[int]) -> NDArray[np.float32]:
        return self._run([rows[place] for place in places])

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, float32 of shape (dim,)."""
        vector: Vector = self._run(self._rows(self._files[1].query, [text]))[0]
        return vector

    def _rows(self, prefix: str, texts: Sequence[str]) -> list[Ids]:
        self.load()
        return self.windows.encode([prefix + text for text in texts])

    @cached_property
    def _scales_over_the_call(self) -> bool:
        folder, profile = self._files
        with (folder / profile.file).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as graph:
            return any(graph.find(name) >= 0 for name in SCALES_OVER_THE_CALL)

    def _run(self, rows: Sequence[Ids]) -> NDArray[np.float32]:
        """Return unit vectors of shape (rows, dim)."""
        ids, mask = pad(rows)
        outputs = self.run(ids, mask, np.zeros_like(ids))
        profile = self._files[1]
        vectors = _pool(outputs[1] if profile.pooling == BUILT_IN else outputs[0], mask, profile.pooling)
        if vectors.shape[1] < (profile.dim or 1):
            fault = f"{self.name} gives {vectors.shape[1]} numbers a text, not the {profile.dim} that were asked for"
            raise ModelUnavailable(fault, "Correct `dim` of this model in your configuration.")
        vectors = vectors[:, : profile.dim]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise ModelUnavailable(f"{self.name} gives a text no direction", "Choose another with --model.")
        unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return unit


def make_batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield places of rows for one call, of similar length, longest first.

    A batch has at most `tokens` tokens with padding, but at least one row; `tokens` 0 gives every row a call of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _pool(output: NDArray[Any], mask: Ids, pooling: str) -> NDArray[np.float64]:
    """Return one vector for each row, by the graph or the profile's rule, of shape (rows, width)."""
    wide = output.astype(np.float64)
    if wide.ndim == 2:  # noqa: PLR2004 - rows and numbers
        return wide
    if pooling == CLS:
        return wide[:, 0]
    weights = mask[:, :, None]
    mean: NDArray[np.float64] = (wide * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def _fingerprint(path: Path) -> str:
    """Return a hash of a file's size, start and end, since reading hundreds of megabytes at every start is slow."""
    size = path.stat().st_size
    with path.open("rb") as file:
        digest = hashlib.sha256(f"{size}:".encode() + file.read(SAMPLE))
        file.seek(-min(size, SAMPLE), os.SEEK_END)
        digest.update(file.read(SAMPLE))
    return digest.hexdigest()
