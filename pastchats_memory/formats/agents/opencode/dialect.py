"""OpenCode's own spellings of errors between agent and client, and of refusals."""

from __future__ import annotations

from pastchats_memory.formats.base.dialect import COMMON, Dialect, read_spellings

_WORDS = read_spellings(__file__)
DIALECT = COMMON | Dialect(
    noise=_WORDS["noise"],
    refused=_WORDS["refused"],
    reasons=_WORDS["reasons"],
)  # fmt: skip
