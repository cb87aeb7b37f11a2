"""Parse a tool's fold in SpecStory's Markdown: the call, its result, and the user's answers to its questions.

SpecStory lays a fold out differently for each agent (`specstory-cli/pkg/providers/*/markdown_tools.go` of getspecstory,
`pkg/markdown/markdown.go` for the rest). A command stands in the summary, in backticks, in a fence, in a list of inputs or
in their JSON. A file stands behind `Path:`, in bold, or only in the tool's result.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape

from pastchats_memory.formats.base.agent_spellings import parse_droid_output, parse_gemini_output
from pastchats_memory.formats.base.markdown import blocks
from pastchats_memory.formats.base.questions import is_question_tool
from pastchats_memory.formats.base.tools import UNKNOWN_CALL, ToolCall, ToolResult, parse_call, parse_result
from pastchats_memory.formats.base.values import Json, mapping_of, number_of, text_of, value_of
from pastchats_memory.formats.markdown.specstory.folds import Summary, parse_summary
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.text.shell import is_editor, is_read_only, is_shell, reports_failure

SHELLS = ("bash", "sh", "shell", "zsh")
SHOWING = ("write", "read", "search")
"""Kinds of tools whose fences hold the text of files."""
BEGINS_PATCH = "*** Begin Patch"
TERMINAL, PRINTED = "terminalCommandState", "terminalCommandOutput"
"""The keys of a command's exit code and its output in VS Code."""
NO_SUBJECT = frozenset({"explanation", "instructions", "description", TERMINAL, PRINTED})
"""Inputs that never name the subject of a call."""
REFUSED = ("**Apply failed**", "Status: **error**", "Status: **cancelled**", "User decision: **rejected**")

NO_CODE = ("run_terminal", "run_in_terminal")
"""Beginnings of tools of Cursor and VS Code whose commands show no exit code."""
ERROR_BEGINNINGS = ("<tool_use_error>", "Failed to edit")
"""Beginnings of errors of Claude Code and Gemini CLI, which SpecStory writes like any other result."""

_NAME = re.compile(r'data-tool-name="([^"\n]{1,80})"')
_KIND = re.compile(r'data-tool-type="(\w{1,20})"')
_ALONE = re.compile(r"`([^`\n]{1,4000})`\Z")
_LABELLED_FENCE = re.compile(r"(Input(?: \(truncated\))?: )(`{3,})\Z")
"""A fence that opens behind words, as for the input of Codex' custom tools."""
_ITEM = re.compile(r"- ([\w.-]{1,60}): `(.{0,4000})`\Z")
_ABOVE = re.compile(r"- ([\w.-]{1,60}):\Z")
_ITEM_OPENED = re.compile(r"(- [\w.-]{1,60}:) `([^`]{0,4000}|\[.{0,4000}[^`])\Z")
LONG_FENCE = "`" * 40
"""A fence longer than any in a text."""
_OPENING = re.compile(r"(`{3,})\w*\Z")
_LOGIN = re.compile(r"\A\[?(?:bash|sh|zsh) -l?c (?!['\"])(.*?)\]?\Z", re.DOTALL)
"""A list of words, `["bash", "-lc", "npm test"]`, written with only blanks between them."""
_LABELLED = re.compile(r"(Path|URL|Query|Pattern|Skill): `(.{1,4000})`\Z")
_PATCHED_FILE = re.compile(r"\*\*(?:Add|Modify|Update|Delete): `(.{1,1000})`\*\*\Z")
_BELOW = re.compile(
    r"(?:\[object Object\])*(?:<details>)?(?:<summary>)?(?:Read|Edit|Write|Create|Delete|List)[a-z]{0,4} (?:file|directory): (\S[^<\n]{0,1000}?)(?:</summary>)?\s*\Z"
)
_ANSWERED = re.compile(r"\*{0,2}(Result|Output|Output \(error\)|Error):\*{0,2}(?: (\S.*))?\Z")
"""The label above or before a result."""
_WRITTEN = re.compile(
    r"The file (\S[^\n]{0,1000}?) has been (?:updated|modified|overwritten)|File created successfully at: (\S[^\n]{0,1000}?)(?: \(|$)",
    re.MULTILINE,
)
"""Claude Code's sentence with the file that it wrote; SpecStory shows nothing else of an edit."""
_QUESTION = re.compile(r"\*\*(.{1,2000}?)\*\*(?: _\(select multiple\)_)?\Z|\*\*.{1,200}?:\*\* (\S.*)\Z")
"""A question in bold, or behind its subject in bold."""
_PROMPT = re.compile(r"(?:\n[^\n]{0,200}[%$#>] {0,20}){1,4}\Z")
"""The prompt of a shell below the output of a terminal."""
_REPLY = re.compile(r"\*\*Answer:\*\*(?: (.+))?\Z")
NO_REPLY, NOTED = "_No answer_", "user_note: "


@dataclass(frozen=True, slots=True)
class ParsedFold:
    """The content of a fold."""

    call: ToolCall
    output: ToolResult
    replies: str = ""
    """The questions of the call, each with the user's answer below it."""


@dataclass(frozen=True, slots=True)
class _Fence:
    label: str
    """The words right above it or before it; empty if another fence stands there."""
    language: str
    first: int
    """Its first line in the fold; `last` is its last one."""
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class _Fold:
    name: str
    """The name of the tool."""
    kind: str
    """The kind of the tool in SpecStory; empty in earlier versions."""
    of_shell: bool
    lines: Sequence[str]
    """The lines below the summary."""
    outside: Sequence[str]
    """The lines outside of fences, without blank ones."""
    fences: Sequence[_Fence]


def parse_fold(block: Sequence[str], name: str = "") -> ParsedFold:
    """Read the lines of a fold; `name` is that of the tool, where they do not tell it."""
    summary = parse_summary(block)
    named, typed = _NAME.search(block[0]), _KIND.search(block[0])
    name = named[1] if named else name or summary.name or UNKNOWN_CALL.label
    kind = typed[1] if typed else ""
    lines = list(_fence_long_items([line.rstrip() for line in block[summary.below :]]))
    fold = _Fold(name, kind, kind == "shell" or is_shell(name) or bool(summary.command), lines, *_split_fences(lines))
    parsed = {fence.first: _parse_given(fence, fold) for fence in fold.fences}
    given = {first: inputs_of_fence for first, inputs_of_fence in parsed.items() if inputs_of_fence is not None}
    inputs = _collect_inputs(fold, summary, given.values())
    output = _parse_output(fold, [fence for fence in fold.fences if fence.first not in given])
    if isinstance(state := inputs.get(TERMINAL), dict):
        code = number_of(state.get("exitCode"))
        printed = text_of(mapping_of(inputs.get(PRINTED)).get("text"))
        output = ToolResult(printed, code, failed=output.failed or bool(code))
    if is_editor(name) and not _has_subject(inputs) and (written := _WRITTEN.search(output.text)):
        inputs["path"] = written[1] or written[2]
    call = parse_call(name, inputs, any_dialect())
    may_fail = name.startswith(NO_CODE) and not is_read_only(call.command)
    if may_fail and reports_failure(_PROMPT.sub("", output.text.rstrip())):
        output = replace(output, failed=True)
    asks = is_question_tool(name, any_dialect().question_tools)
    return ParsedFold(call, output, _parse_replies(fold.outside) if asks else "")


def _collect_inputs(fold: _Fold, summary: Summary, given: Iterable[Json]) -> Json:
    """Return the input of a tool: from fences and lines, else from the summary or a line of its own."""
    inputs = _parse_listed_inputs(fold.outside)
    for more in given:
        inputs = more | inputs
    if not _has_subject(inputs):
        alone = filter(None, (_text_in_backticks(line, fold) for line in fold.outside))
        inputs["command" if fold.of_shell else "path"] = summary.command or summary.subject or next(alone, "")
    if isinstance(command := inputs.get("command"), str):
        inputs["command"] = _LOGIN.sub(r"\1", command)
    return inputs


def _has_subject(inputs: Json) -> bool:
    return any(value for key, value in inputs.items() if key not in NO_SUBJECT)


def _fence_long_items(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines, with a fence around an input of several lines between backticks."""
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


def _split_fences(lines: Sequence[str]) -> tuple[list[str], list[_Fence]]:
    """Return the lines outside of fences, without blank ones, and the fences."""
    outside: list[str] = []
    fences: list[_Fence] = []
    begin = 0
    for language, first, last in blocks([_LABELLED_FENCE.sub(r"\2", line) for line in lines]):
        above = [line for line in lines[begin:first] if line.strip()]
        outside += above
        labelled = _LABELLED_FENCE.match(lines[first])
        label = labelled[1].rstrip() if labelled else above[-1] if above else ""
        fences.append(_Fence(label, language, first, last, "\n".join(lines[first + 1 : last])))
        begin = last + 1
    return [*outside, *(line for line in lines[begin:] if line.strip())], fences


def _parse_listed_inputs(outside: Sequence[str]) -> Json:
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


def _parse_given(fence: _Fence, fold: _Fold) -> Json | None:
    if item := _ABOVE.match(fence.label):
        return {item[1]: fence.text}
    if fence.text.startswith(BEGINS_PATCH):
        return {"input": fence.text}
    if fence.language in SHELLS and not is_editor(fold.name) and fold.kind not in SHOWING:
        return {"command": fence.text}
    if fence.language == "json" and fence is fold.fences[0] and not _ANSWERED.match(fence.label):
        return _parse_json_input(fence.text)
    return {} if fence.label.startswith("Input") else None


def _parse_json_input(text: str) -> Json:
    """Return a tool's input, or VS Code's record of a terminal call, in which markup is escaped."""
    inputs = mapping_of(value_of(text))
    typed = mapping_of(inputs.get("commandLine"))
    command = text_of(typed.get("toolEdited")) or text_of(typed.get("original"))
    return inputs | ({"command": unescape(command)} if command else {})


def _text_in_backticks(line: str, fold: _Fold) -> str:
    """Return the text of a line that is code alone; a command may contain backticks."""
    line = line.strip()
    if fold.of_shell:
        return line[1:-1] if len(line) > 2 and line[0] == line[-1] == "`" else ""  # noqa: PLR2004 - both marks and something
    found = _ALONE.match(line)
    return found[1] if found else ""


def _parse_output(fold: _Fold, fences: Sequence[_Fence]) -> ToolResult:
    """Return the result: behind or below its label, else in the last fence, or the first one below a command."""
    refused = any(line.startswith(REFUSED) for line in fold.outside)
    answered = next((found for line in fold.outside if (found := _ANSWERED.match(line)) and found[2]), None)
    if answered:
        return _parse_ended(fold.name, answered[2], failed=refused or "error" in answered[1].lower())
    labelled = [(found[1], fence) for fence in fences if (found := _ANSWERED.match(fence.label))]
    if not fences:
        return ToolResult("", failed=refused)
    word, fence = labelled[-1] if labelled else ("", fences[0 if fold.of_shell else -1])
    text = _text_to_last_mark(fold.lines, fence) if fold.of_shell else fence.text
    return _parse_ended(fold.name, text, failed=refused or "error" in word.lower())


def _text_to_last_mark(lines: Sequence[str], fence: _Fence) -> str:
    """Return the text up to the last closing mark.

    Earlier versions used short fences for output that contains fences.
    """
    mark = lines[fence.first].removesuffix(fence.language)
    last = next((place for place in range(len(lines) - 1, fence.last, -1) if lines[place] == mark), fence.last)
    return "\n".join(lines[fence.first + 1 : last])


def _parse_ended(name: str, text: str, *, failed: bool) -> ToolResult:
    """Return the result with its exit code, in the spelling of the agent."""
    if name == "run_shell_command":
        return parse_gemini_output(text, failed=failed)
    output = parse_droid_output(text, failed=failed) if name == "Execute" else parse_result(text, any_dialect())
    failures = (*ERROR_BEGINNINGS, *any_dialect().noise, *any_dialect().refused)
    return replace(output, failed=output.failed or failed or text.startswith(failures))


def _parse_replies(outside: Sequence[str]) -> str:
    """Return the questions with the answers below them. Codex answers each, others all of them behind the last."""
    replies: list[tuple[str, list[str]]] = []
    questions: list[str] = []
    for line in outside:
        if reply := _REPLY.match(line):
            replies.append(("\n".join(questions), [reply[1]] if reply[1] else []))
            questions = []
        elif question := _QUESTION.match(line):
            questions.append(question[1] or question[2])
        elif replies and not questions and line.startswith("- "):
            replies[-1][1].append(line[2:].removeprefix(NOTED))
    return "\n\n".join("\n".join((question, *words)) for question, words in replies if words not in ([], [NO_REPLY]))
