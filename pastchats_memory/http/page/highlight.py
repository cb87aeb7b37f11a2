"""Mark the words of a query in a text."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from pastchats_memory.text.display import remove_controls

_WORD = re.compile(r"\w{2,}")


def mark_words(text: str, query: str) -> Markup:
    """Return a text as HTML in which words that begin like a word of the query are marked."""
    text = remove_controls(text)
    wanted = {_stem(word) for word in _WORD.findall(query)}
    parts: list[Markup] = []
    end = 0
    for found in _WORD.finditer(text):
        if _stem(found[0]) in wanted:
            parts += (escape(text[end : found.start()]), Markup("<mark>%s</mark>") % found[0])
            end = found.end()
    return Markup().join((*parts, escape(text[end:])))


def _stem(word: str) -> str:
    """Return a word without an English ending, in lower case; only equal words and their forms have equal stems."""
    return re.sub(r"(?:ies|es|s|ing|ed)\Z", "", word.lower()) if len(word) > 4 else word.lower()  # noqa: PLR2004 - shorter words are their own stem
