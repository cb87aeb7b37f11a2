"""Terminal screens of agents' sessions, copied into a file: `> prompt`, then answers behind `⏺`, `●`, `✦` or `•`.

The terminal wrapped the lines. Tool calls stand in boxes and behind `⎿` or `└`: their names, failures and checks become rows.
An answer that was interrupted or replaced by an error is flagged.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby, islice, pairwise, takewhile

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.session import Position, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.markdown.terminal.boxes import has_boxes, replace_boxes
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.text.shell import is_shell

CONFIDENCE = 20
FEWEST = 3
"""The least number of prompts and answers. In documents with headings, such bullets stand one below the other."""

_PROMPT = re.compile(r"(?: ?>|›|❯(?! ?\d\.)) (?=\S)(.*)\Z")
"""`❯` also stands before the chosen line of a numbered menu; Gemini CLI puts a blank before its `>`."""
_ANSWER = re.compile(r"[⏺✦●•][ \t]+(?=\S)(.*)\Z")
_SURE = re.compile(r"[⏺✦❯›]|\s*⎿|\s+└ ")
"""Signs that only such a screen has at the beginning of a line; the bullets `●` and `•` are common."""
_BAR = "▌"
"""The sign of each line of a prompt in Codex up to 0.42; there, `>` stands before the first words of an answer."""
_LATER = ("⏺", "✦", "●", "❯", "›")
"""Signs that such a screen never has: with them, a bar is a quotation's."""
_KEYS = "⏎ send"
"""A label in the line below the input line."""
_FOOTER = re.compile(r" {1,4}(?:\S.{0,200}? · )?\d{1,3}% (?:context )?left(?: ·|\s*\Z)|.{0,80}\? for shortcuts\b")
"""The line below the unsent input of today's Codex, after an empty line."""
_NOTHING = "❯"
"""The input line of other clients while it is empty."""
_CALL = re.compile(r"(\w[\w-]*)\((.*)\Z", re.DOTALL)
_TODOS = "Update Todos"
"""Claude Code's name of a call that writes its todo list."""
_EMPTY = "(no content)\n"
_BARE_CALL = re.compile(rf"  ([A-Z]\w{{1,40}}\(.*|{_TODOS})\Z")
"""A call below the result of another one, copied while its blinking bullet was not visible."""
_ACTION = re.compile(r"(Ran|Edited|Added|Deleted|Explored|Searched|Called|Waited|Viewed|Updated) ?(.*)\Z", re.DOTALL)
"""Codex' line about a call, with its result behind `└`."""
_CHANGED = re.compile(r" \(\+\d{1,9} -\d{1,9}\)\Z")
_SEVERAL = re.compile(r"\d{1,9} files ")
_FILE = re.compile(r"\s*└ (\S.{0,300}?) \(\+\d{1,9} -\d{1,9}\)\Z")
"""One of several changed files, above its changes."""
_RESULT = re.compile(r"\s*⎿|\s+└ ")
_UNINDENTED = re.compile(r"└ |\s+… \+\d{1,9} lines\b")
"""Codex' result line in a copy that lost the leading blanks or the first line."""
_FAULT = re.compile(
    r"(?:(?:\s*⎿\s++|✕ \[)(?=API Error\b|.*\blimit reached\b|You've hit your .*\blimit\b)|■ (?!Conversation interrupted))(.*)\Z"
)
"""An error in the place of an answer; directly behind a call it is the tool's output."""
_STOPPED = re.compile(
    r"\s*⎿\s+\[?(?:Interrupted (?:by user|·)|Request interrupted by user|User rejected )|ℹ Request cancelled|■ Conversation interrupted"
)
_BOX = re.compile(r"\s*[╭│╰▀▄]")
_TABLE, _ROW = re.compile(r"\s*┌"), re.compile(r"\s*[├│└]")
"""The upper edge of a table in an answer, and its other lines; a tool's box has round corners."""
_STATUS = re.compile(
    r"\s*[✢✳✶✻✽·*] (?:.*(?:…|esc to interrupt)|\w+ for \d|Conversation compacted)|[✔✗] You \w+ codex to |※ recap: |─ ?Worked for |ℹ "
)
_FOLDED = re.compile(r"(?:[⏺●]| ) \S.{0,300}\(ctrl\+[or] to expand\)\s*\Z")
"""Claude Code's actions folded into one line: `Read 2 files`, between the words or behind a bullet."""
CALL, RESULT, STOPPED = "call", "result", "stopped"
_FAILED = re.compile(r"Error: (?:Exit code (?P<code>\d{1,3})\s+)?|(?=Error \w+ing file\b)")
"""The beginning of a tool result that is an error."""
RUNNING = " is running…"
"""The text behind a command while it ran."""
_BY_ITSELF = re.compile(r"The \"[^\"\n]{1,80}\" skill is (?:running|loading)\b")
"""Claude Code's text in the user's place when a skill began."""
_NOTICE = re.compile(
    r"\d{1,3} (?:background )?agents? (?:launched|finished)\b"
    r"|(?:Agent|Background command) \"[^\"]{1,300}\"\s(?:was\s)?(?:finished|completed|failed|stopped|killed)"
    r"(?:\swith\sexit\scode\s\d{1,5})?(?: ·.*|\s*)\Z"
)
"""Claude Code's note behind an assistant's bullet when background work began or ended."""
_INDENT = "  "
_BANG = re.compile(r"(! \S.*)\Z")
"""A command that the user ran on Claude Code's screen, above its output."""
CALLING = {"assistant": _CALL, "user": _BANG}
"""The pattern of a call by each role; its result stands below."""
_RULE = re.compile(r"[─━]{8,}\s*\Z")
"""The line above and below the input that was not sent."""
_TYPED = "> "
WRAPPED = 60
"""Characters of a line that the terminal may have wrapped."""
MOST_BLANK = 3
"""The most lines between two paragraphs of a prompt."""
_FENCE = "```"
"""The fence around a screen that was pasted into a document."""


def detect(source: SourceFile) -> int:
    """Return 20 if prompts and answers of such a screen stand at the beginnings of lines, else 0."""
    if source.shape != "markdown":
        return 0
    lines = source.once(_Screen).lines
    answers = [place for place, line in enumerate(lines) if _ANSWER.match(line) or _FAULT.match(line)]
    listed = sum(after - place == 1 for place, after in pairwise(answers))
    titled = sum(line.startswith("#") for line in lines)
    prompts = sum(_PROMPT.match(line) is not None for line in lines[: answers[-1]]) if answers else 0
    is_screen = len(answers) >= max(1, 2 * listed, titled) and prompts > 0 and prompts + len(answers) >= FEWEST
    return CONFIDENCE if is_screen and any(map(_SURE.match, lines)) else 0


class _Screen(MarkdownDialogue[Section]):
    """The prompts, answers, calls and results of a screen."""

    dialect = staticmethod(any_dialect)

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines in the notation of today's Codex, without unsent input."""
        lines = _drop_unsent(list(_join_signed(self.source.text.split("\n"))))
        if has_boxes(lines):
            lines = list(replace_boxes(lines, _NOTHING))
        if not any(line.startswith(f"{_BAR} ") for line in lines) or any(line.startswith(_LATER) for line in lines):
            return lines
        converted: list[str] = []
        for barred, group in groupby(lines, key=lambda line: line.startswith(_BAR)):
            group_lines = list(group)
            if not barred:
                converted += (f"• {line[2:]}" if line.startswith("> ") else line for line in group_lines)
                continue
            end = len(converted) + len(group_lines)
            below = lines[end : end + 2]
            is_sent = len(below) == 2 and not below[0].strip() and _KEYS not in below[1]  # noqa: PLR2004 - of two lines
            first, *rest = (line.removeprefix(_BAR).removeprefix(" ") for line in group_lines)
            sent = [f"› {first}", *(_INDENT + line for line in rest)]
            converted += sent if is_sent else [_NOTHING] * len(group_lines)
        return converted

    def session_info(self) -> SessionInfo:
        words = ((one.name, one.text) for one in self.sections() if one.name not in (RESULT, STOPPED))
        return SessionInfo(conversation_hash(words))

    def sections(self) -> Iterator[Section]:
        return _split_blocks(self.lines)

    def add_section(self, section: Section) -> None:
        builder, text, at = self.builder, section.text, Position(section.line)
        if section.name == "user":
            text = builder.dialect.parse_prompt(text).text  # without what the client says in the person's place
            if text and not _BY_ITSELF.match(text):
                if not _BANG.match(text):
                    builder.add_typed(text.removesuffix(RUNNING), at)
                else:
                    builder.add_prompt(text.removesuffix(RUNNING), at, kind="command")
                    builder.add_call("", "Bash", {"command": text[2:]})
        elif section.name == STOPPED:
            builder.queue.flag("interrupted")
        elif section.name == RESULT:
            builder.add_result("", _parse_output(text), at)
        elif call := _CALL.match(text):
            subject = " ".join(call[2].split()).removesuffix(")")
            builder.add_call("", call[1], {"command" if is_shell(call[1]) else "file_path": subject})
        elif section.name == CALL:
            below = islice(self.lines, section.line, None)
            builder.add_call("", *_parse_action(text.partition("\n")[0], below))
        elif not _NOTICE.match(text):
            builder.add_answer(text.removeprefix(_EMPTY), at)


def _parse_action(text: str, below: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return the tool of a Codex action, or of Claude Code's todo list, with its command or changed files."""
    if text == _TODOS:
        return "TodoWrite", {}
    found = _ACTION.match(text)
    name, subject = found.groups() if found else (text, "")
    if not _CHANGED.search(subject):
        return name, {"command": " ".join(subject.split())}
    lines_below = takewhile(lambda line: not (_ANSWER.match(line) or _PROMPT.match(line)), below)
    files = [one[1] for line in lines_below if (one := _FILE.match(line))] if _SEVERAL.match(subject) else []
    return name, {"path": ", ".join(files) or _CHANGED.sub("", subject)}


def _drop_unsent(lines: list[str]) -> list[str]:
    """Return the lines without the input line of today's Codex: a hint, or unsent text."""
    remaining = list(lines)
    for place, line in enumerate(lines):
        if place < 2 or not _FOOTER.match(line) or lines[place - 1].strip():  # noqa: PLR2004 - a prompt and an empty line above
            continue
        first = place - 2
        while first > 0 and lines[first].startswith(_INDENT) and lines[first].strip():
            first -= 1
        if _PROMPT.match(lines[first]):
            remaining[first : place + 1] = [_NOTHING] * (place + 1 - first)
    return remaining


def _join_signed(lines: list[str]) -> Iterator[str]:
    """Yield the lines, a wrapped line of a prompt without the sign that a copy put before it."""
    for above, line in pairwise(["", *lines]):
        is_below = len(above) >= WRAPPED and above.startswith(_TYPED) and line.startswith(_TYPED)
        yield _INDENT + line.removeprefix(_TYPED) if is_below else line


def _split_blocks(lines: list[str]) -> Iterator[Section]:
    """Yield each prompt, answer, call and result, and `STOPPED` for an interruption."""
    mark, first, block = "", 0, list[str]()
    tables = _table_lines(lines)
    opening = next((place for place, line in enumerate(lines) if _PROMPT.match(line)), 0)
    fenced = any(line.startswith(_FENCE) for line in lines[:opening])
    for number, line in enumerate(lines, start=1):
        folded = _FOLDED.match(line) is not None
        behind = mark == RESULT and not block[-1]
        prompt = _PROMPT.match(line) or (
            _BANG.match(lines[number - 1].rstrip()) if _RESULT.match("".join(lines[number : number + 1])) else None
        )
        answer = None if folded else _ANSWER.match(line) or (_BARE_CALL.match(line) if behind else None)
        is_called = mark in CALLING and bool(CALLING[mark].match(block[0]))
        fault = None if is_called else _FAULT.match(line)
        may_be_action = mark == "assistant" and _ACTION.match(block[0])
        answered = _RESULT.match(line) or (_UNINDENTED.match(line) if may_be_action else None)
        if (
            (found := prompt or answer or fault)
            or folded
            or answered
            or (number not in tables and _ends(lines, number, mark))
            or (fenced and line.startswith(_FENCE))
        ):
            text = _text_above_rule(block)
            words, call = _split_call(text, line) if mark == "assistant" and not is_called else (text, "")
            if words and not (mark == "user" and _RULE.match(line)):
                yield Section(mark, first, words)
            if call:
                yield Section(CALL, first, call)
            if is_stopped := _STOPPED.match(line):
                yield Section(STOPPED, number, "")
            mark, first, block = "", number, []
            if found:
                mark, block = "user" if prompt else "assistant", [found[1].rstrip()]
            elif (is_called or call) and not is_stopped and answered:
                mark, block = RESULT, [line[answered.end() :].strip()]
        elif mark:
            block.append(line.removeprefix(_INDENT).rstrip())
    if mark:
        yield Section(mark, first, _text_above_rule(block))


def _table_lines(lines: list[str]) -> frozenset[int]:
    found: set[int] = set()
    for number, line in enumerate(lines, start=1):
        if _TABLE.match(line) or (number - 1 in found and _ROW.match(line)):
            found.add(number)
    return frozenset(found)


def _text_above_rule(block: list[str]) -> str:
    """Return the text without the upper edge of the input line below it."""
    text = "\n".join(block).strip()
    above, _, last = text.rpartition("\n")
    return above.rstrip() if _RULE.match(last) else text


def _parse_output(text: str) -> ToolResult:
    """Return a tool result; an error names itself, with the exit code of a command."""
    found = _FAILED.match(text)
    if found is None:
        return ToolResult(text)
    code = found["code"]
    return ToolResult(text[found.end() :], int(code) if code else None, failed=True)


def _split_call(text: str, line: str) -> tuple[str, str]:
    """Return the words of an answer, and the call below them whose result is on this line.

    In Codex, the call itself may say how many lines it changed.
    """
    above, _, last = text.rpartition("\n\n")
    if line.lstrip().startswith("⎿"):
        is_prose = text.endswith((".", ":", "!", "?", "。", "："))
        may_be_call = _CALL.match(last) or last == _TODOS if above else not (_STOPPED.match(line) or is_prose)
        is_called = may_be_call and not _FAULT.match(line)
        return (above, last) if is_called else (text, "")
    has_sign = "└" in line or _UNINDENTED.match(line) or _CHANGED.search(text.partition("\n")[0])
    is_action = has_sign and _ACTION.match(text)
    return ("", text) if is_action else (text, "")


def _ends(lines: list[str], number: int, mark: str) -> bool:
    """Return whether a block ends at a line: a menu, a box or result, a rule, or the last paragraph of a prompt."""
    line = lines[number - 1]
    is_below = not (line.strip() or _continues(lines[number : number + MOST_BLANK]))
    is_over = mark == "user" and (_RULE.match(line) or is_below)
    return line.startswith(("❯", "■")) or bool(_BOX.match(line) or _STATUS.match(line) or is_over)


def _continues(lines: list[str]) -> bool:
    """Return whether the next line with text is indented like a prompt's."""
    line = next(filter(str.strip, lines), "")
    return line.startswith(_INDENT) and not _BARE_CALL.match(line)


SCROLLBACK = Format("scrollback", 16, detect, _Screen.read, is_specific=False)
