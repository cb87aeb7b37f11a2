"""Parse tool calls that exporters write into Markdown unfenced, with their results beside them.

Kimi's CLI names each call and its result by an id. agent-shell writes a heading with the status of the call. Goose writes them below headings. Zed's threads write them below a line with
their status. The chats of Claude's designs name a call on one line and write nothing else about it.
A result may hold any Markdown, so no line in it may end something that began above it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pastchats_memory.formats.base.markdown import find_line, in_code
from pastchats_memory.formats.base.values import Json, mapping_of, parse_json

_SESSION = re.compile(r"\*\*Session ID:\*\* ses_|# Session Export: |# Kimi Session Export\s*\Z")
"""The beginnings of exports of OpenCode, Goose and Kimi."""
MOST_ABOVE = 12
"""Lines within which such a beginning stands."""
_SPEAKER = re.compile(r"#{2,3} (?:User|Assistant)\b")
_TURN = re.compile(r"## Turn \d{1,6}\s*\Z")
_RULE = "---"
OPENCODE = re.compile(r"\*\*Tool: [\w.-]{1,80}\*\*\s*\Z")
"""The line above a call, whose output stands between two fences whatever it holds."""

_KIMI = re.compile(r"(?:#### Tool Call: (?P<name>[\w.:/-]{1,120})|<details><summary>Tool Result: )")
_KIMI_ID = re.compile(r"<!-- call_id: (\S{1,200}) -->\s*\Z")
_KIMI_FAULT = re.compile(r"\A<system>ERROR: [^\n]{0,400}?</system>\s*")
_EXIT = re.compile(r"^Command failed with exit code: (\d{1,9})\.$", re.MULTILINE)
_FOLD_ENDS = "</details>"
MOST_OF_HEAD = 6
"""The most lines of a call's title, which may be a command of several lines."""

_GOOSE = re.compile(r"#### Tool (?:Call: `(?P<name>[^`]{1,120})` \(namespace: `[^`]{0,120}`\)|Response:)\s*\Z")
_GOOSE_KEY = re.compile(r"\*   \*\*(\w{1,80})\*\*: ?(?:`(.*)`)?\s*\Z")
_GOOSE_FAULT = "**Error in Tool Response:**"
_FENCE = re.compile(r"\s*`{3,}\w{0,20}\s*\Z")

_ZED = "**Tool Call: "
_ZED_STATUS = re.compile(
    r"Status: (?P<failed>Failed)?(?:Completed|Cancell?ed|Rejected|Pending|In Progress|Waiting for confirmation)?\s*\Z"
)
_ZED_TERMINAL = "Terminal:"
MOST_OF_LABEL = 200
"""The most lines of a command in a label."""

_NAMED = re.compile(r"_\[tool: \*{0,2}(?P<name>[\w.:-]{1,80})\*{0,2}(?: [—–-] (?P<detail>[^\n]{1,2000}))?\]_\s*\Z")

_SHELL = re.compile(r"### Tool Call \[(?P<status>\w{1,20})\]: ?(?P<title>[^\n]*)\Z")
"""The heading of a call in a transcript of agent-shell."""
_SHELL_FACT = re.compile(r"\*\*(?P<key>Tool|Timestamp|Description|Command|Parameters):\*\*(?: (?P<value>.*))?\Z")

_BRACKETED = re.compile(
    r"\*\*\[Tool call\]\*\* `(?P<name>[\w.:-]{1,80})`(?: ?(?:←|<-|→|->|:) ?`?(?P<detail>[^`\n]{1,2000})`?)?\s*\Z"
)
_OBSERVED = re.compile(r"\*\*\[Observation\]\*\*\s*\Z")
"""The lines of an agent that thinks, acts and observes."""

_SUBAGENT = re.compile(r"#### Subagent (?P<how>Started|Completed) - \d{4}-\d\d-\d\d \d\d:\d\d\S{0,6}\s*\Z")
_SUBAGENT_FACT = re.compile(r"\*\*(?P<key>Type|Agent ID|Result):\*\* ?`?(?P<value>[^`\n]{0,200})`?\s*\Z")
"""What a hook of Claude Code logs of a subagent, above a rule."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call, its result, or both."""

    line: int
    """0-based place within the part."""
    name: str = ""
    """Empty for a result alone."""
    arguments: Json = field(default_factory=dict)
    answered: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _ParsedSection:
    use: ToolUse
    end: int
    """0-based place of the line behind it."""
    call_id: str = ""
    """The id of the call; without ids the first result belongs to the first call."""


def describe_call(detail: str | None) -> Json:
    """Return the arguments of a call of which only a description is known."""
    return {"description": detail} if detail else {}


def extract_calls(lines: Sequence[str]) -> tuple[list[str], list[ToolUse]]:
    """Return the lines with calls and results made blank, and the calls with their results."""
    words = list(lines)
    uses: dict[str, ToolUse] = {}
    counted: Counter[bool] = Counter()
    place = 0
    while place < len(lines):
        section = _parse_section(lines, place)
        if section is None:
            place += 1
            continue
        words[place : section.end] = [""] * (section.end - place)
        place = section.end
        found = section.use
        call_id = section.call_id or str(counted[bool(found.name)])
        counted[bool(found.name)] += 1
        known = uses.get(call_id)
        uses[call_id] = found if known is None else replace(known, answered=found.answered, failed=found.failed)
    return words, list(uses.values())


def in_exported_code(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is code; no block reaches beyond an exporter's line, which fences no results."""
    above = any(map(_SESSION.match, lines[:MOST_ABOVE]))
    return in_code(lines, [place for place in range(1, len(lines)) if _is_exporter_line(lines, place, above=above)])


def is_result_heading(line: str) -> bool:
    """Return whether the line is Goose's heading above a result, and not a speaker's."""
    return _GOOSE.match(line) is not None


def _is_exporter_line(lines: Sequence[str], place: int, *, above: bool) -> bool:
    """Return whether the exporter wrote the line: a speaker below a rule, or a tool."""
    line = lines[place]
    if above and _SPEAKER.match(line):
        return _RULE in lines[max(0, place - 2) : place]
    return (above and bool(_TURN.match(line) or OPENCODE.match(line))) or _parse_zed_head(lines, place) is not None


def _parse_section(lines: Sequence[str], place: int) -> _ParsedSection | None:
    """Parse the call or result that begins at a line; None for other text."""
    line = lines[place]
    if kimi := _KIMI.match(line):
        return _parse_kimi(lines, place, kimi["name"] or "")
    if goose := _GOOSE.match(line):
        return _parse_goose(lines, place, goose["name"] or "")
    if named := _NAMED.match(line):
        use = ToolUse(place, named["name"], describe_call(named["detail"]))
        return _ParsedSection(use, place + 1, f"line {place}")
    if shell := _SHELL.match(line):
        return _parse_shell(lines, place, shell)
    return _parse_logged(lines, place) or _parse_zed(lines, place)


def _parse_logged(lines: Sequence[str], place: int) -> _ParsedSection | None:
    """Parse a call or a result in a log of a hook, or of an agent that thinks, acts and observes."""
    line = lines[place]
    if bracketed := _BRACKETED.match(line):
        return _ParsedSection(ToolUse(place, bracketed["name"], describe_call(bracketed["detail"])), place + 1)
    if _OBSERVED.match(line):
        return _parse_observed(lines, place)
    subagent = _SUBAGENT.match(line)
    return _parse_subagent(lines, place, is_call=subagent["how"] == "Started") if subagent else None


def _text_without_fences(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if not _FENCE.match(line)).strip()


def _parse_kimi(lines: Sequence[str], place: int, name: str) -> _ParsedSection | None:
    near = range(place + 1, min(place + MOST_OF_HEAD, len(lines)))
    noted = next(((at, found[1]) for at in near if (found := _KIMI_ID.match(lines[at]))), None)
    if noted is None:
        return None
    start, call_id = noted[0] + 1, noted[1]
    ends = "```" if name else _FOLD_ENDS
    end = find_line(lines, ends.__eq__, start + 1)
    body = "\n".join(lines[start:end]).strip()
    if name:
        use = ToolUse(place, name, mapping_of(parse_json(body.removeprefix("```json"))))
        return _ParsedSection(use, end + 1, call_id)
    output = _KIMI_FAULT.sub("", body, count=1)
    code = _EXIT.search(output)
    answered = f"Exit code: {code[1]}\n{_EXIT.sub('', output).strip()}" if code else output
    return _ParsedSection(ToolUse(place, answered=answered, failed=output != body), end + 1, call_id)


def _parse_goose(lines: Sequence[str], place: int, name: str) -> _ParsedSection:
    end = find_line(lines, _GOOSE.match, place + 1)
    body = lines[place + 1 : end]
    if name:
        return _ParsedSection(ToolUse(place, name, _parse_goose_arguments(body)), end)
    answered = "\n".join(body).strip().removesuffix(_RULE).rstrip()
    failed = answered.startswith(_GOOSE_FAULT)
    answered = _text_without_fences(answered.removeprefix(_GOOSE_FAULT).split("\n"))
    return _ParsedSection(ToolUse(place, answered=answered, failed=failed), end)


def _parse_goose_arguments(body: Sequence[str]) -> Json:
    """Parse arguments, one key a line with its value behind it, or fenced below it."""
    arguments: dict[str, str] = {}
    key, fenced = "", False
    for line in body:
        if key and _FENCE.match(line):
            key, fenced = ("", False) if fenced else (key, True)
        elif fenced:
            arguments[key] = f"{arguments[key]}\n{line.removeprefix('    ')}".lstrip("\n")
        elif found := _GOOSE_KEY.match(line):
            key, arguments[found[1]] = found[1], found[2] or ""
    return dict(arguments)


def _parse_shell(lines: Sequence[str], place: int, head: re.Match[str]) -> _ParsedSection:
    """Parse a call of agent-shell: facts, then what it answered in a fence, often one fence in another."""
    code = in_code(lines[place:])
    start = find_line(lines, _FENCE.match, place + 1)
    facts = [found for line in lines[place + 1 : start] if (found := _SHELL_FACT.match(line))]
    named = {found["key"]: found["value"] or "" for found in facts}
    after = next((at for at, inside in enumerate(code[start - place :], start) if not inside), len(lines))
    is_command = "Command" in named
    arguments: Json = {"command": named["Command"]} if is_command else {"description": head["title"]}
    answered = _text_without_fences(lines[start:after])
    name = named.get("Tool") or head["title"].split(" ")[0] or "tool"
    use = ToolUse(place, name, arguments, answered, failed=head["status"] == "failed")
    return _ParsedSection(use, after, f"line {place}")


def _parse_observed(lines: Sequence[str], place: int) -> _ParsedSection:
    """Parse what an agent observed: a fence that may hold fences, up to the last one before the next call."""
    following = find_line(lines, _BRACKETED.match, place + 1)
    end = max((at for at in range(place, following) if _FENCE.match(lines[at])), default=place) + 1
    return _ParsedSection(ToolUse(place, answered=_text_without_fences(lines[place + 1 : end])), end)


def _parse_subagent(lines: Sequence[str], place: int, *, is_call: bool) -> _ParsedSection:
    end = find_line(lines, _RULE.__eq__, place + 1)
    below = enumerate(lines[place + 1 : end], place + 1)
    facts = {found["key"]: (at, found["value"]) for at, line in below if (found := _SUBAGENT_FACT.match(line))}
    call_id = f"subagent {facts.get('Agent ID', (0, ''))[1]}"
    if is_call:
        arguments: Json = {"subagent_type": facts.get("Type", (0, ""))[1]}
        return _ParsedSection(ToolUse(place, "Agent", arguments), end + 1, call_id)
    start = facts["Result"][0] + 1 if "Result" in facts else end
    return _ParsedSection(ToolUse(place, answered="\n".join(lines[start:end]).strip()), end + 1, call_id)


def _parse_zed_head(lines: Sequence[str], place: int) -> tuple[str, bool, int] | None:
    """Return the label of a call, whether it failed, and the place behind both. Return None for other text."""
    if not lines[place].startswith(_ZED):
        return None
    end = find_line(lines, lambda line: line.startswith(_ZED), place + 1, min(place + MOST_OF_LABEL, len(lines)))
    for at in range(place + 1, end):
        if lines[at - 1].endswith("**") and (status := _ZED_STATUS.match(lines[at])):
            label = "\n".join(lines[place:at]).removeprefix(_ZED).removesuffix("**")
            return label, status["failed"] is not None, at + 1
    return None


def _parse_zed(lines: Sequence[str], place: int) -> _ParsedSection | None:
    head = _parse_zed_head(lines, place)
    if head is None:
        return None
    label, failed, start = head
    end = next((at for at in range(start, len(lines)) if _parse_zed_head(lines, at)), len(lines))
    answered = _text_without_fences(lines[start:end])
    arguments: Json = {}
    if answered.startswith(_ZED_TERMINAL):
        arguments = {"command": label.strip("`").removeprefix("Run ")}
        label, answered = "Terminal", answered.removeprefix(_ZED_TERMINAL).strip()
    return _ParsedSection(ToolUse(place, label, arguments, answered, failed), end, f"line {place}")
