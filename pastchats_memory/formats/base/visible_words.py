"""The words of one text that a user saw or typed, without markup and without what a client put around them."""

import re
from html import unescape

from pastchats_memory.formats.base.dialect import Dialect
from pastchats_memory.formats.base.tags import without_rim, without_thoughts

USER_TAGS = ("user_query", "task", "feedback", "answer", "user_message")
"""Tags of editors' agents around the user's words; the rest of such a text is the editor's."""
EDITOR_TAGS = ("environment_details", "attached_files", "additional_data", "system_reminder")
OPENINGS = ("<", "[", "#", "Caveat:", "Stop hook", "Base directory for this skill:")
"""Beginnings of texts that a client may have written."""
WITHHELD = "[REDACTED]"
THOUGHTS = ("<think", "<|begin_of_")
"""Beginnings of an answer with a model's thoughts before it."""

_TOOL_RESULT = re.compile(r"\[(\w+ for '|TASK RESUMPTION\])")
_PARAGRAPH = re.compile(r"\s*<p(?:\s[^<>]{0,200})?>")
_BLOCK = re.compile(r"<(?:/p|/div|/li|/h[1-6]|br ?/?)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")


def visible_words(text: str, role: str, dialect: Dialect) -> str:
    """Return the words of one part of a message. Return "" for a text that a client wrote in the user's role."""
    text = strip_html(text)
    if role == "assistant" and text.lstrip().startswith(THOUGHTS):
        return without_thoughts(text)
    if role != "user":
        return "" if text.strip() == WITHHELD else text
    start = text.lstrip()
    if not start.startswith(OPENINGS) and "<system-reminder>" not in text:
        return text
    for tag in USER_TAGS:
        before, _, inside = text.partition(f"<{tag}>")
        words, closed, behind = inside.rpartition(f"</{tag}>")
        if closed and _is_markup(before) and (_is_markup(behind) or behind.startswith("\n")):
            return words.strip() or text
    if _TOOL_RESULT.match(start):
        return ""
    return without_rim(dialect.parse_prompt(text).text, EDITOR_TAGS)


def _is_markup(text: str) -> bool:
    text = text.strip()
    return not text or (text.startswith("<") and text.endswith(">"))


def strip_html(text: str) -> str:
    """Return the words of a text that is HTML as a whole, one line for each block; any other text unchanged."""
    if not (_PARAGRAPH.match(text) and text.rstrip().endswith(">")):
        return text
    lines = (" ".join(line.split()) for line in _BLOCK.sub("\n", text).split("\n"))
    return unescape(_TAG.sub("", "\n".join(line for line in lines if line)))
