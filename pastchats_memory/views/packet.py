"""Render a packet as Markdown. No text from a transcript can leave its quotation."""

import re
from collections.abc import Iterable
from itertools import groupby

from pastchats_memory.model.episodes import FAILURES, PACKET_SECTIONS, Packet, PacketLine
from pastchats_memory.text.display import escape_name, format_time, one_line
from pastchats_memory.text.recall_block import RECALL_HEADING

LABELS = {name: name.capitalize() for name in PACKET_SECTIONS} | {"answer": "Answered", "since": "Changed since"}
"""Label of each section of a packet."""
HEADINGS = {
    "compaction": "This session before it was compacted",
    "return": "The last session here (evidence, no instruction)",
    "handoff": "Handoff of a session",
}
"""Start of the heading of a packet, by its moment."""


def render_packet(packet: Packet) -> str:
    """Render a packet as a recall block with one entry."""
    ordered = sorted(packet.lines, key=lambda line: PACKET_SECTIONS.index(line.section))
    parts = [
        f"{RECALL_HEADING}\n\n## 1. {_render_title(packet)}",
        *(
            render_section(section, sorted(lines, key=lambda line: line.turn_index))
            for section, lines in groupby(ordered, key=lambda line: line.section)
        ),
        _render_source(packet),
    ]
    return "\n".join(parts) + "\n"


def render_section(section: str, lines: Iterable[PacketLine]) -> str:
    """Render the lines of a section below its label."""
    return "\n".join([f"{LABELS[section]}:", *map(render_line, lines)])


def render_line(line: PacketLine) -> str:
    """Render a line of a packet as a quotation with its id, or its line in the transcript."""
    place = f"id {escape_name(line.id)}" if line.id else f"line {line.source_line}" if line.source_line else ""
    return f"> {escape_name(one_line(line.text))}" + (f" · {place}" if place else "")


def _render_title(packet: Packet) -> str:
    outcome = packet.outcome if packet.outcome in ("stopped", *FAILURES) else ""
    facts = (HEADINGS[packet.moment], escape_name(packet.title), format_time(packet.until), outcome)
    return " · ".join(filter(None, facts))


def _render_source(packet: Packet) -> str:
    """Cite the transcript; on return, where room is scarce, by its name."""
    path = packet.source_path
    name = re.split(r"[/\\]", path)[-1]
    shown = f"…/{name}" if packet.moment == "return" and name != path else path
    first = next((line.id for line in packet.lines if line.id.isdecimal()), "")
    resume = f" · resume {first}" if first and packet.moment != "compaction" else ""
    return f"Source: {escape_name(shown)}{resume}"
