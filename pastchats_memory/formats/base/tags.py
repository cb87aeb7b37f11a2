"""Tags that programs put around text in the user's place.

The functions look for literal tags, so their time grows linearly with the text.
Apply them to the user's role only: assistants and tools quote these tags as plain content.
"""

import re
from collections.abc import Iterable

REMINDERS = ("system-reminder",)
"""Tags that Claude Code, and clients made after it, put anywhere into the user's text."""

QUOTES = ("`", '"', "'")

_OPENING = re.compile(r"\s*<([a-z_-]{1,40})>")
_ATTRIBUTES = r"""(?:\s{1,9}[\w:.-]{1,60}=(?:"[^"]{0,2000}"|'[^']{0,2000}'))*\s*"""
_THOUGHTS = (
    re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL),
    re.compile(r"\A\s*<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)", re.DOTALL),
)
_SOLUTION = re.compile(r"\A\s*<\|begin_of_solution\|>|<\|end_of_solution\|>\s*\Z")
_LONGEST_END = 200
"""Characters at the end of a text in which an end tag is looked for."""


def span(text: str, tag: str) -> str:
    """Return the text inside the first `<tag>…</tag>`, or `""`."""
    _, opened, rest = text.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside if opened and closed else ""


def spans(text: str, tag: str) -> list[str]:
    """Return the stripped text inside each `<tag>…</tag>`. An unclosed tag counts as text."""
    parts = (part.partition(f"</{tag}>") for part in text.split(f"<{tag}>")[1:])
    return [inside.strip() for inside, closed, _ in parts if closed]


def opening_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for the opening tag of each name, with or without attributes. A name is a pattern of its own."""
    return re.compile(rf"\s*<({'|'.join(names)}){_ATTRIBUTES}>")


def is_tagged(text: str, opening: re.Pattern[str]) -> bool:
    """Return whether a text consists of `<tag>…</tag>` alone, whose opening tags match a pattern of `opening_of`."""
    return bool(opening.match(text)) and not behind_tags(text, opening)


def behind_tags(text: str, opening: re.Pattern[str]) -> str:
    """Return what follows the `<tag>…</tag>` at the beginning of a text; an unclosed tag stays."""
    return split_tags(text, opening)[1]


def split_tags(text: str, opening: re.Pattern[str]) -> tuple[list[str], str]:
    """Return what is inside each `<tag>…</tag>` at the beginning of a text, and what follows them."""
    inside, at = list[str](), 0
    while (found := opening.match(text, at)) and (end := text.find(f"</{found[1]}>", found.end())) >= 0:
        inside.append(text[found.end() : end].strip())
        at = end + len(f"</{found[1]}>")
    return inside, text[at:].strip()


def without_spans(text: str, tags: tuple[str, ...]) -> str:
    """Return a text without every well-formed `<tag>…</tag>`; an unclosed tag stays, and one that someone quotes."""
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        outside, at = [], 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            end += len(closing)
            is_quoted = text[start - 1 : start] in QUOTES and text[end : end + 1] in QUOTES
            outside.append(text[at : end if is_quoted else start])
            at = end
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


def without_thoughts(text: str) -> str:
    """Remove a model's thoughts from its answer. Return `""` if the text was cut off while the model still thought."""
    for thoughts in _THOUGHTS:
        text = thoughts.sub("", text)
    return _SOLUTION.sub("", text).strip()
