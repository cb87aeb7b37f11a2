"""aider: chat histories, and histories of what was typed."""

from pastchats_memory.formats.agents.aider.reader import matches, read
from pastchats_memory.formats.base.format import CERTAIN, Format, confident
from pastchats_memory.formats.base.locations import places

HISTORY = ".aider.chat.history.md"
PARENTS = (
    "[Cc]ode", "[Pp]rojects", "[Ss]rc", "[Dd]ev", "[Ww]ork", "[Rr]epos", "[Gg]it*", "[Ww]orkspace", "[Dd]ocuments",
)  # fmt: skip
"""Usual names of folders in the home that hold repositories."""
PLACES = ("", "*/", *(f"{name}/{below}/" for name in PARENTS for below in ("*", "*/*")))
"""The home, its folders, and repositories up to two folders below the usual ones."""

AIDER = Format(
    name="aider",
    version=14,
    detect=confident(matches, CERTAIN),
    read=read,
    locations=places(*(f"{{home}}/{place}{HISTORY}" for place in PLACES)),
)
