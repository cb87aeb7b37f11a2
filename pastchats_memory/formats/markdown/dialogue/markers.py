"""Parse role markers of Markdown dialogues: the lines that name the next speaker, in every notation of people and exporters."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pastchats_memory.formats.base.markdown import find_line
from pastchats_memory.text.lazy_pattern import read_pattern
from pastchats_memory.text.timestamps import LOCAL, MOMENT, iso_utc

THOUGHT = "thought"
"""The role of a heading above what the model thought."""
LONGEST_LINE = 200
"""The most characters of a heading with a role. Lines that carry the words themselves (`**You:** …`) may be longer."""
LONGEST_VERB_LINE = 60
"""The most characters of `You said:` and its like; a longer line is a sentence that ends with a colon."""

SPEAKERS = Path(__file__).with_name("speakers.toml")
_SPEAKERS: dict[str, dict[str, list[str]]] = tomllib.loads(SPEAKERS.read_text(encoding="utf-8"))
_ROLES = {
    word: (family, role)
    for family in ("names", "sections", "letters")
    for role, words in _SPEAKERS[family].items()
    for word in words
}
_ATX = re.compile(r"(#{1,6})[ \t]+(\S.*)\Z")
_HTML = re.compile(r"<h([1-6])[^<>]{0,80}>([^<>]{1,80})</h\1>\s*\Z", re.IGNORECASE)
_BOLD = re.compile(r"(?:\*\*|__)(?=\S)([^*_\n]{1,80})(?:\*\*|__)(:?)(.*)\Z", re.DOTALL)
_PLAIN = re.compile(r"(?:[^\w\s\x00-\x7f]{1,8}\s*)?([^\W\d_]{1,16})(?::(?:[ \t]+(.*)|\Z)|：[ \t]*(.*))", re.DOTALL)
"""A name without markup, perhaps behind a picture, and the words behind its colon."""
_RULED = read_pattern(__file__, "ruled", re.DOTALL)
LONGEST_SUMMARY = 6
"""The most lines of the beginning of a fold, with its summary."""
_FOLD = re.compile(
    r"<details[^<>\n]{0,80}>\s*<summary[^<>\n]{0,80}>(.{1,200}?)</summary>(.*)\Z", re.DOTALL | re.IGNORECASE
)
_INLINE_TAG = re.compile(r"</?\w{1,10}>")
_PICTURE = re.compile(r"\A[^\w\s\x00-\x7f]{1,8}\s*(?=\*\*)")
_CALLOUT = re.compile(r">[ \t]?\[!([\w -]{1,40})\][+-]?[ \t]*(.*)\Z", re.DOTALL)
_BEFORE = read_pattern(__file__, "before", re.IGNORECASE)
_PLUGIN = re.compile(r"(?:plugin|插件) \([\w. -]{1,60}\):?\Z", re.IGNORECASE)
"""The name of a tool in ChatGPT Exporter; the bare word is an ordinary heading."""
_WORD = re.compile(r"[^\W\d_]+")
_UNKNOWN = re.compile(
    r"(?P<before>(?:#{1,6} |\*\*)(?:(?:turn|message|msg) )?(?:#?\d{1,5}\s*[.):—–-]\s*)?(?:[^\w\s#*]{1,8}\s+)?)(?P<name>[A-Z][A-Za-z]{1,30})\b",
    re.IGNORECASE,
)
"""A heading or label up to a speaker's name."""
_SPEECH_VERB = read_pattern(__file__, "speech-verb", re.IGNORECASE)
_KIND = read_pattern(__file__, "kind", re.IGNORECASE)
_THOUGHTS = re.compile(r"(?:['’]s)?\s+(?:thoughts?|thinking|reasoning)\b", re.IGNORECASE)
_CALL = read_pattern(__file__, "call", re.IGNORECASE)
"""Text that may follow the word for a tool: `Tool call: read_file`, `Tool result`; a time may stand behind it."""
_MODEL = read_pattern(__file__, "model", re.IGNORECASE)
"""Text that may follow a role: a verb, the kind of message, the rest of a model's name."""
_MARKED = re.compile(
    r"<(sub|small|time|sup)>([^<>]{0,80})</\1>|\(([^()]{0,80})\)|\[([^\[\]]{0,80})\]|`([^`]{0,80})`|\*([^*]{0,80})\*"
)
_PICTURED_NAME = re.compile(r"🤖\s?\*\*[A-Z][A-Za-z]{1,30}\*\*\Z")
_NAMED_ROLES = (("assistant", _PICTURED_NAME), ("tool", _PLUGIN))
"""Texts that name a role by their form, whatever name is in them: a robot and a bold name of one word, or a plugin."""
_JOINED = "\u200d\ufe0f\U0001f4bb "
"""Characters that may follow a picture."""
_LABEL_MARKUP = read_pattern(__file__, "label-markup", re.IGNORECASE)
"""A label in another markup than bold, at the start of a line."""
_COMMENT = read_pattern(__file__, "comment", re.IGNORECASE)
_TAG = re.compile(r"<(?:\|im_start\|>(?P<chatml>\w{1,20})|\|?(?P<tag>\w{1,20})\|?>)\Z")
END_MARK = re.compile(r"(?:<!--[ ]*(?:/|end\b)[^<>\n]{0,60}-->|</\w{1,20}>|<\|im_end\|>)\s*\Z", re.IGNORECASE)
"""The end of a turn whose beginning is a comment or a tag."""
_ROW = re.compile(r"\|[ \t]{0,40}(?=[^\s|])([^|\n]{1,40}?)[ \t]{0,40}\|(.*)\|\s*\Z", re.DOTALL)
_ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)]) ")
_TIME = re.compile(MOMENT)
_LEADING = re.compile(
    rf"[\[(]?(?:({MOMENT})|\d{{1,2}}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)[\])]?(?:\s*+[-–—|·])?\s++(?=\S)"
)
"""A time before the role."""
_DASHED = re.compile(r"\s*[—–|·@,•-]+\s*(?P<rest>[^—–|·•]{1,60})")
_NAMED_MODEL = re.compile(r"[—–|·@,•-]+\s*(?:[a-z]+[-/.:])+[\w.:-]{1,60}\Z")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d|\d{4}|\d{1,2}[/.]\d{1,2}")


@dataclass(frozen=True, slots=True)
class RoleMarker:
    """A line that begins a turn."""

    place: int
    """0-based line."""
    role: str
    syntax: str
    """The notation: `atx`, `setext`, `html`, `bold`, `quoted`, `plain quoted`, `list`, `plain list`, `table`, `comment`, `tag`, `fold`, `picture`,
    `callout`, `ruled`, `said`, `plain`, `timed` or `signed`."""
    family: str
    """`names`, `sections` or `letters`."""
    level: int = 0
    timestamp: str | None = None
    words: str = ""
    """The words on the line itself."""
    has_verb: bool = False
    """A verb makes it certain that a speaker follows: `You said:`."""
    height: int = 1
    """The number of its lines."""
    tool: str = ""
    """The tool that a marker of the role `tool` calls: its arguments follow."""


def parse_marker(lines: Sequence[str], place: int) -> RoleMarker | None:
    """Parse a line that names the next speaker, in any notation. Return None for any other line."""
    line = _unwrap_label(lines[place].rstrip())
    start = line.lstrip()[:2]
    if start[:1] in ("#", "<"):
        heading = _parse_heading(_ATX.match(line) or _HTML.match(line), place)
        return heading or _parse_word(line, place) or _parse_marked_heading(line, place)
    if start[:1] in (">", "|"):
        return _parse_quoted(line, place) if start[:1] == ">" else _parse_row(line, place)
    if start in ("==", "--", "~~") or start[:1] == "[":
        return _parse_ruled(line, place) or _parse_timed(line, place)
    if item := _ITEM.match(line):
        label = line[item.end() :]
        return _parse_bold(_unwrap_label(label), "list", place) or _parse_name(label, "plain list", place)
    return _parse_bold(line, "bold", place) if start in ("**", "__") else _parse_named(lines, line, place)


def _parse_quoted(line: str, place: int) -> RoleMarker | None:
    """Parse a callout, or a label in a quotation."""
    inside = line[1:].strip()
    label = _parse_bold(_unwrap_label(inside), "quoted", place) or _parse_name(inside, "plain quoted", place)
    return _parse_callout(line, place) or label


def parse_fold(lines: Sequence[str], place: int) -> RoleMarker | None:
    """Parse the beginning of a fold whose summary names the speaker."""
    end = find_line(lines, lambda line: "</summary>" in line, place, min(place + LONGEST_SUMMARY, len(lines)))
    height = end + 1 - place
    found = _FOLD.match("".join(map(str.strip, lines[place : end + 1])))
    if found is None or not (label := _parse_label(_INLINE_TAG.sub("", found[1]))):
        return None
    return label.mark(place, "fold", words=found[2].strip(), height=height)


def _parse_word(line: str, place: int) -> RoleMarker | None:
    """Parse a comment or a tag with the name of a role."""
    found = _COMMENT.match(line) or _TAG.match(line)
    syntax = "comment" if line.startswith("<!") else "tag"
    word = next((value for key, value in found.groupdict().items() if value), "") if found else ""
    family, role = _ROLES.get(word.lower(), ("", ""))
    return RoleMarker(place, role, syntax, family) if family == "names" else None


def _parse_marked_heading(line: str, place: int) -> RoleMarker | None:
    """Parse a heading with a speaker's name or a time, and a comment with the role behind it."""
    heading, opened, comment = line.partition("<!--")
    if not (opened and heading.startswith("#") and len(line) <= LONGEST_LINE):
        return None
    marker = _parse_word(f"{opened}{comment}", place)
    return replace(marker, timestamp=_find_time(heading)) if marker else None


def _parse_row(line: str, place: int) -> RoleMarker | None:
    """Parse a row of a table whose first column names the speaker."""
    found = _ROW.match(line)
    words = found[2].strip() if found else ""
    label = _parse_label(found[1].strip("*_ ").removesuffix(":")) if found and words else None
    return label.mark(place, "table", words=words) if label else None


def _parse_picture(line: str, place: int) -> RoleMarker | None:
    """Parse a picture of the speaker before the words."""
    role = _find_role("pictures", line[:1])
    words = line[1:].lstrip(_JOINED).rstrip()
    return RoleMarker(place, role, "picture", "names", words=words) if role and words else None


def _parse_underlined(lines: Sequence[str], place: int) -> RoleMarker | None:
    """Parse a heading that is a line with a line of hyphens or equals signs below it."""
    below = lines[place + 1].strip() if place + 1 < len(lines) else ""
    if len(below) < 3 or set(below) not in ({"-"}, {"="}) or not (label := _parse_label(lines[place])):  # noqa: PLR2004 - as in CommonMark's practice
        return None
    return label.mark(place, "setext", height=2)


def _parse_named(lines: Sequence[str], line: str, place: int) -> RoleMarker | None:
    """Parse a line that begins with a speaker's name and has no markup."""
    marker = _parse_verb_line(line, place) or _parse_plain(lines, place) or _parse_timed(line, place)
    return marker or _parse_picture(line, place) or _parse_underlined(lines, place)


def _unwrap_label(line: str) -> str:
    """Return a line whose label is bold, without an emoji before it or italics around it."""
    if line.startswith("_**") and line.endswith("**_"):
        return line[1:-1]
    line = _PICTURE.sub("", line, count=1)
    if line[:1] in ("<", "*", "`") and (found := _LABEL_MARKUP.match(line)):
        label = found["html"] or found["italic"] or found["code"]
        return f"**{label}**{line[found.end() :]}"
    return line


def parse_signed_markers(lines: Sequence[str], names: Mapping[str, str]) -> list[RoleMarker]:
    """Find the lines that begin with one of the names and a colon, below a blank line.

    Args:
        lines: of the file.
        names: role by name, with the marks before it: `**Copilot` is of `**Copilot:** words`.

    """
    begun = ((place, line) for place, line in enumerate(lines) if not place or not lines[place - 1].strip())
    plain = ((place, line.replace(":**", ":", 1) if line.startswith("**") else line) for place, line in begun)
    found = ((place, line.partition(":")) for place, line in plain)
    signed = ((at, name, words) for at, (name, colon, words) in found if colon and words[:1] in ("", " "))
    known = ((at, names[name], words.strip()) for at, name, words in signed if name in names)
    return [RoleMarker(at, role, "signed", "names", words=words) for at, role, words in known]


def parse_named_markers(lines: Sequence[str], places: Sequence[int], known: RoleMarker) -> list[list[RoleMarker]]:
    """Find the headings or labels of a speaker whose name no list has, where all known speakers have one role.

    Return the markers of each name that stands more than once where the known speaker's name stands.

    Args:
        lines: of the file.
        places: those that are no code, and name no known speaker.
        known: a marker of the known speaker.

    """
    other = "User" if known.role == "assistant" else "Assistant"
    found: dict[str, list[RoleMarker]] = {}
    for place in places:
        line = lines[place]
        if not line.startswith(("#", "**")) or len(line) > LONGEST_LINE or (label := _UNKNOWN.match(line)) is None:
            continue
        marker = parse_marker([f"{label['before']}{other}{line[label.end() :]}"], 0)
        if marker and (marker.syntax, marker.level) == (known.syntax, known.level):
            found.setdefault(label["name"], []).append(replace(marker, place=place))
    return [markers for markers in found.values() if len(markers) > 1]


def _parse_verb_line(line: str, place: int) -> RoleMarker | None:
    """Parse `You said:`, from a page that was copied without its headings."""
    may_be = len(line) <= LONGEST_VERB_LINE and line.endswith((":", "："))
    label = _parse_label(line) if may_be else None
    return replace(label.mark(place, "said"), has_verb=True) if label and label.has_verb else None


def _parse_plain(lines: Sequence[str], place: int) -> RoleMarker | None:
    """Parse a name and a colon below a blank line, a separator or another such line."""
    marker = _parse_name(lines[place], "plain", place)
    above = lines[place - 1].strip() if place and marker else ""
    is_below = above in ("", "---", "***", "* * *", "___") or _parse_name(above, "plain", place) is not None
    return marker if is_below else None


def _parse_name(line: str, syntax: str, place: int) -> RoleMarker | None:
    found = _PLAIN.match(line)
    name = found[1].lower() if found else ""
    is_name = name in _ROLES and name not in _SPEAKERS["not_before_a_colon"]["names"]
    if found is None or not is_name or (found[1].islower() and name not in ("user", "assistant")):
        return None
    family, role = _ROLES[name]
    if family == "sections":
        return None
    return RoleMarker(place, role, syntax, family, words=(found[2] or found[3] or "").rstrip())


def _parse_timed(line: str, place: int) -> RoleMarker | None:
    """Parse a time, a name and a colon before the words, as in logs. Such lines may follow one another."""
    leading = _LEADING.match(line)
    marker = _parse_name(line[leading.end() :], "timed", place) if leading else None
    if leading is None or marker is None or marker.role == "system" or not marker.words:  # logs of servers name systems
        return None
    return replace(marker, timestamp=iso_utc(leading[1], LOCAL) if leading[1] else None)


def _parse_heading(found: re.Match[str] | None, place: int) -> RoleMarker | None:
    if found is None or len(found[0]) > LONGEST_LINE or (label := _parse_label(found[2])) is None:
        return None
    syntax, level = ("atx", len(found[1])) if found[0].startswith("#") else ("html", int(found[1]))
    return replace(label.mark(place, syntax, level), has_verb=label.has_verb, tool=label.tool)


def _parse_ruled(line: str, place: int) -> RoleMarker | None:
    """Parse `=== User ===`, `[USER]` or `[USER]: words`."""
    found = _RULED.match(line)
    if found is None or not (label := _parse_label(found[2] or found[3])):
        return None
    return label.mark(place, "ruled", words=found[4] or "")


def _parse_bold(line: str, syntax: str, place: int) -> RoleMarker | None:
    found = _BOLD.match(line)
    if found is None or (label := _parse_label(found[1])) is None:
        return None
    rest = found[3].strip().removeprefix("：").strip()
    if not (found[1].rstrip().endswith((":", "：")) or found[2] or found[3].lstrip().startswith("：")):
        tail = _parse_tail(f" {rest}") if rest else None
        if rest and tail is None:
            return None
        return replace(label, timestamp=label.timestamp or (tail or "")).mark(place, syntax)
    return label.mark(place, syntax, words=rest)


def _parse_callout(line: str, place: int) -> RoleMarker | None:
    found = _CALLOUT.match(line)
    if found is None:
        return None
    role = _find_role("callouts", *re.split(r"[ _-]", found[1].lower()))
    return RoleMarker(place, role, "callout", "names", timestamp=_find_time(found[2])) if role else None


def _find_time(text: str) -> str | None:
    moment = _TIME.search(text)
    return iso_utc(moment[0], LOCAL) if moment else None


@dataclass(frozen=True, slots=True)
class _Label:
    """The name of a speaker, and what stands around it."""

    role: str
    family: str = "names"
    timestamp: str | None = None
    has_verb: bool = False
    tool: str = ""

    def mark(self, place: int, syntax: str, level: int = 0, words: str = "", height: int = 1) -> RoleMarker:
        return RoleMarker(place, self.role, syntax, self.family, level, self.timestamp, words, height=height)


def _parse_label(text: str) -> _Label | None:
    """Parse a role with nothing around it but a number, an emoji, a model, a time. Return None for other text."""
    text = text.strip().strip("#").strip().replace("：", ":")
    if pictured := _find_role("pictures", text.rstrip(f":{_JOINED}")):
        return _Label(pictured)
    if named := next((role for role, pattern in _NAMED_ROLES if pattern.match(text)), None):
        return _Label(named)
    if labelled := _find_role("page_labels", text.removesuffix(":").strip().lower()):
        return _Label(labelled, has_verb=True)
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
    called = _CALL.match(rest) if known[1] == "tool" else None
    thoughts = _THOUGHTS.match(rest) if known[1] == "assistant" else None
    speech = _SPEECH_VERB.match(rest)
    more = speech or called or thoughts or _KIND.match(rest)
    timestamp = _parse_tail(rest[more.end() :] if more else rest)
    if timestamp is None:
        return None
    before_it = iso_utc(leading[1], LOCAL) if leading and leading[1] else None
    tool = (called["name"] or "") if called else ""
    role = THOUGHT if thoughts else known[1]
    return _Label(role, known[0], timestamp or before_it, speech is not None, tool)


def _find_role(table: str, *words: str) -> str | None:
    """Return the first role of which a table has one of some words."""
    return next((role for role, known in _SPEAKERS[table].items() if not set(words).isdisjoint(known)), None)


def _parse_tail(rest: str) -> str | None:
    """Return the time behind a role, or "". Return None if anything but a model, a time or a colon follows."""
    timestamp = ""
    number = re.match(r"[- ]?#?[0-9][\w.-]{0,20}", rest)
    rest = (rest[number.end() :] if number else rest).strip().removeprefix(":").strip()
    while rest and not _NAMED_MODEL.match(rest):
        marked = _MARKED.match(rest)
        dashed = None if marked else _DASHED.match(rest)
        if marked is None and (dashed is None or not _CLOCK.search(dashed["rest"])):
            return None
        span = marked[0] if marked else dashed[0] if dashed else ""
        timestamp = _find_time(span) or timestamp
        rest = rest[len(span) :].strip().removeprefix(":").strip()
    return timestamp
