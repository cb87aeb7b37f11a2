"""Markdown dialogues to turns: exports, page copies and hand-made logs in which headings say who speaks.

The style of the first qualifying line is the style of the file: one syntax, one language of words, one level for each role.
Everything else that looks like a marker is content. A turn's line is that of its marker, its last line the last one of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import PurePath

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.markdown import front_matter, has_marks_of_its_own, headings, in_code, in_details
from pastchats_memory.formats.base.session import PendingTurn, TurnQueue
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import UNKNOWN_CALL, ToolCall, parse_call, parse_result
from pastchats_memory.formats.markdown.agent_exports import (
    HEADED,
    Told,
    in_unfenced_code,
    is_answer,
    lists_calls,
    signers,
    told_in,
)
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.clean import conversation_hash
from pastchats_memory.text.dates import LOCAL, MOMENT, date_in_path, handwritten, iso_utc, to_the_minute

# Lines that say who speaks next in a Markdown dialogue, in all the ways people and exporters write them.

NAMES = {
    "user": "user human you me usuario usuário utilisateur utente benutzer nutzer gebruiker пользователь 用户 用戶 使用者 ユーザー 사용자 người nguoi du vous você användare bruger bruker käyttäjä uživatel użytkownik utilizator felhasználó kullanıcı pengguna користувач χρήστης المستخدم کاربر משתמש",
    "assistant": "asistente assistente assistent ассистент помощник 助手 助理 アシスタント 어시스턴트 trợ tro asistent asistan asisten asystent асистент asszisztens βοηθός المساعد دستیار assistant chatgpt claude gemini ai bot model agent gpt copilot cursor bard grok deepseek mistral llama qwen perplexity planner codex cascade windsurf antigravity kiro cline amp junie devin",
    "system": "system developer",
    "tool": "tool function",
}
SECTIONS = {"user": "prompt question query", "assistant": "response answer reply"}
"""Words that answers also use for headings of their own: a family apart, so that one file speaks one of the two languages."""
CALLOUTS = {
    "user": "user question human prompt you",
    "assistant": "agent assistant answer ai bot gpt chatgpt claude gemini model",
}

LONGEST_LINE = 200
"""A longer heading is a sentence. Lines that carry the words themselves (`**You:** …`) may be of any length."""
LONGEST_SAID = 60
"""`You said:` and its like; a longer line is a sentence that ends with a colon."""

_ROLES = {
    word: (family, role)
    for family, table in (("names", NAMES), ("sections", SECTIONS))
    for role, words in table.items()
    for word in words.split()
}
_ATX = re.compile(r"(#{1,6})[ \t]+(\S.*)\Z")
_HTML = re.compile(r"<h([1-6])[^<>]{0,80}>([^<>]{1,80})</h\1>\s*\Z", re.IGNORECASE)
_BOLD = re.compile(r"(?:\*\*|__)(?=\S)([^*_\n]{1,80})(?:\*\*|__)(:?)(.*)\Z", re.DOTALL)
_PLAIN = re.compile(
    r"(User|Human|You|Me|Assistant|AI|Agent|Bot|ChatGPT|GPT|Claude|Gemini|Copilot|Cursor|Codex|Grok|DeepSeek|System|user|assistant|USER|HUMAN|ASSISTANT|SYSTEM):(?:[ \t]+(.*)|\Z)",
    re.DOTALL,
)
_RULED = re.compile(r"(={2,20}|-{2,20}|~{2,20})[ \t]*([^-=~\s][^=~\n]{0,60}?)[ \t]*\1\Z|\[([^\[\]\n]{1,40})\]:?\Z")
_PICTURE = re.compile(r"\A[^\w\s\x00-\x7f]{1,8}\s*(?=\*\*)")
_CALLOUT = re.compile(r">[ \t]?\[!([\w -]{1,40})\][+-]?[ \t]*(.*)\Z", re.DOTALL)
_BEFORE = re.compile(
    r"(?:[^\w\s<(\[*#]{1,8}\s*)?(?:(?:turn|message|msg)\s+)?(?:\[?#?\d{1,5}\]?\s*[.):–—-]?\s+\(?)?(?:[^\w\s<(\[*#]{1,8}\s*)?(?:github\s+)?",
    re.IGNORECASE,
)
_PLUGIN = re.compile(r"(?:plugin|插件) \([\w. -]{1,60}\):?\Z", re.IGNORECASE)
"""How ChatGPT Exporter names a tool; the bare word is a heading of anybody's."""
_WORD = re.compile(r"[^\W\d_]+")
_SAID = re.compile(
    r"\s+(said|says|asked|asks|replied|replies|answered|wrote|writes|responded|hat gesagt|hast gesagt|a dit|avez dit|dijo|disse)\b",
    re.IGNORECASE,
)
_KIND = re.compile(
    r"(?:['’]s)?\s+(message|prompt|input|query|question|request|turn|response|answer|reply|output|assistant|agent|cli|dùng|dung|lý|ly)\b",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"([- ](sonnet|opus|haiku|pro|flash|ultra|turbo|mini|nano|code|chat|preview|large|advanced|thinking|codex|v?\d[\w.]{0,20}))+\b",
    re.IGNORECASE,
)
"""What may follow a role's word: a verb, the kind of message, the rest of a model's name."""
_MARKED = re.compile(
    r"<(sub|small|time|sup)>([^<>]{0,80})</\1>|\(([^()]{0,80})\)|\[([^\[\]]{0,80})\]|`([^`]{0,80})`|\*([^*]{0,80})\*"
)
_TIME = re.compile(MOMENT)
_LEADING = re.compile(
    rf"[\[(]?(?:({MOMENT})|\d{{1,2}}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)[\])]?(?:\s*+[-–—|·])?\s++(?=\S)"
)
"""A time before the role."""
_DASHED = re.compile(r"\s*[—–|·@,•-]+\s*(?P<rest>[^—–|·•]{1,60})")
_NAMED_MODEL = re.compile(r"[—–|·@,•-]+\s*(?:[a-z]+[-/.:])+[\w.:-]{1,60}\Z")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d|\d{4}|\d{1,2}[/.]\d{1,2}")


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One line that begins a turn."""

    place: int
    """0-based line."""
    role: str
    syntax: str
    """`atx`, `html`, `bold`, `list`, `callout`, `ruled`, `said`, `plain`, `timed` or `signed`."""
    family: str
    """`names` or `sections`."""
    level: int = 0
    timestamp: str | None = None
    words: str = ""
    """What is said on the line itself."""
    said: bool = False
    """A verb makes it certain that somebody speaks here: `You said:`."""


def role_line(lines: Sequence[str], place: int) -> RoleLine | None:
    """What the line says about who speaks next, whichever way; None for any other line."""
    line = _unwrapped_label(lines[place].rstrip())
    start = line.lstrip()[:2]
    if start[:1] == "#":
        return _heading(_ATX.match(line), "atx", place)
    if start in ("<h", "<H"):
        return _heading(_HTML.match(line), "html", place)
    if start[:1] == ">":
        return _callout(line, place)
    if start in ("==", "--", "~~") or start[:1] == "[":
        return _ruled(line, place) or _timed(line, place)
    if start in ("- ", "* "):
        return _bold(line[2:], "list", place)
    return _bold(line, "bold", place) if start in ("**", "__") else _named(lines, line, place)


def _named(lines: Sequence[str], line: str, place: int) -> RoleLine | None:
    """A line without any mark that begins with who speaks."""
    return _said(line, place) or _plain(lines, place) or _timed(line, place)


def _unwrapped_label(line: str) -> str:
    """Bold words without a picture before them or italics around."""
    if line.startswith("_**") and line.endswith("**_"):
        return line[1:-1]
    return _PICTURE.sub("", line, count=1)


def signed_lines(lines: Sequence[str], names: Mapping[str, str]) -> list[RoleLine]:
    """The lines that begin with one of the names and a colon, below a blank line.

    Args:
        lines: of the file.
        names: role by name, with the marks before it: `**Copilot` is of `**Copilot:** words`.

    """
    found = (
        (place, (line.replace(":**", ":", 1) if line.startswith("**") else line).partition(":"))
        for place, line in enumerate(lines)
        if not place or not lines[place - 1].strip()
    )
    return [
        RoleLine(place, names[name], "signed", "names", words=words.strip())
        for place, (name, colon, words) in found
        if colon and name in names and words[:1] in ("", " ")
    ]


def _said(line: str, place: int) -> RoleLine | None:
    """`You said:`, as it stands in a page that was copied without its headings."""
    if len(line) > LONGEST_SAID or not line.endswith((":", "：")) or not (label := _label(line)) or not label.said:
        return None
    return RoleLine(place, label.role, "said", label.family, timestamp=label.timestamp, said=True)


def _plain(lines: Sequence[str], place: int) -> RoleLine | None:
    """A name and a colon, with a blank line or a separator before it."""
    found = _PLAIN.match(lines[place])
    if found is None or (place and lines[place - 1].strip() not in ("", "---", "***", "* * *", "___")):
        return None
    family, role = _ROLES[found[1].lower()]
    return RoleLine(place, role, "plain", family, words=(found[2] or "").rstrip())


def _timed(line: str, place: int) -> RoleLine | None:
    """A time, a name and a colon before the words, as logs have them on lines that follow one another."""
    leading = _LEADING.match(line)
    found = _PLAIN.match(line, leading.end()) if leading else None
    if leading is None or found is None or not found[2]:
        return None
    family, role = _ROLES[found[1].lower()]
    if role == "system":  # logs of servers have more of these
        return None
    moment = iso_utc(leading[1], LOCAL) if leading[1] else None
    return RoleLine(place, role, "timed", family, timestamp=moment, words=found[2].rstrip())


def _heading(found: re.Match[str] | None, syntax: str, place: int) -> RoleLine | None:
    if found is None or len(found[0]) > LONGEST_LINE or (label := _label(found[2])) is None:
        return None
    level = len(found[1]) if syntax == "atx" else int(found[1])
    return RoleLine(place, label.role, syntax, label.family, level, label.timestamp, said=label.said)


def _ruled(line: str, place: int) -> RoleLine | None:
    """`=== User ===`, `[USER]`."""
    found = _RULED.match(line)
    label = _label(found[2] or found[3]) if found else None
    return RoleLine(place, label.role, "ruled", label.family, timestamp=label.timestamp) if label else None


def _bold(line: str, syntax: str, place: int) -> RoleLine | None:
    found = _BOLD.match(line)
    if found is None or (label := _label(found[1])) is None:
        return None
    rest = found[3].strip()
    if not (found[1].rstrip().endswith(":") or found[2]):
        tail = _tail(f" {rest}") if rest else None
        if rest and tail is None:
            return None
        return RoleLine(place, label.role, syntax, label.family, timestamp=label.timestamp or (tail or ""))
    return RoleLine(place, label.role, syntax, label.family, timestamp=label.timestamp, words=rest)


def _callout(line: str, place: int) -> RoleLine | None:
    found = _CALLOUT.match(line)
    if found is None:
        return None
    words = re.split(r"[ _-]", found[1].lower())
    role = next((role for role, known in CALLOUTS.items() if set(words) & set(known.split())), None)
    moment = _TIME.search(found[2])
    return (
        None
        if role is None
        else RoleLine(place, role, "callout", "names", timestamp=iso_utc(moment[0], LOCAL) if moment else None)
    )


@dataclass(frozen=True, slots=True)
class _Label:
    role: str
    family: str
    timestamp: str | None
    said: bool


def _label(text: str) -> _Label | None:
    """A role with nothing beside it but a number, a picture, a model, a time."""
    text = text.strip().strip("#").strip().replace("：", ":")
    if _PLUGIN.match(text):
        return _Label("tool", "names", None, said=False)
    leading = _LEADING.match(text)
    text = text[leading.end() :] if leading else text
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    before = _BEFORE.match(text)
    text = text[before.end() :].removesuffix(")" if before[0].endswith("(") else "") if before else text
    text = text.replace("**", "").replace("__", "").strip("*_ ")
    word = _WORD.match(text)
    if word is None or (known := _ROLES.get(word[0].lower())) is None:
        return None
    rest = text[word.end() :]
    model = _MODEL.match(rest) if known[1] == "assistant" else None
    rest = rest[model.end() :] if model else rest
    more = _SAID.match(rest) or _KIND.match(rest)
    timestamp = _tail(rest[more.end() :] if more else rest)
    if timestamp is None:
        return None
    before_it = iso_utc(leading[1], LOCAL) if leading and leading[1] else None
    return _Label(known[1], known[0], timestamp or before_it, bool(more and more.re is _SAID))


def _tail(rest: str) -> str | None:
    """The time in what follows a role, "" without one; None where more follows than a model, a time or a colon."""
    timestamp = ""
    number = re.match(r"[- ]?[0-9][\w.-]{0,20}", rest)
    rest = (rest[number.end() :] if number else rest).strip().removeprefix(":").strip()
    while rest and not _NAMED_MODEL.match(rest):
        marked = _MARKED.match(rest)
        dashed = None if marked else _DASHED.match(rest)
        if marked is None and (dashed is None or not _CLOCK.search(dashed["rest"])):
            return None
        span = marked[0] if marked else dashed[0] if dashed else ""
        if moment := _TIME.search(span):
            timestamp = iso_utc(moment[0], LOCAL) or timestamp
        rest = rest[len(span) :].strip().removeprefix(":").strip()
    return timestamp


FORMAT = "markdown"
VERSION = 20

FEWEST = 2
FEWEST_DOUBTFUL = 4
"""Plain `User:` lines, those of logs, list items, and files that are usually documentation must show more of a dialogue."""
DOUBTFUL = ("plain", "list", "timed")
LONGEST_PREFACE = 12
PREFACE_SHARE = 0.4
"""Non-blank lines before the first marker, of all: a longer preface makes the dialogue an example in a document."""
DOCUMENTS = re.compile(
    r"((readme|changelog|contributing|license|security)\b.*|agents?|claude|gemini|skill|todo|index|faq)\Z",
    re.IGNORECASE,
)
NOTHING_SAID = ("", "_No text content captured for this message._", "*(No content)*")
CONTINUE = "### [Continue](https://continue.dev) session transcript"
"""How what its `/share` writes begins: whoever is no person is the assistant there."""
KINDS = {"tool": "result"}
SPEAKERS = ("user", "assistant")
DATE_KEYS = (
    "create_time",
    "created",
    "start",
    "start_time",
    "started",
    "created_at",
    "date",
    "time",
    "timestamp",
    "updated",
    "update_time",
    "updated_at",
)
ID_KEYS = ("conversation_id", "conversationid", "session_id", "sessionid", "session", "threadid", "uuid", "id")
FACT_KEYS = frozenset({*DATE_KEYS, *ID_KEYS, "model", "project", "title", "source", "url", "tags"})
"""What a line above the dialogue may tell without being a list item."""
CWD_KEYS = ("cwd", "project_directory", "working_directory", "work_dir", "workspace")

_SEPARATOR = re.compile(r"\s{0,3}([-*_])[ \t]*(\1[ \t]*){2,60}\Z")
_FACT = re.compile(r"([-*][ \t]+)?[*_]{0,2}([A-Za-z][A-Za-z ]{1,30}?)[*_]{0,2}:[*_]{0,2}[ \t]+(\S.{0,300})\Z")
_STAMP = re.compile(
    rf"[*_\[(<]{{0,6}}(?:(?:sub|small|sup)>)?(?:(?:(?:message )?time|timestamp|date)\W{{1,4}})?[\[(`]?({MOMENT}|\d{{1,2}}/\d{{1,2}}/\d{{4}},? [\d:]{{4,8}}(?:[ \u202f][AP]M)?|\d{{1,2}}\.\d{{1,2}}\.\d{{4}},? [\d:]{{4,8}})"
    r"[`\])*_]{0,6}(?:</(?:sub|small|sup)>)?[*_]{0,3}\Z",
    re.IGNORECASE,
)
_FOOTER = re.compile(
    r"\W{0,6}(?:Powered by|Exported (?:by|with|from|using)|ChatGPT can make mistakes|Claude can make mistakes)\b",
    re.IGNORECASE,
)
"""What an exporter or a page writes below the last answer."""
_SENT = re.compile(r"\[Timestamp: (\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d)\]\s*\Z")
"""When a message was sent, as Copilot for Obsidian writes it below the words, and above it with which notes."""
_WITH_NOTES = "[Context: "
_WRAPPED = re.compile(r"```(?:text|txt|markdown|md)\n(.*)\n```\Z", re.DOTALL)
_QUOTED = re.compile(r">(?: |\Z)")
_DAY = re.compile(rf"\b(?=20){MOMENT}(?!\d)")


def recognise(source: SourceFile) -> bool:
    """Whether at least two roles speak, one after the other, under markers of one style that fill the file."""
    if source.shape != "markdown" or has_marks_of_its_own(source.head):
        return False
    return bool(_Dialogue(source.text.split("\n"), source.path).markers)


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """One turn for every marker with words after it, and one for every tool that failed or checked something; todo lists."""
    lines = source.text.split("\n")
    dialogue = _Dialogue(lines, source.path)
    parts = [dialogue.part(place) for place in range(len(dialogue.markers))]
    if source.head.lstrip().startswith(CONTINUE):
        parts = _with_tools(parts)
    parts = _unwrapped([part for part in parts if part.content not in NOTHING_SAID])
    listed = lists_calls(lines)
    told = [(part, _told(part, lists_calls=listed)) for part in parts]
    facts = dialogue.facts
    named = next((value for key in ID_KEYS if isinstance(value := facts.get(key), str)), None)
    said = ((part.marker.role, what.text) for part, what in told if what.text)
    cwd = next((value for key in CWD_KEYS if isinstance(value := facts.get(key), str) and "/" in value), None)
    project = facts.get("project")
    draft = PendingTurn(
        role="",
        kind="",
        line=0,
        texts=[],
        conversation_id=named or conversation_hash(said),
        cwd=cwd,
        project=project if isinstance(project, str) and project != cwd else None,
        metadata={key: value for key, value in facts.items() if key not in (*ID_KEYS, *CWD_KEYS, "project")},
    )
    draft.timestamp = to_the_minute(dialogue.started)
    drafts, call = TurnQueue(), UNKNOWN_CALL
    following = [*(part.marker.role for part, _ in told[1:]), "user"]
    for (part, what), next_role in zip(told, following, strict=False):
        draft.timestamp = part.marker.timestamp or part.stamp or to_the_minute(draft.timestamp)
        call = _add(part, what, call, draft, drafts)
        if what.notes and next_role == "user":
            # nothing else tells that the prompt was answered, and that the next one begins something new
            drafts.add(_like(draft, "assistant", "answer", what.notes, part.start + 1, part.end + 1))
    yield from drafts.flush()
    yield from drafts.tasks()


def _told(part: _Part, *, lists_calls: bool) -> Told:
    """What a person or an assistant says, without what a program put into it; what anybody else does as it is."""
    if part.marker.role in SPEAKERS:
        return told_in(part.content.split("\n"), person=part.marker.role == "user", lists_calls=lists_calls)
    return Told(part.content, KINDS.get(part.marker.role, "prompt"))


def _add(part: _Part, what: Told, call: ToolCall, like: PendingTurn, drafts: TurnQueue) -> ToolCall:
    """Add the words of a part and what is worth finding of its tools; the last call, which the next part may answer."""
    if what.interrupted:
        drafts.flag("interrupted")
    end = part.end + 1
    role = "system" if what.kind == "summary" else part.marker.role
    if what.text:
        drafts.add(_like(like, role, what.kind, what.text, part.marker.place + 1, end))
    for used in what.used:
        line = part.start + used.line + 1
        if used.name:
            call = parse_call(used.name, used.arguments)
            drafts.add_tool(call.label)
            drafts.add_plan(used.name, used.arguments, line=line)
        output = parse_result(used.answered)
        if used.answered and (
            worth := drafts.notable_result(call, replace(output, failed=output.failed or used.failed))
        ):
            drafts.add(_like(like, *worth, line, end))
    return call


def _like(draft: PendingTurn, role: str, kind: str, text: str, line: int, end: int) -> PendingTurn:
    return replace(draft, role=role, kind=kind, texts=[text], line=line, end_line=end, metadata=dict(draft.metadata))


@dataclass(frozen=True, slots=True)
class _Part:
    marker: RoleLine
    content: str
    end: int
    """0-based place of the last line of text."""
    start: int
    """0-based place of its first line."""
    stamp: str | None
    """The time on a line of its own above or below the marker."""


def _with_tools(parts: Sequence[_Part]) -> list[_Part]:
    """The parts, with a tool's where an assistant who said nothing, and so called one, seems to go on."""
    called = [part.marker.role == "assistant" and not part.content for part in parts]
    return [
        replace(part, marker=replace(part.marker, role="tool"))
        if place and called[place - 1] and part.marker.role == "assistant"
        else part
        for place, part in enumerate(parts)
    ]


def _unwrapped(parts: list[_Part]) -> list[_Part]:
    """The parts out of the fences, where all that is said stands in fences, one for each."""
    wrapped = [_WRAPPED.match(part.content) for part in parts]
    inside = [found[1] for found in wrapped if found and "\n```" not in found[1]]
    if len(inside) < max(FEWEST, len(parts)):
        return parts
    return [replace(part, content=text, start=part.start + 1) for part, text in zip(parts, inside, strict=True)]


class _Dialogue:
    """A file's lines, the markers that count, and what stands under each."""

    def __init__(self, lines: Sequence[str], path: PurePath) -> None:
        self._lines = lines
        self._path = path
        self._front = front_matter(lines)

    @cached_property
    def markers(self) -> list[RoleLine]:
        """The markers of the file's one style; none when the file is no dialogue."""
        candidates = self._candidates()
        if names := signers(self._lines[self._front.lines :]):
            signed = signed_lines(self._lines, names)
            headed = next(iter(names)).startswith(HEADED)  # as a title may be, above a dialogue in another style
            candidates = [*candidates, *signed] if headed else [*signed, *candidates]
        styles = dict.fromkeys((marker.syntax, marker.family) for marker in candidates)
        for syntax, family in styles:
            found = _at_locked_levels(
                [marker for marker in candidates if (marker.syntax, marker.family) == (syntax, family)]
            )
            if self._is_dialogue(found):
                return [*self._unmarked(found[0]), *found]
        return []

    def _unmarked(self, first: RoleLine) -> list[RoleLine]:
        """A person's words above the first answer of a page that was copied without its first line."""
        begun = next(
            (place for place in range(self._front.lines, first.place) if self._lines[place].strip()), first.place
        )
        if not first.said or first.role != "assistant" or begun == first.place or self._lines[begun].startswith("#"):
            return []
        return [RoleLine(begun, "user", first.syntax, first.family, words=self._lines[begun].strip())]

    def _candidates(self) -> list[RoleLine]:
        code = in_unfenced_code(self._lines)
        folded = in_details(self._lines, code)
        places = (
            place for place in range(self._front.lines, len(self._lines)) if not code[place] and not folded[place]
        )
        return [
            marker
            for place in places
            if (marker := role_line(self._lines, place)) and not is_answer(self._lines[place])
        ]

    def _is_dialogue(self, markers: list[RoleLine]) -> bool:
        doubtful = bool(markers) and (markers[0].syntax in DOUBTFUL or DOCUMENTS.match(self._path.stem) is not None)
        changes = sum(first.role != second.role for first, second in pairwise(markers))
        if not {"user", "assistant"} <= {marker.role for marker in markers} or 1 + changes < (
            FEWEST_DOUBTFUL if doubtful else FEWEST
        ):
            return False
        written = [place for place in range(self._front.lines, len(self._lines)) if self._lines[place].strip()]
        preface = sum(place < markers[0].place for place in written)
        return preface <= max(LONGEST_PREFACE, len(written) * PREFACE_SHARE)

    @property
    def facts(self) -> dict[str, object]:
        """Front matter and the `- Key: value` lines above the first marker, by lower-cased key; the first heading as title."""
        above = self._lines[self._front.lines : self.markers[0].place if self.markers else 0]
        found = [
            (fact[1], fact[2].lower().replace(" ", "_"), fact[3].strip(" *_`"))
            for line in above
            if (fact := _FACT.match(line))
        ]
        listed = {key: value for bullet, key, value in found if bullet or key in FACT_KEYS}
        title = next((heading.title for _, heading in headings(above, in_code(above))), None)
        facts = {
            "title": title,
            **listed,
            **{key.lower().replace(" ", "_"): value for key, value in self._front.fields.items()},
        }
        return {key: value for key, value in facts.items() if value}

    @property
    def started(self) -> str | None:
        """The time that the facts tell, else the first day named above the first marker, else the one in the path."""
        dates = (value for key in DATE_KEYS if isinstance(value := self.facts.get(key), str))
        told = next((moment for date in dates if (moment := handwritten(date))), None)
        above = self._lines[self._front.lines : self.markers[0].place if self.markers else 0]
        days = (day[0] for line in above if "xported" not in line and (day := _DAY.search(line)))
        return (
            told or next((moment for day in days if (moment := iso_utc(day, LOCAL))), None) or date_in_path(self._path)
        )

    def part(self, number: int) -> _Part:
        """What is said under one marker: without separators around it, times of their own line, and the quotation marks of a callout."""
        marker = self.markers[number]
        following = self.markers[number + 1].place if number + 1 < len(self.markers) else len(self._lines)
        end = following - 1
        if number + 1 < len(self.markers):
            end = self._above(following)[0] - 1
        elif _FOOTER.match(self._lines[end := self._last(marker.place, end)]):
            end -= 1
        end = self._last(marker.place, end)
        sent = _SENT.match(self._lines[end])
        if sent:
            end = self._last(marker.place, end - 1)
            if self._lines[end].startswith(_WITH_NOTES):
                end = self._last(marker.place, end - 1)
        start = marker.place + 1
        while start <= end and not marker.words and _is_rim(self._lines[start]):
            start += 1
        below = _stamp(self._lines[start]) if start <= end and not marker.words else None
        if below:
            start += 1
        body = self._lines[start : end + 1]
        if marker.syntax == "callout" or self._is_quoted:
            body = [line.removeprefix(">").removeprefix(" ") for line in body]
        content = "\n".join([*([marker.words] if marker.words else []), *body])
        blank = len(content) - len(content.lstrip("\n"))
        first = start - bool(marker.words) + blank
        return _Part(marker, content.strip(), end, first, below or _sent(sent) or self._above(marker.place)[1])

    @cached_property
    def _is_quoted(self) -> bool:
        """Whether all that is said stands in quotations, as in what Continue shares."""
        marked = {marker.place for marker in self.markers}
        first = self.markers[0].place
        said = [
            line
            for place, line in enumerate(self._lines)
            if place > first and place not in marked and not _is_rim(line)
        ]
        return bool(said) and not any(marker.words for marker in self.markers) and all(map(_QUOTED.match, said))

    def _last(self, first: int, end: int) -> int:
        """The last line with text at or before `end`, not before `first`."""
        while end > first and _is_rim(self._lines[end]):
            end -= 1
        return end

    def _above(self, place: int) -> tuple[int, str | None]:
        """Where a marker begins: at its line, or at one above it that holds nothing but a time, and that time."""
        above = place - 1
        while above > 0 and not self._lines[above].strip():
            above -= 1
        stamp = (
            _stamp(self._lines[above])
            if above > 0 and self._lines[above].strip()[:1] in ("*", "[", "_", "(", "<")
            else None
        )
        return (above, stamp) if stamp else (place, None)


def _at_locked_levels(markers: list[RoleLine]) -> list[RoleLine]:
    """The markers at the level at which their role first spoke: deeper ones are headings inside an answer."""
    levels: dict[str, int] = {}
    for marker in markers:
        levels.setdefault(marker.role, marker.level)
    return [marker for marker in markers if marker.said or marker.level == levels[marker.role]]


def _stamp(line: str) -> str | None:
    """The time that a line consists of."""
    found = _STAMP.match(line.strip())
    return handwritten(found[1]) if found else None


def _sent(found: re.Match[str] | None) -> str | None:
    return iso_utc("{}-{}-{} {}".format(*found.groups()), LOCAL) if found else None


def _is_rim(line: str) -> bool:
    return not line.strip() or _SEPARATOR.match(line) is not None


DIALOGUE = Format(
    name="markdown",
    version=20,
    detect=confident(recognise, 90),
    read=read,
)
