"""What of a text is asked: its words of the one engine, what is said in it of the other."""

from __future__ import annotations

from typing import NamedTuple


class Asked(NamedTuple):
    """What of a text the two engines are asked."""

    words: str
    """All but our own blocks that it quotes."""
    said: str
    """Without what was pasted, but for the line of it that says what went wrong: a sentence below sixty lines of a log
    would be lost in one vector with them."""


def asked_in(text: str) -> Asked:
    """What is asked in a text; of a paste alone in which nothing went wrong, all of it."""
    if "\n" not in text:
        return Asked(text, text)  # what a paste is shows by its lines
    from pastchats_memory.echo import without_echoes
    from pastchats_memory.pasted import parted

    own = without_echoes(text) or text
    return Asked(own, "\n".join(part for part in parted(own) if part) or own)
