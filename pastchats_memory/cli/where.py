"""`where` and `handoff`: show where a session stopped, to its user and to another agent."""

import click

from pastchats_memory.cli.asking import CommandResult, ask_memory, list_found
from pastchats_memory.memory import Memory
from pastchats_memory.model.episodes import Packet
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.answers.opening import HANDOFF, WHERE
from pastchats_memory.views.packet import render_packet

UNKNOWN = "No session of this folder is known."


@ask_memory("where")
def command(memory: Memory) -> CommandResult:
    """Print where the last session in this folder stopped: its task, what is open, and which of its files have changed since.

    An agent gets the same at the start of a session, in at most 600 bytes.
    """
    return _show(WHERE, memory.where(), f"{UNKNOWN} `pastchats-memory timeline` lists those of others.")


@ask_memory("handoff")
@click.argument("id_", metavar="[ID]", required=False)
def handoff(memory: Memory, id_: str | None) -> CommandResult:
    """Print a page for another agent: task, decisions, refusals, files, last commands and what is open, each with its source.

    ID is a turn or a conversation; without it, the last session in this folder counts.
    """
    nothing = UNKNOWN if id_ is None else f"There is no conversation {escape_name(id_)}."
    return _show(HANDOFF, memory.handoff(id_), nothing)


def _show(listing: Listing[Packet], packet: Packet | None, nothing: str) -> CommandResult:
    found = [packet] if packet else []
    return list_found(listing, found, lambda: "".join(map(render_packet, found)), nothing)
