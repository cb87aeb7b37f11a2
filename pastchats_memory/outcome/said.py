"""What the person said next, without the commands to the client before it, and its sentences."""

from __future__ import annotations

import re

from pastchats_memory.outcome.rows import LONGEST, OPENING, Episode, Evidence, Pattern, once, quoted, shortened
from pastchats_memory.text.shell import find_instruction

_BOOKKEEPING = Pattern(
    r"""
    \s*/(?:
        add|drop|read-only|read|diff|clear|reset|tokens?|tok|ls|exit|quit|bye|model|models|help|compact|cost|context
        |status|login|logout|mcp|map|map-refresh|chat-mode|settings|resume|export|web|voice|paste
        |clip|copy|copy-context|save|load|ex|e|q|c|config|doctor|init|memory|theme|vim|agents|hooks|usage|rename
        |plugin
    )\b[^\n]*(?:\n|\Z)
    |\s*/(?:ask|code|architect)\s*(?:\n|\Z)|\s*\[Request\ interrupted\b[^\]\n]*\]\s*(?:\n|\Z)
    |\s*Processing\ your\ request\.\.\.(?:\n|\Z)"""
)
"""Commands to the client at the beginning of what was said, and its notice of a comment that is not in sight, which tell nothing about the work."""
TRIES = Pattern(r"\s*(?:/(?:run|test|lint)\b|!)[^\n]*(?:\n|\Z)")
"""Commands by which the person tries what was done: what they say of it comes after."""

FEW_WORDS = 3
"""Words from which on a sentence says something, and a prompt is the same when it comes again ("yes", "go on" are not)."""
_PLACE = re.compile(r"\A(?:(?:in|at|for|file)\s+)?[`@]?[\w./\\-]{1,200}\.\w{1,5}`?\s*:\s*\n\s*", re.IGNORECASE)
"""A line that says of which file the next ones are."""
_SENTENCE = re.compile(r"[!?\n。！？]|\.(?=\s|\Z)")


def words_of(following: str) -> str:
    """What was said, without the commands to the client before it, the name of the file that it is about, and words of the client's own.

    Where it is commands alone, the last that tries something.
    """
    text, tried = following, ""
    while found := _BOOKKEEPING.match(text) or TRIES.match(text):
        tried = found[0] if TRIES.match(found[0]) else tried
        text = text[found.end() :]
    return _PLACE.sub("", find_instruction(text.strip() or tried.strip()), count=1)


def first_sentence(text: str) -> str:
    """Up to its end, at most 240 characters."""
    return _SENTENCE.split(text, maxsplit=1)[0][:OPENING]


def beginning(text: str) -> str:
    """Up to the end of the sentence with its third word: what comes first, an "ok" or a "hm" before it among it."""
    ends = (found.start() for found in _SENTENCE.finditer(text))
    return text[: next((end for end in ends if len(text[:end].split()) >= FEW_WORDS), len(text))]


@once
def opening(episode: Episode) -> str:
    """The first 240 characters of what the person said next, without commands to the client."""
    return words_of(episode.following[:LONGEST])[:OPENING]


def next_words(episode: Episode, at: int = 0) -> tuple[Evidence]:
    """The first line of what the person said next, or the one at the place, as evidence."""
    text = words_of(episode.following[:LONGEST]) or episode.following
    return quoted(text, len(episode.turns), at)


def said_next(episode: Episode) -> tuple[Evidence, ...]:
    """The beginning of what the person said next on one line, at most 120 characters; none where that is nothing, or commands to the client."""
    line = " ".join(words_of(episode.following[:LONGEST]).split())
    return (Evidence(shortened(line), len(episode.turns)),) if line else ()
