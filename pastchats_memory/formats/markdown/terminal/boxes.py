"""Replace the boxes on the screens of Gemini CLI and Qwen Code by plain lines.

    ╭──────────────────────────────────────────╮
    │ ✔  Shell make kiln (Build what is new.)  │
    │    2 targets built                       │
    ╰──────────────────────────────────────────╯

A box holds a call with its result; in earlier versions a prompt too. Each of its lines becomes a line in the notation of
Claude Code, so one reader handles both.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from pastchats_memory.text.shell import is_editor, is_shell

SIGN = "✦"
"""The sign before the assistant's words; only these screens have it."""
OTHERS = ("⏺", "●", "›", "❯")
_EDGE = re.compile(r" ?[╭╰]─{2,}[╮╯]\s*\Z")
_WALL = "│"
_CALL = re.compile(r"(?P<mark>[✔✓✗✕x?o⊷⊶-]) {1,2}(?P<tool>[A-Za-z]\w{1,60})(?: (?P<subject>.*))?\Z")
_FURTHER = re.compile(r"[✔✓✗✕]  [A-Z]")
"""The beginning of another call in the same box; test output has one blank behind such marks."""
_FAILED, _CANCELLED = "✗✕x", "-"
_EXIT = re.compile(r"Command exited with code:? (\d{1,3})\b\.?")
_WHERE = re.compile(r" \[(?:in|current working directory) .*\Z| \([A-Z][^()]*[.…]?\)?\Z")
"""The text behind a command: its folder and its purpose."""
_AS_JSON = re.compile(r'\{"command":"((?:[^"\\]|\\.)*)')
_WRITING = "Writing to "
_TYPED, _HINT = re.compile(r" ?> +(.*)"), "Type your message"


def has_boxes(lines: Sequence[str]) -> bool:
    """Return whether the lines are such a screen."""
    return any(line.startswith(SIGN) for line in lines) and not any(line.startswith(OTHERS) for line in lines)


def replace_boxes(lines: Sequence[str], nothing: str) -> Iterator[str]:
    """Yield the lines without boxes; `nothing` is the line that ends the block above."""
    within, mark, is_first = "", "", False
    for above, line in pairwise(["", *lines]):
        row = _text_in_box(line)
        text = row or ""
        opens = bool(_EDGE.match(above))
        begins = opens or _FURTHER.match(text)
        if row is None:
            within = ""
            yield nothing if _EDGE.match(line) else line
        elif begins and (call := _CALL.match(text)):
            within, mark, is_first = "call", call["mark"], True
            yield nothing if mark == _CANCELLED else f"⏺ {_format_call(call['tool'], call['subject'] or '')}"
        elif opens and (typed := _TYPED.match(text)):
            within = "" if typed[1].startswith(_HINT) else "prompt"
            yield f"> {typed[1]}" if within else nothing
        elif within == "prompt":
            yield f"  {text.strip()}"
        elif within == "call":
            yield _format_result_line(text.strip(), mark, is_first=is_first)
            is_first = is_first and not text.strip()
        else:
            yield line


def _text_in_box(line: str) -> str | None:
    """Return the text between the walls of a box; None for a line outside."""
    begun = line.removeprefix(" ")
    if not begun.startswith(_WALL):
        return None
    return begun[1:].removeprefix(" ").rstrip().removesuffix(_WALL).rstrip()


def _format_call(tool: str, subject: str) -> str:
    """Return a call in the form `Shell(make kiln)`."""
    if is_shell(tool):
        spelled = _AS_JSON.match(subject)
        subject = " ".join((_unescape(spelled[1]) if spelled else _WHERE.sub("", subject)).split())
    elif is_editor(tool):
        subject = subject.removeprefix(_WRITING).partition(": ")[0]
    return f"{tool}({subject})"


def _unescape(text: str) -> str:
    """Return the value of a JSON string. Return the text itself if it is not one, such as a Windows path."""
    with suppress(json.JSONDecodeError):
        return str(json.loads(f'"{text}"', strict=False))
    return text


def _format_result_line(text: str, mark: str, *, is_first: bool) -> str:
    """Return a line of a result; the first line of a failed call says so."""
    if not text or not is_first:
        return f"     {text}"
    code = _EXIT.match(text)
    if code and code[1] != "0":
        text = f"Error: Exit code {code[1]} {text[code.end() :].strip()}"
    elif mark in _FAILED and not text.startswith("Error"):
        text = f"Error: {text}"
    return f"  ⎿  {text}"
