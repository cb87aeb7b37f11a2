"""Cline and related extensions: Roo Code, Kilo Code, and the command line's agent."""

from collections.abc import Collection, Iterator
from pathlib import Path

from pastchats_memory.formats.agents.cline.reader import FOCUS_CHAIN, NAMES, matches, read
from pastchats_memory.formats.base.format import CERTAIN, Companions, Format, confident
from pastchats_memory.formats.base.locations import Environment


def hidden_in(_folder: str, names: Collection[str]) -> Collection[str]:
    """Return the lists of a task's steps, which are read with the task."""
    return [name for name in names if name.startswith(FOCUS_CHAIN)] if any(name in NAMES for name in names) else ()


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the command line's sessions."""
    data = environment.folder("CLINE_DATA_DIR", environment.folder("CLINE_DIR", environment.home / ".cline") / "data")
    yield environment.folder("CLINE_SESSION_DATA_DIR", data / "sessions")


CLINE = Format(
    name="cline",
    version=13,
    detect=confident(matches, CERTAIN),
    read=read,
    program="Cline, Roo Code, Kilo Code",
    locations=locations,
    companions=Companions(hidden_in=hidden_in),
)
