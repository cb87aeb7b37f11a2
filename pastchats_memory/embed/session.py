"""Use a model in one operation: its first fault ends the use, so that nothing waits for it twice.

Each use of a model raises ModelUnavailable if the model cannot be used.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile

from pastchats_memory.arrays import Vector
from pastchats_memory.embed import Embedder
from pastchats_memory.embed.tokenizer import REINSTALL
from pastchats_memory.errors import ModelChanged, ModelUnavailable

Fault = ModelUnavailable | ModelChanged
Say = Callable[[str], None]
"""Takes a warning, as one sentence."""


def say_nothing(_sentence: str) -> None:
    """Drop a warning."""


class UnavailableEmbedder:
    """A model that cannot be used here, as an `Embedder`; each use raises the reason."""

    dim = 0

    def __init__(self, name: str, version: str, fault: ModelUnavailable) -> None:
        self.name = name
        self.version = version
        self._fault = fault

    def load(self) -> None:
        """Raise ModelUnavailable."""
        raise self._fault

    def embed(self, _texts: Iterable[str]) -> Iterator[Vector]:
        """Raise ModelUnavailable."""
        raise self._fault

    def embed_query(self, _text: str) -> Vector:
        """Raise ModelUnavailable."""
        raise self._fault


class ModelSession:
    """An `Embedder` for one operation; after the first fault each use raises that fault at once."""

    def __init__(
        self, embedder: Embedder, check: Callable[[Embedder], None] = lambda _: None, say: Say = say_nothing
    ) -> None:
        """Use an embedder once `check` has accepted it; it may raise ModelChanged, ModelUnavailable.

        `say` gets one warning at most: why the model cannot be used, and what follows.
        """
        self.embedder = embedder
        self._say = say
        self.warnings: tuple[str, ...] = ()
        """What `say` got."""
        self._check: Callable[[Embedder], None] | None = check
        self.fault: Fault | None = None
        """The reason why there are no vectors now; None as long as the model answers."""
        self.has_answered = False
        """Whether the model has made a vector in this operation."""
        self.embedded = 0
        """Texts that got a vector in this operation, without questions."""

    @classmethod
    def of(cls, embedder: Embedder) -> "ModelSession":
        """Return the embedder as a session; a session is returned as it is."""
        return embedder if isinstance(embedder, ModelSession) else cls(embedder)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.embedder.name

    @property
    def version(self) -> str:
        """The version of the model."""
        return self.embedder.version

    @property
    def dim(self) -> int:
        """Length of every vector."""
        return self.embedder.dim

    def refuse(self, fault: Fault) -> None:
        """Make no vectors from now on."""
        self.fault = self.fault or fault

    def check(self) -> None:
        """Run the check in this thread, unless it was run before; a fault ends the use of the model."""
        if self._check is not None:
            check, self._check = self._check, None
            try:
                check(self.embedder)
            except (ModelUnavailable, ModelChanged) as fault:
                self.refuse(fault)

    def warn(self, consequence: str) -> None:
        """Say once why the model cannot be used, and what follows from that."""
        if self.fault is not None and not self.warnings:
            self.warnings = (f"{self.fault.message}; {consequence}. {self.fault.hint}".strip(),)
            self._say(self.warnings[0])

    def load(self) -> None:
        """Load the model now. Raises ModelUnavailable, ModelChanged."""
        with self._in_use():
            self.embedder.load()

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a float32 unit vector of shape (dim,) for each text, in order.

        The stream ends early if another thread refuses the model meanwhile. Raises ModelUnavailable, ModelChanged.
        """
        with self._in_use():
            for vector in self.embedder.embed(takewhile(lambda _: self.fault is None, texts)):
                self.has_answered = True
                self.embedded += 1
                yield vector

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, float32 of shape (dim,). Raises ModelUnavailable, ModelChanged."""
        with self._in_use():
            vector = self.embedder.embed_query(text)
        self.has_answered = True
        return vector

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Remember the first fault; a library that cannot be imported is one."""
        self.check()
        if self.fault is not None:
            raise self.fault
        try:
            yield
        except ModelUnavailable as fault:
            self.refuse(fault)
            raise
        except ImportError as fault:
            ours = ModelUnavailable(f"the model {self.name} cannot be loaded: {fault}", REINSTALL)
            self.refuse(ours)
            raise ours from fault
