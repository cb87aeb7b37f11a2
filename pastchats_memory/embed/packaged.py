"""The model in the package: all-MiniLM-L6-v2 as int8 ONNX, English, offline, made by scripts/build_packaged_model.py.

A vector is a function of its text alone: one text goes through the network at a time, because the activations are
scaled over whatever is in a call.

A long text is known by its first 190 tokens and its last 64, in one window. Pooling several windows ranked turns worse,
the worse the more the later ones weighed, and made indexing up to three times slower.
What stands in between is found by its words.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, cast

import numpy as np
import orjson

from pastchats_memory.embed import Vector, forkserver
from pastchats_memory.embed.runtime import foreign_faults, open_graph
from pastchats_memory.embed.tokenizer import FOLDER, REINSTALL, costs, encode, tokenizer
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

VECTOR = "vector"
"""What a copy of this process is asked for; else for the pieces of a text (`wordpiece.PIECES`)."""
FAMILY = "int8-"
"""How the versions of this model begin: the original has the same name."""
START, END = 101, 102
ROOM = 254
"""Tokens of text in the window: 256 less [CLS] and [SEP]."""
TAIL = 64
"""Of them what the end of a longer text gets."""
WEIGHTS_BYTES = 23_129_856
CHARACTERS, TAIL_CHARACTERS = 4_000, 1_000
"""What the tokenizer sees of the start and of the end of a longer text: megabytes cost no more than a page."""
AHEAD = 16
"""Texts under way per thread, so that a stream of any length takes constant memory."""


class PackagedEmbedder:
    """The packaged model as an `Embedder`; nothing is loaded before the first text."""

    name = "sentence-transformers/all-MiniLM-L6-v2"
    version = f"{FAMILY}151e31ca/{ROOM - TAIL}-first-and-{TAIL}-last-tokens/mean"
    dim = 384

    def __init__(self, threads: int | None = None) -> None:
        """Use as many threads for a stream of texts; by default one a core."""
        self._threads = threads or os.cpu_count() or 1

    def load(self) -> None:
        """Load now what the first text would load (60 to 80 ms); raises ModelUnavailable."""
        _ = self.session
        tokenizer()

    def refuse_altered(self) -> None:
        """Raises ModelUnavailable for files that are not those of this release; reading all of them takes some 50 ms."""
        import hashlib  # brings OpenSSL, which a question has no use for

        try:
            for line in (FOLDER / "SHA256SUMS").read_text(encoding="ascii").splitlines():
                digest, name = line.split()
                if hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() != digest:
                    raise ModelUnavailable(f"the packaged model's {name} is not that of this release", REINSTALL)
        except (OSError, ValueError) as fault:
            raise ModelUnavailable(f"the packaged model cannot be read: {fault}", REINSTALL) from fault

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """One float32 unit vector of shape (384,) per text, in their order, as the texts come."""
        from concurrent.futures import ThreadPoolExecutor  # brings logging; a single question does without

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
        answered = forkserver.ask(VECTOR, text)
        return np.frombuffer(answered, np.float32) if answered else _embedded(text)

    @property
    def session(self) -> InferenceSession:
        """The network as onnxruntime runs it, on one thread a call; all embedders share it."""
        with _LOADING:
            return _load_network()


def _embedded(text: str) -> Vector:
    session = PackagedEmbedder().session  # before the text is cut, because it loads the tokenizer beside itself
    return cast("Vector", session.run(None, {"ids": window(text)})[0][0])


_LOADING = Lock()
_FOR_ONE = Event()
"""Whether this process asks one question and ends."""


def load_beside() -> None:
    """Begin to load what the one question of this process needs beside everything else; whoever asks is told of any fault.

    In a process of its own where that is a copy of this one: in a thread, half of the loading would only begin when Python's
    lock is free, and the rest of the program would wait for it as often. Nothing but NumPy is to be imported by now, and
    nothing to be open: two threads that import NumPy at once break it for both, and a copy shares what is open.
    """
    _FOR_ONE.set()
    if sys.platform == "linux":  # frameworks of macOS do not survive in a copy
        with suppress(OSError):  # no further process is allowed here
            forkserver.begin(_answer, _load_quietly)
            return
    Thread(target=_load_quietly).start()


def _answer(kind: str, text: str) -> bytes:
    """What the copy of this process says: the bytes of a vector, or as JSON what a text costs. Raises ModelUnavailable."""
    return _embedded(text).tobytes() if kind == VECTOR else orjson.dumps(costs(text))


def _load_quietly() -> None:
    with suppress(ModelUnavailable):
        PackagedEmbedder().load()


@cache
def _load_network() -> InferenceSession:
    """The network, with the tokenizer loaded in the time of its own load."""
    of_tokenizer = Thread(target=_load_tokenizer)
    of_tokenizer.start()
    try:
        _refuse_cut(FOLDER / "weights.bin", WEIGHTS_BYTES)
        session = open_graph(FOLDER / "model.onnx", threads=1, for_one=_FOR_ONE.is_set())
    except foreign_faults(ImportError) as fault:
        raise ModelUnavailable(f"the packaged model cannot be loaded: {fault}", REINSTALL) from fault
    of_tokenizer.join()
    return session


def _refuse_cut(path: Path, size: int) -> None:
    """Raises OSError for a file of another size: mapped into memory, a short one may end the process where it ends."""
    found = path.stat().st_size
    if found != size:
        raise OSError(f"{path.name} has {found:,} bytes instead of {size:,}")


def _load_tokenizer() -> None:
    with suppress(ModelUnavailable):  # whoever needs it asks again and is told
        tokenizer()


def window(text: str) -> NDArray[np.int64]:
    """The tokens of a text that the network sees, of shape (1, tokens), at most 256, [CLS] and [SEP] among them."""
    text = text.strip()
    ids = encode(text[:CHARACTERS]).ids
    if len(ids) > ROOM or len(text) > CHARACTERS:
        end = encode(text[-TAIL_CHARACTERS:]).ids if len(text) > CHARACTERS else ids
        ids = [*ids[: ROOM - TAIL], *end[-TAIL:]]
    return np.array([[START, *ids, END]], np.int64)
