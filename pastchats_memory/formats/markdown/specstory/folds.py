"""Find what SpecStory's Markdown folds away: tool calls with their output, and an agent's thoughts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise

from pastchats_memory.formats.base.markdown import blocks, in_code

THOUGHTS = "think"
TAGS = ("tool-use", THOUGHTS, "details")
"""Before `<tool-use>` came in, a tool was a `<details>` alone."""
RULE = "---"
SUMMARY_WITHIN = 3
"""Lines within which a `<details>` of a tool has its summary."""

_SUMMARY = re.compile(r" {0,80}(?:<details>)?<summary>Tool use: \*\*([^*\n]{1,80})\*\*")
_UNFOLDED = re.compile(r"Tool use: \*\*([^*\n]{1,80})\*\*(?= |\s*\Z)")
"""How some versions open a tool's section between two rules or below a role line, with what it did below."""
TASKS = "**Agent task list:**"
"""All that the first version tells of a call that keeps a list of what is to be done."""
LISTING, RUNS, EDITS, LOOKS = "TodoWrite", "run_terminal_cmd", "edit_file", "read_file"
"""What tools are called that have no name there: as Claude Code and Cursor call them."""
TICKER, UNNAMED = "ticker", "section"
"""Tags of a line that tells of a call, and of what stands unnamed between two rules: the words of a person where a person speaks."""
_TICKED = re.compile(r"(?:\[object Object\])*(Read|Edited|Created|Searched|Listed) (?:file|files|directory): \S")
"""What earlier versions write where an agent used a tool."""
_COUNTED = re.compile(r" {0,80}<summary>(Listed|Searched|Grep search|Codebase search) [^\n]{0,2000}</summary>\s*\Z")
"""A search or a list of files, in versions that name no tool."""
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
    name: str = ""
    """Of the tool, where the lines do not tell it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is shown of a tool's call while it is folded away."""

    name: str
    below: int
    """The first line of the fold behind it, which a command of several lines may move."""
    command: str = ""
    subject: str = ""
    """What the call was about, a command too where the agent's fold does not say that it is one."""


def find_folds(lines: Sequence[str]) -> list[Fold]:
    """All of them, in order; an element that is never closed folds nothing, one that is no tool's and no thoughts is text."""
    closings = {tag: [place for place, line in enumerate(lines) if line.rstrip().endswith(f"</{tag}>")] for tag in TAGS}
    found: list[Fold] = []
    code = in_code(lines)
    sections = {fold.start: fold for fold in _find_sections(lines, code)}
    for place, line in enumerate(lines):
        tag = next((tag for tag in TAGS if line.startswith((f"<{tag} ", f"<{tag}>"))), None)
        if found and place <= found[-1].end:
            continue
        if section := sections.get(place):
            found.append(section)
        elif not code[place] and (ticked := _TICKED.match(line)):
            found.append(Fold(place, place, TICKER, EDITS if ticked[1] in ("Edited", "Created") else LOOKS))
        if tag is None:
            continue
        if tag == "details" and not any(_parse_summary_line(line, 0) for line in lines[place : place + SUMMARY_WITHIN]):
            continue
        closing = bisect_left(closings[tag], place)
        if closing < len(closings[tag]):
            found.append(Fold(place, closings[tag][closing], tag))
    return found


def _find_sections(lines: Sequence[str], code: Sequence[bool]) -> Iterator[Fold]:
    """The tools' sections that stand unfolded between two rules or below a role line, up to the next one."""
    rims = [at for at, line in enumerate(lines) if not code[at] and (line.rstrip() == RULE or line.startswith(ROLE))]
    names_tools = any(_SUMMARY.match(line) or _UNFOLDED.match(line) for line in lines)
    for rim, after in pairwise([-1, *rims, len(lines)]):
        place = next((at for at in range(rim + 1, after) if lines[at].strip()), after)
        if place == after:
            continue
        if _UNFOLDED.match(lines[place]):
            yield Fold(place, after - 1, TAGS[0])
        elif lines[place].rstrip() == TASKS:
            yield Fold(place, after - 1, TAGS[0], LISTING)
        elif not names_tools and (name := _name_unnamed(lines[place:after])):
            yield Fold(place, after - 1, UNNAMED, name)


def _name_unnamed(section: Sequence[str]) -> str:
    """A name for the tool of a section of the first versions, which name none: a command with its output, or changes, and nothing else."""
    fences = list(blocks(section))
    languages = [language for language, _, _ in fences]
    fenced = sum(last - first + 1 for _, first, last in fences)
    if fenced != sum(1 for line in section if line.strip()) + _count_blank_within(section, fences):
        return ""
    if languages == ["bash", ""]:
        return RUNS
    return EDITS if languages and set(languages) == {"diff"} else ""


def _count_blank_within(section: Sequence[str], fences: Sequence[tuple[str, int, int]]) -> int:
    return sum(1 for _, first, last in fences for line in section[first : last + 1] if not line.strip())


def parse_summary(block: Sequence[str]) -> Summary:
    """The summary of a tool's fold; nothing of one that has none within its first lines."""
    for place, line in enumerate(block[:SUMMARY_WITHIN]):
        if summary := _parse_summary_line(line, place + 1):
            closed = (at for at, below in enumerate(block[place:], place + 1) if "</summary>" in below)
            return summary if _UNFOLDED.match(line) else replace(summary, below=next(closed, place + 1))
    return Summary("", below=int(block[0].startswith("<")))


def _parse_summary_line(line: str, below: int) -> Summary | None:
    found = _SUMMARY.match(line) or _UNFOLDED.match(line)
    if found is None:
        return Summary(LOOKS, below) if _COUNTED.match(line) else None
    rest = line[found.end() :].partition("</summary>")[0].strip()
    if len(rest) > 2 and rest[0] == rest[-1] == "`":  # noqa: PLR2004 - both marks and something
        return Summary(found[1], below, subject=rest[1:-1])
    told = _TOLD.match(rest)
    if told is None:
        return Summary(found[1], below)
    is_command = told["deed"] == RUN
    subject = unescape(told["subject"])
    return Summary(found[1], below, command=subject if is_command else "", subject="" if is_command else subject)


def parse_todos(block: Sequence[str]) -> list[object]:
    """The lines of a todo list as its tool was given them: the fold shows boxes, and signs for how urgent they are."""
    found = (_TODO.match(line) for line in block)
    return [{"content": box[2].rstrip(), "status": STATES[box[1].lower()]} for box in found if box]
