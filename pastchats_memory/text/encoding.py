"""Text that UTF-8 can encode."""

from __future__ import annotations


def utf8(text: str) -> str:
    r"""Return the text with a byte that is not UTF-8 written as `\udce9`.

    Names of files and arguments may have some.
    """
    return text.encode("utf-8", "backslashreplace").decode()
