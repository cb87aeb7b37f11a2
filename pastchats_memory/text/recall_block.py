"""Our own recall blocks, known again where they come back inside transcripts: they were said by us, not by anybody there.

A block may come back as it was, quoted, indented, with line numbers, HTML-escaped, or as one line of escaped JSON.
"""

from __future__ import annotations

import re

from pastchats_memory.model import RECALL_HEADING, RECALL_PREAMBLE

_BREAK = re.compile(r"\r?\n|\\{1,15}n")
"""The end of a line, as it is or as JSON in JSON writes it."""
_MARGIN = re.compile(r"(?:[ \t|]|\\{1,15}t|\d{1,6}[→:|\t]|>|&(?:amp;){0,3}gt;)*")
"""What a quotation, an indentation or a listing puts before a line."""
_QUOTES = re.compile(r"[ \t|\d→:]*+(?:>|&(?:amp;){0,3}gt;)")
_MARGIN_ONLY = re.compile(r"\\{1,15}[nrt]|\d{1,6}[→:]|[\s|>]")
"""Breaks and rims, without which something is left where anything was said."""
_LABEL = re.compile(
    r"Query: |## \d{1,3}\. |Outcome: |Asked:|Task:|Answered:|Note:|Did:|Done:|Failed before:|Worked later:|Superseded by:|Evidence:"
    r"|(Source: |More: )|Nothing found|There are memories"
)
"""With what a line of a block begins that is no quotation; behind some nothing of their entry follows."""


def strip_recall_blocks(text: str) -> str:
    """The text without every recall block that it quotes; empty where there was nothing else."""
    if RECALL_HEADING not in text:
        return text
    kept: list[str] = []
    end = 0
    at = text.find(RECALL_HEADING)
    while at >= 0:
        block_end = _find_block_end(text, at + len(RECALL_HEADING))
        if block_end is not None:
            kept.append(_strip_introduction(text[end:at]))
            end = block_end
        at = text.find(RECALL_HEADING, max(end, at + 1))
    if not kept:
        return text
    left = "".join((*kept, text[end:])).strip()
    return left if _MARGIN_ONLY.sub("", left) else ""


def _find_block_end(text: str, start: int) -> int | None:
    """Where the block ends whose heading ends at `start`; None where the heading is only mentioned.

    Lines of a block are known by their labels and by the quotation marks that fence whatever was recalled. What is quoted
    behind an entry's last label is somebody else's.
    """
    end = start
    labels = 0
    is_open = False
    first = _BREAK.match(text, start)
    if first is None:
        return None
    at = first.end()
    while at <= len(text):
        following = _BREAK.search(text, at)
        stop = following.start() if following else len(text)
        rim = _MARGIN.match(text, at, stop)
        content = rim.end() if rim else at
        if label := _LABEL.match(text, content):
            labels += 1
            is_open = label[1] is None
            end = stop
        elif content < stop:
            if not _QUOTES.match(text, at, stop):
                break
            end = stop if is_open else end
        if following is None:
            break
        at = following.end()
    return end if labels else None


def _strip_introduction(text: str) -> str:
    """What stands before a heading, without the heading's own rim and the line with which a hook introduces a block."""
    line = max(text.rfind("\n"), text.rfind("\\n") + 1) + 1
    if not text[line:].strip(" \t|>→:0123456789&gtamp;"):
        text = text[:line]
    at = text.rfind(RECALL_PREAMBLE)
    if at >= 0 and not re.sub(r"(?<!\\)\\+n|[\s>|→\d]", "", text[at + len(RECALL_PREAMBLE) :]):
        text = text[:at]
    return text
