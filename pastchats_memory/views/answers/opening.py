"""Define the answers of `open` and `resume`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.episodes.resumption import Resumption
from pastchats_memory.views.answers.listing import Listing


class Opened(NamedTuple):
    """A source, and the editor's command that opens it."""

    path: str
    line: Annotated[int, {"minimum": 1}]
    command: Annotated[Sequence[str], "Program and arguments; empty if no editor is set."]


OPEN = Listing("open/1", "Output of `open --json`.", Opened)
RESUME = Listing("resume/1", "Output of `resume --json`.", Resumption)
