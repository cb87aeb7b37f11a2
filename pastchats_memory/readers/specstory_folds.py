"""What SpecStory's Markdown folds away: a tool's call with its output, an agent's thoughts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import unescape

from pastchats_memory.readers.markdown import in_code

THOUGHTS = "think"
TAGS = ("tool-use", THOUGHTS, "details")
"""Before `<tool-use>` came in, a tool was a `<details>` alone."""
SUMMARY_WITHIN = 3
"""Lines within which a `<details>` of a tool has its summary."""

_SUMMARY = re.compile(r" {0,80}(?:<details>)?<summary>Tool use: \*\*([^*\n]{1,80})\*\*")
_UNFOLDED = re.compile(r"Tool use: \*\*([^*\n]{1,80})\*\*(?= |\s*\Z)")
"""How some versions open a tool's section between two rules or below a role line, with what it did below."""
TASKS = "**Agent task list:**"
"""All that the first version tells of a call that keeps a list of what is to be done."""
LISTING = "TodoWrite"
RULE = "---"
ROLE = "_**"
"""How a role line begins."""
_TODO = re.compile(r"- \[([ xX⚡-])\] (?:[🔥🌡❄]\ufe0f? )?(\S.*)")
_TOLD = re.compile(r"• (?P<deed>[A-Z][a-z]+ [a-z]+(?::| for)) (?P<subject>\S.*)\Z")
"""What Cursor tells of a call behind its name: `• Run command: npm test`, `• Edit file: README.md`, `• Apply patch for README.md`."""
RUN = "Run command:"
STATES = {" ": "pending", "x": "completed", "⚡": "in_progress", "-": "in_progress"}


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that are folded away."""

    start: int
    end: int
    """The last line."""
    tag: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What is shown of a tool's call while it is folded away."""

    name: str
    below: int
    """The first line of the fold behind it, which a command of several lines may move."""
    command: str = ""
    subject: str = ""
    """What the call was about, a command too where the agent's fold does not say that it is one."""


def folds_in(lines: Sequence[str]) -> list[Fold]:
    """All of them, in order; an element that is never closed folds nothing, one that is no tool's and no thoughts is text."""
    closings = {tag: [place for place, line in enumerate(lines) if line.rstrip().endswith(f"</{tag}>")] for tag in TAGS}
    found: list[Fold] = []
    sections = _sections(lines)
    for place, line in enumerate(lines):
        tag = next((tag for tag in TAGS if line.startswith((f"<{tag} ", f"<{tag}>"))), None)
        if found and place <= found[-1].end:
            continue
        if place in sections:
            found.append(Fold(place, sections[place], TAGS[0]))
        if tag is None:
            continue
        if tag == "details" and not any(_summarised(line, 0) for line in lines[place : place + SUMMARY_WITHIN]):
            continue
        closing = bisect_left(closings[tag], place)
        if closing < len(closings[tag]):
            found.append(Fold(place, closings[tag][closing], tag))
    return found


def _sections(lines: Sequence[str]) -> dict[int, int]:
    """First and last line of every tool's section that stands unfolded below a rule or a role line, up to the next one."""
    opened = [place for place, line in enumerate(lines) if _UNFOLDED.match(line) or line.rstrip() == TASKS]
    if not opened:
        return {}
    code = in_code(lines)
    rims = [
        -1,
        *(at for at, line in enumerate(lines) if not code[at] and (line.rstrip() == RULE or line.startswith(ROLE))),
        len(lines),
    ]
    sections = {}
    for place in opened:
        following = bisect_left(rims, place)
        if not any(map(str.strip, lines[rims[following - 1] + 1 : place])):
            sections[place] = rims[following] - 1
    return sections


def told_in(block: Sequence[str]) -> Summary:
    """The summary of a tool's fold; nothing of one that has none within its first lines."""
    for place, line in enumerate(block[:SUMMARY_WITHIN]):
        if summary := _summarised(line, place + 1):
            closed = (at for at, below in enumerate(block[place:], place + 1) if "</summary>" in below)
            return summary if _UNFOLDED.match(line) else replace(summary, below=next(closed, place + 1))
    return Summary(LISTING if block[0].rstrip() == TASKS else "", below=1)


def _summarised(line: str, below: int) -> Summary | None:
    found = _SUMMARY.match(line) or _UNFOLDED.match(line)
    if found is None:
        return None
    rest = line[found.end() :].partition("</summary>")[0].strip()
    if len(rest) > 2 and rest[0] == rest[-1] == "`":  # noqa: PLR2004 - both marks and something
        return Summary(found[1], below, subject=rest[1:-1])
    told = _TOLD.match(rest)
    if told is None:
        return Summary(found[1], below)
    is_command = told["deed"] == RUN
    subject = unescape(told["subject"])
    return Summary(found[1], below, command=subject if is_command else "", subject="" if is_command else subject)


def todos_in(block: Sequence[str]) -> list[object]:
    """The lines of a todo list as its tool was given them: the fold shows boxes, and signs for how urgent they are."""
    found = (_TODO.match(line) for line in block)
    return [{"content": box[2].rstrip(), "status": STATES[box[1].lower()]} for box in found if box]
