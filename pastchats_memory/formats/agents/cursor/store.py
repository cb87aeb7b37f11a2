"""The command line's `store.db`: messages by their hash, and a root that lists them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.protobuf import text_at, values_of
from pastchats_memory.formats.base.values import BadJson, Json, mapping_of, parse_json, text_of

TABLES = {"blobs": frozenset({"id", "data"}), "meta": frozenset({"key", "value"})}
ABOUT, ROOT = "0", "latestRootBlobId"
MESSAGE, WORKSPACE = 1, 9
"""Fields of the root."""
HASH = 32


@dataclass(frozen=True, slots=True)
class Stored:
    """The conversation in a store."""

    about: Json
    """`agentId`, `name`, `createdAt`, `lastUsedModel`."""
    workspace: str = ""
    """The address of the working directory."""
    messages: list[Json | BadJson] = field(default_factory=list)


def find_roots(database: ForeignDatabase) -> Iterator[Json]:
    """Yield the objects that name a root, hexadecimal JSON; none in another's file."""
    for _, value in database.rows("meta", ("key", "value"), where={"key": ABOUT}):
        try:
            about = mapping_of(parse_json(bytes.fromhex(text_of(value))))
        except ValueError:
            continue
        if ROOT in about:
            yield about


def read_conversations(database: ForeignDatabase) -> Iterator[Stored]:
    """Yield the conversation with each message once, in the root's order, without missing messages."""
    for about in find_roots(database):
        root = _blob(database, text_of(about[ROOT]))
        hashes = (value for value in values_of(root, MESSAGE) if isinstance(value, bytes) and len(value) == HASH)
        ids = dict.fromkeys(value.hex() for value in hashes)
        values = map(parse_json, filter(None, (_blob(database, name) for name in ids)))
        messages = [value if isinstance(value, BadJson) else mapping_of(value) for value in values]
        yield Stored(about, text_at(root, (WORKSPACE,)), messages)


def _blob(database: ForeignDatabase, name: str) -> bytes:
    for (data,) in database.rows("blobs", ("data",), where={"id": name}):
        return data if isinstance(data, bytes) else text_of(data).encode("utf-8", errors="replace")
    return b""
