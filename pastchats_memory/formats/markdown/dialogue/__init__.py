"""Markdown dialogues: exports, page copies and hand-made logs in which headings or labels name the speaker.

The style of the first valid marker is the style of the file: one syntax, one family of words, one level for each role.
Any other line that looks like a marker is content. A turn's line is its marker's line; its last line is the last one with text.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, timezone
from functools import cached_property
from itertools import pairwise
from operator import or_
from textwrap import dedent

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.markdown import find_details, find_line, front_matter, headings, in_code, in_details
from pastchats_memory.formats.base.markdown_dialogue import MarkdownDialogue, Section
from pastchats_memory.formats.base.session import Position, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.values import parse_json, text_of
from pastchats_memory.formats.markdown.dialogue.editor_notes import HEADED, find_signers
from pastchats_memory.formats.markdown.dialogue.markers import (
    END_MARK,
    THOUGHT,
    RoleMarker,
    parse_fold,
    parse_marker,
    parse_named_markers,
    parse_signed_markers,
)
from pastchats_memory.formats.markdown.dialogue.parts import (
    MODEL,
    RESULT,
    THOUGHT_LABEL,
    TOKENS,
    ParsedPart,
    has_tool_lines,
    parse_part,
)
from pastchats_memory.formats.markdown.dialogue.tool_sections import ToolUse, in_exported_code, is_result_heading
from pastchats_memory.formats.registry import any_dialect
from pastchats_memory.text.timestamps import LOCAL, MOMENT, date_in_path, iso_utc, parse_handwritten

CONFIDENCE = 75
"""Above task files and logs, whose headings may name roles; below any mark of a program."""
FEWEST = 2
FEWEST_DOUBTFUL = 4
"""The least number of speaker changes for plain `User:` lines, log lines, list items, rows of tables, pictures of speakers, `Q` and
`A`, and usual documentation files."""
QUOTED = ("quoted", "plain quoted")
DOUBTFUL = ("plain", "plain quoted", "list", "plain list", "timed", "picture", "table", "letters")
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
KINDS = {"tool": "result", "note": "note"}
MIXED = {"user": ("sections",), "assistant": ("names",)}
"""The families of a log in which a prompt stands above the words of a named assistant."""
SPEAKERS = ("user", "assistant")
DATE_KEYS = (
    "create_time", "created", "start", "start_time", "started", "created_at", "date", "time", "timestamp", "updated", "update_time", "updated_at",
)  # fmt: skip
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
_SUMMARY = re.compile(r"## Session Summary(?: \([^()\n]{1,60}\))?\s*\n\n\*\*(?:Ended|Recovered):\*\* ")
"""The beginning of what a hook of Claude Code counts where a session ends."""
_SENT = re.compile(r"\[Timestamp: (\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d)\]\s*\Z")
"""The time of a message, which Copilot for Obsidian writes below the words, with the notes above it."""
_WITH_NOTES = "[Context: "
_WRAPPED = re.compile(r"```(?:text|txt|markdown|md)\n(.*)\n```\Z", re.DOTALL)
_FENCED = re.compile(r"(?P<run>`{3,8})\w{0,20}\n(?P<inside>.*)\n(?P=run)\Z", re.DOTALL)
_NUMBERED = re.compile(r"(?:#{1,6} |\*\*)(?:\w{1,10} )?#?\d")
_QUOTED = re.compile(r">(?: |\Z)")
_QUOTED_LABEL = re.compile(r">\s*(?:\*\*|__)[^*_\n]{1,40}(?::(?:\*\*|__)|(?:\*\*|__):)")
"""A bold label in a quotation, of a speaker or of anything else."""
UNQUOTED_SHARE = 0.2
"""The most lines outside quotations, as a share of those below the first quoted speaker."""
_DAY = re.compile(rf"\b(?=20){MOMENT}(?!\d)")
_EXPORTED = re.compile(
    r"_Exported on (\d{1,2}[./]\d{1,2}[./]\d{4}) at (\d{1,2}:\d\d)(?::\d\d GMT([+-](?:1\d|0?\d)\b)(?::([0-5]\d))?)?"
)
"""The line below the title of Cursor's exports, in the notation of the machine. Zeros before numbers tell that days come first."""


def detect(source: SourceFile) -> int:
    """Return 75 if at least two roles alternate under markers of one style that fill the file, else 0."""
    if source.shape != "markdown":
        return 0
    return CONFIDENCE if source.once(_Dialogue).markers else 0


@dataclass(frozen=True, slots=True)
class _Part(Section):
    """The text under one marker."""

    start: int = 0
    """0-based place of the first line of text."""
    end: int = 0
    """0-based place of the last line of text."""
    tool: str = ""
    """The tool that the marker names."""
    next_name: str = "user"
    """The role of the part behind it."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """The title of a heading above the marker, and the facts below it if another session begins there."""


class _Dialogue(MarkdownDialogue[_Part]):
    """The role markers of a file, and the text under each."""

    dialect = staticmethod(any_dialect)

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self._path = source.path
        self._front = front_matter(self.lines)

    def start(self) -> None:
        super().start()
        self._waiting: deque[str] = deque()
        """The ids of calls whose results a later part may have: those of the last part with calls."""

    def session_info(self) -> SessionInfo:
        """Return the facts above the dialogue; without an id, its first words identify the conversation."""
        return self._build_info(self.facts, self._parts, self.started)

    def _build_info(self, facts: Mapping[str, object], parts: Sequence[_Part], started: str | None) -> SessionInfo:
        named = next((value for value in _find_texts(facts, ID_KEYS) if not re.search(r"\s", value)), None)
        words = ((part.name, parsed.text) for part in parts if (parsed := self._parse(part)).text)
        cwd = next((value for value in _find_texts(facts, CWD_KEYS) if "/" in value), None)
        project = facts.get("project")
        project = project if isinstance(project, str) and project != cwd else None
        rest = {key: value for key, value in facts.items() if key not in (*ID_KEYS, *CWD_KEYS, "project")}
        return SessionInfo(named or conversation_hash(words), cwd, project, started, rest)

    def sections(self) -> Iterator[_Part]:
        yield from self._parts

    @cached_property
    def _parts(self) -> list[_Part]:
        parts = [self._part(number) for number in range(len(self.markers))]
        if self.source.head.lstrip().startswith(CONTINUE):
            parts = _mark_tool_parts(parts)
        parts = _unwrap_fences([part for part in parts if part.text not in EMPTY_PARTS])
        following = [*(part.name for part in parts[1:]), "user"]
        parts = [replace(part, next_name=name) for part, name in zip(parts, following, strict=False)]
        return _mark_thoughts(parts)

    def add_section(self, section: _Part) -> None:
        """Add the words of a part, and its calls with their notable results."""
        self._apply_facts(section)
        builder, parsed = self.builder, self._parse(section)
        at = Position(section.line, section.time, end_line=section.end + 1)
        if parsed.interrupted:
            builder.queue.flag("interrupted")
        if parsed.text:
            builder.add_turn("system" if parsed.kind == "summary" else section.name, parsed.kind, parsed.text, at)
        if any(use.name for use in parsed.uses):
            self._waiting.clear()
        for use in parsed.uses:
            call_id = f"{section.line}:{use.line}"
            own = replace(at, line=section.start + use.line + 1)
            if use.name:
                builder.add_call(call_id, use.name, use.arguments, own)
                if not use.answered:
                    self._waiting.append(call_id)
            if use.answered:
                call_id = call_id if use.name or not self._waiting else self._waiting.popleft()
                output = parse_result(use.answered, any_dialect())
                builder.add_result(call_id, replace(output, failed=output.failed or use.failed), own)
        if parsed.notes and section.next_name == "user":
            # nothing else tells that the prompt was answered, and that the next one begins something new
            builder.add_turn("assistant", "answer", parsed.notes, replace(at, line=section.start + 1))

    def _apply_facts(self, section: _Part) -> None:
        """Begin another session, or note the heading of the turns that follow."""
        if _begins_session(section.facts):
            self.builder.info = self._build_info(section.facts, [section], _find_start(section.facts))
        elif section.facts:
            self.builder.info.metadata["heading"] = section.facts["title"]

    @cached_property
    def _has_tool_lines(self) -> bool:
        return has_tool_lines(self.lines)

    def _parse(self, part: _Part) -> ParsedPart:
        """Return the words of a user or assistant without a program's additions; the text of any other role unchanged."""
        if part.name == THOUGHT or (part.name == "tool" and RESULT.match(part.text.partition("\n")[0])):
            inside = parse_part(part.text.split("\n"), person=False, has_tool_lines=self._has_tool_lines)
            return ParsedPart("", "answer", inside.uses)
        if part.name in SPEAKERS:
            return parse_part(part.text.split("\n"), person=part.name == "user", has_tool_lines=self._has_tool_lines)
        fenced = _FENCED.match(part.text) if part.name == "tool" else None
        arguments = parse_json(fenced["inside"] if fenced else part.text) if part.tool else None
        if isinstance(arguments, dict):
            return ParsedPart("", "call", [ToolUse(0, part.tool, arguments)])
        if fenced:
            return ParsedPart("", "result", [ToolUse(0, answered=fenced["inside"])])
        return ParsedPart(part.text, KINDS.get(part.name, "prompt"))

    @cached_property
    def markers(self) -> list[RoleMarker]:
        """The markers of the file's one style; none if the file is not a dialogue."""
        candidates = self._candidates()
        if names := find_signers(self.lines[self._front.lines :]):
            signed = parse_signed_markers(self.lines, names)
            headed = next(iter(names)).startswith(HEADED)  # as a title may be, above a dialogue in another style
            candidates = [*candidates, *signed] if headed else [*signed, *candidates]
        for syntax, family in dict.fromkeys((marker.syntax, marker.family) for marker in candidates):
            own = [marker for marker in candidates if (marker.syntax, marker.family) == (syntax, family)]
            found = _keep_locked_levels(own)
            if self._is_dialogue(found):
                return [*self._unmarked(found[0]), *found]
        return self._mixed_markers(candidates) or self._named_markers(candidates)

    def _mixed_markers(self, candidates: Sequence[RoleMarker]) -> list[RoleMarker]:
        """Return headings of one level with a prompt and an assistant's name: `### Prompt` and `### AI response`."""
        own = (marker for marker in candidates if marker.syntax == "atx")
        found = [marker for marker in own if marker.family in MIXED.get(marker.role, ())]
        levels = {marker.level for marker in found}
        return self._with_notes(found) if len(levels) == 1 and self._is_dialogue(found) else []

    def _with_notes(self, markers: Sequence[RoleMarker]) -> list[RoleMarker]:
        """Return the markers with those of a section that the log's author wrote below every answer."""
        answers = sum(marker.role == "assistant" for marker in markers)
        below = ((place, one) for place, one in headings(self.lines, self._hidden) if place > markers[0].place)
        titles = {place: one.title for place, one in below if one.level == markers[0].level}
        counted = Counter(titles.values())
        level, known = markers[0].level, {marker.place for marker in markers}
        own = (place for place, title in titles.items() if counted[title] == answers > 1 and place not in known)
        notes = [RoleMarker(place, "note", "atx", "names", level) for place in own]
        return sorted([*markers, *notes], key=lambda marker: marker.place)

    def _named_markers(self, candidates: Sequence[RoleMarker]) -> list[RoleMarker]:
        """Return the markers of two who take turns, where no list has the name of one."""
        own = (marker for marker in candidates if marker.syntax in ("atx", "bold") and marker.family == "names")
        speakers = [marker for marker in own if marker.role in SPEAKERS]
        if len({(marker.role, marker.syntax, marker.level) for marker in speakers}) != 1:
            return []
        known = {marker.place for marker in speakers}
        places = [place for place, hidden in enumerate(self._hidden) if not hidden and place not in known]
        found = parse_named_markers(self.lines, places, speakers[0])
        dialogues = (sorted([*speakers, *named], key=lambda marker: marker.place) for named in found)
        return next((markers for markers in dialogues if self._is_strict_dialogue(markers)), [])

    def _is_strict_dialogue(self, markers: list[RoleMarker]) -> bool:
        """Return whether two take turns, and nothing else tells that this is no dialogue."""
        is_strict = all(first.role != second.role for first, second in pairwise(markers))
        is_long = len(markers) >= FEWEST_DOUBTFUL
        return is_strict and is_long and self._has_no_other_heading(markers) and self._is_dialogue(markers)

    def _has_no_other_heading(self, markers: Sequence[RoleMarker]) -> bool:
        """Return whether the speakers are numbered, or no other heading has their level: a guide has chapters on users too."""
        places = {marker.place for marker in markers}
        if all(_NUMBERED.match(self.lines[place]) for place in places):
            return True
        level = markers[0].level
        return all(place in places for place, heading in headings(self.lines, self._hidden) if heading.level == level)

    def _unmarked(self, first: RoleMarker) -> list[RoleMarker]:
        """Return a marker for the user's words above the first answer of a page that was copied without its first line."""
        begun = find_line(self.lines, str.strip, self._front.lines, first.place)
        if not first.has_verb or first.role != "assistant" or begun == first.place or self.lines[begun].startswith("#"):
            return []
        return [RoleMarker(begun, "user", first.syntax, first.family, words=self.lines[begun].strip())]

    @cached_property
    def _code(self) -> list[bool]:
        return in_exported_code(self.lines)

    @cached_property
    def _hidden(self) -> list[bool]:
        """Return for each line whether it is code or folded."""
        return list(map(or_, self._code, in_details(self.lines, self._code)))

    def _candidates(self) -> list[RoleMarker]:
        shown = (place for place in range(self._front.lines, len(self.lines)) if not self._hidden[place])
        parsed = {place: parse_marker(self.lines, place) for place in shown if not is_result_heading(self.lines[place])}
        markers = {place: marker for place, marker in parsed.items() if marker}
        folds = (parse_fold(self.lines, start) for start, _ in find_details(self.lines, self._code))
        markers |= {marker.place: marker for marker in folds if marker}
        found = [markers[place] for place in sorted(markers)]
        return found[1:] if found and self._is_in_facts(found[0]) else found

    def _is_in_facts(self, marker: RoleMarker) -> bool:
        """Return whether a label only names the assistant, in a list of bold facts above the dialogue."""
        above = self.lines[marker.place - 1] if marker.place else ""
        is_named = marker.syntax == "bold" and marker.role == "assistant"
        return is_named and above.startswith("**") and _FACT.match(above) is not None

    def _is_dialogue(self, markers: list[RoleMarker]) -> bool:
        is_document = DOCUMENTS.match(self._path.stem) is not None
        if not markers or (is_document and markers[0].family == "letters"):
            return False
        doubtful = is_document or markers[0].syntax in DOUBTFUL or markers[0].family in DOUBTFUL
        changes = sum(first.role != second.role for first, second in pairwise(markers))
        are_both = {"user", "assistant"} <= {marker.role for marker in markers}
        if not are_both or 1 + changes < (FEWEST_DOUBTFUL if doubtful else FEWEST):
            return False
        written = [place for place in range(self._front.lines, len(self.lines)) if self.lines[place].strip()]
        if markers[0].syntax in QUOTED and not self._is_quoted_dialogue(markers):
            return False
        if markers[0].syntax == "plain list" and not self._is_list_of_speakers(markers):
            return False
        preface = sum(place < markers[0].place for place in written)
        return preface <= max(LONGEST_PREFACE, len(written) * PREFACE_SHARE)

    def _is_quoted_dialogue(self, markers: list[RoleMarker]) -> bool:
        """Return whether quoted speakers fill the rest of the file, and nothing else has a label in a quotation."""
        below = [line for line in self.lines[markers[0].place :] if not _is_rim(line)]
        labels = sum(_QUOTED_LABEL.match(line) is not None for line in below)
        return labels <= len(markers) and sum(line[:1] != ">" for line in below) <= UNQUOTED_SHARE * len(below)

    def _is_list_of_speakers(self, markers: list[RoleMarker]) -> bool:
        """Return whether nothing but items with a speaker stands at the left below the first one."""
        places = {marker.place for marker in markers}
        below = range(markers[0].place, len(self.lines))
        return all(place in places or not self.lines[place][:1].strip() for place in below)

    @property
    def _preface(self) -> list[str]:
        """Return the lines between the front matter and the first marker."""
        return self.lines[self._front.lines : self.markers[0].place if self.markers else 0]

    @property
    def facts(self) -> dict[str, object]:
        """Front matter and `- Key: value` lines above the first marker, by lower-case key; the first heading as title."""
        front = {key.lower().replace(" ", "_"): value for key, value in self._front.fields.items()}
        facts = _parse_facts(self._preface) | front
        return {key: value for key, value in facts.items() if value}

    @property
    def started(self) -> str | None:
        """The time in the facts, else the first day above the first marker, else the day in the path, else of the export."""
        days = (day[0] for line in self._preface if "xported" not in line and (day := _DAY.search(line)))
        first_day = next((moment for day in days if (moment := iso_utc(day, LOCAL))), None)
        found = next(filter(None, map(_EXPORTED.match, self._preface)), None)
        written = found[1] if found else ""
        written = written.replace("/", ".") if re.search(r"\b0", written) else written
        # A minute has the sign of its hour: `GMT-3:30` is three and a half hours behind.
        zone = (
            found
            and found[3]
            and timezone(timedelta(hours=int(found[3]), minutes=int(f"{found[3][0]}{found[4] or 0}")))
        )
        exported = parse_handwritten(f"{written} {found[2]}", zone or LOCAL) if found else None
        return _find_start(self.facts) or first_day or date_in_path(self._path) or exported

    def _part(self, number: int) -> _Part:
        """Return the text under one marker, without separators, time lines, and the quotation marks of a callout."""
        marker = self.markers[number]
        end, sent = self._find_end(number)
        start = marker.place + marker.height
        while start <= end and not marker.words and _is_rim(self.lines[start]):
            start += 1
        below = _parse_stamp(self.lines[start]) if start <= end and not marker.words else None
        if below:
            start += 1
        if start <= end and MODEL.match(self.lines[start]):
            start += 1
        body = self.lines[start : end + 1]
        if marker.syntax in ("callout", *QUOTED) or self._is_quoted:
            body = [line.removeprefix(">").removeprefix(" ") for line in body]
        if marker.syntax in ("list", "plain list"):
            body = dedent("\n".join(body)).split("\n")
        content = "\n".join([*([marker.words] if marker.words else []), *body])
        if marker.syntax in ("comment", "tag", "fold"):
            content = END_MARK.sub("", content.rstrip())
        blank = len(content) - len(content.lstrip("\n"))
        first = start - bool(marker.words) + blank
        stamp = below or sent or self._above(marker.place)[1]
        time = marker.timestamp or stamp
        begun = self._find_heading_above(number)
        facts = _parse_session(self.lines[begun : marker.place]) if begun else {}
        return _Part(marker.role, marker.place + 1, content.strip(), time, first, end, marker.tool, facts=facts)

    def _find_end(self, number: int) -> tuple[int, str | None]:
        """Return the last line of the words under one marker, and the time below them."""
        first = self.markers[number].place
        if number + 1 < len(self.markers):
            end = (self._find_heading_above(number + 1) or self._above(self.markers[number + 1].place)[0]) - 1
        elif _FOOTER.match(self.lines[end := self._last(first, len(self.lines) - 1)]):
            end -= 1
        summary = next((place for place in range(first, end + 1) if self._begins_summary(place)), end + 1)
        end = self._last(first, summary - 1)
        if TOKENS.match(self.lines[end]):
            end = self._last(first, end - 1)
        sent = _SENT.match(self.lines[end])
        if sent is None:
            return end, None
        end = self._last(first, end - 1)
        if self.lines[end].startswith(_WITH_NOTES):
            end = self._last(first, end - 1)
        return end, iso_utc("{}-{}-{} {}".format(*sent.groups()), LOCAL)

    def _begins_summary(self, place: int) -> bool:
        """Return whether a hook's summary of the session begins at a line."""
        is_near = self.lines[place].startswith("## S")
        return is_near and _SUMMARY.match("\n".join(self.lines[place : place + 3])) is not None

    def _find_heading_above(self, number: int) -> int | None:
        """Return the place of a higher heading above a user's marker with nothing but facts of a session below it."""
        marker = self.markers[number]
        if not number or marker.role != "user":
            return None
        is_atx = marker.syntax == "atx"
        place, first = marker.place - 1, self.markers[number - 1].place
        while place > first and (_is_rim(self.lines[place]) or (is_atx and _FACT.match(self.lines[place]))):
            place -= 1
        above = self.lines[place : marker.place]
        heading = next((heading for at, heading in headings(above, in_code(above)) if at == 0), None)
        if place == first or heading is None or (is_atx and heading.level >= marker.level):
            return None
        facts = _parse_session(above)
        return place if facts.keys() == {"title"} or _begins_session(facts) else None

    @cached_property
    def _is_quoted(self) -> bool:
        """Return whether all text stands in quotations, as in sessions that Continue shared."""
        marked = {marker.place for marker in self.markers}
        first = self.markers[0].place
        below = (line for place, line in enumerate(self.lines) if place > first and place not in marked)
        text_lines = [line for line in below if not _is_rim(line)]
        has_words = any(marker.words for marker in self.markers)
        return bool(text_lines) and not has_words and all(map(_QUOTED.match, text_lines))

    def _last(self, first: int, end: int) -> int:
        """Return the last line with text at or before `end`, not before `first`."""
        while end > first and _is_rim(self.lines[end]):
            end -= 1
        return end

    def _above(self, place: int) -> tuple[int, str | None]:
        """Return the first line of a marker, with a line above it that holds only a time, and that time."""
        above = place - 1
        while above > 0 and not self.lines[above].strip():
            above -= 1
        may_be_time = above > 0 and self.lines[above].strip().startswith(("*", "[", "_", "(", "<"))
        stamp = _parse_stamp(self.lines[above]) if may_be_time else None
        return (above, stamp) if stamp else (place, None)


def _parse_facts(lines: Sequence[str]) -> dict[str, object]:
    """Return `- Key: value` lines, by lower-case key, and the first heading as title."""
    stated = (fact for line in lines if (fact := _FACT.match(line)))
    found = [(fact[1], fact[2].lower().replace(" ", "_"), fact[3].strip(" *_`")) for fact in stated]
    listed = {key: value for bullet, key, value in found if bullet or key in FACT_KEYS}
    title = next((heading.title for _, heading in headings(lines, in_code(lines))), None)
    return {"title": title, **listed} if title else dict(listed)


def _parse_session(lines: Sequence[str]) -> dict[str, object]:
    """Return the facts below a heading; a day in the heading is the session's."""
    facts = _parse_facts(lines)
    day = _DAY.search(text_of(facts.get("title")))
    return facts if day is None or _begins_session(facts) else {**facts, "date": day[0]}


def _begins_session(facts: Mapping[str, object]) -> bool:
    return not facts.keys().isdisjoint((*ID_KEYS, *DATE_KEYS))


def _find_start(facts: Mapping[str, object]) -> str | None:
    return next((moment for date in _find_texts(facts, DATE_KEYS) if (moment := parse_handwritten(date))), None)


def _find_texts(facts: Mapping[str, object], keys: Sequence[str]) -> Iterator[str]:
    return (value for key in keys if isinstance(value := facts.get(key), str))


def _mark_thoughts(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts, those with a thought as such, if more of an answer follows each: then no words are in it."""
    labelled = [part for part in parts if part.name == "assistant" and THOUGHT_LABEL.match(part.text)]
    if any(part.next_name == "user" for part in labelled):
        return list(parts)
    lines = {part.line for part in labelled}
    return [replace(part, name=THOUGHT) if part.line in lines else part for part in parts]


def _mark_tool_parts(parts: Sequence[_Part]) -> list[_Part]:
    """Return the parts, as the tool's the one after an assistant's empty part, which called a tool."""
    pairs = zip(parts, [False, *[part.name == "assistant" and not part.text for part in parts]], strict=False)
    return [replace(part, name="tool") if is_below and part.name == "assistant" else part for part, is_below in pairs]


def _unwrap_fences(parts: list[_Part]) -> list[_Part]:
    """Return the parts without fences, if the text of each stands in one fence."""
    wrapped = [_WRAPPED.match(part.text) for part in parts]
    inside = [found[1] for found in wrapped if found and "\n```" not in found[1]]
    if len(inside) < max(FEWEST, len(parts)):
        return parts
    return [replace(part, text=text, start=part.start + 1) for part, text in zip(parts, inside, strict=True)]


def _keep_locked_levels(markers: list[RoleMarker]) -> list[RoleMarker]:
    """Return markers at their role's first level, tools at a speaker's; deeper ones are headings in an answer."""
    levels: dict[str, int] = {}
    for marker in markers:
        levels.setdefault(marker.role, marker.level)
    deepest = max((level for role, level in levels.items() if role in SPEAKERS), default=0)
    allowed = {role: level for role, level in levels.items() if role != "tool" or level <= deepest}
    return [marker for marker in markers if marker.has_verb or marker.level == allowed.get(marker.role)]


def _parse_stamp(line: str) -> str | None:
    found = _STAMP.match(line.strip())
    return parse_handwritten(found[1]) if found else None


def _is_rim(line: str) -> bool:
    return not line.strip() or _SEPARATOR.match(line) is not None


DIALOGUE = Format(name="markdown", version=28, detect=detect, read=_Dialogue.read)
