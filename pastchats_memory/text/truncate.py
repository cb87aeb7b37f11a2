"""Describe."""

from __future__ import annotations

import re

KEPT_HEAD = 2000


KEPT_TAIL = 1000


def shortened(text: str) -> str:
    """A tool's output with its middle left out, when it is long: the beginning and the end say what it was and how it ended."""
    if len(text) <= KEPT_HEAD + KEPT_TAIL:
        return text
    start, end = beginning(text, KEPT_HEAD), ending(text, KEPT_TAIL)
    return f"{start}\n[… {len(text) - len(start) - len(end)} characters left out …]\n{end}"


def beginning(text: str, length: int) -> str:
    """The text, or at most so many characters of its beginning, up to a word: half of a secret would not be known for one."""
    if len(text) <= length:
        return text
    start = text[:length]
    word = _LAST_WORD.search(start, max(0, length - LONGEST_WORD))
    if word is None:
        return start
    return start[: max(word.start(), start.rfind("/") + 1)] if _PATH.match(word[0]) else start[: word.start()]


def ending(text: str, length: int) -> str:
    """The text, or at most so many characters of its end, from a line, else an item or a word on: without its name no password is known for one."""
    if len(text) <= length:
        return text
    end = text[-length:]
    parted = _PARTED.match(end)
    return end[parted.end() :] if parted and text[-length - 1] != "\n" else end


LONGEST_WORD = 200
"""What is longer is no secret that half of would tell, but an image or a key by its own shape."""


_APART = r"\s\"'`,;&<>(){}|"


_LAST_WORD = re.compile(rf"(?<=[{_APART}])[^{_APART}]{{0,{LONGEST_WORD}}}\Z")


_PATH = re.compile(r"(?:[~.]{0,2}|[A-Za-z]:)/")


_PARTED = re.compile(
    rf"[^\n]{{0,{LONGEST_WORD}}}\n|[^,;&}}|]{{0,{LONGEST_WORD}}}[,;&}}|]|[^{_APART}]{{0,{LONGEST_WORD}}}(?=[{_APART}])"
)
