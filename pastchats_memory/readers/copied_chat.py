"""What editors' chats note between the words when a chat is copied or exported: what was run, read and changed.

`Copy All` of VS Code's chat writes `octocat: words` and `GitHub Copilot: words`, and its notes as paragraphs; the exports of Windsurf's
and Antigravity's Cascade write theirs in italics, and those of the work that a prompt began below the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

COPILOT = "GitHub Copilot"

_SIGNED = re.compile(r"(\S[^:\n]{0,38}): (?=\S)")
"""The name of an account, which GitHub lets have 39 characters."""
_RUN = re.compile(r"Ran terminal command: {1,2}(?=\S)|\*User accepted the command `")
_RUN_ENDS = re.compile(r"` ?\*\Z")
_INPUT, _INPUT_ENDS = "Completed with input: ", ("}", "]")
_NOTE = re.compile(
    r"Made changes\.\Z|Using \"[^\"]{1,80}\"\Z|Created \d{1,4} todos\Z|Checked background terminal output\Z"
    r"|(?:Read|Created|Edited|Replacing \d{1,6} lines .{0,40}in) \[[^\]]{0,200}\]\(file:.*\Z"
    r"|(?:Starting|Completed|Created|Updated): \*.{1,300}\* \(\d{1,3}/\d{1,3}\)\Z"
    r"|Searched .{0,20}`.{1,400}, (?:no|\d{1,6}) (?:results?|match(?:es)?)\Z"
    r"|Continue to iterate\?\Z|Copilot has been working on this problem for a while\.|\[object Object\]\Z"
    r"|\*(?:Edited relevant file|Checked command status|Updated todo list|Grep searched codebase|Searched (?:web|codebase|filesystem)\b[^*]{0,300}"
    r"|(?:Viewed|Analyzed|Listed directory|Deleted|Created|Generated) \[[^*]{1,600}|User (?:rejected|cancell?ed) the command `.*) ?\*\Z"
)
_FENCE = re.compile(r"```\w{0,20}\Z")


class Run(NamedTuple):
    """A command that the agent ran."""

    place: int
    """0-based line."""
    command: str


def account(lines: Sequence[str]) -> str | None:
    """The name before the first words of a chat of VS Code's that was copied whole; None for any other text."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    found = _SIGNED.match(first)
    is_copied = found is not None and any(
        line.startswith(f"{COPILOT}:") and not above.strip() for above, line in pairwise(lines)
    )
    return found[1] if found and is_copied and found[1] != COPILOT else None


def without_notes(lines: Sequence[str]) -> tuple[list[str], list[Run]]:
    """The lines, blank in the place of notes and of the empty fences around edits, and the commands that were run."""
    words, runs = list(lines), list[Run]()
    place = 0
    while place < len(lines):
        end = place + 1
        if found := _RUN.match(lines[place]):
            if lines[place].startswith("*"):
                end = _behind(lines, place, lambda line: _RUN_ENDS.search(line) is not None)
            command = "\n".join([lines[place][found.end() :], *lines[place + 1 : end]])
            runs.append(Run(place, _RUN_ENDS.sub("", command)))
        elif lines[place].startswith(_INPUT):
            if lines[place].endswith(("{", "[")):
                end = _behind(lines, place, lambda line: line in _INPUT_ENDS)
        elif not _NOTE.match(lines[place].rstrip()):
            place = end
            continue
        words[place:end] = [""] * (end - place)
        place = end
    _blank_empty_fences(words)
    return words, runs


def _behind(lines: Sequence[str], place: int, ends: Callable[[str], bool]) -> int:
    """The place behind the first line from there on that ends something; the next line, where none does."""
    return next((at + 1 for at in range(place, len(lines)) if ends(lines[at])), place + 1)


def _blank_empty_fences(lines: list[str]) -> None:
    """Blank fences with nothing in them, and one that is opened at the end."""
    opened = -1
    for place, line in enumerate([*lines, "```"]):
        if opened < 0 and _FENCE.match(line):
            opened = place
        elif opened >= 0 and line == "```":
            if not any(map(str.strip, lines[opened + 1 : place])):
                end = min(place + 1, len(lines))
                lines[opened:end] = [""] * (end - opened)
            opened = -1
