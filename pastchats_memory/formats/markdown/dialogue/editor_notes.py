"""Parse the notes that editors' chats write between the words when a chat is copied or exported: commands, reads, edits.

`Copy All` of VS Code's chat writes `octocat: words` and `GitHub Copilot: words` (in some versions `# octocat: words` and
`**GitHub Copilot:** words`), and its notes as paragraphs. Cursor's exports fold edits away. The exports of Windsurf's
and Antigravity's Cascade write their notes in italics, and notes about the work on a prompt below that prompt.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile
from urllib.parse import unquote

from pastchats_memory.formats.base.markdown import find_line
from pastchats_memory.formats.markdown.dialogue.tool_sections import ToolUse
from pastchats_memory.text.lazy_pattern import read_pattern

COPILOT = "GitHub Copilot"

HEADED, BOLD = "# ", "**"
"""The signs that some versions write before the name of an account, and around Copilot's."""
MOST_LINES = 2000
"""The most lines of a command, of a tool's input, or of a folded edit."""

_SIGNED = re.compile(r"((?:# )?[^\s#*][^:\n]{0,38}): (?=\S)")
"""The name of an account; GitHub allows 39 characters."""
_RUN = re.compile(r"Ran terminal command: {1,2}(?=\S)|\*User accepted the command `")
_RUN_ENDS = re.compile(r"` ?\*\Z")
_HEREDOC = re.compile(r"(?<!<)<<-?\s?['\"]?([A-Za-z_]\w{0,39})")
"""Neither a here-string (`<<< word`) nor a shift (`1 << 4`)."""
_INPUT = "Completed with input: "
_NOTE = read_pattern(__file__, "note")
"""A link without words is a note of VS Code in any language."""
_FENCE = re.compile(r"(`{3,4})\w{0,20}\Z")
_EDIT = read_pattern(__file__, "edit")
_USED = re.compile(r"(?:Using \"|Ran `)([^\"`]{1,80})[\"`]\Z")
_DRIVE = re.compile(r"/(?=[A-Za-z]:/)")


def find_signers(lines: Sequence[str]) -> dict[str, str]:
    """Return the role by the text before the colon of the first words and of Copilot's, in a copied chat of VS Code.

    There are none if the first words have no such name before them.
    """
    begun = (line for line in lines if line.strip())
    first = next((line for line in begun if not line.startswith("#") or _SIGNED.match(line)), "")
    if not (found := _SIGNED.match(first)):
        return {}
    # Whoever files a chat may put lines of their own above it, such as a date.
    below = (line for above, line in pairwise(lines) if not above.strip())
    names = [found[1], *(one[1] for one in map(_SIGNED.match, below) if one)]
    account = max(takewhile(COPILOT.__ne__, names), key=Counter(names).__getitem__, default=found[1])
    return {account: "user", f"{BOLD}{COPILOT}" if account.startswith(HEADED) else COPILOT: "assistant"}


def extract_actions(lines: Sequence[str]) -> tuple[list[str], list[ToolUse]]:
    """Return the lines with notes and the empty fences around edits made blank, and the agent's actions in the notes."""
    words, actions = list(lines), list[ToolUse]()
    place = 0
    while place < len(lines):
        line, end = lines[place].rstrip(), place + 1
        if found := _RUN.match(lines[place]):
            end = _end_of_command(lines, place)
            command = "\n".join([lines[place][found.end() :], *lines[place + 1 : end]])
            actions.append(ToolUse(place, "Terminal", {"command": _RUN_ENDS.sub("", command)}))
        elif found := _EDIT.match(line):
            if found["path"]:
                end = _end_of_block(lines, place, lambda line: line == "</details>")
            uri = (found["uri"] or found["created"] or "").partition("#")[0].removeprefix("file://")
            path = found["path"] or _DRIVE.sub("", unquote(uri), count=1)
            actions.append(ToolUse(place, "Edit", {"path": path}))
        elif found := _USED.match(line):
            actions.append(ToolUse(place, found[1].title().replace(" ", "") if " " in found[1] else found[1]))
        elif lines[place].startswith(_INPUT):
            if lines[place].endswith("{"):
                end = _end_of_block(lines, place, lambda line: line == "}")
        elif not _NOTE.match(line):
            place = end
            continue
        words[place:end] = [""] * (end - place)
        place = end
    _blank_empty_fences(words)
    return words, actions


def _end_of_command(lines: Sequence[str], place: int) -> int:
    """Return the place behind a command: at the end of a heredoc or quotation that it opens, else of its paragraph."""
    first = lines[place]
    if first.startswith("*"):
        ends = _RUN_ENDS.search
        return place + 1 if ends(first) else _end_of_block(lines, place, lambda line: bool(ends(line)))
    if heredoc := _HEREDOC.search(first):
        return _end_of_block(lines, place, lambda line: line == heredoc[1])
    if (quote := first[-1]) in "'\"" and first.count(quote) % 2:
        return _end_of_block(lines, place, lambda line: quote in line.replace(f"\\{quote}", ""))
    return find_line(lines, lambda line: not line.strip() or line.startswith(_INPUT), place + 1)


def _end_of_block(lines: Sequence[str], place: int, ends: Callable[[str], bool]) -> int:
    """Return the place behind the first line below that ends a block, else the next line."""
    below = range(place + 1, min(len(lines), place + MOST_LINES))
    return next((at + 1 for at in below if ends(lines[at])), place + 1)


def _blank_empty_fences(lines: list[str]) -> None:
    """Make empty fences blank, and a fence that is opened at the end."""
    opened, mark = -1, ""
    for place, line in enumerate([*lines, ""]):
        if opened < 0 and (found := _FENCE.match(line)):
            opened, mark = place, found[1]
        elif opened >= 0 and (line == mark or place == len(lines)):
            if not any(map(str.strip, lines[opened + 1 : place])):
                lines[opened : place + 1] = [""] * (min(place + 1, len(lines)) - opened)
            opened = -1
