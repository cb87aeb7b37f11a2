"""Markdown dialogues: exports, page copies and hand-made logs in which headings or labels name the speaker.

The style of the first valid marker is the style of the file: one syntax, one family of words, one level for each role.
Any other line that looks like a marker is content. A turn's line is its marker's line; its last line is the last one with text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import PurePath

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.markdown import front_matter, headings, in_code, in_details
from pastchats_memory.formats.base.source import SourceFile, parse_json
from pastchats_memory.formats.base.tools import UNKNOWN_CALL, ToolCall, parse_call, parse_result
from pastchats_memory.formats.base.turns import PendingTurn, TurnQueue
from pastchats_memory.formats.markdown.dialogue.editor_notes import HEADED, find_signers
from pastchats_memory.formats.markdown.dialogue.markers import (
    END_MARK,
    RoleMarker,
    parse_marker,
    parse_signed_markers,
)
from pastchats_memory.formats.markdown.dialogue.parts import ParsedPart, has_tool_lines, parse_part
from pastchats_memory.formats.markdown.dialogue.tool_sections import ToolUse, in_exported_code, is_result_heading
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.text.hashes import conversation_hash
from pastchats_memory.text.timestamps import LOCAL, MOMENT, date_in_path, iso_utc, parse_handwritten, to_the_minute

CONFIDENCE = 75
"""Above task files and logs, whose headings may name roles; below any mark of a program."""
FEWEST = 2
FEWEST_DOUBTFUL = 4
"""The least number of speaker changes for plain `User:` lines, log lines, list items, rows of tables, pictures of speakers, and
usual documentation files."""
DOUBTFUL = ("plain", "list", "timed", "picture", "table")
LONGEST_PREFACE = 12
PREFACE_SHARE = 0.4
"""The most non-blank lines before the first marker, as a share: after a longer preface the dialogue is an example."""
DOCUMENTS = re.compile(
    r"((readme|changelog|contributing|license|security)\b.*|agents?|claude|gemini|skill|todo|index|faq)\Z",
    re.IGNORECASE,
)
EMPTY_PARTS = ("", "_No text content captured for this message._", "*(No content)*")
CONTINUE = "### [Continue](https://continue.dev) session transcript"
"""The beginning of a session that Continue shared: any speaker but the user is the assistant."""
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
"""Keys of a fact above the dialogue that need no list marker."""
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
"""The line of an exporter or a page below the last answer."""
_SENT = re.compile(r"\[Timestamp: (\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d)\]\s*\Z")
"""The time of a message, which Copilot for Obsidian writes below the words, with the notes above it."""
_WITH_NOTES = "[Context: "
_WRAPPED = re.compile(r"```(?:text|txt|markdown|md)\n(.*)\n```\Z", re.DOTALL)
_QUOTED = re.compile(r">(?: |\Z)")
_QUOTED_LABEL = re.compile(r">\s*(?:\*\*|__)[^*_\n]{1,40}(?::(?:\*\*|__)|(?:\*\*|__):)")
"""A bold label in a quotation, of a speaker or of anything else."""
UNQUOTED_SHARE = 0.2
"""The most lines outside quotations, as a share of those below the first quoted speaker."""
_DAY = re.compile(rf"\b(?=20){MOMENT}(?!\d)")


def detect(source: SourceFile) -> int:
    """Return 75 if at least two roles alternate under markers of one style that fill the file, else 0."""
    if source.shape != "markdown":
        return 0
    return CONFIDENCE if _Dialogue(source.text.split("\n"), source.path).markers else 0


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """Yield one turn for each marker with words, one for each tool that failed or checked something, and todo lists."""
    lines = source.text.split("\n")
    dialogue = _Dialogue(lines, source.path)
    parts = [dialogue.part(place) for place in range(len(dialogue.markers))]
    if source.head.lstrip().startswith(CONTINUE):
        parts = _mark_tool_parts(parts)
    parts = _unwrap_fences([part for part in parts if part.content not in EMPTY_PARTS])
    listed = has_tool_lines(lines)
    parsed_parts = [(part, _parse_marked_part(part, has_tool_lines=listed)) for part in parts]
    facts = dialogue.facts
    named = next((value for key in ID_KEYS if isinstance(value := facts.get(key), str)), None)
    words = ((part.marker.role, parsed.text) for part, parsed in parsed_parts if parsed.text)
    cwd = next((value for key in CWD_KEYS if isinstance(value := facts.get(key), str) and "/" in value), None)
    project = facts.get("project")
    template = PendingTurn(
        role="",
        kind="",
        line=0,
        texts=[],
        conversation_id=named or conversation_hash(words),
        cwd=cwd,
        project=project if isinstance(project, str) and project != cwd else None,
        metadata={key: value for key, value in facts.items() if key not in (*ID_KEYS, *CWD_KEYS, "project")},
    )
    template.timestamp = to_the_minute(dialogue.started)
    queue, call = TurnQueue(any_dialect()), UNKNOWN_CALL
    following = [*(part.marker.role for part, _ in parsed_parts[1:]), "user"]
    for (part, parsed), next_role in zip(parsed_parts, following, strict=False):
        template.timestamp = part.marker.timestamp or part.stamp or to_the_minute(template.timestamp)
        call = _add_part(part, parsed, call, template, queue)
        if parsed.notes and next_role == "user":
            # nothing else tells that the prompt was answered, and that the next one begins something new
            queue.add(_copy_turn(template, "assistant", "answer", parsed.notes, part.start + 1, part.end + 1))
    yield from queue.flush()
    yield from queue.tasks()


def _parse_marked_part(part: _Part, *, has_tool_lines: bool) -> ParsedPart:
    """Return the words of a user or assistant without a program's additions; the text of any other role unchanged."""
    if part.marker.role in SPEAKERS:
        return parse_part(part.content.split("\n"), person=part.marker.role == "user", has_tool_lines=has_tool_lines)
    arguments = parse_json(part.content) if part.marker.tool else None
    if isinstance(arguments, dict):
        return ParsedPart("", "call", [ToolUse(part.marker.tool, arguments, "", failed=False, line=0)])
    return ParsedPart(part.content, KINDS.get(part.marker.role, "prompt"))


def _add_part(part: _Part, parsed: ParsedPart, call: ToolCall, template: PendingTurn, queue: TurnQueue) -> ToolCall:
    """Add the words of a part and its notable tool results.

    Return the last call, whose result the next part may hold.
    """
    if parsed.interrupted:
        queue.flag("interrupted")
    end = part.end + 1
    role = "system" if parsed.kind == "summary" else part.marker.role
    if parsed.text:
        queue.add(_copy_turn(template, role, parsed.kind, parsed.text, part.marker.place + 1, end))
    for use in parsed.uses:
        line = part.start + use.line + 1
        if use.name:
            call = parse_call(use.name, use.arguments, any_dialect())
            queue.add_tool(call)
            queue.add_todo_call(use.name, use.arguments, line=line)
        output = parse_result(use.answered, any_dialect())
        if use.answered and (row := queue.notable_result(call, replace(output, failed=output.failed or use.failed))):
            queue.add(_copy_turn(template, *row, line, end))
    return call


def _copy_turn(template: PendingTurn, role: str, kind: str, text: str, line: int, end: int) -> PendingTurn:
    return replace(
        template, role=role, kind=kind, texts=[text], line=line, end_line=end, metadata=dict(template.metadata)
    )


@dataclass(frozen=True, slots=True)
class _Part:
    marker: RoleMarker
    content: str
    end: int
    """0-based place of the last line of text."""
    start: int
    """0-based place of the first line of text."""
    stamp: str | None
    """The time on a line of its own above or below the marker."""


def _mark_tool_parts(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts.

    After an assistant's empty part, which called a tool, the next one is the tool's.
    """
    called = [part.marker.role == "assistant" and not part.content for part in parts]
    return [
        replace(part, marker=replace(part.marker, role="tool"))
        if place and called[place - 1] and part.marker.role == "assistant"
        else part
        for place, part in enumerate(parts)
    ]


def _unwrap_fences(parts: list[_Part]) -> list[_Part]:
    """Return the parts without fences, if the text of each stands in one fence."""
    wrapped = [_WRAPPED.match(part.content) for part in parts]
    inside = [found[1] for found in wrapped if found and "\n```" not in found[1]]
    if len(inside) < max(FEWEST, len(parts)):
        return parts
    return [replace(part, content=text, start=part.start + 1) for part, text in zip(parts, inside, strict=True)]


class _Dialogue:
    """The lines of a file, its role markers, and the text under each."""

    def __init__(self, lines: Sequence[str], path: PurePath) -> None:
        self._lines = lines
        self._path = path
        self._front = front_matter(lines)

    @cached_property
    def markers(self) -> list[RoleMarker]:
        """The markers of the file's one style; none if the file is not a dialogue."""
        candidates = self._candidates()
        if names := find_signers(self._lines[self._front.lines :]):
            signed = parse_signed_markers(self._lines, names)
            headed = next(iter(names)).startswith(HEADED)  # as a title may be, above a dialogue in another style
            candidates = [*candidates, *signed] if headed else [*signed, *candidates]
        styles = dict.fromkeys((marker.syntax, marker.family) for marker in candidates)
        for syntax, family in styles:
            found = _keep_locked_levels(
                [marker for marker in candidates if (marker.syntax, marker.family) == (syntax, family)]
            )
            if self._is_dialogue(found):
                return [*self._unmarked(found[0]), *found]
        return []

    def _unmarked(self, first: RoleMarker) -> list[RoleMarker]:
        """Return a marker for the user's words above the first answer of a page that was copied without its first line."""
        begun = next(
            (place for place in range(self._front.lines, first.place) if self._lines[place].strip()), first.place
        )
        if (
            not first.has_verb
            or first.role != "assistant"
            or begun == first.place
            or self._lines[begun].startswith("#")
        ):
            return []
        return [RoleMarker(begun, "user", first.syntax, first.family, words=self._lines[begun].strip())]

    def _candidates(self) -> list[RoleMarker]:
        code = in_exported_code(self._lines)
        folded = in_details(self._lines, code)
        places = (
            place for place in range(self._front.lines, len(self._lines)) if not code[place] and not folded[place]
        )
        return [
            marker
            for place in places
            if (marker := parse_marker(self._lines, place)) and not is_result_heading(self._lines[place])
        ]

    def _is_dialogue(self, markers: list[RoleMarker]) -> bool:
        doubtful = bool(markers) and (markers[0].syntax in DOUBTFUL or DOCUMENTS.match(self._path.stem) is not None)
        changes = sum(first.role != second.role for first, second in pairwise(markers))
        if not {"user", "assistant"} <= {marker.role for marker in markers} or 1 + changes < (
            FEWEST_DOUBTFUL if doubtful else FEWEST
        ):
            return False
        written = [place for place in range(self._front.lines, len(self._lines)) if self._lines[place].strip()]
        if markers[0].syntax == "quoted" and not self._is_quoted_dialogue(markers):
            return False
        preface = sum(place < markers[0].place for place in written)
        return preface <= max(LONGEST_PREFACE, len(written) * PREFACE_SHARE)

    def _is_quoted_dialogue(self, markers: list[RoleMarker]) -> bool:
        """Return whether quoted speakers fill the rest of the file, and nothing else has a label in a quotation."""
        below = [line for line in self._lines[markers[0].place :] if not _is_rim(line)]
        labels = sum(_QUOTED_LABEL.match(line) is not None for line in below)
        return labels <= len(markers) and sum(line[:1] != ">" for line in below) <= UNQUOTED_SHARE * len(below)

    @property
    def facts(self) -> dict[str, object]:
        """Front matter and `- Key: value` lines above the first marker, by lower-case key; the first heading as title."""
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
        """The time in the facts, else the first day named above the first marker, else the day in the path."""
        dates = (value for key in DATE_KEYS if isinstance(value := self.facts.get(key), str))
        stated = next((moment for date in dates if (moment := parse_handwritten(date))), None)
        above = self._lines[self._front.lines : self.markers[0].place if self.markers else 0]
        days = (day[0] for line in above if "xported" not in line and (day := _DAY.search(line)))
        return (
            stated
            or next((moment for day in days if (moment := iso_utc(day, LOCAL))), None)
            or date_in_path(self._path)
        )

    def part(self, number: int) -> _Part:
        """Return the text under one marker, without separators, time lines, and the quotation marks of a callout."""
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
        start += marker.syntax == "setext"
        while start <= end and not marker.words and _is_rim(self._lines[start]):
            start += 1
        below = _parse_stamp(self._lines[start]) if start <= end and not marker.words else None
        if below:
            start += 1
        body = self._lines[start : end + 1]
        if marker.syntax in ("callout", "quoted") or self._is_quoted:
            body = [line.removeprefix(">").removeprefix(" ") for line in body]
        content = "\n".join([*([marker.words] if marker.words else []), *body])
        if marker.syntax in ("comment", "tag"):
            content = END_MARK.sub("", content.rstrip())
        blank = len(content) - len(content.lstrip("\n"))
        first = start - bool(marker.words) + blank
        return _Part(
            marker, content.strip(), end, first, below or _parse_sent_line(sent) or self._above(marker.place)[1]
        )

    @cached_property
    def _is_quoted(self) -> bool:
        """Return whether all text stands in quotations, as in sessions that Continue shared."""
        marked = {marker.place for marker in self.markers}
        first = self.markers[0].place
        text_lines = [
            line
            for place, line in enumerate(self._lines)
            if place > first and place not in marked and not _is_rim(line)
        ]
        return (
            bool(text_lines)
            and not any(marker.words for marker in self.markers)
            and all(map(_QUOTED.match, text_lines))
        )

    def _last(self, first: int, end: int) -> int:
        """Return the last line with text at or before `end`, not before `first`."""
        while end > first and _is_rim(self._lines[end]):
            end -= 1
        return end

    def _above(self, place: int) -> tuple[int, str | None]:
        """Return the first line of a marker, with a line above it that holds only a time, and that time."""
        above = place - 1
        while above > 0 and not self._lines[above].strip():
            above -= 1
        stamp = (
            _parse_stamp(self._lines[above])
            if above > 0 and self._lines[above].strip()[:1] in ("*", "[", "_", "(", "<")
            else None
        )
        return (above, stamp) if stamp else (place, None)


def _keep_locked_levels(markers: list[RoleMarker]) -> list[RoleMarker]:
    """Return the markers at the first level of their role, those of tools only at a level of a speaker.

    Deeper ones are headings inside an answer.
    """
    levels: dict[str, int] = {}
    for marker in markers:
        levels.setdefault(marker.role, marker.level)
    deepest = max((level for role, level in levels.items() if role in SPEAKERS), default=0)
    return [
        marker
        for marker in markers
        if marker.has_verb
        or (marker.level == levels[marker.role] and (marker.role != "tool" or marker.level <= deepest))
    ]


def _parse_stamp(line: str) -> str | None:
    """Return the time if the line consists of one."""
    found = _STAMP.match(line.strip())
    return parse_handwritten(found[1]) if found else None


def _parse_sent_line(found: re.Match[str] | None) -> str | None:
    return iso_utc("{}-{}-{} {}".format(*found.groups()), LOCAL) if found else None


def _is_rim(line: str) -> bool:
    return not line.strip() or _SEPARATOR.match(line) is not None


DIALOGUE = Format(
    name="markdown",
    version=22,
    detect=detect,
    read=read,
    verified="2026-11",
)
