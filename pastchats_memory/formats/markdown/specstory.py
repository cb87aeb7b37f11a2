"""SpecStory's Markdown to turns: what it saved of sessions of Claude Code, Codex, Cursor and others.

Role lines count where neither a tool's folded output nor code quotes them. Newer versions name the session that they
saved, so that its native transcript, if there is one, is the same conversation.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import orjson

from pastchats_memory.formats.agents.droid import executed
from pastchats_memory.formats.agents.gemini.content import shell_output
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.markdown import blocks, in_code
from pastchats_memory.formats.base.session import PendingTurn, TurnQueue
from pastchats_memory.formats.base.source import Json, SourceFile, mapping_of, number_of, text_of
from pastchats_memory.formats.base.tools import (
    BOOKKEEPING,
    UNKNOWN_CALL,
    ToolCall,
    ToolResult,
    is_question_tool,
    parse_call,
    parse_result,
)
from pastchats_memory.formats.base.wrappers import CONTINUED, is_pressed, span, typed_in_claude
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.clean import conversation_hash
from pastchats_memory.text.dates import LOCAL, MOMENT, handwritten, iso_utc, to_the_minute
from pastchats_memory.text.shell import is_editor, is_look, is_shell, says_failure

# What SpecStory's Markdown folds away: a tool's call with its output, an agent's thoughts.

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


def folds_in(lines: Sequence[str]) -> list[Fold]:
    """All of them, in order; an element that is never closed folds nothing, one that is no tool's and no thoughts is text."""
    closings = {tag: [place for place, line in enumerate(lines) if line.rstrip().endswith(f"</{tag}>")] for tag in TAGS}
    found: list[Fold] = []
    code = in_code(lines)
    sections = {fold.start: fold for fold in _sections(lines, code)}
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
        if tag == "details" and not any(_summarised(line, 0) for line in lines[place : place + SUMMARY_WITHIN]):
            continue
        closing = bisect_left(closings[tag], place)
        if closing < len(closings[tag]):
            found.append(Fold(place, closings[tag][closing], tag))
    return found


def _sections(lines: Sequence[str], code: Sequence[bool]) -> Iterator[Fold]:
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
        elif not names_tools and (name := _unnamed(lines[place:after])):
            yield Fold(place, after - 1, UNNAMED, name)


def _unnamed(section: Sequence[str]) -> str:
    """A name for the tool of a section of the first versions, which name none: a command with its output, or changes, and nothing else."""
    fences = list(blocks(section))
    languages = [language for language, _, _ in fences]
    fenced = sum(last - first + 1 for _, first, last in fences)
    if fenced != sum(1 for line in section if line.strip()) + _blank_within(section, fences):
        return ""
    if languages == ["bash", ""]:
        return RUNS
    return EDITS if languages and set(languages) == {"diff"} else ""


def _blank_within(section: Sequence[str], fences: Sequence[tuple[str, int, int]]) -> int:
    return sum(1 for _, first, last in fences for line in section[first : last + 1] if not line.strip())


def told_in(block: Sequence[str]) -> Summary:
    """The summary of a tool's fold; nothing of one that has none within its first lines."""
    for place, line in enumerate(block[:SUMMARY_WITHIN]):
        if summary := _summarised(line, place + 1):
            closed = (at for at, below in enumerate(block[place:], place + 1) if "</summary>" in below)
            return summary if _UNFOLDED.match(line) else replace(summary, below=next(closed, place + 1))
    return Summary("", below=int(block[0].startswith("<")))


def _summarised(line: str, below: int) -> Summary | None:
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


def todos_in(block: Sequence[str]) -> list[object]:
    """The lines of a todo list as its tool was given them: the fold shows boxes, and signs for how urgent they are."""
    found = (_TODO.match(line) for line in block)
    return [{"content": box[2].rstrip(), "status": STATES[box[1].lower()]} for box in found if box]


# What a tool's fold in SpecStory's Markdown tells: the call, what it answered, what a person answered to its questions.
#
# SpecStory lays a fold out for each agent in another way (`specstory-cli/pkg/providers/*/markdown_tools.go` of getspecstory,
# `pkg/markdown/markdown.go` for the rest): a command stands in the summary, in backticks, in a fence, in a list of inputs or
# in their JSON, a file behind `Path:` or in bold, or only in what the tool answered.

SHELLS = ("bash", "sh", "shell", "zsh")
SHOWING = ("write", "read", "search")
"""Kinds of tools whose fences hold the text of files."""
BEGINS_PATCH = "*** Begin Patch"
TERMINAL, PRINTED = "terminalCommandState", "terminalCommandOutput"
"""Where VS Code keeps how a command ended, and what it printed."""
NO_SUBJECT = frozenset({"explanation", "instructions", "description", TERMINAL, PRINTED})
"""Inputs that do not tell what a call is about, though elsewhere one of them may."""
REFUSED = ("**Apply failed**", "Status: **error**", "Status: **cancelled**", "User decision: **rejected**")

NO_CODE = ("run_terminal", "run_in_terminal")
"""Beginnings of the tools of Cursor and VS Code of whose commands no exit code is shown."""
UNTOLD = ("<tool_use_error>", "Failed to edit", *BOOKKEEPING)
"""Beginnings of what Claude Code and Gemini CLI answer as an error, which SpecStory does not tell from another answer."""

_NAME = re.compile(r'data-tool-name="([^"\n]{1,80})"')
_KIND = re.compile(r'data-tool-type="(\w{1,20})"')
_ALONE = re.compile(r"`([^`\n]{1,4000})`\Z")
_BESIDE = re.compile(r"(Input(?: \(truncated\))?: )(`{3,})\Z")
"""A fence that opens behind words, as for what Codex gives a tool of its own kind."""
_ITEM = re.compile(r"- ([\w.-]{1,60}): `(.{0,4000})`\Z")
_ABOVE = re.compile(r"- ([\w.-]{1,60}):\Z")
_ITEM_OPENED = re.compile(r"(- [\w.-]{1,60}:) `([^`]{0,4000}|\[.{0,4000}[^`])\Z")
LONG_FENCE = "`" * 40
"""Longer than any that a text has within."""
_OPENING = re.compile(r"(`{3,})\w*\Z")
_LOGIN = re.compile(r"\A\[?(?:bash|sh|zsh) -l?c (?!['\"])(.*?)\]?\Z", re.DOTALL)
"""What a list of words became, `["bash", "-lc", "npm test"]`, with nothing between them but blanks."""
_LABELLED = re.compile(r"(Path|URL|Query|Pattern|Skill): `(.{1,4000})`\Z")
_PATCHED_FILE = re.compile(r"\*\*(?:Add|Modify|Update|Delete): `(.{1,1000})`\*\*\Z")
_BELOW = re.compile(
    r"(?:\[object Object\])*(?:<details>)?(?:<summary>)?(?:Read|Edit|Write|Create|Delete|List)[a-z]{0,4} (?:file|directory): (\S[^<\n]{0,1000}?)(?:</summary>)?\s*\Z"
)
_ANSWERED = re.compile(r"\*{0,2}(Result|Output|Output \(error\)|Error):\*{0,2}(?: (\S.*))?\Z")
"""Above or before what a tool answered."""
_WRITTEN = re.compile(
    r"The file (\S[^\n]{0,1000}?) has been (?:updated|modified|overwritten)|File created successfully at: (\S[^\n]{0,1000}?)(?: \(|$)",
    re.MULTILINE,
)
"""How Claude Code tells which file it wrote; SpecStory shows nothing else of an edit."""
_QUESTION = re.compile(r"\*\*(.{1,2000}?)\*\*(?: _\(select multiple\)_)?\Z|\*\*.{1,200}?:\*\* (\S.*)\Z")
"""In bold, or behind what it is about in bold."""
_PROMPT = re.compile(r"(?:\n[^\n]{0,200}[%$#>] *){1,4}\s*\Z")
"""A shell that waits again, below the output of a terminal."""
_REPLY = re.compile(r"\*\*Answer:\*\*(?: (.+))?\Z")
NO_REPLY, NOTED = "_No answer_", "user_note: "


@dataclass(frozen=True, slots=True)
class Told:
    """What a fold tells."""

    call: ToolCall
    output: ToolResult
    replies: str = ""
    """What a person answered to the questions that the call put, below them."""


@dataclass(frozen=True, slots=True)
class _Fence:
    label: str
    """The words right above it or before it, none where another fence stands there."""
    language: str
    first: int
    """Its line in the fold, as `last` is."""
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class _Fold:
    name: str
    """Of the tool."""
    kind: str
    """As what SpecStory counts the tool; none in earlier versions."""
    of_shell: bool
    lines: Sequence[str]
    """Those below the summary."""
    outside: Sequence[str]
    """Those outside of fences that are not empty."""
    fences: Sequence[_Fence]


def told_by(block: Sequence[str], name: str = "") -> Told:
    """Read the lines of a fold.

    Args:
        block: its lines.
        name: of the tool, where they do not tell it.

    """
    summary = told_in(block)
    named, typed = _NAME.search(block[0]), _KIND.search(block[0])
    name = named[1] if named else name or summary.name or UNKNOWN_CALL.label
    kind = typed[1] if typed else ""
    lines = list(_fenced_items([line.rstrip() for line in block[summary.below :]]))
    fold = _Fold(name, kind, kind == "shell" or is_shell(name) or bool(summary.command), lines, *_parted(lines))
    given = {fence.first: told for fence in fold.fences if (told := _given(fence, fold)) is not None}
    inputs = _inputs(fold, summary, given.values())
    output = _output(fold, [fence for fence in fold.fences if fence.first not in given])
    if isinstance(state := inputs.get(TERMINAL), dict):
        code = number_of(state.get("exitCode"))
        output = ToolResult(
            text_of(mapping_of(inputs.get(PRINTED)).get("text")), code, failed=output.failed or bool(code)
        )
    if is_editor(name) and not _tells_subject(inputs) and (written := _WRITTEN.search(output.text)):
        inputs["path"] = written[1] or written[2]
    call = parse_call(name, inputs)
    if name.startswith(NO_CODE) and not is_look(call.command) and says_failure(_PROMPT.sub("", output.text)):
        output = replace(output, failed=True)
    return Told(call, output, _replies(fold.outside) if is_question_tool(name) else "")


def _inputs(fold: _Fold, summary: Summary, given: Iterable[Json]) -> Json:
    """What the tool was given: in fences, in lines, or else in the summary or in a line of its own."""
    inputs = _listed(fold.outside)
    for told in given:
        inputs = told | inputs
    if not _tells_subject(inputs):
        alone = filter(None, (_in_backticks(line, fold) for line in fold.outside))
        inputs["command" if fold.of_shell else "path"] = summary.command or summary.subject or next(alone, "")
    if isinstance(command := inputs.get("command"), str):
        inputs["command"] = _LOGIN.sub(r"\1", command)
    return inputs


def _tells_subject(inputs: Json) -> bool:
    return any(value for key, value in inputs.items() if key not in NO_SUBJECT)


def _fenced_items(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with every input of several lines between backticks in a fence below its name."""
    mark, opened = "", False
    for line in lines:
        if opened:
            opened = not line.endswith("`")
            yield from (line,) if opened else (line[:-1], LONG_FENCE)
            continue
        opening = _OPENING.match(line)
        mark = "" if line == mark else mark or (opening[1] if opening else "")
        found = None if mark else _ITEM_OPENED.match(line)
        opened = found is not None
        yield from (found[1], LONG_FENCE, found[2]) if found else (line,)


def _parted(lines: Sequence[str]) -> tuple[list[str], list[_Fence]]:
    """The lines outside of fences that are not empty, and the fences."""
    outside: list[str] = []
    fences: list[_Fence] = []
    begin = 0
    for language, first, last in blocks([_BESIDE.sub(r"\2", line) for line in lines]):
        above = [line for line in lines[begin:first] if line.strip()]
        outside += above
        beside = _BESIDE.match(lines[first])
        label = beside[1].rstrip() if beside else above[-1] if above else ""
        fences.append(_Fence(label, language, first, last, "\n".join(lines[first + 1 : last])))
        begin = last + 1
    return [*outside, *(line for line in lines[begin:] if line.strip())], fences


def _listed(outside: Sequence[str]) -> Json:
    """What the tool was given, as far as lines name it."""
    inputs: Json = {}
    for line in outside:
        if item := _ITEM.match(line):
            inputs[item[1]] = item[2]
        elif labelled := _LABELLED.match(line):
            inputs.setdefault(labelled[1].lower(), labelled[2])
        elif below := _BELOW.match(line):
            inputs.setdefault("path", below[1])
    if files := [found[1] for line in outside if (found := _PATCHED_FILE.match(line))]:
        inputs["path"] = ", ".join(files)
    return inputs


def _given(fence: _Fence, fold: _Fold) -> Json | None:
    """What a fence says that the tool was given, None of one that does not say that."""
    if item := _ABOVE.match(fence.label):
        return {item[1]: fence.text}
    if fence.text.startswith(BEGINS_PATCH):
        return {"input": fence.text}
    if fence.language in SHELLS and not is_editor(fold.name) and fold.kind not in SHOWING:
        return {"command": fence.text}
    if fence.language == "json" and fence is fold.fences[0] and not _ANSWERED.match(fence.label):
        return _of_json(fence.text)
    return {} if fence.label.startswith("Input") else None


def _of_json(text: str) -> Json:
    """A tool's input, or VS Code's record of a terminal's call, in which markup is escaped."""
    try:
        inputs = mapping_of(orjson.loads(text))
    except orjson.JSONDecodeError:
        return {}
    typed = mapping_of(inputs.get("commandLine"))
    command = text_of(typed.get("toolEdited")) or text_of(typed.get("original"))
    return inputs | ({"command": unescape(command)} if command else {})


def _in_backticks(line: str, fold: _Fold) -> str:
    """The text of a line that is code alone; a command may have backticks of its own."""
    line = line.strip()
    if fold.of_shell:
        return line[1:-1] if len(line) > 2 and line[0] == line[-1] == "`" else ""  # noqa: PLR2004 - both marks and something
    found = _ALONE.match(line)
    return found[1] if found else ""


def _output(fold: _Fold, fences: Sequence[_Fence]) -> ToolResult:
    """What the tool answered: behind or below a word for it, else in the last fence, or the first one below a command."""
    refused = any(line.startswith(REFUSED) for line in fold.outside)
    beside = next((found for line in fold.outside if (found := _ANSWERED.match(line)) and found[2]), None)
    if beside:
        return _ended(fold.name, beside[2], failed=refused or _is_error(beside[1]))
    labelled = [(found[1], fence) for fence in fences if (found := _ANSWERED.match(fence.label))]
    if not fences:
        return ToolResult("", failed=refused)
    word, fence = labelled[-1] if labelled else ("", fences[0 if fold.of_shell else -1])
    text = _to_the_end(fold.lines, fence) if fold.of_shell else fence.text
    return _ended(fold.name, text, failed=refused or _is_error(word))


def _to_the_end(lines: Sequence[str], fence: _Fence) -> str:
    """The text up to the last closing mark: earlier versions took no longer fence for an output with fences in it."""
    mark = lines[fence.first].removesuffix(fence.language)
    last = next((place for place in range(len(lines) - 1, fence.last, -1) if lines[place] == mark), fence.last)
    return "\n".join(lines[fence.first + 1 : last])


def _is_error(word: str) -> bool:
    return "error" in word.lower()


def _ended(name: str, text: str, *, failed: bool) -> ToolResult:
    """The answer with its exit code, in the spelling of the agent."""
    if name == "run_shell_command":
        return shell_output(text, failed=failed)
    output = executed(text, failed=failed) if name == "Execute" else parse_result(text)
    return replace(output, failed=output.failed or failed or text.startswith(UNTOLD))


def _replies(outside: Sequence[str]) -> str:
    """The questions with what the person answered below them: Codex tells it of each, others of all behind the last."""
    told: list[tuple[str, list[str]]] = []
    asked: list[str] = []
    for line in outside:
        if reply := _REPLY.match(line):
            told.append(("\n".join(asked), [reply[1]] if reply[1] else []))
            asked = []
        elif question := _QUESTION.match(line):
            asked.append(question[1] or question[2])
        elif told and not asked and line.startswith("- "):
            told[-1][1].append(line[2:].removeprefix(NOTED))
    return "\n\n".join("\n".join((question, *words)) for question, words in told if words not in ([], [NO_REPLY]))


FORMAT = "specstory"
VERSION = 12

FOLDER = ".specstory"
NO_TEXT = "[object Object]"
RULE = "---"
QUERY, TIME = "user_query", "timestamp"
"""What Cursor's command line hands over, in tags: what was typed, below the time."""
NOTHING_SAID = ("", RULE, NO_TEXT)

_MADE = re.compile(
    r"\s*(?:<!-- Generated by SpecStory|## SpecStory\s*(?:\n|\Z)|## [\d :-]{19,25}Z\s*\n\s*<!-- [^<>\n]{1,60} Session |"
    r"_\*\*(?:User|Agent|Assistant) \([^()\n]{1,120}\)(?: \(sidechain\))?\*\*_[ \t\r]*(?:\n|\Z))"
)
"""How it begins, or goes on where it was cut: nothing else writes a role with its time or model like this."""
_ROLE = re.compile(
    r"_\*\*(User|Assistant|Agent)( - sidechain)?(?: \((?!sidechain)([^()\n]{1,120})\))?( \(sidechain\))?\*\*_\s*\Z"
)
_SESSION = re.compile(r"<!-- [^<>]{1,60} Session ([^\s<>]{1,100})(?: \(([^()<>]{1,60})\))? -->\s*\Z")
_MESSAGE = re.compile(r"<!-- message-id: ([^\s<>]{1,100}) -->\s*\Z")
_TITLE = re.compile(r"#{1,2} (.{1,300}?)(?: \(([^()]{6,40})\))?\s*\Z")
_MOMENT = re.compile(rf"{MOMENT}\Z")
_AMERICAN = re.compile(r"\d{1,2}/\d{1,2}/\d{4}, \d{1,2}:\d\d:\d\d [AP]M\Z")
_IN_NAME = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)(?:-\d\dZ)?(?=[-.]|\Z)")


_LOCAL = re.compile(r"(/[\w:-]{1,80}[^\n]{0,400})\n ⎿ ")
"""A command of Claude Code's own, above what it printed."""


def recognise(source: SourceFile) -> bool:
    """Whether SpecStory says at the top that it wrote the file, or its first role line does."""
    return source.shape == "markdown" and _MADE.match(source.head) is not None


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """One turn for every role line with text under it, and one for every tool that failed or checked something; todo lists."""
    lines = source.text.split("\n")
    folds = folds_in(lines)
    folded = {place for fold in folds for place in range(fold.start, fold.end + 1)}
    code = in_code(["" if place in folded else line for place, line in enumerate(lines)])
    open_to_view = [place for place in range(len(lines)) if not code[place] and place not in folded]
    for session in _sessions(lines, open_to_view, _time_in_name(source.path)):
        yield from _turns(session, lines, folds, _home(source.path))


def _home(path: Path) -> str | None:
    """The project's folder, for a file that lies where SpecStory puts it."""
    return str(Path(*path.parts[: path.parts.index(FOLDER)])) if FOLDER in path.parts[1:] else None


def _time_in_name(path: Path) -> str | None:
    """UTC to the minute, whatever the heading says."""
    found = _IN_NAME.match(path.name)
    return iso_utc(f"{found[1]}T{found[2]}:{found[3]}Z") if found else None


@dataclass(slots=True)
class _Part:
    """What stands under one role line."""

    person: bool
    sidechain: bool
    timestamp: str | None
    model: str
    start: int
    end: int
    """The line after the last."""
    native_id: str | None = None


@dataclass(slots=True)
class _Session:
    native: str = ""
    title: str = ""
    started: str | None = None
    level: int = 0
    parts: list[_Part] = field(default_factory=list)


def _sessions(lines: Sequence[str], places: Sequence[int], in_name: str | None) -> Iterator[_Session]:
    session = _Session()
    for place in places:
        line = lines[place].rstrip()
        if role := _ROLE.match(line):
            _end(session, place)
            session.parts.append(_part(role, place, len(lines)))
            continue
        named, titled = _SESSION.match(line), _TITLE.match(line)
        level = len(line) - len(line.lstrip("#"))
        begun = named or (titled if titled and _begins(session, titled, level) else None)
        if begun is None:
            continue
        if session.parts:
            _end(session, place)
            yield session
            session, in_name = _Session(level=session.level), None
        if named:
            session.native, session.started = named[1], iso_utc(named[2]) or session.started
        else:
            session.level = level
            _entitle(session, begun, in_name)
    yield session


def _begins(session: _Session, titled: re.Match[str], level: int) -> bool:
    """Whether a heading is the title of a session: the first one above any turn, later ones with a date only."""
    if titled[1] == "SpecStory":
        return False
    return not session.title if not session.parts else level == session.level and _moment(titled[2] or "") is not None


def _entitle(session: _Session, titled: re.Match[str], in_name: str | None) -> None:
    """A title is words with a local time, or the time alone."""
    alone = _moment(titled[1])
    session.title = "" if alone else titled[1]
    session.started = session.started or alone or in_name or _moment(titled[2] or "")


def _end(session: _Session, place: int) -> None:
    if session.parts:
        session.parts[-1].end = place


def _part(role: re.Match[str], place: int, end: int) -> _Part:
    """Model and time stand together behind the role: `(claude-opus-4 2026-01-16 16:48:43Z)`."""
    told = role[3] or ""
    words = told.split(" ")
    at = next((at for at in range(len(words)) if _MOMENT.match(" ".join(words[at:]))), len(words))
    model = " ".join(words[:at]).removeprefix("model ").partition(",")[0]
    moment = iso_utc(" ".join(words[at:]), LOCAL)
    return _Part(role[1] == "User", bool(role[2] or role[4]), moment, model, place, end)


def _moment(text: str) -> str | None:
    """The time of a heading: ISO, or as Americans write it."""
    return handwritten(text) if _MOMENT.match(text) or _AMERICAN.match(text) else None


def _turns(session: _Session, lines: Sequence[str], folds: Sequence[Fold], cwd: str | None) -> Iterator[Turn | Task]:
    spoken, aside = TurnQueue(), TurnQueue()
    starts = [fold.start for fold in folds]
    for part in session.parts:
        drafts = aside if part.sidechain else spoken
        inside = folds[bisect_left(starts, part.start) : bisect_left(starts, part.end)]
        if part.person:
            inside = [fold for fold in inside if fold.tag not in (TICKER, UNNAMED)]
        ids = (found[1] for line in lines[part.start : part.end] if (found := _MESSAGE.match(line)))
        part.native_id = next(ids, None)
        _say(part, session, _shown(part, lines, inside), drafts)
        for fold in inside:
            if fold.tag != THOUGHTS:
                _used(part, session, lines[fold.start : fold.end + 1], fold, drafts)
    turns = sorted((*spoken.flush(), *aside.flush()), key=attrgetter("line"))
    name = session.native or conversation_hash((turn.role, turn.content) for turn in turns)
    moment = to_the_minute(session.started)
    for turn in turns:
        moment = to_the_minute(turn.timestamp) or moment  # the last one told holds for what follows
        yield turn._replace(
            conversation_id=name,
            timestamp=turn.timestamp or moment,
            cwd=cwd,
            metadata={**turn.metadata, **({"title": session.title} if session.title else {})},
        )
    for task in spoken.tasks():
        yield task._replace(cwd=cwd)


def _shown(part: _Part, lines: Sequence[str], folded: Sequence[Fold]) -> list[tuple[int, str]]:
    """The lines that a person saw, with their places, a person's words as they are."""
    hidden = {place for fold in folded for place in range(fold.start, fold.end + 1)}
    kept: list[tuple[int, str]] = []
    for place in range(part.start + 1, part.end):
        line = lines[place]
        if place in hidden or _MESSAGE.match(line):
            continue
        if not part.person and line.strip() == NO_TEXT:
            continue
        kept.append((place, line))
    while kept and kept[-1][1].strip() in NOTHING_SAID:
        kept.pop()
    begin = next((at for at, (_, line) in enumerate(kept) if line.strip() not in NOTHING_SAID), len(kept))
    return kept[begin:] if part.person else list(_closed_up(kept[begin:]))


def _closed_up(kept: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines, without the blanks and rules that stand behind what was folded away as well as before it."""
    last_place, was_empty = -1, False
    for place, line in kept:
        is_empty = line.strip() in ("", RULE)
        if not (is_empty and was_empty and place > last_place + 1):
            yield place, line
            last_place, was_empty = place, is_empty


def _say(part: _Part, session: _Session, shown: Sequence[tuple[int, str]], drafts: TurnQueue) -> None:
    """Add what the part visibly says. What an agent gave another one to do has its name in newer versions, but no model."""
    text = "\n".join(line for _, line in shown)
    asked = part.person or (part.sidechain and not part.model)
    role, kind = ("user", "prompt") if asked else ("assistant", "answer")
    if asked:
        typed = typed_in_claude("" if is_pressed(text) else _queried(text))
        if typed.interrupted:
            drafts.flag("interrupted")
        text, kind = typed.text, "command" if typed.command else kind
        if local := _LOCAL.match(text):
            text, kind = local[1], "command"
        if text.startswith(CONTINUED):
            role, kind = "system", "summary"
        elif part.sidechain:
            role = "system"
    if text.strip():
        draft = _draft(part, session, role, kind, text, part.start, shown[-1][0])
        draft.native_id = part.native_id
        drafts.add(draft)


def _queried(text: str) -> str:
    """What was typed where Cursor's command line put it in a tag: not where a person writes of the tag."""
    is_handed_over = text.lstrip().startswith((f"<{TIME}>", f"<{QUERY}>"))
    return (span(text, QUERY).strip() if is_handed_over else "") or text


def _used(part: _Part, session: _Session, block: Sequence[str], fold: Fold, drafts: TurnQueue) -> None:
    """Add what is worth finding of a tool that is folded away."""
    told = told_by(block, fold.name)
    drafts.add_tool(told.call.label)
    drafts.add_plan(
        told.call.label.partition(" ")[0], {"todos": todos_in(block)}, at=part.timestamp, line=fold.start + 1
    )
    answer = told.output  # of which nothing at all is shown where a command never came to an end
    ended = answer.text or answer.failed or answer.exit_code is not None
    worth = ("user", "answer", told.replies) if told.replies else ended and drafts.notable_result(told.call, answer)
    if worth:
        drafts.add(_draft(part, session, *worth, fold.start, fold.end))


def _draft(part: _Part, session: _Session, role: str, kind: str, text: str, start: int, end: int) -> PendingTurn:
    return PendingTurn(
        role=role,
        kind=kind,
        line=start + 1,
        end_line=end + 1,
        texts=[text],
        conversation_id=session.native or None,
        timestamp=part.timestamp,
        branch="sidechain" if part.sidechain else "main",
        metadata={"model": part.model if role == "assistant" else ""},
    )


SPECSTORY = Format(
    name="specstory",
    version=12,
    detect=confident(recognise, 90),
    read=read,
    fidelity=2,
)
