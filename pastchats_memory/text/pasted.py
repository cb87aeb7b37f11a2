"""What a person says in a text, apart from what was pasted into it: code, logs, traces, differences, data, quotations.

A line is known by how it begins and ends, and by how many of its words are words. A few such lines are part of what
somebody says, and stay.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FEW_LINES = 3
"""So many lines of a paste, one after the other, may stand in a text as part of what somebody says."""
MOST_READ = 400
"""Characters of a line by which it is known."""
LONG_LINE = 300
"""Characters from which a line may be a paste by itself: data in one piece."""
LEAST_WORDS = 0.65
"""Share of words among what stands between the spaces of a line that somebody says."""
LONG_QUOTATION = 400
"""Characters from which what stands in quotation marks is not what somebody asks."""

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTATION = re.compile(rf'“[^“”]{{{LONG_QUOTATION},}}+”|"[^"\n]{{{LONG_QUOTATION},}}+"')
_PROGRAM_LINE = re.compile(
    r"""[ \t]*+(?:
        \d{4}-\d\d-\d\d[T\ ]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[\d\d:\d\d | [A-Z][a-z]{2}\ [\ \d]\d\ \d\d:\d\d:\d\d
        | [A-Z]{4,5}[\ :\]] | \[(?:INFO|WARN|DEBUG|ERROR|TRACE) | (?:warning|error|note|panic|fatal)(?:\[\w+\])?:[ ]
        | at\ [\w.$<>/]+\ ?\( | File\ " | Traceback\ \( | During\ handling\ of\  | Caused\ by:\  | Exception\ in\  | goroutine\ \d
        | [\w.]*(?:Error|Exception|Warning|Failure)\b.*: | [a-z]\w*\.[\w.]*[A-Z]\w+:\  | --?>\  | \d{1,6}\ *[→|:\t]
        | [\u2500-\u259f\u25cf\u2700-\u27bf] | \d+\.\d+s?\  | \S+?:\d+:\d+ | diff\ --git\  | [-+]{3}\  | @@\  | [|+]-
        | \$\  | >(?:\ |$) | PS\ [A-Z]:\\ | \w+@[\w.-]+[:\ ~] | ["']?[\w.\ -]{1,40}["']?\ ?:\ +["'\d\[{] | [\]\[{}()]+[;,]?$ | .*\.\.\.$
    )""",
    re.VERBOSE,
)
"""Logs, traces, compilers, differences, a shell's prompt, quoted mail, listings, data."""
_CODE_LINE = re.compile(
    r"""[ \t]*+(?:
        (?:async\ )?def\ \w+\( | class\ \w+[(:{\ ] | from\ [\w.]+\ import\  | import\ [\w.{*"'] | return\b | el(?:if|se)\b | try\b | except\b
        | (?:if|for|while|with)\ .*[:{]$ | (?:export\ )?(?:const|let|var|function|interface|type|enum)\ \w
        | (?:public|private|protected|static|final|override|abstract)\ \w | (?:func|fun|fn|impl|pub|use|package|namespace)\ \S
        | \#include | \#define | @\w+ | // | /\* | \*/ | </?\w[^>]*>
        | (?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|WHERE|JOIN|VALUES|ORDER\ BY|GROUP\ BY)\b
        | [\w.\[\]"']+\ ?(?:[-+*/|:]?=|:=)\ ?\S | [\w.]+\([^)]*\)[;,:]?$ | .*(?:[{};]|=>|->|\\|\($|\[$)$
    )""",
    re.VERBOSE,
)
_CONTINUES_PASTE = re.compile(r"[ \t]*$|(?: {2}|\t)[ \t]*\S|[#*] |[-+](?! \S)")
"""What belongs to a paste that has begun: a blank line, what is indented, a comment, a line of a difference."""
_ERROR = re.compile(
    r"\b(?:(?:[A-Z]\w*)?(?:Error|Exception|Warning|Failure)|error|fatal|panic|FAILED)\b(?: ?\[\w+\])?[:! ]"
)
_BULLET = re.compile(r"(?<![ \t])[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_WORD = re.compile(r"[(\"'“*_`]*(?:[^\W\d_]|(?![^\W\d_])[\u3000-\uffef])+(?:['’-][^\W\d_]+)*[)\"'”*_`.,;:!?…]*\Z")
"""Letters, and all that scripts without spaces put among them."""


class PastedText(NamedTuple):
    """A text in two."""

    said: str
    """Without what was pasted, line by line."""
    error: str
    """The last line of the pastes that says what went wrong; empty for none."""


def split_paste(text: str) -> PastedText:
    """What is said in a text, and what went wrong according to what was pasted into it."""
    pastes = _FENCE.findall(text)
    said: list[str] = []
    run: list[str] = []
    for line in [*_QUOTATION.sub(" ", _FENCE.sub("\n", text)).splitlines(), "end"]:
        if _is_pasted(line) or (run and _CONTINUES_PASTE.match(line)):
            run.append(line)
            continue
        (pastes if _is_paste(run) else said).extend(run)
        run = []
        said.append(line)
    errors = [line for paste in pastes for line in paste.splitlines() if _ERROR.search(line[:MOST_READ])]
    return PastedText("\n".join(said[:-1]).strip(), errors[-1].strip()[:MOST_READ] if errors else "")


def _is_pasted(line: str) -> bool:
    """Whether a line looks like one that a program wrote, or that is written for one."""
    start = line[:MOST_READ].rstrip()
    return bool(start) and bool(_PROGRAM_LINE.match(start) or _CODE_LINE.match(start) or not _is_talk(start))


def _is_talk(line: str) -> bool:
    parts = _BULLET.sub("", line, count=1).split()
    return sum(_WORD.match(part) is not None for part in parts) >= LEAST_WORDS * len(parts)


def _is_paste(run: list[str]) -> bool:
    """Whether lines that look pasted, with what stands within them, are more than part of what somebody says."""
    return sum(map(_is_pasted, run)) > FEW_LINES or any(
        len(line) >= LONG_LINE and not _is_talk(line[:MOST_READ]) for line in run
    )
