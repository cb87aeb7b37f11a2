"""Errors of a model's service as clients print them."""

import re

from pastchats_memory.text.lazy_pattern import LazyPattern

_RAW = LazyPattern(
    r"""
    \[?API\ Error\b[^\n{\[]{0,80}[\[{].*  # the line that begins the JSON
    (?:\n(?:[ \t]+\S.*|[\]}]+.*))*        # its further lines are indented, or close it
    """,
    re.VERBOSE,
    words=("API Error",),
)
_MESSAGE = LazyPattern(r'"message"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.)+)')


def shorten_service_errors(text: str) -> str:
    """Return a text with the message of each error in place of its JSON."""
    return _RAW.sub(_shorten_error, text)


def _shorten_error(raw: re.Match[str]) -> str:
    message = _MESSAGE.search(raw[0])
    return f"API Error: {message[1]}" if message else "API Error"
