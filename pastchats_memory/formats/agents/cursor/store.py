"""The command line's `store.db`: messages by their hash, and a root that lists them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.values import BadJson, Json, mapping_of, parse_json, text_of

TABLES = {"blobs": frozenset({"id", "data"}), "meta": frozenset({"key", "value"})}
ABOUT, ROOT = "0", "latestRootBlobId"
MESSAGE, WORKSPACE = 1, 9
"""Fields of the root."""
HASH = 32
VARINT, BYTES, FIXED = 0, 2, {1: 8, 5: 4}
"""Wire types of protocol buffers (https://protobuf.dev/programming-guides/encoding/); FIXED maps types to sizes in bytes."""
LONGEST_VARINT = 10


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
        fields = list(_fields(_blob(database, text_of(about[ROOT]))))
        ids = dict.fromkeys(value.hex() for number, value in fields if number == MESSAGE and len(value) == HASH)
        values = map(parse_json, filter(None, (_blob(database, name) for name in ids)))
        messages = [value if isinstance(value, BadJson) else mapping_of(value) for value in values]
        folder = next((value for number, value in fields if number == WORKSPACE), b"")
        yield Stored(about, folder.decode("utf-8", errors="replace"), messages)


def _blob(database: ForeignDatabase, name: str) -> bytes:
    for (data,) in database.rows("blobs", ("data",), where={"id": name}):
        return data if isinstance(data, bytes) else text_of(data).encode("utf-8", errors="replace")
    return b""


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each bytes field, up to the first error."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == BYTES:
            length, at = _varint(message, at)
            if at + length > len(message):
                return
            yield key >> 3, message[at : at + length]
            at += length
        elif kind == VARINT:
            _, at = _varint(message, at)
        elif kind in FIXED:
            at += FIXED[kind]
        else:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place, and the place after it."""
    number = 0
    for shift, byte in enumerate(message[at : at + LONGEST_VARINT]):
        number |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that another byte follows
            return number, at + shift + 1
    return number, len(message)
