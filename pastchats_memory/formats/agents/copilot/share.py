"""Sessions that Copilot CLI shares as Markdown: a section for each message and each call.

A section starts with the time since the start of the session, in small print, and a heading: a role, or a tool's name as
code. A line quoted from another shared session is in a fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.base.markdown import blocks, in_code
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile, value_of
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc, parse_handwritten, to_the_minute

_TITLE = re.compile(r"\s*#\s+(?:[^\w\s]{1,8}\s*)?Copilot CLI Session\s*$", re.MULTILINE)
_FACT = re.compile(r"> - \*\*(Session ID|Started):\*\* `?([^`\n]{1,100}?)`?\s*\Z")
_SINCE = re.compile(r"<sub>\W{0,8}(?:(\d{1,4})h )?(?:(\d{1,4})m )?(\d{1,6})s</sub>\s*\Z")
_HEADING = re.compile(r"###\s+(?P<sign>[^\w\s`]{1,8}\s+)?(?:`(?P<tool>[^`\n]{1,100})`|(?P<who>\w[\w ]{0,40}))\s*\Z")
_RULE = "---"
_FAILED = "❌"
_FENCE = "```"
_COMMAND = "$ "
_MARKUP = ("**", "<")
"""Beginnings of lines of a call that are not its subject: description, folds."""
_EXIT = re.compile(r"<(?:shellId: \S{1,40} completed|exited) with exit code (-?\d{1,9})>\s*\Z")
_ARGUMENTS = "Arguments</summary>"
_DAY = 10
"""The length of the date in a time."""


def matches_share(source: SourceFile) -> bool:
    """Return whether a file begins like a shared session, with its id."""
    return source.shape == "markdown" and _TITLE.match(source.head) is not None and "**Session ID:**" in source.head


def read_share(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """Yield the turns in file order, and the tool results that are worth a row."""
    lines = source.text.split("\n")
    facts = {fact[1]: fact[2] for line in lines[:20] if (fact := _FACT.match(line))}
    given = facts.get("Started", "")
    began = parse_handwritten(given) or iso_utc(given[:_DAY], LOCAL)
    builder = SessionBuilder(SessionInfo(facts.get("Session ID"), started=to_the_minute(began)), DIALECT)
    for section in _sections(lines):
        at = Position(section.line, _moment(began, section.since))
        if section.tool:
            called, output = _share_call(section)
            builder.add_call("", section.tool, called)
            builder.add_result("", output, at)
        elif section.who == "User":
            builder.add_prompt("\n".join(section.body), at)
        elif section.who == "Copilot":
            builder.add_answer("\n".join(section.body), at)
    yield from builder.flush()


@dataclass(frozen=True, slots=True)
class _Section:
    line: int
    """The 1-based line of the heading."""
    since: int
    """Seconds since the start of the session."""
    who: str
    tool: str
    failed: bool
    body: Sequence[str]


def _sections(lines: Sequence[str]) -> Iterator[_Section]:
    """Yield the section under each heading, without the rule before the next one."""
    code = in_code(lines)
    begun = [
        (place, since, heading)
        for place, line in enumerate(lines)
        if not code[place]
        and (since := _SINCE.match(line))
        and (heading := _HEADING.match("".join(lines[place + 1 : place + 3])))
    ]
    for number, (place, since, heading) in enumerate(begun, start=1):
        following = begun[number][0] if number < len(begun) else len(lines)
        rules = (at for at in range(following - 1, place, -1) if lines[at].strip() == _RULE and not code[at])
        hours, minutes, seconds = (int(part or 0) for part in since.groups())
        yield _Section(
            line=place + 3,
            since=hours * 3600 + minutes * 60 + seconds,
            who=heading["who"] or "",
            tool=heading["tool"] or "",
            failed=_FAILED in (heading["sign"] or ""),
            body=lines[place + 3 : next(rules, following)],
        )


def _moment(began: str | None, since: int) -> str | None:
    """Return a time to the minute: the start of the session is not known better."""
    if began is None:
        return None
    return to_the_minute(iso_utc((datetime.fromisoformat(began) + timedelta(seconds=since)).isoformat()))


def _share_call(section: _Section) -> tuple[object, ToolResult]:
    """Return the arguments and the result of a call.

    The result is the last other fence.
    """
    fences = list(_fences(section.body))
    given = next((value_of(inside) for is_given, inside in fences if is_given), None)
    answered = next((inside for is_given, inside in reversed(fences) if not is_given), "")
    above = takewhile(lambda line: not line.startswith(_FENCE), section.body)
    shown = next((line for line in above if line and not line.startswith(_MARKUP)), "")
    if given is None:
        key = "command" if shown.startswith(_COMMAND) else "path"
        given = {key: shown.removeprefix(_COMMAND)}
    code = _EXIT.search(answered)
    number = int(code[1]) if code else None
    return given, ToolResult(
        answered[: code.start()] if code else answered, number, failed=section.failed or bool(number)
    )


def _fences(body: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield whether each fenced block has the arguments, and its text."""
    above, given = 0, False
    for _, first, last in blocks(body):
        for line in body[above:first]:
            given = line.endswith(_ARGUMENTS) or (given and not line.startswith("</details>"))
        yield given, "\n".join(body[first + 1 : last])
        above = last + 1
