"""aider: chat histories, and histories of what was typed.

`.aider.input.history` is the only file with the times of prompts.

aider ends its own lines (prompts, notices) with two spaces, which separates them from `#### ` and `> ` in an answer. In a
file with trimmed lines, the neighbouring lines decide.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from pastchats_memory.formats.agents.aider.blocks import Block, parse_blocks
from pastchats_memory.formats.base.format import CERTAIN, Format, confident
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.locations import places
from pastchats_memory.formats.base.markdown import find_line
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.base.tools import cut_middle
from pastchats_memory.formats.base.turns import PendingTurn
from pastchats_memory.formats.base.values import list_of
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc, to_the_minute

CHAT, INPUT = ".aider.chat.history.md", ".aider.input.history"
PARENTS = (
    "[Cc]ode", "[Pp]rojects", "[Ss]rc", "[Dd]ev", "[Ww]ork", "[Rr]epos", "[Gg]it*", "[Ww]orkspace", "[Dd]ocuments",
)  # fmt: skip
"""Usual names of folders in the home that hold repositories."""
PLACES = ("", "*/", *(f"{name}/{below}/" for name in PARENTS for below in ("*", "*/*")))
"""The home, its folders, and repositories up to two folders below the usual ones."""
OPENING = 4096
ASKING = frozenset({"ask", "code", "architect", "context", "help"})
"""Commands that only choose who answers: the text after them is the prompt."""

_STARTED = re.compile(r"^# aider chat started at \d{4}-", re.MULTILINE)
_OF_OURS = re.compile(
    r"^> (?:Aider v\d|Tokens: \S+ sent|Applied edit to |Commit [0-9a-f]{7} |Added .{1,500} to the chat|(?:Main )?[Mm]odel: .{1,200} edit format)",
    re.MULTILINE,
)
_TYPED = re.compile(r"^#### .*  \r?$", re.MULTILINE)
_PROMPT = re.compile(r"^#### \S", re.MULTILINE)
_TYPED_AT = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?)\s*\Z")
_COMMAND = re.compile(r"/([a-z][a-z-]*)(?:\s+(.*))?\Z", re.DOTALL)
_CONFIRMED = re.compile(r"\(Y\)es/\(N\)o")
_CONFIRMING = re.compile(r"(?:y|ye|yes|n|no|a|all|s|skip|d|don't)\Z", re.IGNORECASE)
_MODEL = re.compile(r"(?:Main model|Model): (\S+)")
_EDITED = re.compile(r"Applied edit to (.+)")
_MARKUP, _SUFFIX = re.compile(r"[*`<>|?]|:\Z"), re.compile(r"\.\w{1,12}\Z")
_COMMITTED = re.compile(r"Commit ([0-9a-f]{6,40}) ")
_RAN = re.compile(r"Running (.+)")
_LINTED = re.compile(r"# Fix any errors below")
_LINTER = re.compile(r"## Running: (.+)")
_TESTED = re.compile(r"Attempt to fix test errors\?")
_RED_TEST = re.compile(r"Added \d+ lines? of output to the chat")
"""The notice of a failed `/test`; one that passed prints nothing."""
_DECLINED = re.compile(
    r"(?:Attempt to fix (?:lint|test)|Fix lint) errors\b[^?]{0,300}\?(?:.{0,80}[\]:])? *no? *\Z", re.IGNORECASE
)
"""`? n` up to aider 0.47, `? [Y/n] n` up to 0.53, `? (Y)es/(N)o [Yes]: n` since."""
_NOTED = (("files", _EDITED, ""), ("commits", _COMMITTED, ""), ("tools", _RAN, "shell "))
"""Effects of an answer: the key in the metadata, the pattern of the notice, and a prefix."""
_TEST = re.compile(r"/test\b\s*(.*)")
_NOTED_COMMENT = "Processing your request..."
"""The notice of `--watch-files` for a comment in a file: https://aider.chat/docs/usage/watch.html."""
_COMMENT = re.compile(r"(?:\A|[ \t])(?:#|//|--|;+|/\*|<!--)[ \t]*(\S.*)")
_FOR_AIDER = re.compile(r"\bAI[!?]", re.IGNORECASE)
LONGEST_COMMENT = 400
"""How many characters of a line are searched for a comment for aider."""
_FAULT = re.compile(
    r"litellm\.|Traceback|Error\b|Unable to|Skipping edits to .{1,300} that matches |Only \d+ reflections allowed|The LLM did not conform|# \d+ SEARCH/REPLACE blocks? failed|(?:[\w.]{1,100}\.)?\w{0,60}(?:Error|Exception):"
)
_RIM = r"^(?:-+\s*|(?<!\s\n)\s*|[ \t]*)"
_THOUGHTS = (
    re.compile(r"<(think|thinking-content-[0-9a-f]+)>.*?(?:</\1>|\Z)", re.DOTALL),
    re.compile(r"\A.*?^</think>$", re.DOTALL | re.MULTILINE),  # some servers cut off the tag that opens them
    re.compile(rf"{_RIM}► \*\*THINKING\*\*$.*?(?:{_RIM}► \*\*ANSWER\*\*$|\Z)", re.DOTALL | re.MULTILINE),
)


def matches(source: SourceFile) -> bool:
    """Return whether a file begins like a chat history or an input history."""
    if source.shape == "markdown" and _is_chat(source.head):
        return True
    return source.shape != "jsonl" and next(_typed(source.head.split("\n")[:3]), None) is not None


def read(source: SourceFile) -> Iterator[Turn | Unreadable]:
    """Yield prompts, answers and errors; of an input history the prompts that the chat history lacks.

    A part of a chat history, which only its user recognises, is read by its prompts.
    """
    lines = source.text.split("\n")
    if _is_chat(source.head) or _PROMPT.search(source.head):
        yield from _chats(lines, _times_of_sibling(source.path))
    else:
        yield from _inputs(lines, source.path)


def _is_chat(head: str) -> bool:
    """Return whether a heading is near the top, or a prompt and a notice have aider's line ends."""
    return bool(_STARTED.search(head[:OPENING]) or (_TYPED.search(head) and _OF_OURS.search(head)))


def _chats(lines: Sequence[str], times: defaultdict[str, deque[str]]) -> Iterator[Turn]:
    equal: Counter[str] = Counter()
    for number, (_, group) in enumerate(groupby(_numbered(parse_blocks(lines)), key=lambda pair: pair[0])):
        session = [block for _, block in group]
        started = session[0].text if session[0].kind == "header" else ""
        equal[started] += 1
        builder = _SessionReader(times, to_the_minute(iso_utc(started, LOCAL)), has_prompt=not started)
        for block in session:
            builder.add_block(block)
        first = next((draft for draft in builder.queue if draft.role == "user"), None)
        own = [("aider", started), ("again", str(equal[started])), ("user", first.texts[0] if first else str(number))]
        for draft in builder.queue:
            draft.conversation_id = conversation_hash(own)
            if turn := draft.turn():
                yield turn


def _numbered(blocks: Iterable[Block]) -> Iterator[tuple[int, Block]]:
    """Yield blocks with the number of their session; the first may have no heading."""
    session = 0
    for block in blocks:
        session += block.kind == "header"
        yield session, block


@dataclass
class _SessionReader:
    times: defaultdict[str, deque[str]]
    """The times of each prompt that are not taken yet."""
    started: str | None
    queue: list[PendingTurn] = field(default_factory=list)
    model: str = ""
    answer: PendingTurn | None = None
    prompt: PendingTurn | None = None
    has_prompt: bool = False
    """Whether a prompt precedes, so that an answer can follow: of a `--message` only the first line is marked."""
    watched: Block | None = None
    """A notice of a comment in a file, until it is answered."""
    repeated: list[str] = field(default_factory=list)
    """Texts that aider may repeat as if they were typed: the question of a command, and the answers since."""

    def add_block(self, block: Block) -> None:
        match block.kind:
            case "user":
                self.has_prompt = True
                self.watched = None
                self._typed(block)
            case "answer" if self.has_prompt:
                text = block.text
                if self.watched is not None:
                    self._add_comment(self.watched, text)
                for thought in _THOUGHTS:
                    text = thought.sub("", text)
                if text.strip():
                    # an architect's thoughts are told to the editor, too, unless aider knows their tag
                    self.repeated += dict.fromkeys(map(_on_one_line, (block.text, text)))
                self.answer = self._add("assistant", "answer", text.strip(), block)
                self.answer.metadata["model"] = self.model
            case "notice":
                self._notice(block)

    def _typed(self, block: Block) -> None:
        # answers to "add all of these files?" are echoed as if they were prompts
        typed = "\n".join(line for line in block.text.split("\n") if not _CONFIRMED.search(line)).strip()
        if not typed or typed == "<blank>":
            return
        if self._repeats(_on_one_line(typed)):
            self.repeated = []
            return
        kind, text = _parse_prompt(typed)
        self.repeated = [_on_one_line(text)] if text != typed else []
        if self.prompt is not None and self.answer is None and self.prompt.texts == [text]:
            self.prompt.branch = "abandoned"  # it was stopped, or it failed
            _flag(self.prompt, "interrupted")
        self.prompt = self._add("user", kind, text, block)
        times = self.times[typed]
        self.prompt.timestamp = iso_utc(times.popleft() if times else None, LOCAL) or self.started
        self.answer = None

    def _repeats(self, typed: str) -> bool:
        """Return whether aider repeats a text: after `/ask`, `/help` and `/lint`, and an architect's answer for the editor."""
        if _LINTED.match(typed):
            return True
        if not self.repeated:
            return False
        # an answer with a quotation in it is told in pieces
        is_same = typed.startswith(tuple(self.repeated)) and typed.endswith(self.repeated[-1])
        return is_same or typed.startswith(f"# Question: {self.repeated[0]} # Relevant docs:")

    def _add_comment(self, notice: Block, answer: str) -> None:
        """Add the comment in a file as a prompt: the one that the answer removes, else the notice."""
        found = (_COMMENT.search(line[:LONGEST_COMMENT]) for line in answer.split("\n"))
        comments = dict.fromkeys(comment[1].rstrip() for comment in found if comment and _FOR_AIDER.search(comment[1]))
        place = notice.text.split("\n").index(_NOTED_COMMENT)
        text = "\n".join(comments) or _NOTED_COMMENT
        self.prompt = self._add("system", "prompt", text, notice, notice.start + place)
        _flag(self.prompt, "watched")
        self.watched = None

    def _notice(self, block: Block) -> None:
        lines = block.text.split("\n")
        for line in lines:
            if found := _MODEL.match(line):
                self.model = found[1]
            if line == _NOTED_COMMENT:
                self.has_prompt, self.watched = True, block
            if line.startswith("^C") and (last := self.answer or self.prompt):
                _flag(last, "interrupted")
            for key, pattern, mark in _NOTED:
                if self.answer is not None and (found := pattern.match(line)):
                    named, name = list_of(self.answer.metadata.setdefault(key, [])), mark + found[1].strip()
                    if name not in named and (key != "files" or _is_path(found[1].strip())):
                        named.append(name)
        typed_test = self.answer is None and self.prompt is not None and _TEST.match(self.prompt.texts[0])
        place, kind, heading = _fault_in(lines, typed_test[1] or "aider --test" if typed_test else "")
        if place < len(lines) and self.prompt is not None:
            output = "\n".join(lines[place:]).strip()
            text = cut_middle(f"$ {heading}\n{output}" if heading else output)
            self._add("tool", kind, text, block, block.start + place)

    def _add(self, role: str, kind: str, text: str, block: Block, start: int | None = None) -> PendingTurn:
        line = (block.start if start is None else start) + 1
        draft = PendingTurn(role, kind, line, [text], end_line=block.end + 1)
        draft.timestamp = self.prompt.timestamp if self.prompt else self.started
        self.queue.append(draft)
        return draft


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _fault_in(lines: Sequence[str], tested: str) -> tuple[int, str, str]:
    """Return the place of the first error line (else the number of lines), its kind, and the command that found it.

    The linter and the tests after an edit print only errors, and the tests do not name their command. If the person
    declines a repair, it is no error. `tested` is the command of `/test`, if that was typed before the notice.
    """
    starts = [_FAULT, _LINTED, _TESTED, *([_RED_TEST] if tested else [])]
    place = find_line(lines, lambda line: any(start.match(line) for start in starts))
    rest = lines[place:]
    if any(map(_DECLINED.match, rest)):
        return place, "result", ""
    if any(map(_LINTED.match, rest)):
        return place, "error", next((found[1].strip() for found in map(_LINTER.match, rest) if found), "aider --lint")
    return place, "error", tested or ("aider --test" if any(map(_TESTED.match, rest)) else "")


def _is_path(name: str) -> bool:
    """Return whether a name is one of a file: aider also edits what stands above a code block, such as a sentence."""
    return not _MARKUP.search(name) and (" " not in name or _SUFFIX.search(name) is not None)


def _flag(draft: PendingTurn, name: str) -> None:
    draft.metadata["flags"] = [name]


def _times_of_sibling(path: Path) -> defaultdict[str, deque[str]]:
    times: defaultdict[str, deque[str]] = defaultdict(deque)
    for _, moment, text in _typed(_lines_of_sibling(path, INPUT)):
        times[text].append(moment)
    return times


def _lines_of_sibling(path: Path, name: str) -> list[str]:
    """Return the lines of the other history in the same folder, or none."""
    other = SourceFile(path.with_name(name))
    try:
        return other.text.split("\n") if other.path != path and other.head else []
    except (NotText, OSError):
        return []


def _typed(lines: Iterable[str]) -> Iterator[tuple[int, str, str]]:
    """Yield 0-based line, local time and text of each entry: a line with the time, then lines after a `+`."""
    started, moment, text = 0, "", list[str]()
    for place, line in enumerate(lines):
        if line.startswith("+") and moment:
            text.append(line[1:].rstrip())
            continue
        if text:
            yield started, moment, "\n".join(text).strip()
        found = _TYPED_AT.match(line)
        started, moment, text = place, found[1] if found else "", []
    if text:
        yield started, moment, "\n".join(text).strip()


def _inputs(lines: Sequence[str], path: Path) -> Iterator[Turn]:
    entries = list(_typed(lines))
    name = conversation_hash(("aider", f"{moment} {text}") for _, moment, text in entries)
    notices = Counter(block.text for block in parse_blocks(_lines_of_sibling(path, CHAT)) if block.kind == "user")
    for place, moment, text in entries:
        if notices[text]:
            notices[text] -= 1
        elif text and not _CONFIRMING.match(text):
            kind, words = _parse_prompt(text)
            moment_utc = iso_utc(moment, LOCAL)
            yield Turn("user", words, place + 1, conversation_id=name, timestamp=moment_utc, kind=kind)


def _parse_prompt(typed: str) -> tuple[str, str]:
    """Return kind and text of a typed line: `/ask why?` is a prompt, other commands steer aider."""
    found = _COMMAND.match(typed)
    if found and found[1] in ASKING and (words := (found[2] or "").strip()):
        return "prompt", words
    return "command" if found or typed.startswith("!") else "prompt", typed


AIDER = Format(
    name="aider",
    version=15,
    detect=confident(matches, CERTAIN),
    read=read,
    locations=places(*(f"{{home}}/{place}{CHAT}" for place in PLACES)),
)
