"""Read protocol buffers of other programs, whose schema is not at hand (https://protobuf.dev/programming-guides/encoding)."""

from collections import defaultdict
from functools import lru_cache
from io import BytesIO

VARINT, BYTES, SIZES = 0, 2, {1: 8, 5: 4}
"""Wire types of a number and of a text or message, and the sizes of values of the other types."""
LONGEST_VARINT, LARGEST = 10, (1 << 64) - 1
MOST_FIELDS = 10_000
"""Fields of a message that are read."""


def value_at(message: object, *path: int) -> object:
    """Return the value of a field in a message of messages, or None; of damaged bytes, what is before the damage."""
    for number in path:
        message = next(iter(values_of(message, number)), None)
    return message


def values_of(message: object, number: int) -> list[object]:
    """Return each value of a field in a message, up to where it is damaged."""
    return _fields(message if isinstance(message, bytes) else b"").get(number, [])


def text_at(message: object, *paths: tuple[int, ...]) -> str:
    """Return the first text of the fields at these paths that is not empty, or ""."""
    values = (value_at(message, *path) for path in paths)
    return next((value.decode(errors="replace") for value in values if isinstance(value, bytes) and value), "")


@lru_cache(16)
def _fields(message: bytes) -> dict[int, list[object]]:
    """Return the values of each field by its number. A caller asks for several fields of a message."""
    stream = BytesIO(message)
    found: defaultdict[int, list[object]] = defaultdict(list)
    for _ in range(MOST_FIELDS):
        tag = _read_varint(stream) or 0
        value: object = None
        if tag & 7 == VARINT:
            value = _read_varint(stream)
        elif (size := _read_varint(stream) if tag & 7 == BYTES else SIZES.get(tag & 7)) is not None:
            content = stream.read(min(size, len(message)))
            value = content if len(content) == size else None
        if value is None:
            break
        found[tag >> 3].append(value)
    return found


def _read_varint(stream: BytesIO) -> int | None:
    """Return a number, in whose bytes the highest bit says that another one follows."""
    value = 0
    for place in range(LONGEST_VARINT):
        byte = stream.read(1)
        value |= (byte[0] & 0x7F) << 7 * place if byte else 0
        if not byte or byte < b"\x80":
            return value & LARGEST if byte else None
    return None
