"""Tags that programs put around text in the user's place.

The functions look for literal tags, so their time grows linearly with the text.
Apply them to the user's role only: assistants and tools quote these tags as plain content.
"""

from __future__ import annotations

import re

REMINDERS = ("system-reminder",)
"""Tags that Claude Code, and clients made after it, put anywhere into the user's text."""

_OPENING = re.compile(r"\s*<([a-z_-]{1,40})>")
_LONGEST_END = 200
"""Characters at the end of a text in which an end tag is looked for."""


def span(text: str, tag: str) -> str:
    """Return the text inside the first `<tag>…</tag>`, or `""`."""
    _, opened, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside if opened and closed else ""


def spans(text: str, tag: str) -> list[str]:
    """Return the stripped text inside each `<tag>…</tag>`.

    An unclosed tag counts as text.
    """
    parts = (part.partition(f"</{tag}>") for part in text.split(f"<{tag}>")[1:])
    return [inside.strip() for inside, closed, _ in parts if closed]


def without_spans(text: str, tags: tuple[str, ...]) -> str:
    """Return a text without every well-formed `<tag>…</tag>`; an unclosed tag stays."""
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        outside, at = [], 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            outside.append(text[at:start])
            at = end + len(closing)
        text = "".join([*outside, text[at:]])
    return text


def without_rim(text: str, tags: tuple[str, ...]) -> str:
    """Return a text without the `<tag>…</tag>` at its beginning and end; one in the middle is a quotation, and stays."""
    start, end = 0, len(text)
    while (found := _OPENING.match(text, start)) and found[1] in tags:
        close = text.find(f"</{found[1]}>", found.end(), end)
        if close < 0:
            break
        start = close + len(found[1]) + len("</>")
    while (last := text[max(start, end - _LONGEST_END) : end].rstrip()).endswith(">"):
        end = end - len(text[max(start, end - _LONGEST_END) : end]) + len(last)
        tag = last[last.rfind("</") + len("</") : -1]
        opened = text.rfind(f"<{tag}>", start, end) if tag in tags else -1
        if opened < 0:
            break
        end = opened
    return text[start:end].strip()
