"""Shorten text without cutting a secret in two, since half of a secret is not recognised as one."""

import re

OUTPUT_HEAD = 2000
"""Characters that are kept of the start of a tool's output."""
OUTPUT_TAIL = 1000
"""Characters that are kept of the end of a tool's output."""


def truncate_middle(text: str) -> str:
    """Cut the middle out of a long tool output, whose start says what it is, and whose end how it ended."""
    if len(text) <= OUTPUT_HEAD + OUTPUT_TAIL:
        return text
    start, end = keep_head(text, OUTPUT_HEAD), keep_tail(text, OUTPUT_TAIL)
    return f"{start}\n[… {len(text) - len(start) - len(end)} characters left out …]\n{end}"


def keep_head(text: str, length: int) -> str:
    """Return at most `length` characters of the start, up to a whole word."""
    if len(text) <= length:
        return text
    start = text[:length]
    word = _LAST_WORD.search(start, max(0, length - LONGEST_WORD))
    if word is None:
        return start
    return start[: max(word.start(), start.rfind("/") + 1)] if _PATH.match(word[0]) else start[: word.start()]


def keep_tail(text: str, length: int) -> str:
    """Return at most `length` characters of the end, from a whole line or word on.

    A password without its name is not recognised as one.
    """
    if len(text) <= length:
        return text
    end = text[-length:]
    parted = _FIRST_BREAK.match(end)
    return end[parted.end() :] if parted and text[-length - 1] != "\n" else end


LONGEST_WORD = 200
"""Characters of the longest word; a longer one is an image, or a key that its shape gives away."""
_SEPARATORS = r"\s\"'`,;&<>(){}|"
_LAST_WORD = re.compile(rf"(?<=[{_SEPARATORS}])[^{_SEPARATORS}]{{0,{LONGEST_WORD}}}\Z")
_PATH = re.compile(r"(?:[~.]{0,2}|[A-Za-z]:)/")
_FIRST_BREAK = re.compile(
    rf"[^\n]{{0,{LONGEST_WORD}}}\n|[^,;&}}|]{{0,{LONGEST_WORD}}}[,;&}}|]|[^{_SEPARATORS}]{{0,{LONGEST_WORD}}}(?=[{_SEPARATORS}])"
)
