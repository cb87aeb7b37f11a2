"""Run the packaged model: all-MiniLM-L6-v2 as int8 ONNX, English, offline.

`scripts/build_packaged_model.py` makes it.

A vector depends on its text alone. So one text goes through the network at a time, because the activations are scaled
over the whole call.

The vector of a long text is made of its first 126 and last 64 tokens, in one window (decision 0045). Pooling several windows
ranked turns worse, the more the later ones weighed, and indexing took up to three times as long. Words find the text between,
and the middle of a long answer has a vector of its own (decision 0051).

Each use of a model raises ModelUnavailable if the model cannot be used.
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

import orjson

from pastchats_memory.arrays import Ids, Vector, np
from pastchats_memory.embed import forkserver
from pastchats_memory.embed.runtime import foreign_faults, open_graph
from pastchats_memory.embed.tokenizer import FOLDER, REINSTALL, encode, price_text, tokenizer
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    from concurrent.futures import Future

    from onnxruntime import InferenceSession

VECTOR_REQUEST = "vector"
"""Kind of a request to the fork for a vector; the other kind asks for the prices of lines."""
FAMILY = "int8-"
"""Start of the versions of this model; its original has the same name."""
CLS_ID, SEP_ID = 101, 102
WINDOW = 190
"""Tokens of text in the window. The network would take 254 beside [CLS] and [SEP]."""
WINDOW_TAIL = 64
"""Tokens of the window for the end of a longer text."""
WEIGHTS_BYTES = 23_129_856
CHARACTERS, TAIL_CHARACTERS = 4_000, 1_000
"""Characters of the start and end of a longer text that are tokenized; megabytes cost no more than a page."""
MIDDLE_CHARACTERS, LEAST_MIDDLE = 12_000, 32
"""Characters of a text whose middle is taken, and tokens that a middle has at least."""
AHEAD = 16
"""Texts in progress for each thread, so that a stream of any length takes constant memory."""


class PackagedEmbedder:
    """The packaged model as an `Embedder`; it is loaded with the first text."""

    name = "sentence-transformers/all-MiniLM-L6-v2"
    version = f"{FAMILY}151e31ca/{WINDOW - WINDOW_TAIL}-first-and-{WINDOW_TAIL}-last-tokens/mean"
    dim = 384

    def __init__(self, threads: int | None = None) -> None:
        """Use that many threads for a stream of texts; by default one for each core."""
        self._threads = threads or os.cpu_count() or 1

    def load(self) -> None:
        """Load now what the first text would load (60 to 80 ms)."""
        _ = self.session
        tokenizer()

    def refuse_altered(self) -> None:
        """Read all files (about 50 ms). Raises ModelUnavailable for files that are not those of this release."""
        import hashlib  # brings OpenSSL, which a question has no use for

        try:
            for line in (FOLDER / "SHA256SUMS").read_text(encoding="ascii").splitlines():
                digest, name = line.split()
                if hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() != digest:
                    raise ModelUnavailable(f"the packaged model's {name} is not that of this release", REINSTALL)
        except (OSError, ValueError) as fault:
            raise ModelUnavailable(f"the packaged model cannot be read: {fault}", REINSTALL) from fault

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a float32 unit vector of shape (384,) for each text, in order."""
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
        """Return the vector of a question, float32 of shape (384,): that of a document with this text."""
        answered = forkserver.ask(VECTOR_REQUEST, text)
        return np.frombuffer(answered, np.float32) if answered else _embed(text)

    @property
    def session(self) -> InferenceSession:
        """The network, which all embedders share, as onnxruntime runs it: on one thread for each call."""
        with _LOADING:
            return _load_network()


def _embed(text: str) -> Vector:
    session = PackagedEmbedder().session  # before the text is cut, because it loads the tokenizer beside itself
    return cast("Vector", session.run(None, {"ids": window(text)})[0][0])


_LOADING = Lock()
_IS_FOR_ONE_QUESTION = Event()
"""Set if this process asks one question and ends."""


def load_in_background() -> None:
    """Start to load what this process needs for its one question, whose first use reports any fault.

    A fork loads it if the system allows. In a thread, half of the loading would wait for Python's lock, and the rest of the
    program would wait as often. Call this before anything but NumPy is imported or opened: two threads that import NumPy at
    once break it for both, and a fork shares open files.
    """
    import numpy  # noqa: F401, ICN001 - the fork shares it

    _IS_FOR_ONE_QUESTION.set()
    if sys.platform == "linux" and hasattr(os, "fork"):  # frameworks of macOS do not survive in a copy
        with suppress(OSError):  # no further process is allowed here
            forkserver.start(_answer, _load_quietly)
            return
    Thread(target=_load_quietly).start()


def _answer(kind: str, text: str) -> bytes:
    """Return the fork's answer: bytes of a vector, or the prices of lines as JSON."""
    return _embed(text).tobytes() if kind == VECTOR_REQUEST else orjson.dumps([*map(price_text, text.split("\n"))])


def _load_quietly() -> None:
    with suppress(ModelUnavailable):
        PackagedEmbedder().load()


@cache
def _load_network() -> InferenceSession:
    """Return the network; the tokenizer loads in a thread meanwhile."""
    of_tokenizer = Thread(target=_load_tokenizer)
    of_tokenizer.start()
    try:
        size = (FOLDER / "weights.bin").stat().st_size
        if size != WEIGHTS_BYTES:  # a short file, mapped into memory, may kill the process
            raise OSError(f"weights.bin has {size:,} bytes instead of {WEIGHTS_BYTES:,}")
        session = open_graph(FOLDER / "model.onnx", for_one=_IS_FOR_ONE_QUESTION.is_set())
    except foreign_faults(ImportError) as fault:
        raise ModelUnavailable(f"the packaged model cannot be loaded: {fault}", REINSTALL) from fault
    of_tokenizer.join()
    return session


def _load_tokenizer() -> None:
    with suppress(ModelUnavailable):  # whoever needs it asks again and is told
        tokenizer()


def cut_middle(text: str) -> str:
    """Return the centre of what `window` leaves out, at most one window long; empty if it leaves out little."""
    text = text.strip()[:MIDDLE_CHARACTERS]
    offsets = encode(text).offsets[WINDOW - WINDOW_TAIL : -WINDOW_TAIL]
    if len(offsets) < LEAST_MIDDLE:
        return ""
    first = max(0, len(offsets) - WINDOW) // 2
    return text[offsets[first][0] : offsets[first : first + WINDOW][-1][1]]


def window(text: str) -> Ids:
    """Return the at most 192 tokens of a text that the network sees, [CLS] and [SEP] included, of shape (1, tokens)."""
    text = text.strip()
    ids = encode(text[:CHARACTERS]).ids
    if len(ids) > WINDOW or len(text) > CHARACTERS:
        end = encode(text[-TAIL_CHARACTERS:]).ids if len(text) > CHARACTERS else ids
        ids = [*ids[: WINDOW - WINDOW_TAIL], *end[-WINDOW_TAIL:]]
    return np.array([[CLS_ID, *ids, SEP_ID]], np.int64)
