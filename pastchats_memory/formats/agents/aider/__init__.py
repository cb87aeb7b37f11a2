"""aider: chat histories, and histories of what was typed."""

from __future__ import annotations

from pastchats_memory.formats.agents.aider.reader import matches, read
from pastchats_memory.formats.base.format import CERTAIN, Format, confident

AIDER = Format(
    name="aider",
    version=13,
    detect=confident(matches, CERTAIN),
    read=read,
    verified="0.86.2, 2026-11",
)
