"""Text and JSON that every writer can encode."""

MAX_DEPTH = 100
"""Levels of JSON from a stranger. The library that writes JSON takes 254."""


def utf8(text: str) -> str:
    r"""Return the text of a file's name or an argument, with a byte that is not UTF-8 written as `\udce9`."""
    return text.encode("utf-8", "backslashreplace").decode()


def count_bytes(text: str) -> int:
    """Return the length of a text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def is_shallow(value: object, most: int = MAX_DEPTH) -> bool:
    """Return whether JSON has at most so many levels of lists and objects.

    >>> is_shallow({"a": [1]}, most=2), is_shallow({"a": [1]}, most=1)
    (True, False)
    """
    level = [value]
    for _ in range(most + 1):
        parts = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        if not parts:
            return True
        level = [inner for part in parts for inner in part]
    return False
