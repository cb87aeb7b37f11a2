"""Answer the start of a session: what the memory holds, where the last session stopped, what a compaction lost.

Every function raises MemoryFault if the database or the configuration cannot be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, load
from pastchats_memory.files.project import project_at
from pastchats_memory.hooks import session
from pastchats_memory.hooks.state import find_state
from pastchats_memory.recall.packet import AFTER_COMPACTION, build_packet, find_last_packet, fit_packet
from pastchats_memory.store import task_rows, turns
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.recall_block import RECALL_PREAMBLE
from pastchats_memory.views.packet import render_packet

if TYPE_CHECKING:
    from pastchats_memory.formats.base.format import Format
    from pastchats_memory.hooks.event import HookEvent
    from pastchats_memory.model.episodes import Packet

WHERE = "where"
"""Key under which a session claims the packet of the session before it."""


def greet(event: HookEvent, database: str | None, format_: Format) -> str | None:
    """Return the context for the start of a session; None if the memory is empty.

    After a compaction it is the packet of the session itself. At any other start it is a line about the memory and the command
    that asks it, with where the last session here stopped.
    """
    if (state := find_state(database)) is not None:
        session.forget_old(state)
    config = load(database, here=event.here)
    with open_database(config.database, create=False, vec0=False) as opened, opened.snapshot():
        if event.source == "compact":
            packet = _find_lost(opened, event, format_, config)
            return f"{RECALL_PREAMBLE}\n{render_packet(packet)}" if packet else None
        count = turns.count(opened)
        packet = _find_where(opened, event, None if event.source == "resume" else event.session)
    if not count:
        return None
    line = (
        f"pastchats-memory holds {count:,} turns of earlier conversations on this machine. "
        "Before new work: pastchats-memory recall 'the task in a few words' (one item whole: pastchats-memory show ID)."
    )
    is_new = packet is not None and session.claim_once(state, event.session, WHERE)
    return f"{line}\n{render_packet(packet)}" if packet and is_new else line


def recall_where(event: HookEvent, database: str | None) -> str | None:
    """Return where the last session here stopped, for the first prompt of a session that has not got it yet."""
    config = load(database, here=event.here)
    with open_database(config.database, create=False, vec0=False) as opened, opened.snapshot():
        if event.session and turns.count_turns(opened, utf8(event.session)):
            return None
        packet = _find_where(opened, event, event.session)
    is_new = packet is not None and session.claim_once(find_state(database), event.session, WHERE)
    return render_packet(packet) if packet and is_new else None


def _find_lost(opened: Database, event: HookEvent, format_: Format, config: Config) -> Packet | None:
    """Return the packet of the session that was compacted; None if nothing of it may be read."""
    from pastchats_memory.hooks.transcript import read_session

    rows = read_session(opened, event, format_, config)
    if not rows or event.session is None:
        return None
    packet = build_packet(rows, task_rows.of_conversation(opened, utf8(event.session)), "compaction")
    return fit_packet(packet, AFTER_COMPACTION - len(RECALL_PREAMBLE) - 1)


def _find_where(opened: Database, event: HookEvent, not_conversation: str | None) -> Packet | None:
    if not event.cwd:
        return None
    project = utf8(project_at(event.cwd))
    return find_last_packet(opened, project, Path(event.cwd), not_conversation and utf8(not_conversation))
