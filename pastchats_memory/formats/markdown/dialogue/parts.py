"""Parse one part of a Markdown dialogue: its words, and the tool calls, thoughts and folds between them.

OpenCode and the many tools that export Claude Code's sessions each have a notation of their own.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from pastchats_memory.formats.base.agent_spellings import CHATGPT_HIDDEN_TYPES
from pastchats_memory.formats.base.markdown import find_line, in_code
from pastchats_memory.formats.base.values import Json, mapping_of, parse_json, text_of
from pastchats_memory.formats.base.visible_words import visible_words
from pastchats_memory.formats.markdown.dialogue.editor_notes import extract_actions
from pastchats_memory.formats.markdown.dialogue.tool_sections import (
    OPENCODE,
    ToolUse,
    describe_call,
    extract_calls,
    in_exported_code,
)
from pastchats_memory.formats.registry import any_dialect

NO_WORDS = ("No response requested.", "(no content)")

_CALL = re.compile(
    r"(?:\d{1,4}\. )?(?![->#\s]|\*\s)(?P<open>[^\w\s]\W{0,11})(?:using tool|tool(?: use| call)?)\W{0,4}:\W{0,6}(?P<name>[\w.:/-]{1,80})"
    r"(?:\W{0,6}ID: [^()\n]{1,80}\)?)?\W{0,4}\Z",
    re.IGNORECASE,
)
"""A line that names a tool between signs: `**Tool: bash**`, `[Tool Use: read_file]`, `🔧 Using tool: Read`."""
_INPUT = re.compile(r"\W{0,4}(?:input|arguments|parameters)\W{0,4}\Z", re.IGNORECASE)
_OUTPUT = re.compile(r"[^\w\s]\W{0,11}(?:tool )?(?P<how>result|output|error)\W{0,6}\Z", re.IGNORECASE)
_BARE_OUTPUT = re.compile(r"(?P<how>result|output|error):\s*\Z", re.IGNORECASE)
"""Below the input of a call, where no words stand."""
RESULT = re.compile(r"[^\w\s]\W{0,11}tool (?:result|output)\W{0,6}(?:`[\w-]{1,80}`)?\W{0,6}\Z", re.IGNORECASE)
"""The heading of a result without a call before it; Amp names the call by its id."""
_ANSWERED = re.compile(r"\[(?:Tool|[a-z_]{1,40})(?P<failed> \(Error\))?\]\s*\Z")
"""The line above a tool result in the user's place."""
_THOUGHT = re.compile(r"_Thinking:_\s*\Z")
THOUGHT_LABEL = re.compile(r"[^\w\s]{0,3} ?\*\*Thinking:?\*\*:?[ \t]*$", re.MULTILINE)
"""The first line of a part that holds nothing but a thought."""
MODEL = re.compile(r"(?P<mark>[_*]{1,2})Model: [^_*\n]{1,80}(?P=mark)\s*\Z")
TOKENS = re.compile(r"<sub>Tokens\b[^<>\n]{0,200}</sub>\s*\Z")
"""The lines of an exporter above and below the words of an answer."""
_GAP = 3
"""Blank lines that only stand where a thought ends: behind an empty one, or one with blank lines at its end."""
_TITLE = re.compile(r"\*\*[^*\n]{1,120}\*\*")
"""The title of a thought."""
_FOLDED = re.compile(r"think|thought|reason|tool|output|result", re.IGNORECASE)
_THOUGHT_FOR = re.compile(r">\s*(?:Thought|Worked|Reasoned) for ")
_COMMAND = re.compile(r"(?:\*\[Command: )?/([\w:-]{1,80})(?: [^\n]{0,400}?)?(?:\]\*)?\Z")
_BLANKS = re.compile(r"\n\n\n+")
_FOLDED_CALL = re.compile(
    r"[-*] (?P<mark>`|\*\*)(?P<name>[A-Z][\w.:-]{0,79})(?P=mark)(?:[ :—–-]{1,4}(?P<detail>\S[^\n]*))?\Z"
)
"""An item of a fold that lists calls: the name of a tool, and what it was called with."""
POINTER = "_asset_pointer"
UNSEEN = CHATGPT_HIDDEN_TYPES | {POINTER}
CALLS = frozenset({"code", "execution_output", "system_error"})
"""Content types of ChatGPT that are not an assistant's words."""
MOST_BEFORE_TYPE = 40
"""Characters of an object of ChatGPT within which its type stands."""
MOST_FOLDED_ABOVE = 3
"""Lines of a fold within which its summary stands."""


@dataclass(slots=True)
class ParsedPart:
    """A part of a dialogue without the additions of a program."""

    text: str
    kind: str
    """`prompt`, `command`, `summary` or `answer`."""
    uses: list[ToolUse] = field(default_factory=list)
    interrupted: bool = False
    notes: str = ""
    """A program's notes below a prompt, about the work on it."""


def has_tool_lines(lines: Sequence[str]) -> bool:
    """Return whether several lines of a file name a tool; one alone may be a sentence about an export."""
    calls = [_CALL.match(line) is not None for line in lines]
    outside = (call and not code for call, code in zip(calls, in_exported_code(lines), strict=True))
    return sum(calls) > 1 and sum(outside) > 1


def parse_part(lines: Sequence[str], *, person: bool, has_tool_lines: bool) -> ParsedPart:
    """Parse the words of a part, and the tool calls in it."""
    noted, actions = extract_actions(lines)
    remaining, uses = extract_calls(noted)
    if not person:
        remaining = _drop_tagged_thoughts(remaining)
    reader = _PartReader(remaining, person=person, has_tool_lines=has_tool_lines)
    reader.read()
    reader.uses = sorted([*reader.uses, *uses, *actions], key=lambda use: use.line)
    unseen = UNSEEN if person else UNSEEN | CALLS
    text = _drop_hidden_content("\n".join(reader.words).strip(), unseen)
    if remaining != list(lines):
        text = _BLANKS.sub("\n\n", text)
    if not person:
        return ParsedPart("" if text in NO_WORDS else text, "answer", reader.uses)
    typed = any_dialect().parse_prompt(text)
    if typed.is_summary:
        return ParsedPart(text, "summary", reader.uses)
    if command := _COMMAND.match(text):
        is_setting = command[1].lower() in any_dialect().commands
        words = "" if is_setting else command[0].strip("*[]").removeprefix("Command: ")
        return ParsedPart(words, "command", reader.uses)
    kind = "command" if typed.is_command else "prompt"
    notes = "\n".join(line for line, left in zip(lines, noted, strict=True) if line.startswith("*") and not left)
    shown = visible_words(typed.text, "user", any_dialect()).strip()
    return ParsedPart(shown, kind, reader.uses, typed.is_interruption, notes)


class _PartReader:
    """Reads the lines of a part into words and tool calls."""

    def __init__(self, lines: Sequence[str], *, person: bool, has_tool_lines: bool) -> None:
        self.words: list[str] = []
        self.uses: list[ToolUse] = []
        self._lines = lines
        self._person = person
        self._has_tool_lines = has_tool_lines
        self._cuts = [place for place, line in enumerate(lines) if has_tool_lines and OPENCODE.match(line)]
        self._code = in_code(lines, self._cuts)
        self._fold_ends = [place for place, line in enumerate(lines) if line.rstrip().endswith("</details>")]
        self._thoughts_start = -1

    def read(self) -> None:
        place = _end_of_leading_thoughts(self._lines)
        while place < len(self._lines):
            place = self._read_line(place)
        if self._thoughts_start >= 0:
            end = self._find_gap() or self._end_of_thoughts(self._thoughts_start + 1)
            end = end if any(map(str.strip, self.words[end:])) else self._thoughts_start + 1
            del self.words[self._thoughts_start : end]

    def _read_line(self, place: int) -> int:
        """Read the element that begins at a line; return the place behind it."""
        line = self._lines[place]
        if self._code[place]:
            self.words.append(line)
            return place + 1
        if (found := _CALL.match(line)) and (self._has_tool_lines or self._is_confirmed(found, place)):
            self._drop_thoughts()
            return self._read_call(found, place)
        if self._person and (answered := _ANSWERED.match(line)):
            return self._read_result(bool(answered["failed"]), place)
        if RESULT.match(line) and (end := self._find_fence(place + 1)):
            self.uses.append(ToolUse(place, answered=self._text_between(*end)))
            return end[1] + 1
        if line.startswith("<details") and (end_of_fold := self._read_fold(place)):
            return end_of_fold + 1
        if _THOUGHT.match(line) and not self._person:
            self._drop_thoughts()
            self._thoughts_start = len(self.words)
        self.words.append(line)
        return place + 1

    def _end_of_thoughts(self, place: int) -> int:
        """Return the place behind the first paragraph from `place` on.

        Pass over all paragraphs with a title, as Gemini's thoughts have. Without a call between them, nothing else
        separates thoughts from words.
        """
        behind = end = self._end_of_paragraph(place)
        while _TITLE.fullmatch("\n".join(self.words[place:end]).strip()):
            place = behind = self._end_of_paragraph(end)
            end = self._end_of_paragraph(place)
        return behind

    def _end_of_paragraph(self, place: int) -> int:
        """Return the place behind the first paragraph of the words from a place on."""
        return find_line(self.words, _is_blank, find_line(self.words, str.strip, place))

    def _drop_thoughts(self) -> None:
        """Drop an open thought; only a gap separates it from words before a call or the next thought."""
        if self._thoughts_start >= 0:
            del self.words[self._thoughts_start : self._find_gap() or len(self.words)]
        self._thoughts_start = -1

    def _find_gap(self) -> int | None:
        """Return the place behind the first gap in the words from an open thought on."""
        blank = 0
        for place in range(self._thoughts_start + 1, len(self.words)):
            blank = 0 if self.words[place].strip() else blank + 1
            if blank == _GAP:
                return place + 1
        return None

    def _is_confirmed(self, call: re.Match[str], place: int) -> bool:
        """Return whether the only line that names a tool has an id, or an input or a result below it."""
        below = next((line for line in self._lines[place + 1 :] if line.strip()), "")
        is_labelled = "ID: " in call[0] or below.startswith("Input: ") or _INPUT.match(below) or _OUTPUT.match(below)
        return bool(is_labelled) or self._find_fence(place + 1) is not None

    def _read_call(self, found: re.Match[str], place: int) -> int:
        arguments: Json = {}
        answered, label, failed, at = "", "input", False, place + 1
        while at < len(self._lines):
            line = self._lines[at]
            if fence := self._find_fence(at):
                fence = (fence[0], self._last_close(*fence)) if label == "output" else fence
                inside = self._text_between(*fence)
                if label == "input":
                    arguments = mapping_of(parse_json(inside))
                else:
                    answered = inside
                label, at = "output", fence[1] + 1
            elif line.startswith("Input: "):
                end = find_line(self._lines, _is_blank, at)
                arguments = mapping_of(parse_json("\n".join(self._lines[at:end]).removeprefix("Input: ")))
                at = end
            elif _INPUT.match(line):
                label, at = "input", at + 1
            elif named := _OUTPUT.match(line) or _BARE_OUTPUT.match(line):
                label, failed, at = "output", named["how"].lower() == "error", at + 1
            elif not line.strip():
                at += 1
            else:
                break
        self.uses.append(ToolUse(place, found["name"], arguments, answered, failed))
        return at

    def _read_result(self, failed: bool, place: int) -> int:
        """Read a tool result, up to the next one; return the place behind it."""
        end = find_line(self._lines, _ANSWERED.match, place + 1)
        answered = "\n".join(self._lines[place + 1 : end]).strip()
        self.uses.append(ToolUse(place, answered=answered, failed=failed))
        return end

    def _find_fence(self, place: int) -> tuple[int, int] | None:
        """Return first and last line of the fenced block at a line, after blank lines. Return None for other text."""
        place = find_line(self._lines, str.strip, place)
        if place >= len(self._lines) or not self._code[place] or (place and self._code[place - 1]):
            return None
        mark = self._lines[place].lstrip(" \t>")
        run = mark[: len(mark) - len(mark.lstrip(mark[0]))]
        below = ((at, self._lines[at].strip(" \t>")) for at in range(place + 1, len(self._lines)))
        ends = (at for at, line in below if line.startswith(run) and not line.strip(run[0]))
        return place, next(ends, len(self._lines) - 1)

    def _last_close(self, first: int, end: int) -> int:
        """Return the end of OpenCode's block, which may hold fences: the last bare fence before the next call, else `end`."""
        if self._lines[first] != "```" or not self._cuts:
            return end
        later = bisect_right(self._cuts, first)
        following = self._cuts[later] if later < len(self._cuts) else len(self._lines)
        return next((at for at in range(following - 1, end, -1) if self._lines[at] == "```"), end)

    def _text_between(self, first: int, last: int) -> str:
        return "\n".join(self._lines[first + 1 : last])

    def _read_fold(self, place: int) -> int | None:
        """Return the last line of a fold with thoughts or a tool, and read one that lists calls; None for words."""
        head = " ".join(self._lines[place : place + MOST_FOLDED_ABOVE]).partition("</summary>")
        later = bisect_left(self._fold_ends, place)
        if not head[1] or later >= len(self._fold_ends):
            return None
        end = self._fold_ends[later]
        start = find_line(self._lines, lambda line: "</summary>" in line, place) + 1
        items = [(at, self._lines[at]) for at in range(start, end) if self._lines[at].strip()]
        calls = [(at, found) for at, line in items if (found := _FOLDED_CALL.match(line))]
        if calls and len(calls) == len(items):
            self.uses += [ToolUse(at, call["name"], describe_call(call["detail"])) for at, call in calls]
            return end
        return end if _FOLDED.search(head[0].partition("<summary>")[2]) else None


def _is_blank(line: str) -> bool:
    return not line.strip()


def _end_of_leading_thoughts(lines: Sequence[str]) -> int:
    """Return the place behind a quotation at the beginning whose last line says how long the model thought; else 0."""
    first = find_line(lines, str.strip)
    end = find_line(lines, lambda line: not line.startswith(">"), first)
    return end if end > first and _THOUGHT_FOR.match(lines[end - 1]) else 0


def _drop_tagged_thoughts(lines: Sequence[str]) -> list[str]:
    """Return the lines with thoughts made blank, if their tags stand on lines of their own."""
    remaining, code, opened = list(lines), in_code(lines), -1
    for place, line in enumerate(lines):
        if line == "<thinking>" and not code[place] and opened < 0:
            opened = place
        elif line == "</thinking>" and opened >= 0:
            remaining[opened : place + 1] = [""] * (place + 1 - opened)
            opened = -1
    return remaining


def _drop_hidden_content(text: str, unseen: frozenset[str]) -> str:
    """Return the text without ChatGPT's objects above it: instructions, thoughts, pictures."""
    while text.startswith("{") and '"content_type"' in text[:MOST_BEFORE_TYPE]:
        pretty = text.find("\n}") + 2
        ends = (end for end in (pretty if pretty > 1 else 0, text.find("\n"), len(text)) if end > 0)
        end = next((end for end in ends if _content_type_of(mapping_of(parse_json(text[:end]))) in unseen), 0)
        if not end:
            break
        text = text[end:].lstrip()
    return text


def _content_type_of(fields: Json) -> str:
    """Return the type of ChatGPT's content; pictures and recordings count as one."""
    kind = text_of(fields.get("content_type"))
    return POINTER if kind.endswith(POINTER) else kind
