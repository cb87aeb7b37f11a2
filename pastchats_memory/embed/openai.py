"""Embed texts with a model behind an OpenAI-compatible endpoint.

It sends `POST BASE/embeddings`.

Text leaves the machine, so it is never the default.

Each use of a model raises ModelUnavailable if the model cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.arrays import Vector
from pastchats_memory.embed.profiles import Profile
from pastchats_memory.embed.session import Say, say_nothing
from pastchats_memory.embed.tokenizer import repair_surrogates
from pastchats_memory.errors import ModelUnavailable

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

BATCH = 64
"""Texts of a request."""
BATCH_CHARACTERS = 100_000
"""Characters of a request's texts; servers refuse more than about 300,000 tokens."""
FIRST_BYTES, LAST_BYTES = 6_000, 2_000
"""Bytes that are sent of a longer text. 8,000 bytes are at most 8,000 tokens, and usual windows have 8,191."""
REQUEST_SECONDS = 30.0
"""Seconds that one request may take while indexing."""
QUESTION_SECONDS = 4.0
"""Seconds that a question may take in all, retries included."""
BATCH_SECONDS = 60.0
"""Seconds after which a batch is not tried again."""
LONGEST_WAIT = 20.0
"""Seconds between two tries at most, even if the server asks for more."""
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses that another try may overcome."""
REFUSED = frozenset({401, 403})
_VERSION = re.compile(r"endpoint/(\d+)(/.*)?", re.DOTALL)
"""Version of vectors: their length, and the prefixes of the texts."""


class EndpointEmbedder:
    """A model behind an endpoint as an `Embedder`."""

    def __init__(
        self,
        name: str,
        base: str,
        key: str | None,
        profile: Profile,
        version: str = "",
        *,
        is_patient: bool = True,
        say: Say = say_nothing,
    ) -> None:
        """Take a model's name, the endpoint's base URL, its key, and a profile with prefixes and `dim`.

        Existing vectors of `version` have the expected length. An embedder that `is_patient` waits longer for a busy
        server with a text than with a question. `say` gets a sentence that names the receiver before the first text is sent.
        Raises ModelUnavailable for an invalid URL.
        """
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelUnavailable("the endpoint is no URL", "It looks like https://api.openai.com/v1")
        self.name = name
        self._host = parts.hostname + (f":{parts.port}" if parts.port else "")
        self._url = f"{base.rstrip('/')}/embeddings"
        self._key = key
        self._profile = profile
        stored = _VERSION.fullmatch(version)
        self._dim = profile.dim or (int(stored[1]) if stored else None)
        self._patience = (BATCH_SECONDS, REQUEST_SECONDS) if is_patient else (QUESTION_SECONDS, QUESTION_SECONDS)
        self._say: Say | None = say

    @property
    def dim(self) -> int:
        """Length of every vector: as configured or stored, else as in the first answer."""
        return self._dim or len(self.embed_query("dimensions"))

    @property
    def version(self) -> str:
        """Names the endpoint, the length of the vectors, and the prefixes of the texts."""
        prefixes = f"/{self._profile.query}/{self._profile.document}" if self._profile.query else ""
        return f"endpoint/{self.dim}{prefixes}"

    def load(self) -> None:
        """Ask for one vector, so that a wrong key or address shows at once."""
        self.embed_query("dimensions")

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield a float32 unit vector of shape (dim,) for each text, in order."""
        with self._connected() as client:
            for batch in _batches(truncate_text(self._profile.document + text) for text in texts):
                yield from self._vectors(client, batch, *self._patience)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question, float32 of shape (dim,)."""
        texts = [truncate_text(self._profile.query + text)]
        with self._connected() as client:
            return self._vectors(client, texts, QUESTION_SECONDS, QUESTION_SECONDS)[0]

    def _connected(self) -> httpx.Client:
        """Return a client that keeps its connections, and follows no redirect, which would leak the key."""
        import httpx

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return httpx.Client(headers=headers, follow_redirects=False)

    def _vectors(self, client: httpx.Client, texts: Sequence[str], patience: float, answer: float) -> list[Vector]:
        body: dict[str, Any] = {"model": self.name, "input": texts, "encoding_format": "float"}
        if self._profile.dim:
            body["dimensions"] = self._profile.dim
        if self._say is not None:
            say, self._say = self._say, None
            say(f"text leaves this machine: it is sent to {self._host} for its vectors")
        rows = self._request(client, body, patience, answer)
        try:
            by_index = {row["index"]: row["embedding"] for row in rows["data"]}
            vectors = np.array([by_index[place] for place in range(len(texts))], dtype=np.float64)
            units = _units(vectors, (len(texts), self._dim or vectors.shape[-1]))
        except (KeyError, TypeError, ValueError) as fault:
            raise self._fault(f"its answer makes no sense: {type(fault).__name__}: {str(fault)[:120]}") from fault
        self._dim = vectors.shape[-1]
        return units

    def _request(self, client: httpx.Client, body: dict[str, Any], patience: float, answer: float) -> Any:
        """Return the answer's JSON; retry with growing pauses while the server is busy or unreachable."""
        import httpx
        import tenacity

        def post() -> httpx.Response:
            return client.post(self._url, json=body, timeout=answer)

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(httpx.TransportError)
            | tenacity.retry_if_result(lambda reply: reply.status_code in BUSY),
            wait=_pause,
            stop=tenacity.stop_before_delay(patience),
            retry_error_callback=_last,
        )
        try:
            reply: httpx.Response = retrying(post)
            if reply.is_success:
                return reply.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as fault:
            raise self._fault(str(fault)[:200] or type(fault).__name__) from fault
        raise self._fault(f"HTTP {reply.status_code}", "Check the key." if reply.status_code in REFUSED else "")

    def _fault(self, why: str, hint: str = "") -> ModelUnavailable:
        hint = hint or "Check the endpoint and the model's name, or try again later."
        return ModelUnavailable(f"the endpoint {self._host} gives no vectors of {self.name} ({why})", hint)


def truncate_text(text: str) -> str:
    """Return the text, or the start and end of one that exceeds a usual window."""
    raw = repair_surrogates(text).encode()
    if len(raw) <= FIRST_BYTES + LAST_BYTES:
        return raw.decode() or " "  # an empty text is refused by most
    return raw[:FIRST_BYTES].decode(errors="ignore") + raw[-LAST_BYTES:].decode(errors="ignore")


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == BATCH or size + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _units(vectors: NDArray[np.float64], shape: tuple[int, int]) -> list[Vector]:
    """Return each row as a unit vector. Raises ValueError for a wrong shape."""
    if vectors.shape != shape:
        raise ValueError(f"vectors of shape {vectors.shape} instead of {shape}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError("a vector without direction")
    return list((vectors / lengths).astype(np.float32))


def _pause(state: RetryCallState) -> float:
    """Return the seconds to the next try: as the server asks, else random ones that double."""
    import tenacity

    outcome = state.outcome
    if outcome is not None and not outcome.failed:
        wait = outcome.result().headers.get("Retry-After", "")
        if wait.replace(".", "", 1).isascii() and wait.replace(".", "", 1).isdecimal():
            return min(float(wait), LONGEST_WAIT)
    return tenacity.wait_random_exponential(multiplier=0.25, max=LONGEST_WAIT)(state)


def _last(state: RetryCallState) -> Any:
    """Return the result of the last try, a response or its exception."""
    assert state.outcome is not None  # noqa: S101 - there was a try
    return state.outcome.result()
