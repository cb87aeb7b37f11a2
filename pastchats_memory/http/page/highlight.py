"""Mark words of a query, and quotations, in text that is shown."""

import re
from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from pastchats_memory.text.words import is_function_word

_TAG = re.compile(r"(<[^<>]*>)")
"""A tag of our own HTML, in which a text or a value never has a plain `<` or `>`."""
_WORD = re.compile(r"&[#\w]+;|(\w{2,})")
"""A word of escaped text, or a character reference."""
SHOWN = '<mark class="shown">'
"""Begins a quotation that shows an outcome."""
LONGEST_STEM = 4
"""Characters of a word that has no ending to remove."""


def mark_html(html: str, query: str, quotations: Sequence[str]) -> Markup:
    """Return HTML of our own in which words that begin like one of the query, and quotations within one element, are marked."""
    words = re.findall(r"\w{2,}", query)
    wanted = {_stem(word) for word in words if not is_function_word(word.lower())} or set(map(_stem, words))
    quoted = [escape(quotation) for quotation in quotations if quotation.strip()]
    parts = _TAG.split(html)
    parts[::2] = [_mark_text(text, wanted, quoted) for text in parts[::2]]
    return Markup("".join(parts))  # noqa: S704 - only `<mark>` is added # nosec B704


def _mark_text(text: str, wanted: set[str], quoted: Sequence[str]) -> str:
    for quotation in quoted:
        if quotation in text:
            before, _, after = text.partition(quotation)
            return f"{_mark_text(before, wanted, ())}{SHOWN}{quotation}</mark>{_mark_text(after, wanted, ())}"
    if not wanted:
        return text
    return _WORD.sub(
        lambda found: f"<mark>{found[1]}</mark>" if found[1] and _stem(found[1]) in wanted else found[0], text
    )


def _stem(word: str) -> str:
    """Return a word in lower case without an English ending."""
    return re.sub(r"(?:i?es|i?ed|y?ing|y|s)\Z", "", word.lower()) if len(word) > LONGEST_STEM else word.lower()
