"""Choose the query for a prompt: the user's own words, without pastes and without text of programs."""

from __future__ import annotations

import re

from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.recall_block import strip_recall_blocks
from pastchats_memory.text.topics import measure_topic

LONGEST_QUERY = 1200
"""Characters; the model reads some 250 tokens, and a task is named at the start or at the end of a prompt."""
LEAST_TOPIC = 0.5
"""Topic that a prompt has to name; one that only steers the work needs no recall."""

_TAGGED = re.compile(r"<(?P<tag>[a-z][a-z_-]{2,40})(?: [^<>]{0,200})?>.*?(?:</(?P=tag)>|\Z)", re.DOTALL)
_REQUEST_MARK = re.compile(r"\A.*^#{1,6} My request\b[^\n]*\n", re.DOTALL | re.MULTILINE)
"""Everything up to the heading below which clients put what the person typed, under files and pages that they name."""
_COMMAND = re.compile(r"\A/[\w:.-]+(?=\s|\Z)")
"""A client's command; a path has a further slash."""
_SHELL_ESCAPE = re.compile(r"\s*!.*\Z")


def query_for(prompt: str) -> str | None:
    """Return what to recall for a prompt.

    None for one without a topic, a bare command of the client, a line for the shell, or only a paste.
    """
    text = _REQUEST_MARK.sub("", _TAGGED.sub(" ", strip_recall_blocks(prompt))).strip()
    if _SHELL_ESCAPE.match(text):
        return None
    text = " ".join(" ".join(split_paste(_COMMAND.sub("", text, count=1))).split())
    if len(text) > LONGEST_QUERY:
        text = f"{text[: LONGEST_QUERY * 2 // 3]} {text[-LONGEST_QUERY // 3 :]}"
    return text if measure_topic(text) >= LEAST_TOPIC else None
