"""Sections of a log that `codex exec` prints for people: a name above each; the first generation also prints a time."""

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.markdown_dialogue import Section

NAMES = (
    "user", "codex", "thinking", "exec", "file update", "file update:", "apply patch", "Plan update", "plan update", "tokens used",
)  # fmt: skip
NOTES = ("mcp: ", "mcp startup: ", "warning: ", "hook: ", "web search: ", "Reconnecting... ", "deprecated: ")
"""Beginnings of lines of the program itself, in any section."""
RULE = "--------"
ERROR = "ERROR: "
AFTER_ERROR = (ERROR, "Warning: ", "Reconnecting... ", "tokens used")
"""Beginnings of lines that may follow the final error of a run."""

_BEGINS = re.compile(r"(?:\[[\d:T-]{19}\] )?OpenAI Codex v\d")
_TIMED = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\] ")
"""The time before each heading of the first generation, in UTC."""
_LOGGED = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}Z +(?:ERROR|WARN|INFO) codex_")
"""Lines of the program's own log."""


def sections(lines: list[str]) -> Iterator[Section]:
    """Yield the sections of every run in order.

    A section has one of `NAMES`, `error` for the final error, or `""` for facts about the session. Text after a token
    count repeats the last answer.
    """
    first, is_timed = 0, False
    for place, line in enumerate(lines):
        if _BEGINS.match(line) and lines[place + 1 : place + 2] == [RULE]:
            yield from _sections_of_run(lines, first, place, is_timed=is_timed)
            first, is_timed = place, line.startswith("[")
    yield from _sections_of_run(lines, first, len(lines), is_timed=is_timed)


def _sections_of_run(lines: list[str], start: int, end: int, *, is_timed: bool) -> Iterator[Section]:
    """Yield the sections of one run, without text above the first one."""
    if not _BEGINS.match(lines[start]):
        return
    name, time, first, body = "", "", start, list[str]()
    stop = _find_error(lines, start, end)
    for place in range(start + 1, stop):
        line = lines[place]
        heading = _parse_timed_heading(line) if is_timed else _parse_heading(lines, place, name)
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


def _find_error(lines: list[str], start: int, end: int) -> int:
    found = end
    for place in range(end - 1, start, -1):
        line = _TIMED.sub("", lines[place])
        if line.startswith(ERROR):
            found = place
        elif line and not line.startswith(AFTER_ERROR):
            break
    return found


def _parse_heading(lines: list[str], place: int, current: str) -> tuple[str, str, str] | None:
    """Return the heading on a line: a name alone. `user` counts only below the rule."""
    line = lines[place]
    is_heading = line in NAMES and current != "tokens used" and (line != "user" or lines[place - 1] == RULE)
    return (line, "", "") if is_heading else None


def _parse_timed_heading(line: str) -> tuple[str, str, str] | None:
    """Return the heading on a line (`ended` for a result), its time, and the rest."""
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
