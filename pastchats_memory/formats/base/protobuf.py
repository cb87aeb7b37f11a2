"""Read protocol buffers of other programs, whose schema is not at hand (https://protobuf.dev/programming-guides/encoding)."""

from io import BytesIO

VARINT, BYTES, SIZES = 0, 2, {1: 8, 5: 4}
"""Wire types of a number and of a text or message, and the sizes of values of the other types."""
LONGEST_VARINT = 9


def value_at(message: object, *path: int) -> object:
    """Return the value of a field in a message of messages, or None; of damaged bytes, what is before the damage."""
    for number in path:
        message = _fields(message).get(number)
    return message


def text_at(message: object, *paths: tuple[int, ...]) -> str:
    """Return the first text of the fields at these paths that is not empty, or ""."""
    values = (value_at(message, *path) for path in paths)
    return next((value.decode(errors="replace") for value in values if isinstance(value, bytes) and value), "")


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
