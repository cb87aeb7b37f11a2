"""Reduce a text to what stays the same when it is copied, quoted, formatted or pasted."""

import re
import unicodedata

from pastchats_memory.text.display import remove_controls
from pastchats_memory.text.lazy_pattern import read_pattern

_MARKUP = read_pattern(__file__, "markup", re.MULTILINE)
"""Marks that contain letters or digits. All other marks are dropped by what they consist of."""

_OTHERS = re.compile(r"[\W_]+")
"""Everything that is no letter and no digit."""


def normalize_words(text: str) -> str:
    """Return the letters and digits of a text in one case and one Unicode form, without blanks.

    Two texts are equal then if they differ only in blanks, punctuation, accents, widths, invisible characters, HTML
    entities or the marks of Markdown.
    """
    if "&" in text:
        from html import unescape  # its table of entities is large, and few texts need it

        text = unescape(text)
    text = _MARKUP.sub("", remove_controls(text))
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        text = unicodedata.normalize("NFKC", _OTHERS.sub("", parts))
    return _OTHERS.sub("", text.casefold())
