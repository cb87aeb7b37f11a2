"""Speak with Milvus: a file of Milvus Lite, or a server. Nothing else imports pymilvus, which takes half a second.

Milvus Lite 3.2 knows no parameters in filters. So no filter here has a name or a text from outside: projects, members and
models are compared by hexadecimal digests, times by whole numbers, the rest by words of our own.

Its functions raise TeamUnavailable if the team's server cannot be used.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.team import server

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient

COLLECTION = "pastchats_memory"
REWRITTEN = "pastchats_memory_rewritten"
"""Of a file, while it is written anew without deleted rows."""
LOCAL_SUFFIX = ".db"
LONGEST: Mapping[str, int] = {
    "id": server.ID_CHARS,
    "kind": server.WORD_CHARS,
    "member": server.KEY_CHARS,
    "author": server.NAME_CHARS,
    "project": server.NAME_CHARS,
    "project_key": server.KEY_CHARS,
    "role": server.NAME_CHARS,
    "outcome": server.WORD_CHARS,
    "model": server.KEY_CHARS,
    "digest": 2 * server.KEY_CHARS,
    "text": 65_535,
}
"""Most bytes of each field of text."""
FIELDS = frozenset({*LONGEST, "at", "body", "dense", "words"})
LOCAL_TIMEOUT = 60.0
"""Seconds until Milvus Lite has to answer: on a busy machine it starts slowly, but it is always there."""
QUIET_MS = 600_000
"""Milliseconds between pings to Milvus Lite, which drops the connection after too many of them."""
_KEY = re.compile(r"[0-9a-f]{16,64}")


def _require_hex(key: str) -> str:
    """Return a key that stands in a filter. Raises ValueError for anything else, which would be a bug."""
    if not _KEY.fullmatch(key):
        raise ValueError(key)
    return key


def is_local(endpoint: str) -> bool:
    """Return whether an endpoint is a file of Milvus Lite."""
    return "://" not in endpoint


def render(condition: server.Condition) -> str:
    """Return a condition in Milvus's language: digests, whole numbers and words of our own alone."""
    return " and ".join(_CONDITIONS[name](value) for name, value in condition.limits().items())


def _quote(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


_CONDITIONS: Mapping[str, Callable[[Any], str]] = {
    "kind": lambda kind: f'kind == "{kind}"',
    "owner": lambda key: f'member == "{_require_hex(key)}"',
    "other_than": lambda key: f'member != "{_require_hex(key)}"',
    "projects": lambda names: f"project_key in [{_quote(map(server.digest_name, names))}]",
    "roles": lambda roles: f"role in [{_quote(roles)}]",
    "since": lambda at: f"at >= {at}",
    "until": lambda at: f"at > 0 and at <= {at}",
    "outcomes": lambda wanted: f"outcome in [{_quote(one for one in OUTCOMES if one in wanted)}]",
}


class MilvusCollection:
    """The collection of a team, open. Close it: a file is locked meanwhile."""

    author = None

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
            indexes = self._client.prepare_index_params()
            indexes.add_index("dense", index_type="AUTOINDEX", metric_type="COSINE")
            indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
            self._client.create_collection(
                name,
                schema=_build_schema(self._client, dim),
                index_params=indexes,
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
        ids = [row["id"] for row in self.select(server.Condition(), ["id"])]
        for start in range(0, len(ids), server.IDS):
            rows = self.get(ids[start : start + server.IDS])
            with _translate(self._endpoint):
                self._client.upsert(REWRITTEN, rows)
        with _translate(self._endpoint):
            self._client.drop_collection(COLLECTION)
        self.finish_erasing()

    @property
    def dim(self) -> int:
        """Return the length of the vectors."""
        return int(self._find_fields()["dense"]["params"]["dim"])

    def _find_fields(self) -> Mapping[str, Any]:
        """Return the collection's fields by name. Raises TeamUnavailable if it is not of this release."""
        with _translate(self._endpoint):
            fields = {one["name"]: one for one in self._client.describe_collection(COLLECTION)["fields"]}
        if fields.keys() != FIELDS:
            raise TeamUnavailable(
                f"the collection {COLLECTION} at {self._endpoint} is of another release, or of another program",
                "Use the same release of pastchats-memory in the whole team, or another database of Milvus.",
            )
        return fields

    def load(self) -> None:
        """Load the collection for searches. Raises TeamUnavailable if it is not of this release."""
        self._find_fields()
        with _translate(self._endpoint):
            self._client.load_collection(COLLECTION)

    def select(self, condition: server.Condition, fields: Sequence[str]) -> Iterator[server.Row]:
        """Yield some fields of all rows that fulfil a condition."""
        with _translate(self._endpoint):
            found = self._client.query_iterator(
                COLLECTION, batch_size=server.LIST_ROWS, filter=render(condition), output_fields=list(fields)
            )
            try:
                while rows := found.next():
                    yield from map(dict, rows)
            finally:
                found.close()

    def list_changes(self, condition: server.Condition, horizon: str) -> server.Changes:  # noqa: ARG002 - Milvus keeps no history
        """Return all rows that fulfil a condition."""
        return server.Changes({row["id"]: row["digest"] for row in self.select(condition, ["id", "digest"])}, None)

    def get(self, ids: Sequence[str]) -> list[server.Row]:
        """Return the rows with these ids."""
        fields = sorted(FIELDS - {"words"})
        with _translate(self._endpoint):
            return list(map(dict, self._client.get(COLLECTION, ids=list(ids), output_fields=fields)))

    def count_turns(self) -> int:
        """Return the number of turns."""
        condition = server.Condition(kind="turn")
        with _translate(self._endpoint):
            return int(
                self._client.query(COLLECTION, filter=render(condition), output_fields=["count(*)"])[0]["count(*)"]
            )

    def put(self, rows: Sequence[server.Row]) -> None:
        """Write rows; those with the same id are replaced."""
        with _translate(self._endpoint):
            self._client.upsert(COLLECTION, [row | {"project_key": server.digest_name(row["project"])} for row in rows])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        with _translate(self._endpoint):
            for start in range(0, len(ids), server.BATCH_ROWS):
                self._client.delete(COLLECTION, ids=list(ids[start : start + server.BATCH_ROWS]))

    def find_words(self, text: str, condition: server.Condition, limit: int) -> list[str]:
        """Return the ids of the rows that fit the words of a text, by BM25."""
        return self._rank("words", text, "BM25", render(condition), limit)

    def find_near(self, vector: Sequence[float], model: str, condition: server.Condition, limit: int) -> list[str]:
        """Return the ids of the rows whose vectors of the same model are nearest."""
        same_model = f'({render(condition)}) and model == "{_require_hex(model)}"'
        return self._rank("dense", list(vector), "COSINE", same_model, limit)

    def _rank(self, field: str, wanted: object, metric: str, condition: str, limit: int) -> list[str]:
        with _translate(self._endpoint):
            (found,) = self._client.search(
                COLLECTION, [wanted], condition, limit, search_params={"metric_type": metric}, anns_field=field
            )
        return [one["id"] for one in found]


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


@contextmanager
def open_milvus(endpoint: str, token: str | None) -> Iterator[MilvusCollection]:
    """Connect to a team's Milvus."""
    if is_local(endpoint):
        _require_local(endpoint)
    client = _connect(endpoint, token)
    collection = MilvusCollection(client, endpoint)
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
    return LOCAL_TIMEOUT if is_local(endpoint) else server.TIMEOUT


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
        hint = "Install them from a clone, since it is not on PyPI yet: uv tool install '.[team-milvus]', or pip install '.[team-milvus]'."
        raise TeamUnavailable(f"the libraries of a team's memory are missing ({fault.name})", hint) from fault
    for name in ("pymilvus", "milvus_lite", "grpc"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # they log every error with a traceback
    options = {"grpc.keepalive_time_ms": QUIET_MS} if is_local(endpoint) else {}
    with _translate(endpoint):
        return MilvusClient(endpoint, token=token or "", timeout=_choose_timeout(endpoint), grpc_options=options)


@contextmanager
def _translate(endpoint: str) -> Iterator[None]:
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
