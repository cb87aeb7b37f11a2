"""Find what SpecStory's Markdown folds away: tool calls with their output, and an agent's thoughts."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise

from pastchats_memory.formats.base.markdown import blocks, find_line, in_code

THOUGHTS = "think"
TAGS = ("tool-use", THOUGHTS, "details")
"""Before `<tool-use>` was introduced, a tool was a `<details>` alone."""
_OPENINGS = ("<tool-use", "<think")
RULE, FENCE = "---", "```"
SUMMARY_WITHIN = 3
"""Lines within which a tool's `<details>` has its summary."""

_SUMMARY = re.compile(r" {0,80}(?:<details>)?<summary>Tool use: \*\*([^*\n]{1,80})\*\*")
_UNFOLDED = re.compile(r"Tool use: \*\*([^*\n]{1,80})\*\*(?= |\s*\Z)")
"""The first line of an unfolded tool section, between two rules or below a role line."""
TASKS = "**Agent task list:**"
"""The first version's only line about a call of a todo tool."""
LISTING, RUNS, EDITS, LOOKS = "TodoWrite", "run_terminal_cmd", "edit_file", "read_file"
"""Names for tools that a file does not name, in the spelling of Claude Code and Cursor."""
TICKER, UNNAMED = "ticker", "section"
"""Tags of a line about a call, and of an unnamed section between two rules; under a user both are the user's words."""
_TICKED = re.compile(r"(?:\[object Object\])*(Read|Edited|Created|Searched|Listed) (?:file|files|directory): \S")
"""The line of earlier versions about a tool call."""
_COUNTED = re.compile(r" {0,80}<summary>(Listed|Searched|Grep search|Codebase search) [^\n]{0,2000}</summary>\s*\Z")
"""A search or a list of files, in versions that name no tool."""
ROLE = "_**"
"""The beginning of a role line."""
_TODO = re.compile(r"- \[([ xX⚡-])\] (?:[🔥🌡❄]\ufe0f? )?(\S.*)")
_ACTION = re.compile(r"• (?P<verb>[A-Z][a-z]+ [a-z]+(?::| for)) (?P<subject>\S.*)\Z")
"""Cursor's words behind a tool's name: `• Run command: npm test`, `• Edit file: README.md`, `• Apply patch for README.md`."""
RUN = "Run command:"
STATES = {" ": "pending", "x": "completed", "⚡": "in_progress", "-": "in_progress"}


@dataclass(frozen=True, slots=True)
class Fold:
    """Folded lines."""

    start: int
    end: int
    """The last line."""
    tag: str
    name: str = ""
    """The name of the tool, if its lines have none."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The visible line of a folded tool call."""

    name: str
    below: int
    """The first line of the fold behind it, after a command of several lines."""
    command: str = ""
    subject: str = ""
    """The subject of the call; also a command, if the agent's fold does not label it as one."""


def find_folds(lines: Sequence[str]) -> list[Fold]:
    """Return the folds in order. An element without an end, or without a tool or thoughts, is text."""
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
            end = closings[tag][closing]
            found.append(Fold(place, _end_of_fence_below(lines, end) if tag == TAGS[0] else end, tag))
    return found


def _end_of_fence_below(lines: Sequence[str], end: int) -> int:
    """Return the last line of a fence right below a fold, with what the tool answered; without one, `end`."""
    if lines[end + 1 : end + 2] != [FENCE]:
        return end
    following = find_line(lines, lambda line: line.startswith((ROLE, *_OPENINGS)), end + 1)
    return max(place for place in range(end, following) if place == end or lines[place] == FENCE)


def _find_sections(lines: Sequence[str], code: Sequence[bool]) -> Iterator[Fold]:
    """Yield the unfolded tool sections between two rules or below a role line, up to the next one."""
    rims = [at for at, line in enumerate(lines) if not code[at] and (line.rstrip() == RULE or line.startswith(ROLE))]
    names_tools = any(_SUMMARY.match(line) or _UNFOLDED.match(line) for line in lines)
    for rim, after in pairwise([-1, *rims, len(lines)]):
        place = find_line(lines, str.strip, rim + 1, after)
        if place == after:
            continue
        if _UNFOLDED.match(lines[place]):
            yield Fold(place, after - 1, TAGS[0])
        elif lines[place].rstrip() == TASKS:
            yield Fold(place, after - 1, TAGS[0], LISTING)
        elif not names_tools and (name := _name_unnamed(lines[place:after])):
            yield Fold(place, after - 1, UNNAMED, name)


def _name_unnamed(section: Sequence[str]) -> str:
    """Return a tool name for a section of the first versions: only a command with its output, or only changes; else ""."""
    fences = list(blocks(section))
    fenced = {place for _, first, last in fences for place in range(first, last + 1)}
    if any(line.strip() for place, line in enumerate(section) if place not in fenced):
        return ""
    languages = [language for language, _, _ in fences]
    if languages == ["bash", ""]:
        return RUNS
    return EDITS if languages and set(languages) == {"diff"} else ""


def parse_summary(block: Sequence[str]) -> Summary:
    """Return the summary of a tool's fold; an empty one if its first lines have none."""
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
    action = _ACTION.match(rest)
    if action is None:
        return Summary(found[1], below)
    is_command = action["verb"] == RUN
    subject = unescape(action["subject"])
    return Summary(found[1], below, command=subject if is_command else "", subject="" if is_command else subject)


def parse_todos(block: Sequence[str]) -> list[object]:
    """Return the lines of a todo list as the input of its tool: boxes show the states, signs the priority."""
    found = (_TODO.match(line) for line in block)
    return [{"content": box[2].rstrip(), "status": STATES[box[1].lower()]} for box in found if box]
