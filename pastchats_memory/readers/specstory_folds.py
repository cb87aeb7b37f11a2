"""What SpecStory's Markdown folds away: a tool's call with its output, an agent's thoughts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from pastchats_memory.readers.markdown import blocks, in_code
from pastchats_memory.readers.traffic import Call, call_of

THOUGHTS = "think"
TAGS = ("tool-use", THOUGHTS, "details")
"""Before `<tool-use>` came in, a tool was a `<details>` alone."""
SUMMARY_WITHIN = 3
"""Lines within which a `<details>` of a tool has its summary."""

_NAME = re.compile(r'data-tool-name="([^"\n]{1,80})"')
_SUMMARY = re.compile(r" {0,80}(?:<details>)?<summary>Tool use: \*\*([^*\n]{1,80})\*\*")
_UNFOLDED = re.compile(r"Tool use: \*\*([^*\n]{1,80})\*\*\s*\Z")
"""How some versions open a tool's section between two rules, with what it did below."""
RULE = "---"
ROLE = "_**"
"""How a role line begins."""
_BELOW = re.compile(
    r"(?:<details>)?(?:<summary>)?(?:Read|Edit|Write|Create|Delete|List)[a-z]{0,4} (?:file|directory): (?P<subject>\S[^<\n]{0,1000}?)(?:</summary>)?\s*\Z"
)
_INLINE = re.compile(r"`([^`\n]{1,4000})`\Z")
_TODO = re.compile(r"- \[([ xX⚡-])\] (?:[🔥🌡❄]\ufe0f? )?(\S.*)")
_TOLD = re.compile(r"• (?P<deed>[A-Z][a-z]+ [a-z]+): (?P<subject>\S.*)\Z")
"""What Cursor tells of a call behind its name: `• Run command: npm test`, `• Edit file: README.md`."""
RUN = "Run command"
SHELLS = ("bash", "sh", "shell", "zsh")
STATES = {" ": "pending", "x": "completed", "⚡": "in_progress", "-": "in_progress"}


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that are folded away."""

    start: int
    end: int
    """The last line."""
    tag: str


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
        if tag == "details" and not any(map(_summarised, lines[place : place + SUMMARY_WITHIN])):
            continue
        closing = bisect_left(closings[tag], place)
        if closing < len(closings[tag]):
            found.append(Fold(place, closings[tag][closing], tag))
    return found


def _sections(lines: Sequence[str]) -> dict[int, int]:
    """First and last line of every tool's section that stands unfolded below a rule or a role line, up to the next one."""
    opened = [place for place, line in enumerate(lines) if _UNFOLDED.match(line)]
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


def call_in(block: Sequence[str]) -> tuple[Call, str]:
    """The call of a tool's fold and what it answered: the command in the summary, as inline code or in a fence, the output in a fence."""
    summary, run, about = next(filter(None, map(_summarised, block[:SUMMARY_WITHIN])), ("", "", ""))
    fences = [(language, "\n".join(block[first + 1 : last])) for language, first, last in blocks(block)]
    typed = next((place for place, (language, _) in enumerate(fences) if language in SHELLS), None)
    inline = (found[1] for line in block[1:] if (found := _INLINE.match(line.strip())))
    below = (found["subject"] for line in block[1:] if (found := _BELOW.match(line)))
    command = fences.pop(typed)[1] if typed is not None else run or about or next(inline, "") or next(below, "")
    named = _NAME.search(block[0])
    shell = bool(run) or typed is not None or 'data-tool-type="shell"' in block[0]
    call = call_of(named[1] if named else summary or "tool", {"command" if shell else "path": command})
    return call, fences[-1][1] if fences else ""


def _summarised(line: str) -> tuple[str, str, str] | None:
    """The tool's name, and the command or else the file that a fold's summary tells, if it is one."""
    found = _SUMMARY.match(line) or _UNFOLDED.match(line)
    if found is None:
        return None
    rest = line[found.end() :].partition("</summary>")[0].strip()
    inline = _INLINE.match(rest)
    if inline:
        return found[1], inline[1], ""
    told = _TOLD.match(rest)
    deed, subject = (told["deed"], told["subject"]) if told else ("", "")
    return (found[1], subject, "") if deed == RUN else (found[1], "", subject)


def todos_in(block: Sequence[str]) -> list[object]:
    """The lines of a todo list as its tool was given them: the fold shows boxes, and signs for how urgent they are."""
    found = (_TODO.match(line) for line in block)
    return [{"content": box[2].rstrip(), "status": STATES[box[1].lower()]} for box in found if box]
