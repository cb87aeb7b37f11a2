"""Texts in which several speakers are marked, as records: marks at the beginnings of lines, tags, columns between commas."""

from __future__ import annotations

import csv
import re
from html import unescape
from io import StringIO
from itertools import takewhile

from pastchats_memory.formats.base.source import Json
from pastchats_memory.formats.generic.shapes.inference.columns import PIECE
from pastchats_memory.formats.generic.shapes.naming import SIDES, SPEAKER, has, side_of

MOST_SPEAKERS = 6
MOST_TAGS = 5000
"""Each is looked for to its end, so a text with more is left."""
DEEPEST_TAG = 3
LONGEST_HEAD = 200
"""Characters of a line that names columns."""

_MARK = r"(?:[\d.,/: -]{5,25}(?:[AaPp]\.?[Mm]\.? )?- )?(?:\[[^\]\n]{1,40}\]\s*)?[<*\[(]{0,2}(?P<who>[^\W\d_][\w .'@-]{0,30}?)(?:\s*\([^)\n]{1,30}\))?[>*\])]{0,2}\s*(?::\*{0,2}|>|\||—|–)\s*"
_SAID = re.compile(_MARK + r"(?P<text>\S.*)", re.DOTALL)
_STAMPED = re.compile(r"\s{0,9}\[[\d:., /-]{4,25}\]\s")
_BEGINS = re.compile(r"^(?:#{1,4} |\*\*)?" + _MARK, re.MULTILINE)
_TAGGED = re.compile(
    r"<\|(?:im_start|start_header_id)\|>(?P<who>\w++)(?:<\|end_header_id\|>)?\s*+(?P<text>(?:(?!<\|(?:im_start|start_header)).){0,20000}?)<\|(?:im_end|eot_id)\|>"
    r"|<\w+ [^>]{0,80}?(?:class|role|from|who|by|sender|speaker|author|data-\w+)=[\"'](?P<kind>[\w -]{1,40})[\"'][^>]{0,80}>(?P<held>.{0,20000}?)</(?:div|p|li|span|section|article|turn|msg|message)>"
    r"|<(?P<tag>[A-Za-z_]{2,20})>(?P<inner>.{0,20000}?)</(?P=tag)>",
    re.DOTALL,
)
_CLOSED = re.compile(r"</\w{1,20}>\s*\Z")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


def taking_turns(texts: list[str]) -> list[Json]:
    """A list in which a word for a speaker and what he said take turns."""
    names = set(texts[::2])
    if len(texts) % 2 or len(names) > MOST_SPEAKERS or not {side_of(name) for name in names} >= SIDES:
        return []
    return [{"speaker": who, "text": said} for who, said in zip(texts[::2], texts[1::2], strict=True)]


def marked_texts(texts: list[str]) -> list[Json]:
    """Texts each of which begins with who says it; without those of events, which have but a time before them."""
    known = list(takewhile(bool, (_SAID.match(text.strip()) or _STAMPED.match(text) for text in texts)))
    marks = [mark for mark in known if mark and mark.re is _SAID]
    names = {mark["who"] for mark in marks}
    if len(known) < len(texts) or not 1 < len(names) <= MOST_SPEAKERS:
        return []
    return [{PIECE: mark.string, "speaker": mark["who"], "text": _CLOSED.sub("", mark["text"])} for mark in marks]


def spoken_page(text: str) -> list[Json]:
    """The turns of a text in which two or more speakers, one of them known for a person and one for a program, are marked."""
    tagged = _tagged(text, 0) if 0 < text.count("<") <= MOST_TAGS else []
    begins = [(m["who"], m.start(), m.end()) for m in _BEGINS.finditer(text)] if "\n" in text else []
    spans = zip(begins, [*begins[1:], ("", len(text), 0)] if begins else [], strict=True)
    marked = [(who, text[end:start]) for (who, _, end), (_, start, _) in spans]
    leading = text[: begins[0][1]].strip() if begins else ""
    for said in (tagged, [] if leading else marked):
        names = {who for who, _ in said}
        sides = {side_of(who) for who in names}
        known = sides >= SIDES or ("assistant" in sides and len(names) == len(sides) == len(SIDES))
        if known and len(names) <= MOST_SPEAKERS and len(said) > 1:
            return [{"speaker": who, "text": words.strip()} for who, words in said if words.strip()]
    return _separated(text) if "\n" in text else []


def _tagged(text: str, depth: int) -> list[tuple[str, str]]:
    """Who speaks, as tags or what stands in them say, and what is said; of a tag that is nobody's, what the tags within say."""
    found: list[tuple[str, str]] = []
    for mark in _TAGGED.finditer(text):
        who, inner = mark["who"] or mark["tag"] or mark["kind"], mark["text"] or mark["inner"] or mark["held"] or ""
        within = _tagged(inner, depth + 1) if depth < DEEPEST_TAG and "<" in inner and side_of(who) is None else []
        found += within or [(who, unescape(_TAG.sub("", inner)) if mark["held"] else inner)]
    return found


def _separated(text: str) -> list[Json]:
    """The rows of a text that is a table with commas, semicolons or tabs between its columns, if one of these says who speaks."""
    head = text.lstrip().split("\n", 1)[0]
    mark = next((mark for mark in "\t;|," if mark in head), "")
    if not mark or len(head) > LONGEST_HEAD or not any(has(name, SPEAKER) for name in head.split(mark)):
        return []
    try:
        names, *rows = csv.reader(StringIO(text.strip()), delimiter=mark)
    except csv.Error:
        return []
    fits = len(rows) > 1 and len(set(names)) == len(names) and all(len(row) == len(names) for row in rows if row)
    return [dict(zip(names, row, strict=True)) for row in rows if row] if fits else []
