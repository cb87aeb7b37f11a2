"""What a turn's text may contain, for every reader."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

KEPT_HEAD = 2000
KEPT_TAIL = 1000

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")


def clean(text: str) -> str:
    r"""The text as SQLite and a terminal can bear it: line ends `\n`, no NUL bytes, no colour codes, surrogates paired or `\ufffd`."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if "\x1b" in text:
        text = _TERMINAL_CODE.sub("", text)
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def shortened(text: str) -> str:
    """A tool's output with its middle left out, when it is long: the beginning and the end say what it was and how it ended."""
    left_out = len(text) - KEPT_HEAD - KEPT_TAIL
    if left_out <= 0:
        return text
    return f"{text[:KEPT_HEAD]}\n[… {left_out} characters left out …]\n{text[-KEPT_TAIL:]}"


def conversation_hash(opening: Iterable[tuple[str, str]]) -> str:
    """SHA-256 of the first three (role, text) pairs: the id of a conversation without one, which it keeps when its file moves."""
    first = [list(pair) for _, pair in zip(range(3), opening, strict=False)]
    return hashlib.sha256(json.dumps(first, separators=(",", ":")).encode()).hexdigest()
