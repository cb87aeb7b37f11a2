"""Speak with Milvus: a file of Milvus Lite, or a server. Nothing else imports pymilvus, which takes half a second.

Milvus Lite 3.2 knows no parameters in filters. So no filter here has a name or a text from outside: projects, members and
models are compared by hexadecimal digests, times by whole numbers, the rest by words of our own.

Its functions raise TeamUnavailable if the team's server cannot be used.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pastchats_memory.errors import TeamUnavailable

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient
    from pymilvus.milvus_client import IndexParams

COLLECTION = "pastchats_memory"
REWRITTEN = "pastchats_memory_rewritten"
"""Of a file, while it is written anew without deleted rows."""
LOCAL_SUFFIX = ".db"
TEXT_BYTES = 60_000
"""UTF-8 bytes of a text; a longer one is cut. Milvus allows 65,535."""
ID_CHARS, KEY_CHARS, NAME_CHARS, PATH_CHARS, WORD_CHARS = 64, 16, 1024, 4096, 16
LONGEST: Mapping[str, int] = {
    "id": ID_CHARS,
    "kind": WORD_CHARS,
    "member": KEY_CHARS,
    "author": NAME_CHARS,
    "project": NAME_CHARS,
    "project_key": KEY_CHARS,
    "role": NAME_CHARS,
    "outcome": WORD_CHARS,
    "citation": PATH_CHARS,
    "model": KEY_CHARS,
    "digest": 2 * KEY_CHARS,
    "text": 65_535,
}
"""Most bytes of each field of text."""
FIELDS = frozenset({*LONGEST, "at", "body", "dense", "words"})
BATCH_ROWS, BATCH_BYTES = 500, 4 << 20
"""Of one request: a message of gRPC may have 64 MB."""
LIST_ROWS = 4000
IDS = 200
TIMEOUT = 10.0
"""Seconds until a server has to answer."""
LOCAL_TIMEOUT = 60.0
"""Seconds until Milvus Lite has to answer: on a busy machine it starts slowly, but it is always there."""
QUIET_MS = 600_000
"""Milliseconds between pings to Milvus Lite, which drops the connection after too many of them."""
RRF_K = 60
"""Milvus's own default for its ranker."""
_KEY = re.compile(r"[0-9a-f]{16,64}")

Row = dict[str, Any]


class TeamQuestion(NamedTuple):
    """A search of the collection."""

    text: str
    """For the search by words; empty for none."""
    vector: Sequence[float] | None
    """For the search by meaning; None for none."""
    model: str
    """Key of the vector's model: vectors of other models are not compared."""
    condition: str
    limit: int


def require_hex(key: str) -> str:
    """Return a key that stands in a filter. Raises ValueError for anything else, which would be a bug."""
    if not _KEY.fullmatch(key):
        raise ValueError(key)
    return key


def is_local(endpoint: str) -> bool:
    """Return whether an endpoint is a file of Milvus Lite."""
    return "://" not in endpoint


class Collection:
    """The collection of a team, open. Close it: a file is locked meanwhile."""

    def __init__(self, client: MilvusClient, endpoint: str) -> None:
        """Wrap a client whose collection exists or is created by `create`."""
        self._client = client
        self._endpoint = endpoint

    @property
    def exists(self) -> bool:
        """Return whether anybody has shared anything yet."""
        with _translate(self._endpoint):
            return bool(self._client.has_collection(COLLECTION, timeout=_choose_timeout(self._endpoint)))

    def close(self) -> None:
        """Close the connection, and unlock a file."""
        self._client.close()
        if is_local(self._endpoint):
            from milvus_lite.server_manager import server_manager_instance

            server_manager_instance.release_server(self._endpoint)

    def create(self, dim: int, name: str = COLLECTION) -> None:
        """Create the collection for vectors of a length."""
        with _translate(self._endpoint):
            self._client.create_collection(
                name,
                schema=_build_schema(self._client, dim),
                index_params=_build_indexes(self._client),
                consistency_level="Strong",
                timeout=_choose_timeout(self._endpoint),
            )

    def finish_erasing(self) -> None:
        """Complete an `erase` of a file that was interrupted."""
        with _translate(self._endpoint):
            if is_local(self._endpoint) and self._client.has_collection(REWRITTEN):
                if self._client.has_collection(COLLECTION):
                    self._client.drop_collection(REWRITTEN)
                else:
                    self._client.rename_collection(REWRITTEN, COLLECTION)

    def erase(self) -> None:
        """Remove the text of deleted rows from the disk, where Milvus otherwise keeps it for a while.

        A server is asked to compact the collection. Milvus Lite cannot, so a file is written anew.
        """
        if not is_local(self._endpoint):
            with _translate(self._endpoint):
                self._client.compact(COLLECTION)
            return
        self.create(self.dim, REWRITTEN)
        ids = [row["id"] for row in self.select("", ["id"])]
        for start in range(0, len(ids), IDS):
            rows = self.get(ids[start : start + IDS])
            with _translate(self._endpoint):
                self._client.upsert(REWRITTEN, rows)
        with _translate(self._endpoint):
            self._client.drop_collection(COLLECTION)
        self.finish_erasing()

    @property
    def dim(self) -> int:
        """Return the length of the vectors. Raises TeamUnavailable if the collection is not of this release."""
        with _translate(self._endpoint):
            fields = {one["name"]: one for one in self._client.describe_collection(COLLECTION)["fields"]}
        if fields.keys() != FIELDS:
            raise TeamUnavailable(
                f"the collection {COLLECTION} at {self._endpoint} is of another release, or of another program",
                "Use the same release of pastchats-memory in the whole team, or another database of Milvus.",
            )
        return int(fields["dense"]["params"]["dim"])

    def load(self, dim: int | None = None) -> None:
        """Load the collection for searches. Accept only one of this release, and for vectors of this length."""
        there = self.dim
        if dim not in (None, there):
            raise TeamUnavailable(
                f"the team's vectors have {there} numbers, and those of your model have {dim}",
                "Use the team's model: pastchats-memory reindex --embeddings --model NAME.",
            )
        with _translate(self._endpoint):
            self._client.load_collection(COLLECTION)

    def select(self, condition: str, fields: Sequence[str]) -> Iterator[Row]:
        """Yield some fields of all rows that fulfil a condition."""
        with _translate(self._endpoint):
            found = self._client.query_iterator(
                COLLECTION, batch_size=LIST_ROWS, filter=condition, output_fields=list(fields)
            )
            try:
                while rows := found.next():
                    yield from map(dict, rows)
            finally:
                found.close()

    def get(self, ids: Sequence[str]) -> list[Row]:
        """Return the rows with these ids."""
        fields = sorted(FIELDS - {"words"})
        with _translate(self._endpoint):
            return list(map(dict, self._client.get(COLLECTION, ids=list(ids), output_fields=fields)))

    def count(self, condition: str = "") -> int:
        """Return the number of rows that fulfil a condition."""
        with _translate(self._endpoint):
            return int(self._client.query(COLLECTION, filter=condition, output_fields=["count(*)"])[0]["count(*)"])

    def put(self, rows: Sequence[Row]) -> None:
        """Write rows; those with the same id are replaced."""
        with _translate(self._endpoint):
            self._client.upsert(COLLECTION, list(rows))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        with _translate(self._endpoint):
            for start in range(0, len(ids), BATCH_ROWS):
                self._client.delete(COLLECTION, ids=list(ids[start : start + BATCH_ROWS]))

    def search(self, question: TeamQuestion) -> list[Row]:
        """Return rows, best first, each with the `score` of Milvus's ranker and its rank in both lists."""
        from pymilvus import AnnSearchRequest, RRFRanker

        requests: list[Any] = []
        if question.vector is not None:
            same_model = f'({question.condition}) and model == "{require_hex(question.model)}"'
            metric = {"metric_type": "COSINE"}
            vector = [list(question.vector)]
            requests.append(AnnSearchRequest(vector, "dense", metric, limit=question.limit, expr=same_model))
        if question.text:
            metric = {"metric_type": "BM25"}
            words = [question.text]
            requests.append(AnnSearchRequest(words, "words", metric, limit=question.limit, expr=question.condition))
        fields = sorted(FIELDS - {"words"})
        with _translate(self._endpoint):
            (found,) = self._client.hybrid_search(
                COLLECTION, requests, RRFRanker(RRF_K), limit=question.limit, output_fields=fields
            )
            ranks = {one.anns_field: self._rank(one) for one in requests}
        lists = {"lexical_rank": ranks.get("words", {}), "semantic_rank": ranks.get("dense", {})}
        return [
            dict(one["entity"])
            | {"score": float(one["distance"])}
            | {name: placed.get(one["entity"]["id"]) for name, placed in lists.items()}
            for one in found
        ]

    def _rank(self, request: Any) -> dict[str, int]:
        """Return the places of the rows in one list, from 1 on, by their ids."""
        (found,) = self._client.search(
            COLLECTION,
            request.data,
            request.expr,
            request.limit,
            search_params=request.param,
            anns_field=request.anns_field,
        )
        return {one["id"]: place for place, one in enumerate(found, start=1)}


def _build_schema(client: MilvusClient, dim: int) -> CollectionSchema:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    for name, most in LONGEST.items():
        schema.add_field(
            name, DataType.VARCHAR, max_length=most, is_primary=name == "id", enable_analyzer=name == "text"
        )
    schema.add_field("at", DataType.INT64)
    schema.add_field("body", DataType.JSON)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=dim)
    schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
    bm25 = Function("bm25", FunctionType.BM25, input_field_names=["text"], output_field_names=["words"])
    return schema.add_function(bm25)


def _build_indexes(client: MilvusClient) -> IndexParams:
    indexes = client.prepare_index_params()
    indexes.add_index("dense", index_type="AUTOINDEX", metric_type="COSINE")
    indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    return indexes


@contextmanager
def open_collection(endpoint: str, token: str | None) -> Iterator[Collection]:
    """Connect to a team's Milvus."""
    if is_local(endpoint):
        _require_local(endpoint)
    client = _connect(endpoint, token)
    collection = Collection(client, endpoint)
    try:
        collection.finish_erasing()
        yield collection
    finally:
        collection.close()


def _require_local(endpoint: str) -> None:
    """Make the folder of a file of Milvus Lite, for its owner alone."""
    path = Path(endpoint)
    if path.suffix != LOCAL_SUFFIX:
        hint = "Name a file that ends with .db, or an address such as https://milvus.example.com:19530."
        raise TeamUnavailable(f"{endpoint} is no file of Milvus Lite", hint)
    if os.name != "posix":
        raise TeamUnavailable("Milvus Lite does not run on this system", "Use a Milvus server.")
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as fault:
        raise TeamUnavailable(f"{endpoint} cannot be used: {fault.strerror}", "Name another file.") from fault


def _choose_timeout(endpoint: str) -> float:
    return LOCAL_TIMEOUT if is_local(endpoint) else TIMEOUT


def _connect(endpoint: str, token: str | None) -> MilvusClient:
    os.environ.setdefault(
        "PYTHON_DOTENV_DISABLED", "1"
    )  # pymilvus reads a .env file, which a cloned repository may bring
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its library writes to stderr by itself
    try:
        from pymilvus import MilvusClient

        if is_local(endpoint):
            import milvus_lite  # noqa: F401 - pymilvus starts it
    except ImportError as fault:
        hint = "Install them: uv tool install 'pastchats-memory[team]', or pip install 'pastchats-memory[team]'."
        raise TeamUnavailable(f"the libraries of a team's memory are missing ({fault.name})", hint) from fault
    for name in ("pymilvus", "milvus_lite", "grpc"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # they log every error with a traceback
    options = {"grpc.keepalive_time_ms": QUIET_MS} if is_local(endpoint) else {}
    with _translate(endpoint):
        return MilvusClient(endpoint, token=token or "", timeout=_choose_timeout(endpoint), grpc_options=options)


@contextmanager
def _translate(endpoint: str) -> Iterator[None]:
    """Translate the errors of Milvus."""
    from pymilvus import MilvusException

    try:
        yield
    except MilvusException as fault:
        raise TeamUnavailable(*_explain(endpoint, fault.message)) from fault


def _explain(endpoint: str, message: str) -> tuple[str, str]:
    if "Open local milvus failed" in message:
        return (
            f"{endpoint} cannot be opened: another command uses it, or it is damaged",
            "Try again when no other command runs. For several people at once, use a Milvus server.",
        )
    if is_local(endpoint):
        return f"Milvus Lite cannot use {endpoint}: {message}", ""
    return (
        f"the team's Milvus at {endpoint} did not do what was asked: {message}",
        "Check the address, the token and its rights: pastchats-memory team status.",
    )


def split_into_batches(rows: Iterator[Row], size_of: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Yield rows in lists that fit into one request."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += size_of(row)
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
