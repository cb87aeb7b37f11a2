"""What a turn's text may contain, for every reader."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from pastchats_memory.model import Turn

KEPT_HEAD = 2000
KEPT_TAIL = 1000
IMAGE = "[image]"
"""What stands for a picture, and for a prompt of pictures alone."""

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


def conversation_hash(opening: Iterable[tuple[str, str]]) -> str:
    """SHA-256 of the first three (role, text) pairs: the id of a conversation without one, which it keeps when its file moves."""
    first = [list(pair) for _, pair in zip(range(3), opening, strict=False)]
    return hashlib.sha256(json.dumps(first, separators=(",", ":")).encode()).hexdigest()


# What no row may contain, taken out in one place for every reader: NUL bytes, lone surrogates, terminal colours.


def clean_turn(turn: Turn) -> Turn | None:
    """The turn as it may be stored, or None where nothing readable is left."""
    content = clean(turn.content).strip()
    if not content:
        return None
    return turn._replace(
        role=clean(turn.role).strip().lower() or "unknown",
        content=content,
        conversation_id=_optional(turn.conversation_id),
        native_id=_optional(turn.native_id),
        project=_optional(turn.project),
        cwd=_optional(turn.cwd),
        metadata={clean(key): clean_value(value) for key, value in turn.metadata.items()},
    )


def clean_value(value: object) -> object:
    """A JSON value with every text in it clean; numbers that JSON or SQLite cannot hold become text."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return value


def _optional(value: str | None) -> str | None:
    return None if value is None else clean(value) or None
