"""Parse the Markdown that `llm logs` prints into the rows that it prints as JSON, with the lines of their sections."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pastchats_memory.formats.base.values import Json

NONE = "-- none --"
SECTIONS = (
    "Prompt", "Prompt fragments", "Options", "System", "System fragments", "Schema", "Tools", "Tool results", "Attachments",
    "Reasoning", "Response", "Tool calls", "Token usage",
)  # fmt: skip
"""In printed order. Another heading, or one out of order, belongs to the text."""
REACH = 6
"""Lines below the heading of an entry within which its first section stands."""
OPENING = 4096
"""Characters within which the first response stands."""
INDENT = "    "

_ENTRY = re.compile(
    r"# (\d{4}-\d\d-\d\dT[\d:.]{8,20})(?:[ \t]+conversation:[ \t]*(\S+))?(?:[ \t]+id:[ \t]*(\S+))?[ \t]*\Z"
)
_FIRST_ENTRY = re.compile(r"^# \d{4}-\d\d-\d\dT[\d:.]{8,20}\s+conversation: ", re.MULTILINE)
_MODEL = re.compile(r"Model: \*\*(.+?)\*\*")
_SECTION = re.compile(r"(?:##|###) ([A-Z][a-z ]++):?[ \t]*\Z")
_TOOL = re.compile(r"- \*\*(.+?)\*\*: `([^`]*)`[ \t]*\Z")
_FENCED = re.compile(r"^(`{3,})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
_ARGUMENT = re.compile(r"^(\w+):(?:\n(`{3,})\n(.*?)\n\2$| `(.*)`$)", re.MULTILINE | re.DOTALL)
_EXCEPTION = re.compile(r"^\*\*Error\*\*: (.*)\Z", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class PrintedEntry:
    """A printed response."""

    line: int
    time: str
    conversation: str | None
    own_id: str
    model: str = ""
    lines: dict[str, list[str]] = field(default_factory=dict)
    """By section."""
    starts: dict[str, int] = field(default_factory=dict)

    def row(self) -> Json:
        """Return the response under the keys of the tool's JSON, with the line of each text under `lines`."""
        calls, after = _parse_tools(self.lines.get("Tool calls", []))
        results, _ = _parse_tools(self.lines.get("Tool results", []), to_the_end=True)
        return {
            "id": self.own_id,
            "conversation_id": self.conversation,
            "datetime_utc": self.time,
            "model": self.model,
            "system": self._text("System"),
            "prompt": self._text("Prompt"),
            "response": f"{self._text('Response')}\n\n{after}".strip(),
            "tool_calls": [_make_call(*call) for call in calls],
            "tool_results": [_make_result(*result) for result in results],
            "lines": {key: self.starts.get(key.title(), self.line) for key in ("system", "prompt", "response")},
        }

    def _text(self, section: str) -> str:
        text = "\n".join(self.lines.get(section, [])).strip()
        return "" if text == NONE else text


def _parse_tools(lines: Sequence[str], *, to_the_end: bool = False) -> tuple[list[tuple[str, str, str]], str]:
    """Return name, id and text of each tool in a list, and the text below it, unless the list goes to the end."""
    tools: list[tuple[str, str, list[str]]] = []
    for place, line in enumerate(lines):
        if found := _TOOL.match(line):
            tools.append((found[1], found[2], []))
        elif tools and (to_the_end or not line.strip() or line.startswith(INDENT)):
            tools[-1][2].append(line)
        elif line.strip():
            return _dedent(tools), "\n".join(lines[place:]).strip()
    return _dedent(tools), ""


def _dedent(tools: list[tuple[str, str, list[str]]]) -> list[tuple[str, str, str]]:
    return [(name, own, "\n".join(line.removeprefix(INDENT) for line in body).strip()) for name, own, body in tools]


def _make_call(name: str, own_id: str, text: str) -> Json:
    given = {key: fenced or inline for key, _, fenced, inline in _ARGUMENT.findall(text)}
    return {"name": name, "tool_call_id": own_id, "arguments": given}


def _make_result(name: str, own_id: str, text: str) -> Json:
    output, fault = _FENCED.search(text), _EXCEPTION.search(text)
    answer = output[2].strip() if output else ""
    return {"name": name, "tool_call_id": own_id, "output": answer, "exception": fault[1].strip() if fault else None}


def is_printed_log(head: str) -> bool:
    """Return whether a response that names its conversation stands near the beginning of a file."""
    return _FIRST_ENTRY.search(head[:OPENING]) is not None and any(parse_entries(head))


def parse_entries(text: str) -> Iterator[PrintedEntry]:
    """Yield each response; in a conversation only the first one names it and the model."""
    lines = text.split("\n")
    entry: PrintedEntry | None = None
    section = ""
    for place, line in enumerate(lines):
        below = lines[place + 1 : place + REACH]
        if (found := _ENTRY.match(line)) and any(_parse_section(each, "") == "Prompt" for each in below):
            if entry:
                yield entry
            conversation = found[2] or (entry.conversation if entry else None)
            entry = PrintedEntry(place + 1, found[1], conversation, found[3] or "", entry.model if entry else "")
            section = ""
        elif entry is not None and (name := _parse_section(line, section)):
            section = name
            entry.starts[section], entry.lines[section] = place + 1, []
        elif entry is not None and section:
            entry.lines[section].append(line)
        elif entry is not None and (model := _MODEL.match(line)):
            entry.model = model[1]
    if entry:
        yield entry


def _parse_section(line: str, current: str) -> str:
    """Return the section that a line opens, if it may follow the current one; else ""."""
    found = _SECTION.match(line)
    if found is None or found[1] not in SECTIONS:
        return ""
    return found[1] if not current or SECTIONS.index(found[1]) > SECTIONS.index(current) else ""
