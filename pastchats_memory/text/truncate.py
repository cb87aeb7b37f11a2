"""Describe."""

from __future__ import annotations

import re

OUTPUT_HEAD = 2000
OUTPUT_TAIL = 1000


def truncate_middle(text: str) -> str:
    """A tool's output with its middle left out, when it is long: the beginning and the end say what it was and how it ended."""
    if len(text) <= OUTPUT_HEAD + OUTPUT_TAIL:
        return text
    start, end = keep_head(text, OUTPUT_HEAD), keep_tail(text, OUTPUT_TAIL)
    return f"{start}\n[… {len(text) - len(start) - len(end)} characters left out …]\n{end}"


def keep_head(text: str, length: int) -> str:
    """The text, or at most so many characters of its beginning, up to a word: half of a secret would not be known for one."""
    if len(text) <= length:
        return text
    start = text[:length]
    word = _LAST_WORD.search(start, max(0, length - LONGEST_WORD))
    if word is None:
        return start
    return start[: max(word.start(), start.rfind("/") + 1)] if _PATH.match(word[0]) else start[: word.start()]


def keep_tail(text: str, length: int) -> str:
    """The text, or at most so many characters of its end, from a line, else an item or a word on: without its name no password is known for one."""
    if len(text) <= length:
        return text
    end = text[-length:]
    parted = _FIRST_BREAK.match(end)
    return end[parted.end() :] if parted and text[-length - 1] != "\n" else end


LONGEST_WORD = 200
"""What is longer is no secret that half of would tell, but an image or a key by its own shape."""
_SEPARATORS = r"\s\"'`,;&<>(){}|"
_LAST_WORD = re.compile(rf"(?<=[{_SEPARATORS}])[^{_SEPARATORS}]{{0,{LONGEST_WORD}}}\Z")
_PATH = re.compile(r"(?:[~.]{0,2}|[A-Za-z]:)/")
_FIRST_BREAK = re.compile(
    rf"[^\n]{{0,{LONGEST_WORD}}}\n|[^,;&}}|]{{0,{LONGEST_WORD}}}[,;&}}|]|[^{_SEPARATORS}]{{0,{LONGEST_WORD}}}(?=[{_SEPARATORS}])"
)
