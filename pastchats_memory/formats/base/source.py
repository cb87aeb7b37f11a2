"""One file as a reader sees it: its shape, its JSON records with line numbers, its document, piece by piece, or its text.

Nothing here knows a format. Bytes are judged first (a database, compressed, a Git LFS pointer), encodings are undone,
and whatever cannot be parsed is yielded as `Unreadable`, never raised.

Its functions raise OSError if a file cannot be read.
"""

import codecs
import errno
import io
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar, cast

from pastchats_memory.files import foreign_sqlite
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.formats.base.checkpoint import CannotResume, Checkpoint
from pastchats_memory.formats.base.damaged_lines import (
    RECORD_START,
    ZEROS,
    LineReader,
    Passage,
    has_zeros,
    split_records,
    strip_line,
)
from pastchats_memory.formats.base.json_scanner import OUTLINE_ITEMS, Scanner, Torn, outlined
from pastchats_memory.formats.base.values import BadJson, parse_json
from pastchats_memory.model import Unreadable
from pastchats_memory.text.legacy_encoding import guess_encoding

Shape = Literal["jsonl", "json", "markdown", "sqlite", "other"]

_Value = TypeVar("_Value")

SAMPLE_RECORDS = OUTLINE_ITEMS
"""By which a file is judged, of a document as of lines."""
HEAD_BYTES = 64 * 1024
LONGEST_LINE = 64 * 1024 * 1024
LARGE_DOCUMENT = 8 * 1024 * 1024
"""Bytes above which a JSON document is never parsed whole to see what it is: parsed, it takes five to ten times as much."""
LARGEST_TEXT = 256 * 1024 * 1024
"""Bytes of what is read at once: Markdown, copies of a terminal, JSON of formats that are not streamed."""
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})
JSONL_SUFFIXES = frozenset({".jsonl", ".ndjson"})
PLAIN_SUFFIXES = frozenset({".txt", ""})
SHORT_LINE = 4096
NUL_SHARE = 0.9
NUL_RUN = re.compile(rb"\0{4,}")
"""What a crash leaves; text in UTF-16 has fewer zeros in a row."""

SQLITE = b"SQLite format 3\0"
MAGIC = (
    (b"\x28\xb5\x2f\xfd", "zstd-compressed; unpack it first"),
    (b"\x1f\x8b", "gzip-compressed; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"BZh", "bzip2-compressed; unpack it first"),
    (b"\xfd7zXZ\0", "xz-compressed; unpack it first"),
    (SQLITE, "an SQLite database in an archive, or one without tables"),
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the file itself; run `git lfs pull`"),
)
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class NotText(ValueError):
    """The bytes are not a transcript of any kind; the message says what they are."""


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value of a JSONL file and the 1-based line on which it stands."""

    line: int
    value: object


@dataclass(frozen=True, slots=True)
class Element:
    """One value of a JSON document: an item of an array, or what an object has under a key."""

    line: int
    """1-based line on which it begins."""
    value: object
    key: str | None
    """None for an item of an array."""
    raw: bytes
    """The UTF-8 text that it was parsed from, by which `Places` finds the lines of what is in it."""

    @property
    def text(self) -> str:
        """Return the JSON text of the value."""
        return self.raw.decode("utf-8", errors="replace")


@dataclass(frozen=True)
class SourceFile:
    """A file to be read, with what the caller wants of it."""

    path: Path
    """Of the file; of a member of an archive the archive's path, a slash, and the member's own."""
    named: bool = False
    """The person named this very file, not a folder above it."""
    notes: bool = False
    """Markdown that is not a dialogue is wanted too."""
    chunk_size: int = 1500
    """Characters after which a part of a note is split further."""
    chunk_overlap: int = 2
    """Lines that two neighbouring chunks of one part share."""
    unpacked: Callable[[], BinaryIO] | None = None
    """Opens the bytes where they are not simply the file's: those of a member of an archive."""
    resumed: Checkpoint | None = None
    """JSONL that has only grown since this was yielded: `records` begins there. The reader takes its state up or raises
    CannotResume."""

    def once(self, making: "Callable[[SourceFile], _Value]") -> _Value:
        """Return the result of `making` for this file, computed once for detecting, reading and explaining it."""
        if making not in self._made:
            self._made[making] = making(self)
        return cast("_Value", self._made[making])

    @cached_property
    def _made(self) -> "dict[Callable[[SourceFile], object], object]":
        return {}

    def open(self) -> BinaryIO:
        """Open the file for its raw bytes."""
        return open_regular(self.path) if self.unpacked is None else self.unpacked()

    @cached_property
    def size(self) -> int:
        """Return the number of unpacked bytes."""
        if self.unpacked is None:
            return self.path.stat().st_size
        with self.open() as file:
            return sum(iter(lambda: len(file.read(HEAD_BYTES)), 0))

    @cached_property
    def _opening(self) -> bytes:
        with self.open() as file:
            return file.read(HEAD_BYTES)

    @cached_property
    def head(self) -> str:
        """Return the first 64 KiB as text with line ends; "" for a database. Raises NotText, OSError."""
        if self.tables:
            return ""
        for magic, what in MAGIC:
            if self._opening.startswith(magic):
                raise NotText(what)
        text = self._opening.decode(self.encoding, errors="replace").removeprefix("\ufeff")
        start = text.strip("\0")[:4096]
        has_nul_bytes = start.count("\0") > len(start) // 10
        if (has_nul_bytes or text.count("\ufffd") > max(8, len(text) // 10)) and not _has_record(text):
            raise NotText("a binary file")
        return text

    @cached_property
    def tables(self) -> dict[str, frozenset[str]]:
        """Return tables and their columns in small letters; none for a file that is no database. Raises NotText."""
        if self.unpacked is not None or not self._opening.startswith(SQLITE):
            return {}
        try:
            return foreign_sqlite.tables(self.path)
        except foreign_sqlite.ForeignFault as fault:
            raise NotText(f"an SQLite database that cannot be read: {fault}") from fault

    def from_database(
        self, builder: Callable[[foreign_sqlite.ForeignDatabase], Iterator[_Value]]
    ) -> Iterator[_Value | Unreadable]:
        """Yield the values of `builder` for the database, up to where it is damaged."""
        try:
            with foreign_sqlite.open_foreign(self.path) as database:
                yield from builder(database)
                if left_out := database.left_out:
                    yield Unreadable(str(self.path), 0, left_out)
        except foreign_sqlite.ForeignFault as fault:
            yield Unreadable(str(self.path), 0, str(fault))

    @cached_property
    def encoding(self) -> str:
        """Return the encoding by byte order mark or zero bytes, else UTF-8, or an older one if that does not fit."""
        if self.resumed is not None:
            return "utf-8"
        for mark, name in BOMS:
            if self._opening.startswith(mark):
                return name
        opening = NUL_RUN.sub(b"", self._opening)[:256]
        odd, even = opening[1::2], opening[0::2]
        if len(even) > 1 and odd.count(0) > len(odd) * NUL_SHARE:
            return "utf-16-le"
        if len(even) > 1 and even.count(0) > len(even) * NUL_SHARE:
            return "utf-16-be"
        return guess_encoding(self._opening, is_whole=len(self._opening) < HEAD_BYTES)

    @cached_property
    def shape(self) -> Shape:
        """Return the kind of the file by its content, or by its name if the content may be either. Raises NotText."""
        if self.resumed is not None:
            return "jsonl"
        if self.tables:
            return "sqlite"
        start, suffix = self.head.lstrip(" \t\r\n\0\ufeff")[:1], self.path.suffix.lower()
        if suffix in MARKDOWN_SUFFIXES:
            return "markdown"
        named = suffix == ".json" or suffix in JSONL_SUFFIXES
        if named or start in ("{", "["):
            if self._is_lines(suffix):
                return "jsonl"
            if named or not isinstance(self.outline, BadJson):  # lines of a log begin with a bracket, too
                return "json"
        return "markdown" if suffix in PLAIN_SUFFIXES else "other"

    def _is_lines(self, suffix: str) -> bool:
        """Return whether more lines follow a first JSON value, or records a damaged line, whatever the suffix."""
        present = (line for line in map(strip_line, self._lines(LARGE_DOCUMENT)) if line and not line.startswith(b"//"))
        opening = list(islice(present, 2))
        if opening and len(opening[0]) <= LARGE_DOCUMENT and isinstance(parse_json(opening[0]), dict | list):
            return len(opening) > 1 or suffix in JSONL_SUFFIXES
        if opening and _are_joined(opening[0]):
            return True
        following = (line for line in (*opening[1:], *islice(present, SAMPLE_RECORDS)) if RECORD_START.match(line))
        if suffix not in JSONL_SUFFIXES:
            return all(map(_is_json, two := list(islice(following, 2)))) and len(two) > 1
        indented = bool(opening) and opening[0][:1] in b"{[" and len(opening[0]) <= SHORT_LINE
        return not indented or isinstance(self.outline, BadJson)

    @cached_property
    def first_values(self) -> list[object]:
        """Return up to 40 JSON values from the start of a JSONL file."""
        return list(islice((item.value for item in self.records() if isinstance(item, Record)), SAMPLE_RECORDS))

    @property
    def example(self) -> object:
        """Return the first values of a JSONL file, or the outline of a document. Raises NotText."""
        return self.first_values if self.shape == "jsonl" else self.outline

    @cached_property
    def sample(self) -> tuple[dict[str, object], ...]:
        """Return up to 40 JSON objects from the start of a JSONL file; return none for any other shape."""
        if self.shape != "jsonl":
            return ()
        objects = (item.value for item in self.records() if isinstance(item, Record) and isinstance(item.value, dict))
        return tuple(islice(objects, SAMPLE_RECORDS))

    def records(self) -> "Records":
        """Stream the values of JSONL, Unreadable for a bad line; skip blank lines, comments, a torn last line."""
        return Records(self)

    def records_from(self, place: "Records") -> Iterator[Record | Unreadable]:
        """Stream as `records`, and move `place` behind each line. Raises CannotResume if it is within a record."""
        lines = LineReader(self._lines(), _is_json)
        number = place.line
        added = self.resumed
        for line in lines:
            passage = Passage(line)
            found: list[Record | Unreadable] = []
            stripped = strip_line(line)
            if len(line) > LONGEST_LINE:
                found = [Unreadable(str(self.path), number, f"line of more than {LONGEST_LINE >> 20} MiB")]
                place.is_exact = False
            elif stripped and not stripped.startswith(b"//"):
                value = parse_json(stripped)
                if not isinstance(value, BadJson):
                    found = [Record(number, value)]
                elif added is not None and not RECORD_START.match(line) and self._is_within_record(added):
                    raise CannotResume
                elif not lines.is_rest:
                    passage = lines.join(line)
                    found = list(self._recover(passage, number))
                added = None
            if has_zeros(line):
                found.append(Unreadable(str(self.path), number, ZEROS))
            number += passage.lines
            if (is_whole := passage.raw.endswith(b"\n")) or found:
                place.offset += len(passage.raw)
                place.line = number - (not is_whole)
            yield from found

    def _is_within_record(self, place: Checkpoint) -> bool:
        """Check whether the line before a place is not JSON, so that the lines after it may complete its record."""
        with self.open() as file:
            file.seek(max(0, place.offset - HEAD_BYTES))
            before = strip_line(file.read(min(HEAD_BYTES, place.offset)))
        return not _is_json(strip_line(before.rpartition(b"\n")[2]))

    def _recover(self, passage: Passage, number: int) -> Iterator[Record | Unreadable]:
        """Yield the records in lines that are not JSON, and Unreadable for anything else in them."""
        stripped = strip_line(passage.raw)
        value = parse_json(stripped)
        if not isinstance(value, BadJson):
            yield Record(number, value)
            return
        records, is_damaged = split_records(stripped)
        if is_damaged and not passage.raw.endswith(b"\n"):  # it may still be written
            return
        yield from (Record(number, record) for record in records)
        if is_damaged:
            yield Unreadable(str(self.path), number, f"not JSON: {value.reason}")

    def _lines(self, longest: int = LONGEST_LINE) -> Iterator[bytes]:
        r"""Yield UTF-8 lines with their ends, long ones cut. Only `\n` ends a line, since U+2028 occurs in strings."""
        with self._utf8() as stream:
            while line := stream.readline(longest + 1):
                rest = line
                while len(rest) > longest and not rest.endswith(b"\n"):
                    rest = stream.readline(longest + 1)
                yield line

    @cached_property
    def _grown(self) -> bytes | None:
        """Return the bytes added to the file, if they are few enough to read for every pass."""
        if self.resumed is None or self.size - self.resumed.offset > LARGE_DOCUMENT:
            return None
        with self.open() as file:
            file.seek(self.resumed.offset)
            return file.read()

    def _utf8(self) -> BinaryIO:
        """Open the file as UTF-8 without a byte order mark, whatever its encoding."""
        if self._grown is not None:
            return io.BytesIO(self._grown)
        stream = self.open()
        if self.resumed is not None:
            stream.seek(self.resumed.offset)
        elif self.encoding == "utf-8-sig":
            stream.read(len(codecs.BOM_UTF8))
        elif self.encoding != "utf-8":
            stream.close()
            return io.BytesIO(self.text.encode("utf-8", errors="replace"))
        return stream

    def elements(self, *keys: str) -> Iterator[Element | Unreadable]:
        """Stream the items of the document's array, or of the array or object below `keys`.

        Each is parsed alone. A document of any size costs no more memory than its largest item, and a broken item
        costs only itself. If the document is cut short, the last value says so. A document without these keys
        gives nothing. `source.elements()` gives the conversations of `[{…}, {…}]`, `source.elements("messages")` those of
        `{"title": …, "messages": [{…}, {…}]}`.
        """
        with self._utf8() as stream:
            scanner = Scanner(stream)
            try:
                yield from self._elements_below(scanner, keys)
            except Torn as fault:
                yield Unreadable(str(self.path), scanner.line, f"not JSON: {fault}")

    def _elements_below(self, scanner: Scanner, keys: tuple[str, ...]) -> Iterator[Element | Unreadable]:
        for wanted in keys:
            if scanner.peek() != b"{" or not scanner.entered(wanted):
                return
        if scanner.peek() not in (b"[", b"{"):
            return
        for key in scanner.members():
            scanner.peek()
            line = scanner.line
            raw = scanner.value()
            value = parse_json(raw)
            if isinstance(value, BadJson):
                yield Unreadable(str(self.path), line, f"not JSON: {value.reason}")
            else:
                yield Element(line, value, key, raw)

    @cached_property
    def outline(self) -> object:
        """Return the document; of a large one each long array is cut to 40 items.

        Below the third level values are whole. Text that is no JSON gives BadJson. Raises NotText.
        """
        if self.size <= LARGE_DOCUMENT:
            return self.document
        with self._utf8() as stream:
            try:
                return outlined(Scanner(stream), _whole)
            except Torn as fault:
                return BadJson(str(fault))

    @cached_property
    def document(self) -> object:
        """Return the whole file as one JSON value, or BadJson. Raises NotText."""
        return parse_json(self.text.encode("utf-8", errors="replace"))

    @cached_property
    def text(self) -> str:
        r"""Return the whole file as text, with `\n` as line ends. Raises OSError, also if the file is too large."""
        with self.open() as file:
            read = file.read(LARGEST_TEXT + 1)
        if len(read) > LARGEST_TEXT:
            raise OSError(errno.EFBIG, f"a document of more than {LARGEST_TEXT >> 20} MiB; split it first")
        text = read.decode(self.encoding, errors="replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n")


class Records:
    """The records of a JSONL file one after the other, and how far they were read."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        start = source.resumed
        self.offset = 0 if start is None else start.offset
        """Bytes up to the last line that was whole."""
        self.line = 1 if start is None else start.line
        """1-based line that begins there."""
        self.is_exact = True
        """False once a line was cut, whose bytes nobody counted."""

    def __iter__(self) -> Iterator[Record | Unreadable]:
        return self._source.records_from(self)

    def checkpoint(self, state: dict[str, object]) -> Iterator[Checkpoint]:
        """Yield the checkpoint behind all records read; none unless UTF-8, as other bytes are not the disk's."""
        if self.is_exact and self._source.encoding == "utf-8" and self._source.unpacked is None:
            yield Checkpoint(self.offset, self.line, state)


def _whole(raw: bytes) -> object:
    """Parse one JSON value. Raises Torn if it is not JSON."""
    value = parse_json(raw)
    if isinstance(value, BadJson):
        raise Torn(value.reason)
    return value


def _has_record(text: str) -> bool:
    """Check whether a line is a JSON object, as in a transcript that a crash has damaged."""
    lines = (line.encode("utf-8", errors="replace") for line in text.split("\n"))
    return any(RECORD_START.match(line) and _is_json(strip_line(line)) for line in lines)


def _are_joined(line: bytes) -> bool:
    """Check whether a line is nothing but several JSON objects, as writers without line ends leave them."""
    if len(line) > LARGE_DOCUMENT or not RECORD_START.match(line) or not isinstance(parse_json(line), BadJson):
        return False
    records, is_damaged = split_records(line)
    return len(records) > 1 and not is_damaged


def _is_json(text: bytes) -> bool:
    return not isinstance(parse_json(text), BadJson)


# Where in a JSON document a string stands, since parsed JSON has no lines.

NEEDLE = 48
"""Characters of a string that are searched for."""
MISSES = 64
"""Searches that may fail before the rest of the file is no longer searched: each costs a pass over the text."""


class Places:
    """Answers for the strings of one document, best asked in the order in which they stand there."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        self._text = text
        self._first_line = first_line
        self._at = 0
        self._misses = 0
        self._spellings = list(SPELLINGS)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self._text)]

    def line(self, value: str, start: int | None = None) -> int:
        """Return the 1-based line of the string `value`.

        The search goes on from `start` or from the string found last, then from the top. A string that cannot be found (empty, unusual escapes) gets the line of `start` or of the string found last.
        """
        if not self._line_ends:
            return self._first_line
        begin = self._at if start is None else start
        found = self._find(value, begin) if value else None
        self._at = begin if found is None else found + 1
        return self._first_line + bisect_left(self._line_ends, self._at)

    def _find(self, value: str, begin: int) -> int | None:
        """Find a string at or after `begin`, else above it, the spelling used last first; None if there is none."""
        if self._misses > MISSES:
            return None
        for start in (begin, 0):
            for spelling in self._spellings:
                spell, close = spelling
                if (at := self._text.find(spell(value[:NEEDLE]) + close * (len(value) <= NEEDLE), start)) >= 0:
                    self._spellings.remove(spelling)
                    self._spellings.insert(0, spelling)
                    return at
        self._misses += 1
        return None


def _spell(value: str, *, in_ascii: bool, escapes_slashes: bool = False, is_nested: bool = False) -> str:
    """Return the JSON of a string, or of JSON in a string, without the quotation mark at its end."""
    spelled = json.dumps(value, ensure_ascii=in_ascii)[:-1]
    if escapes_slashes:
        return spelled.replace("/", "\\/")
    return json.dumps(spelled, ensure_ascii=in_ascii)[1:-1] if is_nested else spelled


SPELLINGS: tuple[tuple[Callable[[str], str], str], ...] = (
    (partial(_spell, in_ascii=False), '"'),
    (partial(_spell, in_ascii=True), '"'),
    (partial(_spell, in_ascii=False, escapes_slashes=True), '"'),
    (partial(_spell, in_ascii=True, escapes_slashes=True), '"'),
    (partial(_spell, in_ascii=False, is_nested=True), '\\"'),
    (partial(_spell, in_ascii=True, is_nested=True), '\\"'),
)
"""The ways in which JSON writers spell a string, itself and in JSON that is a string, and the closing quotation mark of each."""
