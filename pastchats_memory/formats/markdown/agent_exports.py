"""What exporters of agents' sessions write into Markdown beside the words: calls of tools and what they answered, thoughts, folds.

OpenCode, Cline with its forks, and the many tools that export Claude Code's sessions each spell these in a way of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import NamedTuple
from urllib.parse import unquote

from pastchats_memory.formats.agents.cline import SPOKEN
from pastchats_memory.formats.base.markdown import in_code
from pastchats_memory.formats.base.source import Json, mapping_of, parse_json, text_of
from pastchats_memory.formats.exports.chatgpt import NEVER_SHOWN
from pastchats_memory.formats.generic.message import strip_wrappers
from pastchats_memory.formats.registry import any_dialect

# Calls of tools as exporters of agents' sessions write them into Markdown with what the tools answered beside them, unfenced.
#
# Kimi's CLI names each call and its result by an id, Goose writes them below headings, Zed's threads below a line that tells how it went.
# The chats that come with Claude's designs name a call on a line and say no more of it.
# What a tool answered may hold any Markdown, so that nothing in it may be taken for the end of something that began above.

_SESSION = re.compile(r"\*\*Session ID:\*\* ses_|# Session Export: |# Kimi Session Export\s*\Z")
"""What the exports of OpenCode, Goose and Kimi begin with, each in its own way."""
MOST_ABOVE = 12
"""Lines within which it stands."""
_SPEAKER = re.compile(r"#{2,3} (?:User|Assistant)\b")
_TURN = re.compile(r"## Turn \d{1,6}\s*\Z")
_RULE = "---"
OPENCODE = re.compile(r"\*\*Tool: [\w.-]{1,80}\*\*\s*\Z")
"""Above a call, whose output stands between fences of three whatever is in it."""

_KIMI = re.compile(r"(?:#### Tool Call: (?P<name>[\w.:/-]{1,120})|<details><summary>Tool Result: )")
_KIMI_ID = re.compile(r"<!-- call_id: (\S{1,200}) -->\s*\Z")
_KIMI_FAULT = re.compile(r"\A<system>ERROR: [^\n]{0,400}?</system>\s*")
_EXIT = re.compile(r"^Command failed with exit code: (\d{1,9})\.$", re.MULTILINE)
_FOLD_ENDS = "</details>"
MOST_OF_HEAD = 6
"""Lines of a call's first words, which may be of a command with several."""

_GOOSE = re.compile(r"#### Tool (?:Call: `(?P<name>[^`]{1,120})` \(namespace: `[^`]{0,120}`\)|Response:)\s*\Z")
_GOOSE_KEY = re.compile(r"\*   \*\*(\w{1,80})\*\*: ?(?:`(.*)`)?\s*\Z")
_GOOSE_FAULT = "**Error in Tool Response:**"
_FENCE = re.compile(r"\s*`{3,}\w{0,20}\s*\Z")

_ZED = "**Tool Call: "
_ZED_STATUS = re.compile(
    r"Status: (?P<failed>Failed)?(?:Completed|Cancell?ed|Rejected|Pending|In Progress|Waiting for confirmation)?\s*\Z"
)
_ZED_TERMINAL = "Terminal:"
MOST_OF_LABEL = 200
"""Lines of a command that a label consists of."""

_NAMED = re.compile(r"_\[tool: ([\w.:-]{1,80})\]_\s*\Z")


@dataclass(frozen=True, slots=True)
class Used:
    """A call of a tool, what it answered, or both."""

    name: str
    arguments: Json
    answered: str
    failed: bool
    line: int
    """0-based place within the part."""


@dataclass(frozen=True, slots=True)
class _Section:
    used: Used
    end: int
    """0-based place of the line behind it."""
    own_id: str = ""
    """By which an answer knows its call; without one the first answer is that of the first call."""


def without_calls(lines: Sequence[str]) -> tuple[list[str], list[Used]]:
    """The lines of a part, blank in the place of calls, answers and the heading of the next turn, and the calls with their answers."""
    words = list(lines)
    used: dict[str, Used] = {}
    counted: Counter[bool] = Counter()
    place = 0
    while place < len(lines):
        section = _section(lines, place)
        if section is None:
            place += 1
            continue
        words[place : section.end] = [""] * (section.end - place)
        place = section.end
        told = section.used
        own_id = section.own_id or str(counted[bool(told.name)])
        counted[bool(told.name)] += 1
        known = used.get(own_id)
        used[own_id] = told if known is None else replace(known, answered=told.answered, failed=told.failed)
    last = next((at for at in range(len(words) - 1, -1, -1) if words[at].strip() not in ("", _RULE)), 0)
    if words and _TURN.match(words[last]):
        words[last] = ""
    return words, list(used.values())


def in_unfenced_code(lines: Sequence[str]) -> list[bool]:
    """For every line whether it is code, where an exporter fenced nothing of what tools answered: no block reaches beyond what it wrote itself."""
    above = any(map(_SESSION.match, lines[:MOST_ABOVE]))
    return in_code(lines, [place for place in range(1, len(lines)) if _begins(lines, place, above=above)])


def is_answer(line: str) -> bool:
    """Whether the line is Goose's heading above what a tool answered, and nobody's who speaks."""
    return _GOOSE.match(line) is not None


def _begins(lines: Sequence[str], place: int, *, above: bool) -> bool:
    """Whether the exporter itself wrote the line: a speaker's below a rule, or a tool's."""
    line = lines[place]
    if above and _SPEAKER.match(line):
        return _RULE in lines[max(0, place - 2) : place]
    return (above and bool(_TURN.match(line) or OPENCODE.match(line))) or _head_of_zed(lines, place) is not None


def _section(lines: Sequence[str], place: int) -> _Section | None:
    """The call or the answer that begins at the line."""
    line = lines[place]
    if kimi := _KIMI.match(line):
        return _of_kimi(lines, place, kimi["name"] or "")
    if goose := _GOOSE.match(line):
        return _of_goose(lines, place, goose["name"] or "")
    if named := _NAMED.match(line):
        return _Section(Used(named[1], {}, "", failed=False, line=place), place + 1, f"line {place}")
    return _of_zed(lines, place)


def _of_kimi(lines: Sequence[str], place: int, name: str) -> _Section | None:
    near = range(place + 1, min(place + MOST_OF_HEAD, len(lines)))
    noted = next(((at, found[1]) for at in near if (found := _KIMI_ID.match(lines[at]))), None)
    if noted is None:
        return None
    start, own_id = noted[0] + 1, noted[1]
    ends = "```" if name else _FOLD_ENDS
    end = next((at for at in range(start + 1, len(lines)) if lines[at] == ends), len(lines))
    body = "\n".join(lines[start:end]).strip()
    if name:
        return _Section(
            Used(name, mapping_of(parse_json(body.removeprefix("```json"))), "", failed=False, line=place),
            end + 1,
            own_id,
        )
    said = _KIMI_FAULT.sub("", body, count=1)
    code = _EXIT.search(said)
    answered = f"Exit code: {code[1]}\n{_EXIT.sub('', said).strip()}" if code else said
    return _Section(Used("", {}, answered, failed=said != body, line=place), end + 1, own_id)


def _of_goose(lines: Sequence[str], place: int, name: str) -> _Section:
    end = next((at for at in range(place + 1, len(lines)) if _GOOSE.match(lines[at])), len(lines))
    body = lines[place + 1 : end]
    if name:
        return _Section(Used(name, _listed(body), "", failed=False, line=place), end)
    answered = "\n".join(body).strip().removesuffix(_RULE).rstrip()
    failed = answered.startswith(_GOOSE_FAULT)
    fenced = answered.removeprefix(_GOOSE_FAULT).strip().split("\n")
    answered = "\n".join(line for line in fenced if not _FENCE.match(line))
    return _Section(Used("", {}, answered, failed=failed, line=place), end)


def _listed(body: Sequence[str]) -> Json:
    """Arguments, a key a line with its value behind it, or fenced below it."""
    told: dict[str, str] = {}
    key, fenced = "", False
    for line in body:
        if key and _FENCE.match(line):
            key, fenced = ("", False) if fenced else (key, True)
        elif fenced:
            told[key] = f"{told[key]}\n{line.removeprefix('    ')}".lstrip("\n")
        elif found := _GOOSE_KEY.match(line):
            key, told[found[1]] = found[1], found[2] or ""
    return dict(told)


def _head_of_zed(lines: Sequence[str], place: int) -> tuple[str, bool, int] | None:
    """What a tool was called for, whether it failed, and the place behind both."""
    if not lines[place].startswith(_ZED):
        return None
    for at in range(place + 1, min(place + MOST_OF_LABEL, len(lines))):
        if lines[at - 1].endswith("**") and (status := _ZED_STATUS.match(lines[at])):
            label = "\n".join(lines[place:at]).removeprefix(_ZED).removesuffix("**")
            return label, status["failed"] is not None, at + 1
    return None


def _of_zed(lines: Sequence[str], place: int) -> _Section | None:
    head = _head_of_zed(lines, place)
    if head is None:
        return None
    label, failed, start = head
    end = next((at for at in range(start, len(lines)) if _head_of_zed(lines, at)), len(lines))
    body = [line for line in lines[start:end] if not _FENCE.match(line)]
    answered = "\n".join(body).strip()
    arguments: Json = {}
    if answered.startswith(_ZED_TERMINAL):
        arguments = {"command": label.strip("`").removeprefix("Run ")}
        label, answered = "Terminal", answered.removeprefix(_ZED_TERMINAL).strip()
    return _Section(Used(label, arguments, answered, failed=failed, line=place), end, f"line {place}")


# What editors' chats note between the words when a chat is copied or exported: what was run, read and changed.
#
# `Copy All` of VS Code's chat writes `octocat: words` and `GitHub Copilot: words` (in some versions `# octocat: words` and
# `**GitHub Copilot:** words`), and its notes as paragraphs; Cursor's exports fold edits away; the exports of Windsurf's
# and Antigravity's Cascade write theirs in italics, and those of the work that a prompt began below the prompt.

COPILOT = "GitHub Copilot"

HEADED, BOLD = "# ", "**"
"""What some versions write before the name of an account, and around Copilot's."""
MOST_LINES = 2000
"""Of a command, of what a tool was given, of an edit that is folded away."""

_SIGNED = re.compile(r"((?:# )?[^\s#*][^:\n]{0,38}): (?=\S)")
"""The name of an account, which GitHub lets have 39 characters."""
_RUN = re.compile(r"Ran terminal command: {1,2}(?=\S)|\*User accepted the command `")
_RUN_ENDS = re.compile(r"` ?\*\Z")
_HEREDOC = re.compile(r"(?<!<)<<-?\s?['\"]?([A-Za-z_]\w{0,39})")
"""Neither a here-string (`<<< word`) nor a shift (`1 << 4`)."""
_CHAT_INPUT = "Completed with input: "
_NOTE = re.compile(
    r"Created \d{1,4} todos\Z|Checked background terminal output\Z|Read changed files in the active git repository\Z"
    r"|Read \[[^\]]{1,200}\]\(file:.*\Z|.{0,40}\[\]\(file:.*\Z|The string to replace was not found in the file\.\Z"
    r"|\w{1,20}(?:: \*.{1,300}\* \(\d{1,3}/\d{1,3}\)| \(\d{1,3}/\d{1,3}\) _.{1,300}_)\Z"
    r"|Searched .{0,20}`.{1,400}, \w{1,6} [a-z]{5,7}\Z"
    r"|Continue to iterate\?\Z|Copilot has been working on this problem for a while\.|\[object Object\]\Z"
    r"|\*(?:Edited relevant file|Checked command status|Updated todo list|(?:Grep s|S)earched [^*]{1,300}"
    r"|(?:Viewed|Analyzed|Listed directory|Deleted|Created|Generated) \[[^*]{1,600}|User (?:rejected|cancell?ed) the command `.*) ?\*\Z"
)
"""A link without words is VS Code's own, in whichever language it notes something."""
_CHAT_FENCE = re.compile(r"(`{3,4})\w{0,20}\Z")
_EDIT = re.compile(
    r"Made changes\.\Z|(?:Created|Edited|Replacing \d{1,6} lines .{0,40}in) \[[^\]]{0,200}\]\((?P<uri>file:[^)\n]{1,2000})"
    r"|\[\]\((?P<created>file:[^)\n]{1,2000})\) が作成されました\Z|<details><summary>Edit file: (?P<path>[^<\n]{1,1000})</summary>\Z"
)
_USED = re.compile(r"(?:Using \"|Ran `)([^\"`]{1,80})[\"`]\Z")
_DRIVE = re.compile(r"/(?=[A-Za-z]:/)")


class Deed(NamedTuple):
    """What the agent did: a command that it ran, a file that it changed, a tool that it used."""

    place: int
    """0-based line."""
    tool: str
    arguments: dict[str, object]


def signers(lines: Sequence[str]) -> dict[str, str]:
    """Role by what stands before the colon of the first words, and of Copilot's, as in a chat of VS Code's that was copied whole; empty where no words begin so."""
    begun = (line for line in lines if line.strip())
    first = next((line for line in begun if not line.startswith("#") or _SIGNED.match(line)), "")
    if not (found := _SIGNED.match(first)):
        return {}
    # Whoever files a chat may put lines of their own above it, such as a date.
    names = [
        found[1],
        *(one[1] for above, line in pairwise(lines) if not above.strip() and (one := _SIGNED.match(line))),
    ]
    account = max(takewhile(COPILOT.__ne__, names), key=names.count, default=found[1])
    return {account: "user", f"{BOLD}{COPILOT}" if account.startswith(HEADED) else COPILOT: "assistant"}


def without_notes(lines: Sequence[str]) -> tuple[list[str], list[Deed]]:
    """The lines, blank in the place of notes and of the empty fences around edits, and what was done."""
    words, deeds = list(lines), list[Deed]()
    place = 0
    while place < len(lines):
        line, end = lines[place].rstrip(), place + 1
        if found := _RUN.match(lines[place]):
            end = _behind_command(lines, place)
            command = "\n".join([lines[place][found.end() :], *lines[place + 1 : end]])
            deeds.append(Deed(place, "Terminal", {"command": _RUN_ENDS.sub("", command)}))
        elif found := _EDIT.match(line):
            if found["path"]:
                end = _behind(lines, place, lambda line: line == "</details>")
            path = found["path"] or _path(found["uri"] or found["created"] or "")
            deeds.append(Deed(place, "Edit", {"path": path}))
        elif found := _USED.match(line):
            deeds.append(Deed(place, found[1].title().replace(" ", "") if " " in found[1] else found[1], {}))
        elif lines[place].startswith(_CHAT_INPUT):
            if lines[place].endswith("{"):
                end = _behind(lines, place, lambda line: line == "}")
        elif not _NOTE.match(line):
            place = end
            continue
        words[place:end] = [""] * (end - place)
        place = end
    _blank_empty_fences(words)
    return words, deeds


def _path(uri: str) -> str:
    return _DRIVE.sub("", unquote(uri.partition("#")[0].removeprefix("file://")), count=1)


def _behind_command(lines: Sequence[str], place: int) -> int:
    """The place behind a command of one line or more: at its own end, where it has begun something that ends, else at that of the paragraph."""
    first = lines[place]
    if first.startswith("*"):
        return (
            place + 1 if _RUN_ENDS.search(first) else _behind(lines, place, lambda line: bool(_RUN_ENDS.search(line)))
        )
    if heredoc := _HEREDOC.search(first):
        return _behind(lines, place, lambda line: line == heredoc[1])
    if (quote := first[-1]) in "'\"" and first.count(quote) % 2:
        return _behind(lines, place, lambda line: quote in line.replace(f"\\{quote}", ""))
    below = range(place + 1, len(lines))
    return next((at for at in below if not lines[at].strip() or lines[at].startswith(_CHAT_INPUT)), len(lines))


def _behind(lines: Sequence[str], place: int, ends: Callable[[str], bool]) -> int:
    """The place behind the first line below that ends something; the next line, where none does."""
    below = range(place + 1, min(len(lines), place + MOST_LINES))
    return next((at + 1 for at in below if ends(lines[at])), place + 1)


def _blank_empty_fences(lines: list[str]) -> None:
    """Blank fences with nothing in them, and one that is opened at the end."""
    opened, mark = -1, ""
    for place, line in enumerate([*lines, ""]):
        if opened < 0 and (found := _CHAT_FENCE.match(line)):
            opened, mark = place, found[1]
        elif opened >= 0 and (line == mark or place == len(lines)):
            if not any(map(str.strip, lines[opened + 1 : place])):
                lines[opened : place + 1] = [""] * (min(place + 1, len(lines)) - opened)
            opened = -1


NO_WORDS = ("No response requested.", "(no content)")

_CALL = re.compile(
    r"(?![->#\s]|\*\s)(?P<open>[^\w\s]\W{0,11})(?:using tool|tool(?: use| call)?)\W{0,4}:\W{0,6}(?P<name>[\w.:/-]{1,80})"
    r"(?:\W{0,6}ID: [^()\n]{1,80}\)?)?\W{0,4}\Z",
    re.IGNORECASE,
)
"""A line that names a tool, set off by signs: `**Tool: bash**`, `[Tool Use: read_file]`, `🔧 Using tool: Read`."""
_INPUT = re.compile(r"\W{0,4}(?:input|arguments|parameters)\W{0,4}\Z", re.IGNORECASE)
_OUTPUT = re.compile(r"[^\w\s]\W{0,11}(?:tool )?(?P<how>result|output|error)\W{0,6}\Z", re.IGNORECASE)
_RESULT = re.compile(r"[^\w\s]\W{0,11}tool (?:result|output)\W{0,6}(?:`[\w-]{1,80}`)?\W{0,6}\Z", re.IGNORECASE)
"""The same where no call stands before it, which Amp names by its id."""
_ANSWERED = re.compile(r"\[(?:Tool|[a-z_]{1,40})(?P<failed> \(Error\))?\]\s*\Z")
"""Above what a tool answered, in the person's place."""
_KEY = re.compile(r"([A-Z]\w{0,40}): ?(.*)\Z", re.DOTALL)
_THOUGHT = re.compile(r"_Thinking:_\s*\Z")
_TITLE = re.compile(r"\*\*[^*\n]{1,120}\*\*")
"""Of a thought."""
_FOLDED = re.compile(r"think|thought|reason|tool|output|result", re.IGNORECASE)
_MUSED = re.compile(r">\s*(?:Thought|Worked|Reasoned) for ")
_COMMAND = re.compile(r"(?:\*\[Command: )?/([\w:-]{1,80})(?: [^\n]{0,400}?)?(?:\]\*)?\Z")
_BLANKS = re.compile(r"\n\n\n+")
POINTER = "_asset_pointer"
UNSEEN = NEVER_SHOWN | {POINTER}
CALLS = frozenset({"code", "execution_output", "system_error"})
"""Contents of ChatGPT's messages that are no words of anybody's, and those that are none of the assistant's."""
MOST_BEFORE_TYPE = 40
"""Characters of an object of ChatGPT's within which it says its type."""
MOST_FOLDED_ABOVE = 3
"""Lines of a fold within which its summary stands."""


@dataclass(slots=True)
class Told:
    """What a part of a dialogue says, once all that a program put into it is out."""

    text: str
    kind: str
    """`prompt`, `command`, `summary` or `answer`."""
    used: list[Used] = field(default_factory=list)
    interrupted: bool = False
    notes: str = ""
    """What a program noted below a person's words of the work that they began."""


def lists_calls(lines: Sequence[str]) -> bool:
    """Whether several lines of a file name a tool: one alone may be a sentence about an export."""
    return sum(_CALL.match(line) is not None for line in lines) > 1 and (
        sum(
            _CALL.match(line) is not None for line, code in zip(lines, in_unfenced_code(lines), strict=True) if not code
        )
        > 1
    )


def told_in(lines: Sequence[str], *, person: bool, lists_calls: bool) -> Told:
    """The words of a part, and the tools in it."""
    noted, deeds = without_notes(lines)
    kept, used = without_calls(noted)
    if not person:
        kept = _without_musings(kept)
    reading = _Part(kept, person=person, lists_calls=lists_calls)
    reading.read()
    used += [Used(deed.tool, deed.arguments, "", failed=False, line=deed.place) for deed in deeds]
    reading.used = sorted([*reading.used, *used], key=lambda one: one.line)
    unseen = UNSEEN if person else UNSEEN | CALLS
    text = _without_contents("\n".join(reading.words).strip(), unseen)
    if kept != list(lines):
        text = _BLANKS.sub("\n\n", text)
    if not person:
        return Told("" if text in NO_WORDS else text, "answer", reading.used)
    typed = any_dialect().parse_prompt(text)
    if typed.is_summary:
        return Told(text, "summary", reading.used)
    if command := _COMMAND.match(text):
        return Told(
            "" if command[1].lower() in any_dialect().commands else command[0].strip("*[]").removeprefix("Command: "),
            "command",
            reading.used,
        )
    kind = "command" if typed.is_command else "prompt"
    notes = "\n".join(line for line, left in zip(lines, noted, strict=True) if line.startswith("*") and not left)
    return Told(strip_wrappers(typed.text, "user").strip(), kind, reading.used, typed.is_interruption, notes)


class _Part:
    """A part's lines on the way into words and tools."""

    def __init__(self, lines: Sequence[str], *, person: bool, lists_calls: bool) -> None:
        self.words: list[str] = []
        self.used: list[Used] = []
        self._lines = lines
        self._person = person
        self._lists_calls = lists_calls
        self._cuts = [place for place, line in enumerate(lines) if lists_calls and OPENCODE.match(line)]
        self._code = in_code(lines, self._cuts)
        self._thinking = -1

    def read(self) -> None:
        place = _behind_musing(self._lines)
        while place < len(self._lines):
            place = self._next(place)
        if self._thinking >= 0:
            end = self._end_of_thoughts(self._thinking + 1)
            del self.words[self._thinking : end if any(map(str.strip, self.words[end:])) else self._thinking + 1]

    def _next(self, place: int) -> int:
        """Take what begins at the line; the place behind it."""
        line = self._lines[place]
        if self._code[place]:
            self.words.append(line)
            return place + 1
        if (found := _CALL.match(line)) and (self._lists_calls or self._is_borne_out(found, place)):
            self._forget_thoughts()
            return self._call(found, place)
        if self._person and (answered := _ANSWERED.match(line)):
            return self._answer(bool(answered["failed"]), place)
        if _RESULT.match(line) and (end := self._fence(place + 1)):
            self.used.append(Used("", {}, self._inside(end[0], end[1]), failed=False, line=place))
            return end[1] + 1
        if line.startswith("<details") and (end_of_fold := self._fold(place)):
            return end_of_fold + 1
        if _THOUGHT.match(line) and not self._person:
            self._forget_thoughts()
            self._thinking = len(self.words)
        self.words.append(line)
        return place + 1

    def _end_of_thoughts(self, place: int) -> int:
        """The place in the words behind the first paragraph from there on, or behind all that have a title, as Gemini's have.

        Nothing tells where thoughts end and words begin if no call stands between them.
        """
        behind = end = self._end_of_paragraph(place)
        while _TITLE.fullmatch("\n".join(self.words[place:end]).strip()):
            place = behind = self._end_of_paragraph(end)
            end = self._end_of_paragraph(place)
        return behind

    def _end_of_paragraph(self, place: int) -> int:
        """The place in the words behind the first paragraph from there on."""
        first = next((at for at in range(place, len(self.words)) if self.words[at].strip()), len(self.words))
        return next((at for at in range(first, len(self.words)) if not self.words[at].strip()), len(self.words))

    def _forget_thoughts(self) -> None:
        if self._thinking >= 0:
            del self.words[self._thinking :]
        self._thinking = -1

    def _is_borne_out(self, call: re.Match[str], place: int) -> bool:
        """Whether the only line that names a tool has an id, or below it what the tool was given or what it answered."""
        below = next((line for line in self._lines[place + 1 :] if line.strip()), "")
        labels = (_INPUT, _OUTPUT, _KEY) if call["open"].startswith("[") else (_INPUT, _OUTPUT)
        return (
            "ID: " in call[0]
            or below.startswith("Input: ")
            or any(label.match(below) for label in labels)
            or self._fence(place + 1) is not None
        )

    def _call(self, found: re.Match[str], place: int) -> int:
        if found["open"].startswith("["):
            return self._listed(found["name"], place)
        arguments: Json = {}
        answered, label, failed, at = "", "input", False, place + 1
        while at < len(self._lines):
            line = self._lines[at]
            if fence := self._fence(at):
                fence = (fence[0], self._last_close(*fence)) if label == "output" else fence
                inside = self._inside(*fence)
                if label == "input":
                    arguments = mapping_of(parse_json(inside))
                else:
                    answered = inside
                label, at = "output", fence[1] + 1
            elif line.startswith("Input: "):
                end = next(
                    (end for end in range(at, len(self._lines)) if not self._lines[end].strip()), len(self._lines)
                )
                arguments = mapping_of(parse_json("\n".join(self._lines[at:end]).removeprefix("Input: ")))
                at = end
            elif _INPUT.match(line):
                label, at = "input", at + 1
            elif named := _OUTPUT.match(line):
                label, failed, at = "output", named["how"].lower() == "error", at + 1
            elif not line.strip():
                at += 1
            else:
                break
        self.used.append(Used(found["name"], arguments, answered, failed, place))
        return at

    def _listed(self, name: str, place: int) -> int:
        """A call with a line a key, which ends where the next one begins."""
        end = next((at for at in range(place + 1, len(self._lines)) if _CALL.match(self._lines[at])), len(self._lines))
        arguments: dict[str, str] = {}
        key = ""
        for line in self._lines[place + 1 : end]:
            if found := _KEY.match(line):
                key = found[1].lower()
                arguments[key] = found[2]
            elif key:
                arguments[key] += f"\n{line}"
        if said := arguments.get(SPOKEN.get(name, "")):
            self.words += ["", *said.split("\n")]
        else:
            self.used.append(Used(name, dict(arguments), "", failed=False, line=place))
        return end

    def _answer(self, failed: bool, place: int) -> int:
        """What a tool answered, up to the next answer or what the program says beside it."""
        end = next((at for at in range(place + 1, len(self._lines)) if _ends_answer(self._lines[at])), len(self._lines))
        self.used.append(Used("", {}, "\n".join(self._lines[place + 1 : end]).strip(), failed, place))
        return end

    def _fence(self, place: int) -> tuple[int, int] | None:
        """The first and the last line of the fenced block that begins at the line, blanks before it left out."""
        while place < len(self._lines) and not self._lines[place].strip():
            place += 1
        if place >= len(self._lines) or not self._code[place] or (place and self._code[place - 1]):
            return None
        mark = self._lines[place].lstrip(" \t>")
        run = mark[: len(mark) - len(mark.lstrip(mark[0]))]
        ends = (at for at in range(place + 1, len(self._lines)) if _closes(self._lines[at].strip(" \t>"), run))
        return place, next(ends, len(self._lines) - 1)

    def _last_close(self, first: int, end: int) -> int:
        """Where a block of OpenCode's ends that may have others in it: at the last bare fence before the next call; else `end`."""
        if self._lines[first] != "```" or not self._cuts:
            return end
        later = bisect_right(self._cuts, first)
        following = self._cuts[later] if later < len(self._cuts) else len(self._lines)
        return next((at for at in range(following - 1, end, -1) if self._lines[at] == "```"), end)

    def _inside(self, first: int, last: int) -> str:
        return "\n".join(self._lines[first + 1 : last])

    def _fold(self, place: int) -> int | None:
        """Where a fold of thoughts or of a tool ends; None for a fold of words."""
        head = " ".join(self._lines[place : place + MOST_FOLDED_ABOVE]).partition("</summary>")
        if not head[1] or not _FOLDED.search(head[0].partition("<summary>")[2]):
            return None
        return next(
            (at for at in range(place, len(self._lines)) if self._lines[at].rstrip().endswith("</details>")), None
        )


def _ends_answer(line: str) -> bool:
    return bool(_ANSWERED.match(line)) or line.startswith(("<environment_details>", "<feedback>"))


def _closes(line: str, run: str) -> bool:
    """Whether the line is a bare fence, at least as long as the one that it closes."""
    return line.startswith(run) and not line.strip(run[0])


def _behind_musing(lines: Sequence[str]) -> int:
    """The place behind a quotation at the beginning that tells at its end how long the thoughts in it took."""
    first = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    end = next((place for place in range(first, len(lines)) if not lines[place].startswith(">")), len(lines))
    return end if end > first and _MUSED.match(lines[end - 1]) else 0


def _without_musings(lines: Sequence[str]) -> list[str]:
    """The lines, blank in the place of thoughts between tags that stand on lines of their own."""
    kept, code, opened = list(lines), in_code(lines), -1
    for place, line in enumerate(lines):
        if line == "<thinking>" and not code[place] and opened < 0:
            opened = place
        elif line == "</thinking>" and opened >= 0:
            kept[opened : place + 1] = [""] * (place + 1 - opened)
            opened = -1
    return kept


def _without_contents(text: str, unseen: frozenset[str]) -> str:
    """The text without the objects above it that ChatGPT keeps in place of words: instructions, thoughts, pictures."""
    while text.startswith("{") and '"content_type"' in text[:MOST_BEFORE_TYPE]:
        pretty = text.find("\n}") + 2
        ends = (end for end in (pretty if pretty > 1 else 0, text.find("\n"), len(text)) if end > 0)
        end = next((end for end in ends if _type_of(mapping_of(parse_json(text[:end]))) in unseen), 0)
        if not end:
            break
        text = text[end:].lstrip()
    return text


def _type_of(fields: Json) -> str:
    """The type of one of ChatGPT's contents; pictures and recordings are one."""
    kind = text_of(fields.get("content_type"))
    return POINTER if kind.endswith(POINTER) else kind
