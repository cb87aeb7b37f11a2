"""Read protocol buffers of other programs, whose schema is not at hand (https://protobuf.dev/programming-guides/encoding)."""

from io import BytesIO

VARINT, BYTES = 0, 2
"""Wire types of a number, and of a text or message with its size."""
SIZES = {1: 8, 5: 4}
"""Bytes of a value by the other wire types."""
LONGEST_VARINT = 9
"""Bytes of the longest number that is read."""


def value_at(message: object, *path: int) -> object:
    """Return the value of a field in a message of messages, or None; of damaged bytes, what is before the damage."""
    for number in path:
        message = _fields(message).get(number)
    return message


def text_at(message: object, *path: int) -> str:
    """Return the text of a field in a message of messages, or ""."""
    value = value_at(message, *path)
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else ""


def _fields(message: object) -> dict[int, object]:
    """Return the first value of each field by its number."""
    stream = BytesIO(message if isinstance(message, bytes) else b"")
    found: dict[int, object] = {}
    while (tag := _read_varint(stream)) is not None:
        value: object = None
        if tag & 7 == VARINT:
            value = _read_varint(stream)
        elif (size := _read_varint(stream) if tag & 7 == BYTES else SIZES.get(tag & 7)) is not None:
            content = stream.read(size)
            value = content if len(content) == size else None
        if value is None:
            break
        found.setdefault(tag >> 3, value)
    return found


def _read_varint(stream: BytesIO) -> int | None:
    """Return a number, in whose bytes the highest bit says that another one follows."""
    value = 0
    for place in range(LONGEST_VARINT):
        byte = stream.read(1)
        value |= (byte[0] & 0x7F) << 7 * place if byte else 0
        if not byte or byte < b"\x80":
            return value if byte else None
    return None
