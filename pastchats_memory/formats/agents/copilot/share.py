"""Sessions that Copilot CLI shares as Markdown: a section for each message and each call.

A section starts with the time since the start of the session, in small print, and a heading: a role, or a tool's name as
code. A line quoted from another shared session is in a fence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import takewhile

from pastchats_memory.formats.agents.copilot.dialect import DIALECT
from pastchats_memory.formats.base.markdown import blocks, in_code
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.session import Position, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult, split_exit_code
from pastchats_memory.formats.base.values import value_of
from pastchats_memory.text.timestamps import LOCAL, iso_utc, parse_handwritten, to_the_minute

_TITLE = re.compile(r"\s*#\s+(?:[^\w\s]{1,8}\s*)?Copilot CLI Session\s*$", re.MULTILINE)
_FACT = re.compile(r"> - \*\*(Session ID|Started):\*\* `?([^`\n]{1,100}?)`?\s*\Z")
_SINCE = re.compile(r"<sub>\W{0,8}(?:(\d{1,4})h )?(?:(\d{1,4})m )?(\d{1,6})s</sub>\s*\Z")
_HEADING = re.compile(r"###\s+(?P<sign>[^\w\s`]{1,8}\s+)?(?:`(?P<tool>[^`\n]{1,100})`|(?P<who>\w[\w ]{0,40}))\s*\Z")
_SPEAKERS = {"User": "user", "Copilot": "assistant"}
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


@dataclass(frozen=True, slots=True)
class _Section(Section):
    is_tool: bool = False
    failed: bool = False


class SharedSession(MarkdownDialogue[_Section]):
    """The messages and calls of a shared session."""

    dialect = staticmethod(lambda: DIALECT)

    @cached_property
    def _facts(self) -> dict[str, str]:
        return {fact[1]: fact[2] for line in self.lines[:20] if (fact := _FACT.match(line))}

    @property
    def _started(self) -> str | None:
        given = self._facts.get("Started", "")
        return parse_handwritten(given) or iso_utc(given[:_DAY], LOCAL)

    def session_info(self) -> SessionInfo:
        """Return the session's own id and its start."""
        return SessionInfo(self._facts.get("Session ID"), started=self._started)

    def sections(self) -> Iterator[_Section]:
        """Yield the section under each heading, without the rule before the next one."""
        lines, code, started = self.lines, [*self.code], self._started
        begun: list[tuple[int, timedelta, re.Match[str]]] = []
        for place, line in enumerate(lines):
            title = _HEADING.match("".join(lines[place + 1 : place + 3]))
            if title and (shown := _SINCE.match(line)):
                hours, minutes, seconds = (int(part or 0) for part in shown.groups())
                at = timedelta(hours=hours, minutes=minutes, seconds=seconds)
                if code[place] and begun and at >= begun[-1][1] and _RULE in lines[place - 3 : place]:
                    above = begun[-1][0]  # left a fence open; a quoted session would begin at its own zero
                    code[above:] = [*in_code(lines[above:place]), *in_code(lines[place:])]
                if not code[place]:
                    begun.append((place, at, title))
        for number, (place, since, heading) in enumerate(begun, start=1):
            following = begun[number][0] if number < len(begun) else len(lines)
            rules = (at for at in range(following - 1, place, -1) if lines[at].strip() == _RULE and not code[at])
            time = iso_utc((datetime.fromisoformat(started) + since).isoformat()) if started else None
            yield _Section(
                name=heading["tool"] or _SPEAKERS.get(heading["who"], ""),
                line=place + 3,
                text="\n".join(lines[place + 3 : next(rules, following)]),
                time=to_the_minute(time),
                is_tool=heading["tool"] is not None,
                failed=_FAILED in (heading["sign"] or ""),
            )

    def add_section(self, section: _Section) -> None:
        """Add a message, or a call with its result."""
        if section.is_tool:
            called, output = _share_call(section)
            self.builder.add_call("", section.name, called)
            self.builder.add_result("", output, Position(section.line, section.time))
        else:
            super().add_section(section)


def _share_call(section: _Section) -> tuple[object, ToolResult]:
    """Return the arguments of a call, and its result, which is the last other fence."""
    body = section.text.split("\n")
    fences = list(_fences(body))
    given = next((value_of(inside) for is_given, inside in fences if is_given), None)
    answered = next((inside for is_given, inside in reversed(fences) if not is_given), "")
    above = takewhile(lambda line: not line.startswith(_FENCE), body)
    shown = next((line for line in above if line and not line.startswith(_MARKUP)), "")
    if given is None:
        key = "command" if shown.startswith(_COMMAND) else "path"
        given = {key: shown.removeprefix(_COMMAND)}
    return given, split_exit_code(answered, _EXIT, failed=section.failed)


def _fences(body: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield whether each fenced block has the arguments, and its text."""
    above, given = 0, False
    for _, first, last in blocks(body):
        for line in body[above:first]:
            given = line.endswith(_ARGUMENTS) or (given and not line.startswith("</details>"))
        yield given, "\n".join(body[first + 1 : last])
        above = last + 1
