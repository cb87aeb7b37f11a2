"""Blocks of an aider chat history: headings of sessions, prompts, notices, answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

Kind = Literal["header", "user", "notice", "answer"]

HEADER = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})([^\n]*)\Z")
_END_OF_ANSWER = ("> Tokens: ", "> ^C")
_REPORT = re.compile(r"> # \d+ SEARCH/REPLACE blocks? failed")
_NOTICE = re.compile(
    r"> (?:Aider v|(?:Main |Weak |Editor )?[Mm]odel:|Tokens: |Cost: |Git |Repo-map|Applied edit to |Did not |Commit [0-9a-f]{6}|Added |"
    r"Add |Remov|Dropp|Creat|Updat|Allow|Run|Warning|Error|Unable|Retry|Only \d|The LLM |The file|No |You |Use |Restored|Skipping|"
    r"Committing|Scraping|Summariz|litellm|https?://|.{0,200}\(Y\)es/\(N\)o)"
)
"""Beginnings of notices after an answer, in a file without aider's line ends; other lines are quotations."""
_END_OF_REPORT = "The SEARCH section must exactly match"
_MADE_BY_AIDER = "  "


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring lines of one kind."""

    kind: Kind
    text: str
    """Its lines without marks and trailing blanks; of a header the time."""
    start: int
    """The 0-based first line."""
    end: int
    """The 0-based last line that is not blank."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """Whether prompts, notices and this line end in aider's two blanks, which editors and exporters remove."""

    typed: bool
    notices: bool
    ours: bool
    counts_tokens: bool
    """Whether a notice ends each answer; the first versions wrote none."""
    is_squeezed: bool
    """Whether an editor has cut the blank line above every prompt, and aider's two blanks."""


def parse_blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks in file order; blank lines belong to answers only."""
    block: list[str] = []
    start = end = 0
    kind: Kind | None = None
    for place, now in enumerate(chain.from_iterable(map(_classify_lines, _split_sessions(lines)))):
        goes_on = now == kind and now != "header"
        if kind is not None and not goes_on and (now is not None or kind != "answer"):
            yield Block(kind, "\n".join(block[: end - start + 1]), start, end)
            kind = None
        if kind is None and now is not None:
            kind, start, block = now, place, []
        block.append(_strip_marks(lines[place], now))
        end = end if now is None else place
    if kind is not None:
        yield Block(kind, "\n".join(block[: end - start + 1]), start, end)


def _split_sessions(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the lines of each session: an editor may have cut the blanks of some only."""
    starts = [place for place, line in enumerate(lines) if HEADER.match(line)]
    return (lines[start:end] for start, end in pairwise(dict.fromkeys([0, *starts, len(lines)])))


def _strip_marks(line: str, kind: Kind | None) -> str:
    if kind == "header" and (found := HEADER.match(line)):
        return found[1]
    if kind == "user":
        line = line[len("#### ") :]
    return (line.removeprefix("> ") if kind == "notice" else line).rstrip()


def _classify_lines(lines: Sequence[str]) -> Iterator[Kind | None]:
    """Yield the kind of every line of a session, None for blank ones."""
    typed = any(line.endswith(_MADE_BY_AIDER) and line.startswith("#### ") for line in lines)
    # A formatter of Markdown leaves the blanks where another line of the quotation follows.
    marked = (line for line, below in pairwise([*lines, ""]) if line.startswith("> ") and not below.startswith(">"))
    notices = any(line.endswith(_MADE_BY_AIDER) for line in marked)
    counts_tokens = any(line.startswith(_END_OF_ANSWER) for line in lines)
    is_squeezed = not typed and all(above.strip() for above, line in pairwise(lines) if line.startswith("####"))
    ended = _ends_in_two_spaces(lines)
    unclosed = _is_outside_code(lines)
    fence, before = "", ""
    last: Kind | None = None
    reporting = False
    for line, ours, is_unclosed in zip(lines, ended, unclosed, strict=True):
        kind: Kind | None = "answer" if line.strip() else None
        if fence and is_unclosed and typed and line.startswith("#### ") and line.endswith(_MADE_BY_AIDER):
            fence = ""  # the answer was broken off within a block
        if HEADER.match(line):
            kind, reporting = "header", False
        elif line.startswith(_END_OF_ANSWER) and (ours or not notices):
            kind, reporting = "notice", False
        elif reporting or _REPORT.match(line):
            # of what the model is told about edits that did not fit aider marks neither lines nor paragraphs
            kind = kind and "notice"
            reporting = not (line.endswith(_MADE_BY_AIDER) or (not notices and line.startswith(_END_OF_REPORT)))
        elif kind and not fence:
            kind = _outside_code(line, before, last, _Marks(typed, notices, ours, counts_tokens, is_squeezed))
        fence = "" if kind in ("header", "notice") else _fence_after(line, fence) if kind == "answer" else fence
        yield kind
        before, last = line if kind else "", kind or last


def _outside_code(line: str, before: str, last: Kind | None, marks: _Marks) -> Kind:
    """Return the kind of a line by the line before it (`""` if blank) and the kind of the last line with text."""
    is_below_blank = not before and (marks.typed or not marks.counts_tokens)
    follows = last != "answer" or is_below_blank or marks.is_squeezed
    if line.startswith("####") and line[4:5] in (" ", "") and follows and (marks.ours or not marks.typed):
        return "user"
    if last == "notice" and before and not (marks.notices and before.endswith(_MADE_BY_AIDER)):
        return "notice"
    if line.startswith("> ") or line == ">":
        within = marks.ours if marks.notices else not before and _NOTICE.match(line) is not None
        # below a notice no answer begins, whether or not an editor has cut the blanks of this line
        is_below = last == "notice" and before
        return "notice" if within or is_below or (last != "answer" and not marks.notices) else "answer"
    return "answer"


def _ends_in_two_spaces(lines: Sequence[str]) -> list[bool]:
    """Return for every line whether its paragraph ends in two spaces, as a notice does."""
    ended = [False] * len(lines)
    for place in range(len(lines) - 1, -1, -1):
        line, after = lines[place], lines[place + 1] if place + 1 < len(lines) else ""
        goes_on = after.strip() != "" and not after.startswith(("> ", "####"))
        ended[place] = line.endswith(_MADE_BY_AIDER) or (goes_on and not line.startswith("####") and ended[place + 1])
    return ended


def _is_outside_code(lines: Sequence[str]) -> list[bool]:
    """Return for every line whether no code block is open: the next fence opens one."""
    opens = [True] * len(lines)
    for place in range(len(lines) - 2, -1, -1):
        below = lines[place + 1]
        found = _FENCE.match(below)
        opens[place] = bool(found[2].strip()) if found else bool(HEADER.match(below)) or opens[place + 1]
    return opens


def _fence_after(line: str, fence: str) -> str:
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return "" if found[1][0] == "`" and "`" in found[2] else found[1]
    closes = found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip()
    return "" if closes else fence
