"""The shape of a Markdown text, line by line: front matter, code fences, folded parts, headings."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pastchats_memory.formats.base.values import Json
from pastchats_memory.text.truncate import keep_head

MOST_FRONT_MATTER = 400
MOST_KEYS = 100
LONGEST_VALUE = 2000
FENCE_LENGTHS = range(3, 9)

_FENCE = re.compile(r"[ \t>]{0,40}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)\Z")
_KEY = re.compile(r"([\w][\w .-]{0,60}):(?:[ \t]+(.*))?\Z")
_ITEM = re.compile(r"[ \t]*- +(.*)\Z")
_BLOCK = re.compile(r"(`{3,})(\w*)\Z")
_DETAILS = re.compile(r"<details(?: [^<>\n]{0,80})?>")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The block between `---` lines at the top of a file."""

    fields: Json
    lines: int
    """The number of lines with the two fences; 0 without front matter."""


@dataclass(frozen=True, slots=True)
class Heading:
    """An ATX heading outside of code."""

    level: int
    title: str


def find_line(lines: Sequence[str], matches: Callable[[str], object], start: int = 0, end: int | None = None) -> int:
    """Return the place of the first line from `start` to `end` that matches, else `end`, else the number of lines."""
    end = len(lines) if end is None else end
    return next((place for place in range(start, end) if matches(lines[place])), end)


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Return the front matter: keys with a text or a list of texts. Types are not guessed; nested values are text."""
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter({}, 0)
    most = min(len(lines), MOST_FRONT_MATTER)
    end = find_line(lines, lambda line: line.rstrip() in ("---", "..."), 1, most)
    if end == most or not any(_KEY.match(line) for line in lines[1:end]):
        return FrontMatter({}, 0)
    blocks: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:end]:
        if found := _KEY.match(line):
            key = found[1].strip()
            blocks[key] = [found[2] or ""]
        elif key and line.strip() and not line.startswith("#"):
            blocks[key].append(line)
    fields: Json = {key: value for key, block in list(blocks.items())[:MOST_KEYS] if (value := _value(block))}
    return FrontMatter(fields, end + 1)


def _value(block: Sequence[str]) -> str | list[str]:
    first, rest = block[0].strip(), block[1:]
    if not first and rest and all(_ITEM.match(line) for line in rest):
        return [text for line in rest if (found := _ITEM.match(line)) and (text := _scalar(found[1]))]
    if first.startswith("[") and first.endswith("]"):
        return [text for item in first[1:-1].split(",") if (text := _scalar(item))]
    if first in (">", "|", ">-", "|-", ">+", "|+", ""):
        return keep_head("\n".join(line.strip() for line in rest), LONGEST_VALUE)
    return _scalar("\n".join((first, *rest)))


def _scalar(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]
    if not quoted:
        text = text.partition(" #")[0].rstrip()
    return "" if text in ("null", "~") else keep_head(text.strip("\"'") if quoted else text, LONGEST_VALUE)


def in_code(lines: Sequence[str], cuts: Sequence[int] = ()) -> list[bool]:
    """Return for each line whether it is in a fenced block.

    An unclosed fence opens no block: truncated answers end so. A block ends before each of the `cuts`, sorted places.
    """
    if cuts:
        return [flag for start, end in pairwise((0, *cuts, len(lines))) for flag in in_code(lines[start:end])]
    inside = [False] * len(lines)
    place = 0
    closings = _closings(lines)
    while place < len(lines):
        end = _end_of_fence(lines[place], closings, place)
        if end:
            inside[place : end + 1] = [True] * (end + 1 - place)
        place = (end or place) + 1
    return inside


def _closings(lines: Sequence[str]) -> dict[tuple[str, int], list[int]]:
    """Return the places of bare fences that may close a block, last first, by character and length."""
    closings: dict[tuple[str, int], list[int]] = {(mark, length): [] for mark in "`~" for length in FENCE_LENGTHS}
    for place in range(len(lines) - 1, -1, -1):
        if (found := _FENCE.match(lines[place])) and not found["info"].strip():
            closings[found["mark"][0], min(len(found["mark"]), FENCE_LENGTHS[-1])].append(place)
    return closings


def _end_of_fence(line: str, closings: dict[tuple[str, int], list[int]], place: int) -> int:
    found = _FENCE.match(line)
    if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
        return 0
    length = min(len(found["mark"]), FENCE_LENGTHS[-1])
    ends = [closings[found["mark"][0], each] for each in FENCE_LENGTHS if each >= length]
    for places in ends:
        while places and places[-1] <= place:
            places.pop()
    return min((places[-1] for places in ends if places), default=0)


def blocks(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield language, first and last line of each block whose fences stand alone at the beginning of a line."""
    opened, mark, language = -1, "", ""
    for place, line in enumerate(lines):
        if opened < 0 and (found := _BLOCK.match(line)):
            opened, mark, language = place, found[1], found[2]
        elif opened >= 0 and line == mark:
            yield language, opened, place
            opened = -1


def in_details(lines: Sequence[str], code: Sequence[bool]) -> list[bool]:
    """Return for each line whether it is inside `<details>`."""
    inside = [False] * len(lines)
    for start, end in find_details(lines, code):
        inside[start : end + 1] = [True] * (end + 1 - start)
    return inside


def find_details(lines: Sequence[str], code: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield first and last line of each outer `<details>`. An element without an end folds nothing."""
    opened: list[int] = []
    for place, line in enumerate(lines):
        if code[place] or "details" not in (tags := line.lower()):
            continue
        opened.extend([place] * len(_DETAILS.findall(tags)))
        for _ in range(min(len(opened), tags.count("</details>"))):
            start = opened.pop()
            if not opened:
                yield start, place


def headings(lines: Sequence[str], code: Sequence[bool]) -> Iterator[tuple[int, Heading]]:
    """Yield place and heading of each ATX heading outside of code."""
    for place, line in enumerate(lines):
        if not code[place] and (found := _ATX.match(line)):
            yield place, Heading(len(found[1]), found[2].rstrip("# \t").strip() or found[2].strip())
