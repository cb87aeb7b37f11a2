"""Markdown that is not a dialogue (session logs, plans, journals), split at its headings; each part is a turn of its own.

No line is lost: a heading without text of its own goes to the part that follows it. Front matter is metadata of every part;
so that its words are found, the first part has the title above its text and what else the front matter tells below it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.locations import NOTE_FOLDER_DEPTH
from pastchats_memory.formats.base.markdown import FrontMatter, front_matter
from pastchats_memory.formats.base.source import MARKDOWN_SUFFIXES, SourceFile
from pastchats_memory.formats.base.values import Json, text_of
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.timestamps import LOCAL, date_in_path, iso_utc
from pastchats_memory.text.truncate import keep_head

CONFIDENCE = 10
FOLDERS = frozenset(
    {"notes", "journal", "journals", "log", "logs", "plans", "sessions", "memory", "worklog", "worklogs"}
)
TEXT_SUFFIXES = frozenset({".txt", ".text"})
"""Suffixes of other texts that are notes if the user names them. A Makefile looks like Markdown, but has none of these."""
NO_PROJECT = frozenset({"", "/", "home", "users", "root", "tmp", "docs", "doc", "documents", "desktop"})
DATE_KEYS = ("date", "created", "created_at", "datetime", "timestamp")
LATER_DATE_KEYS = ("created_date", "updated", "updated_at", "updated_date")
"""Keys of task files and of edited notes: they date a note, but are not enough to make a file a note."""
FACTS_WITHIN = 15
"""Lines of the text in which `Date:` and `Project:` are searched."""
LONGEST_FOOT = 2000
"""The most characters of front matter below the first part's text."""

_DAY = re.compile(r"(?<![\d-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\d-])")
_FACT = re.compile(r"[\s>*_-]{0,8}(date|project)[*_]{0,2}:[*_]{0,2}[ \t]{0,8}(\S.{0,100})\Z", re.IGNORECASE)


def detect(source: SourceFile) -> int:
    """Return 10 for Markdown that is wanted as notes: named, requested, in a notes folder, or dated in its front matter."""
    suffix = source.path.suffix.lower()
    if suffix not in MARKDOWN_SUFFIXES | TEXT_SUFFIXES or source.shape != "markdown" or not source.head.strip():
        return 0
    is_note = source.notes or any(one.name.lower() in FOLDERS for one in list(source.path.parents)[:NOTE_FOLDER_DEPTH])
    is_wanted = is_note or _dated(front_matter(source.head.splitlines()), DATE_KEYS) is not None
    is_wanted = source.named or (is_wanted and suffix in MARKDOWN_SUFFIXES)
    return CONFIDENCE if is_wanted else 0


def read(source: SourceFile) -> Iterator[Turn | Unreadable]:
    """Yield one turn for each part; long parts become several turns that share lines."""
    lines = source.text.split("\n")
    front = front_matter(lines)
    stated = map(_FACT.match, reversed(lines[front.lines : front.lines + FACTS_WITHIN]))
    facts = {fact[1].lower(): fact[2].strip(" *_`") for fact in stated if fact}
    day = _first_day(facts.get("date", "")) or _dated(front, DATE_KEYS + LATER_DATE_KEYS) or date_in_path(source.path)
    project = facts.get("project") or text_of(front.fields.get("project")) or _project_of(source.path)
    about = {key: value for key, value in front.fields.items() if key not in DATE_KEYS and key != "project"}
    is_first = True
    for part in _parts(lines, front.lines):
        heading = " > ".join(part.path)
        time = next((moment for title in reversed(part.path) if (moment := _first_day(title))), None) or day
        for start, end in _chunks(lines, part, source.chunk_size, source.chunk_overlap):
            text = "\n".join(lines[start:end]).strip("\n")
            content, is_first = _framed(text, about) if is_first else text, False
            facts_of_part = about | ({"heading": heading} if heading else {})
            place = (start + 1, end)
            yield Turn("note", content, *place, timestamp=time, project=project, kind="note", metadata=facts_of_part)


def _framed(text: str, about: Json) -> str:
    """Return the text below its title, unless a line repeats it, and above the other front matter as `key: value` lines."""
    title = _on_one_line(about.get("title", ""))
    is_repeated = title.lower() in (line.strip("# ").lower() for line in text.split("\n"))
    foot = "\n".join(f"{key}: {_on_one_line(value)}" for key, value in about.items() if key != "title")
    return "\n\n".join(piece for piece in ("" if is_repeated else title, text, keep_head(foot, LONGEST_FOOT)) if piece)


def _on_one_line(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else " ".join(str(value).split())


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines `start` up to `end` (0-based, without blank lines at both ends) under a path of headings."""

    start: int
    end: int
    path: tuple[str, ...]


def _parts(lines: Sequence[str], first: int) -> Iterator[_Part]:
    """Yield each part with text of its own and the empty headings above it; a heading without any stands alone."""
    path: list[tuple[int, str]] = []
    begin = written = first
    for place, length, level, title in [*_headings(lines, first), (len(lines), 0, 0, "")]:
        childless = bool(path) and level <= path[-1][0]
        if any(line.strip() for line in lines[written:place]) or childless or level == 0:
            if filled := [number for number in range(begin, place) if lines[number].strip()]:
                yield _Part(filled[0], filled[-1] + 1, tuple(name for _, name in path))
            begin = place
        path = [*((above, name) for above, name in path if above < level), (level, title)]
        written = place + length


def _headings(lines: Sequence[str], first: int) -> Iterator[tuple[int, int, int, str]]:
    """Yield place, lines, level and title of each heading by CommonMark, outside of code, lists and quotations."""
    from markdown_it import MarkdownIt  # costs 50 ms, which only reading a note is worth

    tokens = MarkdownIt("commonmark").disable(["inline"]).parse("\n" * first + "\n".join(lines[first:]))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            start, end = opening.map
            yield start, end - start, int(opening.tag[1:]), " ".join(inline.content.split())


def _chunks(lines: Sequence[str], part: _Part, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield runs of whole lines of about `size` characters, each with the last lines of the run before."""
    start = end = part.start
    while end < part.end:
        length, reached = 0, start
        while reached < part.end and (reached <= end or length + len(lines[reached]) < size):
            length += len(lines[reached]) + 1
            reached += 1
        end = reached
        if any(line.strip() for line in lines[start:end]):
            yield start, end
        start = max(end - overlap, start + 1)


def _project_of(path: PurePath) -> str | None:
    """Return the name of the folder that holds the notes folder, or None if it is not a project's."""
    folders = [parent for parent in list(path.parents)[:NOTE_FOLDER_DEPTH] if parent.name.lower() in FOLDERS]
    above = folders[-1].parent if folders else None
    while above is not None and (above.name.lower() in ("docs", "doc") or above.name.startswith(".")):
        above = above.parent
    if above is None or above.name.lower() in NO_PROJECT or above.parent.name.lower() in ("home", "users"):
        return None
    return above.name


def _dated(front: FrontMatter, keys: tuple[str, ...]) -> str | None:
    return next((moment for key in keys if (moment := iso_utc(front.fields.get(key), LOCAL))), None)


def _first_day(text: str) -> str | None:
    found = _DAY.search(text)
    return iso_utc(found[0], LOCAL) if found else None


NOTES = Format(name="notes", version=4, detect=detect, read=read, is_specific=False, kinds=frozenset({"notes"}))
