"""Split prose into sentences, and quote whole ones. Pure."""

from collections.abc import Callable

from pastchats_memory.text.excerpt import ELLIPSIS
from pastchats_memory.text.lazy_pattern import LazyPattern

_GAP = LazyPattern(
    r"(?:(?<=[.!?…])|(?<=[.!?…][)\"'’”]))(?<!\b\d\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+|(?<=[。！？])|(?<![^\S\n])[^\S\n]*\n\s*"
)
"""The gap between two sentences; the end of a line ends one, too."""


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line; what separates them is left out."""
    return [" ".join(part.split()) for part in _GAP.split(text) if part.strip()]


def first_sentences(text: str, width: int, must: Callable[[str], bool] | None = None, most: int = 0) -> str:
    """Return whole sentences from the start that fit `width` characters; a longer first one is cut at its end.

    Args:
        text: prose.
        width: most characters.
        must: which sentence has to be there, whatever stands before it.
        most: characters of the first sentences together with that one; without room for both, it stands alone.
    """
    sentences = split_sentences(text)
    chosen = ""
    for sentence in sentences:
        longer = f"{chosen} {sentence}".strip()
        if len(longer) > width:
            break
        chosen = longer
    needed = next(filter(must, sentences), "") if must else ""
    if needed and needed not in chosen:
        if chosen and len(both := f"{chosen} {needed}") <= most:
            return both
        return cut_at_word(needed, width)
    return chosen or cut_at_word(sentences[0] if sentences else "", width)


def cut_at_word(text: str, width: int) -> str:
    """Return a text of at most `width` characters, cut behind a word and marked."""
    if len(text) <= width:
        return text
    start = text[: width - 1]
    blank = start.rfind(" ")
    return f"{start[:blank] if blank > width // 2 else start}{ELLIPSIS}"
