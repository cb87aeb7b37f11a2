"""Sections of a log that `codex exec` prints for people: a name above each; the first generation also prints a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

NAMES = (
    "user", "codex", "thinking", "exec", "file update", "file update:", "apply patch", "Plan update", "plan update", "tokens used",
)  # fmt: skip
NOTES = ("mcp: ", "mcp startup: ", "warning: ", "hook: ", "web search: ", "Reconnecting... ", "deprecated: ")
"""How lines begin that are nobody's words, wherever they stand."""
RULE = "--------"
ERROR = "ERROR: "
AFTER_ERROR = (ERROR, "Warning: ", "Reconnecting... ", "tokens used")
"""How the lines begin that may follow the error with which a run ended."""

_BEGINS = re.compile(r"(?:\[[\d:T-]{19}\] )?OpenAI Codex v\d")
_TIMED = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\] ")
"""Before each heading of the first generation, in universal time."""
_LOGGED = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}Z +(?:ERROR|WARN|INFO) codex_")
"""What the program logs for its makers."""


class Section(NamedTuple):
    """What stands under a heading."""

    name: str
    """Of `NAMES`, `error` for the error with which a run ended, or `""` for what is said of the session."""
    line: int
    text: str
    time: str = ""


def sections(lines: list[str]) -> Iterator[Section]:
    """Those of every run, in order; what is printed behind a count of tokens is the last answer once more."""
    first, is_timed = 0, False
    for place, line in enumerate(lines):
        if _BEGINS.match(line) and lines[place + 1 : place + 2] == [RULE]:
            yield from _run(lines, first, place, is_timed=is_timed)
            first, is_timed = place, line.startswith("[")
    yield from _run(lines, first, len(lines), is_timed=is_timed)


def _run(lines: list[str], start: int, end: int, *, is_timed: bool) -> Iterator[Section]:
    """The sections of one run; what stands above the first one is none."""
    if not _BEGINS.match(lines[start]):
        return
    name, time, first, body = "", "", start, list[str]()
    stop = _error(lines, start, end)
    for place in range(start + 1, stop):
        line = lines[place]
        heading = _timed(line) if is_timed else _named(lines, place, name)
        if heading:
            yield Section(name, first + 1, "\n".join(body).rstrip(), time)
            name, time, first = heading[0], heading[1], place
            body = [heading[2]] if heading[2] else []
        elif (body or line) and not line.startswith(NOTES) and not _LOGGED.match(line):
            first = first if body else place
            body.append(line)
    yield Section(name, first + 1, "\n".join(body).rstrip(), time)
    if stop < end:
        yield Section("error", stop + 1, _TIMED.sub("", lines[stop]).removeprefix(ERROR))


def _error(lines: list[str], start: int, end: int) -> int:
    """Where the error stands with which the run ended; its end without any."""
    found = end
    for place in range(end - 1, start, -1):
        line = _TIMED.sub("", lines[place])
        if line.startswith(ERROR):
            found = place
        elif line and not line.startswith(AFTER_ERROR):
            break
    return found


def _named(lines: list[str], place: int, current: str) -> tuple[str, str, str] | None:
    """The heading that the line is: a name alone; the person's words only come below the rule."""
    line = lines[place]
    is_heading = line in NAMES and current != "tokens used" and (line != "user" or lines[place - 1] == RULE)
    return (line, "", "") if is_heading else None


def _timed(line: str) -> tuple[str, str, str] | None:
    """The heading that the line is, its time, and what else stands on it; what is done has no name of its own but how it ended."""
    found = _TIMED.match(line)
    if found is None:
        return None
    time, rest = f"{found[1]}Z", line[found.end() :]
    if rest == "User instructions:":
        return ("user", time, "")
    if rest.startswith("exec "):
        return ("called", time, rest.removeprefix("exec "))
    if rest.startswith("apply_patch auto_approved="):
        return ("file update", time, "")
    return (rest, time, "") if rest in NAMES else ("ended", time, rest)
