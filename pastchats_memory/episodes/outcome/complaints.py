"""What says in a few words that all is as it was: "still 500", "no, same error"."""

from __future__ import annotations

import re

from pastchats_memory.episodes.outcome.episode import Pattern
from pastchats_memory.episodes.outcome.requests import is_request

_PERSISTS = Pattern(
    r"""
    \W*(?:(?:no|nope|nah|hm+|ok|but|sorry|and)\b\W*){0,2}
    (?:it(?:['’]s|\ is)?\s|that(?:['’]s|\ is)?\s|this\s|i\s|(?:i\s)?(?:get|see)\s)?(?:is\s)?(?:the\s|exactly\s)*
    (?:
        still\b(?!,|\s(?:prefer|like|love|need|want|have|work|pass|fine|good|green|ok|to\b|think))
        |same\b(?!,|\s(?:for|with|in|as|to|way))
    )[^.!?\n]{0,60}(?:[.!\n]|\Z)"""
)
_CLAUSE = re.compile(r"[,;:–—]\s")
_PLEASE = Pattern(r"\b(?:please|pls|plz)\b")
_OF_FAULT = Pattern(r"\b(?:fix|check|look|see|try|retry|debug|investigate|find|again)\b")
"""What is asked for in a complaint, rather than beside it: nothing new."""


def is_complaint(text: str) -> bool:
    """Whether it begins by saying that all is as it was, and asks for nothing new in that sentence."""
    said = _PERSISTS.match(text)
    return said is not None and not any(map(_is_new, _CLAUSE.split(said[0])))


def _is_new(clause: str) -> bool:
    return bool(_PLEASE.search(clause) or is_request(clause)) and not _OF_FAULT.search(clause)
