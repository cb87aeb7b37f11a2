"""Check whether cited text still stands, and find the line of a quotation."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from os import SEEK_CUR
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple

from pastchats_memory.fields import FIRST, As, Count, Line, Shown, View, answer, one_of, shown_as
from pastchats_memory.files.archives import archive_of, open_member
from pastchats_memory.files.line_anchor import LineAnchor, find_lines, find_text, has_lines, unpack_anchor
from pastchats_memory.files.regular_file import NotRegularFile, open_regular
from pastchats_memory.files.stored_path import other_machine, resolve_path
from pastchats_memory.model import CITATION_STATES, Citation, Filters, Hit, Item, Place, Progress
from pastchats_memory.store import citations
from pastchats_memory.store.citations import CitedPlace
from pastchats_memory.store.database import Database
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.words import WORD

HOLDS, MOVED, CHANGED, GONE, UNCHECKED = CITATION_STATES
MAX_WAITING_BYTES = 16 << 20
"""Size of a file that is searched for moved lines while somebody waits."""
MAX_VERIFY_BYTES = 256 << 20
"""Size of a file that `verify` searches for moved lines."""
MIN_LINE_BYTES = 16
"""Bytes of an average line. A file with shorter lines is no transcript, and a search takes long."""
LINES_BEFORE, LINES_BEHIND = 40, 400
"""Lines around a turn's first line that are searched for a quotation."""
BLOCK = 1 << 18
"""Bytes that are read at a time."""
_JSON_ESCAPE = LazyPattern(r"\\(?:u([0-9a-fA-F]{4})|[nrtbf\"/\\])")


class CheckedPlace(NamedTuple):
    """A place of a row, and the state of its citation."""

    place: CitedPlace
    citation: Citation


@shown_as("FailedCitationView")
class BrokenCitation(NamedTuple):
    """A memory whose citation does not hold."""

    id: Annotated[str, {"pattern": "^([0-9]+|t:.+)$"}]
    state: Annotated[str, one_of("moved", "changed", "gone", "unchecked")]
    source_path: str
    source_line: Annotated[Line, "As it was read."]
    line: Annotated[Line, "Where the text stands now; null if nowhere."]
    source_project: str


class VerifyStates(View):
    """Number of memories by state of their citation; of several files the best state counts."""

    holds: Count
    moved: Count
    changed: Count
    gone: Count
    unchecked: Count


@answer("verify/1", title="Output of `verify --json`.")
class Verified(NamedTuple):
    """All citations, counted by state, and the broken ones."""

    states: Annotated[dict[str, int], As(VerifyStates)]
    failed: Annotated[
        tuple[BrokenCitation, ...], "The memories whose citation does not hold.", Shown("results", after="states")
    ]

    @property
    def total(self) -> Annotated[Count, "Memories that cite a file: turns, notes and tasks.", Shown("checked", FIRST)]:
        """Return the number of memories that cite a file."""
        return sum(self.states.values())


def cite_hits(database: Database, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with checked citations, each at its best place."""
    turns = [int(hit.id) for hit in hits if hit.task is None]
    places = citations.places(database, turns, [hit.task.id for hit in hits if hit.task is not None])
    files = CitedFiles(MAX_WAITING_BYTES)
    checked = []
    for hit in hits:
        key = (hit.task is not None, int(hit.id) if hit.task is None else hit.task.id)
        best = files.find_best(places.get(key, ()), hit.content if hit.task is None else hit.task.title)
        if best is None:
            checked.append(hit)
        else:
            line = best.citation.line or best.place.line or None
            checked.append(hit._replace(source_path=best.place.path, source_line=line, citation=best.citation))
    return checked


def cite_items(database: Database, items: Sequence[Item]) -> list[Item]:
    """Return the items with checked citations; the best place comes first, with its present line."""
    places = citations.places(database, [item.id for item in items], ())
    files = CitedFiles(MAX_WAITING_BYTES)
    checked = []
    for item in items:
        best = files.find_best(places.get((False, item.id), ()), item.content)
        if best is None:
            checked.append(item)
            continue
        first = [place for place in item.places if place.path == best.place.path]
        others = [place for place in item.places if place.path != best.place.path]
        if best.citation.state == MOVED and best.citation.line is not None:
            first = [place._replace(line=best.citation.line, end_line=None) for place in first]
        checked.append(item._replace(source_path=best.place.path, places=(*first, *others), citation=best.citation))
    return checked


def verify(
    database: Database,
    filters: Filters,
    paths: Sequence[str] = (),
    progress: Callable[[Progress], None] = lambda _: None,
) -> Verified:
    """Check every citation of rows of the filters' project. For a row in several files, the best place counts.

    Args:
        paths: files and folders; all files if empty.
        progress: called after each file.
    """
    rank = {state: place for place, state in enumerate(CITATION_STATES)}
    best: dict[tuple[bool, int], int] = {}
    failed: dict[tuple[bool, int], BrokenCitation] = {}
    sources = citations.sources(database, paths)
    for done, source in enumerate(sources, start=1):
        files = CitedFiles(MAX_VERIFY_BYTES)
        for row in citations.rows_of(database, source, filters):
            key = (row.is_task, row.id)
            citation = files.check(row.place, row.text)
            if rank[citation.state] >= best.get(key, len(rank)):
                continue
            best[key] = rank[citation.state]
            failed.pop(key, None)
            if citation.state != HOLDS:
                place = row.place
                failed[key] = BrokenCitation(
                    row.shown_id, citation.state, place.path, place.line or None, citation.line, row.project
                )
        progress(Progress(done, len(sources)))
    counts = Counter(CITATION_STATES[place] for place in best.values())
    return Verified({state: counts[state] for state in CITATION_STATES}, tuple(failed.values()))


class CitedFiles:
    """Cited files. Each is searched for moved lines at most once."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._contents: dict[str, bytes | None] = {}

    def find_best(self, places: Sequence[CitedPlace], text: str) -> CheckedPlace | None:
        """Return the first place that holds, or the next best one; None for a row without places."""
        best: CheckedPlace | None = None
        for place in places:
            one = CheckedPlace(place, self.check(place, text))
            if best is None or _rank(one) < _rank(best):
                best = one
            if one.citation.state == HOLDS:
                break
        return best

    def check(self, place: CitedPlace, text: str) -> Citation:
        """Return whether a text still stands at its place."""
        if other_machine(place.path):
            return Citation(UNCHECKED)
        path = resolve_path(place.path)
        archive = archive_of(path)
        file = archive or path
        try:
            if archive is None and (passage := unpack_anchor(place.passage)) is not None:
                if _has_lines(path, passage, text):
                    return Citation(HOLDS, place.line)
            elif _is_unchanged(file, place, is_packed=archive is not None):
                return Citation(HOLDS, place.line or None)
            name = str(path)
            if name not in self._contents:
                self._contents[name] = _read(path, archive, self._max_bytes)
        except (FileNotFoundError, NotADirectoryError, NotRegularFile):
            return Citation(GONE)
        except OSError:  # no permission, or a damaged archive
            return Citation(UNCHECKED)
        return _search_lines(self._contents[name], place, text)


def _rank(checked: CheckedPlace) -> int:
    return CITATION_STATES.index(checked.citation.state)


def _search_lines(content: bytes | None, place: CitedPlace, text: str) -> Citation:
    """Return the citation of lines that are not at their old place."""
    passage = unpack_anchor(place.passage)
    if content is None:
        return Citation(CHANGED if passage else UNCHECKED)
    lines = [_line_at(content, start) for start in find_lines(content, passage, text)] if passage else []
    if not lines and (start := find_text(content, text)) is not None:
        lines = [_line_at(content, start)]
    if not lines:
        return Citation(CHANGED if passage else UNCHECKED)
    line = min(lines, key=lambda line: abs(line - place.line))
    return Citation(HOLDS if line == place.line else MOVED, line)


def _line_at(content: bytes, start: int) -> int:
    return content.count(b"\n", 0, start) + 1


def _is_unchanged(file: Path, place: CitedPlace, *, is_packed: bool) -> bool:
    """Return whether nobody wrote to a file since it was read. Raises OSError."""
    from pastchats_memory.formats.companions import state_of  # few citations need it

    size, mtime_ns = state_of(file)
    return mtime_ns == place.mtime_ns and (is_packed or size == place.size)


def _has_lines(path: Path, passage: LineAnchor, text: str) -> bool:
    """Return whether lines stand at their old place, and read nothing else. Raises OSError."""
    with open_regular(path) as stream:
        before = min(1, passage.offset)
        stream.seek(passage.offset - before)
        read = stream.read(before + passage.length + 1)
    lines, after = read[before : before + passage.length], read[before + passage.length :]
    is_whole = len(lines) == passage.length and read[:before] in (b"", b"\n") and after in (b"", b"\n")
    return is_whole and has_lines(lines, passage, text)


def _read(path: Path, archive: Path | None, max_bytes: int) -> bytes | None:
    if archive is None:
        with open_regular(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            content = stream.read(size) if size <= max_bytes else None
    else:
        with open_member(archive, os.path.relpath(path, archive))() as member:
            content = member.read(max_bytes + 1)
    if content is None or len(content) > max_bytes or content.count(b"\n") > max_bytes // MIN_LINE_BYTES:
        return None
    return content


def find_line(quotation: str, place: Place) -> int:
    """Return the first line from the place on that holds the quotation's words.

    Without one, return the nearest line before the place, or the place's own line.
    """
    before = place.line
    for number in _lines_with(quotation, place):
        if number >= place.line:
            return number
        before = number
    return before


def find_nearest_line(quotation: str, place: Place) -> int:
    """Return the line nearest to the place with the quotation's words, else the place's own line."""
    return min(_lines_with(quotation, place), key=lambda number: abs(number - place.line), default=place.line)


def _lines_with(quotation: str, place: Place) -> Iterator[int]:
    """Yield the numbers of lines near the place with the quotation's words."""
    words = WORD.findall(quotation)
    if not words or not place.line:
        return
    longest = max(words, key=len).encode()
    with suppress(OSError):
        for number, raw in _read_lines_around(place):
            if (longest in raw or b"\\u" in raw) and _has_words(raw, words):
                yield number


def _read_lines_around(place: Place) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines around the place; of a large or packed file, yield none."""
    path = Path(place.path)
    if not path.is_file() or path.stat().st_size > MAX_WAITING_BYTES:
        return
    with path.open("rb") as file:
        skipped = _skip_lines(file, max(0, place.line - 1 - LINES_BEFORE))
        last = max(place.end_line or 0, place.line) + LINES_BEHIND
        yield from islice(enumerate(file, start=skipped + 1), last - skipped)


def _skip_lines(file: BinaryIO, lines: int) -> int:
    """Skip lines in blocks, which takes a third of the time of reading lines; return how many there were."""
    left = lines
    while left and (block := file.read(BLOCK)):
        count = block.count(b"\n")
        if count >= left:
            end = -1
            for _ in range(left):
                end = block.index(b"\n", end + 1)
            file.seek(end + 1 - len(block), SEEK_CUR)
            return lines
        left -= count
    return lines - left


def _has_words(raw: bytes, words: list[str]) -> bool:
    """Return whether the words stand in the line in order, as text or JSON."""
    text = _JSON_ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", raw.decode(errors="replace"))
    at = 0
    for word in words:
        at = text.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True
