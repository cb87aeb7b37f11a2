"""Define the answer of `blame`, apart from the others, since its values load the formats."""

from collections.abc import Sequence
from typing import Any

from pastchats_memory.ingest.blame import Blamed
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.answers.search import ResumeLines

BLAME = Listing("blame/1", "Output of `blame --json`.", Blamed, "The newest first.")


def build_blame(found: Sequence[Blamed], resume_lines: ResumeLines) -> dict[str, Any]:
    """Build `blame/1`; the lines that resume a session have the ids of the turns that changed the file."""
    return BLAME.build([one._replace(resume=resume_lines.get(one.turn.shown_id)) for one in found])
