"""Define the answers of `open`, `resume`, `where` and `handoff`."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.episodes.resumption import Resumption
from pastchats_memory.model.episodes import Packet
from pastchats_memory.views.answers.listing import Listing


class Opened(NamedTuple):
    """A source, and the editor's command that opens it."""

    path: str
    line: Annotated[int, {"minimum": 1}]
    command: Annotated[Sequence[str], "Program and arguments; empty if no editor is set."]


OPEN = Listing("open/1", "Output of `open --json`.", Opened)
RESUME = Listing("resume/1", "Output of `resume --json`.", Resumption)
WHERE = Listing("where/1", "Output of `where --json`.", Packet, "The last session here; empty if none is known.")
HANDOFF = Listing("handoff/1", "Output of `handoff --json`.", Packet, "The session; empty if there is none.")
