"""Read the edits of stored turns again, since only their transcripts have the changed lines."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from pastchats_memory.episodes.actions import relative_path
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.archives import archive_of, open_member
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.registry import load_format
from pastchats_memory.model import Edit, Item, Turn
from pastchats_memory.search.hits import cited_place

SHORTEST_LINE = 3
"""Letters and digits of a line that can be attributed: `}` stands in every file."""
MAX_SOURCE = 4_000_000
"""Bytes of a transcript that is read again while somebody waits for an answer."""
REPLACED = re.compile(r"old|search|find|before|original|anchor", re.IGNORECASE)
"""In names of arguments that hold the text before a change."""
_FILE_OF_PATCH = re.compile(r"\*\*\* (?:Add|Update|Move to|Delete)(?: File)?: (.+)|\+\+\+ (?:b/)?([^\t\n]+)")
IS_PATCH = re.compile(r"^(?:\*\*\* Begin Patch|@@|\*\*\* (?:Add|Update) File: )", re.MULTILINE)
_SEARCH, _REPLACE = re.compile(r"[<-]{7} ?SEARCH"), re.compile(r"={7}\s*\Z")
_MARK = re.compile(r"[>+]{7} ?REPLACE")


def list_added_lines(items: Iterable[Item]) -> dict[str, set[str]]:
    """Return the lines that the calls of some turns added for good, by path from the folder of the project.

    A line that a later call replaces was not added for good. Lines that stand in every file are left out. A turn whose
    transcript is gone, or is too long to be read again, adds nothing.
    """
    added: dict[str, set[str]] = {}
    for item in items:
        turn = read_turn(item) if _is_short(item) else None
        for edit in turn.edits if turn is not None else ():
            for path in edit.paths:
                new, old = (_split_lines(edit, item.project, path, is_old=is_old) for is_old in (False, True))
                lines = added.setdefault(relative_path(item.project, path), set())
                lines -= old - new
                lines |= new - old
    return added


def _is_short(item: Item) -> bool:
    try:
        return resolve_path(cited_place(item).path).stat().st_size <= MAX_SOURCE
    except OSError:
        return False


def _split_lines(edit: Edit, project: str, path: str, *, is_old: bool) -> frozenset[str]:
    """Return the lines of one of the files of an edit, before or after it."""
    name = relative_path(project, path)
    lines = written_lines(edit.arguments, lambda other: relative_path(project, other) == name, is_old=is_old)
    return frozenset(filter(is_attributable, lines)).difference(edit.paths)


def read_turn(item: Item) -> Turn | None:
    """Return a stored turn as its transcript has it; None if no file has it any more."""
    where = cited_place(item)
    native_id = item.metadata.get("native_id")
    for turn in _read_turns_with_calls(str(item.metadata.get("format")), where.path):
        if (turn.conversation_id, turn.line) == (item.conversation_id, where.line) and (
            native_id is None or turn.native_id is None or native_id == turn.native_id
        ):
            return turn
    return None


def read_source(format_name: str, path: Path) -> Iterator[Turn]:
    """Yield the turns of a file, or of a member of an archive. Raises NotText, OSError, UsageFault."""
    archive = archive_of(path)
    unpacked = None if archive is None else open_member(archive, os.path.relpath(path, archive))
    rows = load_format(format_name).read(SourceFile(path, named=True, unpacked=unpacked))
    return (row for row in rows if isinstance(row, Turn))


def _read_turns_with_calls(format_name: str, stored_path: str) -> tuple[Turn, ...]:
    path = resolve_path(stored_path)
    try:
        state = (archive_of(path) or path).stat()
        return _read_file(format_name, path, (state.st_mtime_ns, state.st_size))
    except (NotText, OSError, UsageFault):  # the file is gone or another one, or nothing reads it here
        return ()


@lru_cache(maxsize=4)
def _read_file(format_name: str, path: Path, _state: tuple[int, int]) -> tuple[Turn, ...]:
    return tuple(row for row in read_source(format_name, path) if row.calls or row.metadata.get("files"))


def written_lines(
    arguments: object, is_file: Callable[[str], bool] = lambda _: True, *, is_old: bool = False
) -> frozenset[str]:
    """Return the lines that an edit writes, or those that it replaces, without the blanks around them.

    A patch may have several files; `is_file` tells whose lines are wanted.
    """
    texts = _list_texts(arguments, is_old=is_old)
    return frozenset(line for text in texts for line in _lines_of(*text, is_file, is_old=is_old))


def _list_texts(value: object, *, is_old: bool, is_replaced: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the texts of the arguments of an edit that may hold lines of one side, and whether they are replaced."""
    if isinstance(value, str):
        if is_old or not is_replaced:
            yield value, is_replaced
    elif isinstance(value, dict):
        for key, inner in value.items():
            replaced = is_replaced or REPLACED.search(str(key)) is not None
            yield from _list_texts(inner, is_old=is_old, is_replaced=replaced)
    elif isinstance(value, list):
        for inner in value:
            yield from _list_texts(inner, is_old=is_old, is_replaced=is_replaced)


def _lines_of(text: str, is_replaced: bool, is_file: Callable[[str], bool], *, is_old: bool) -> Iterator[str]:
    """Yield the new or the old lines of a text, of a patch, or of blocks to search and replace."""
    is_patch = IS_PATCH.search(text) is not None
    is_wanted, in_old = True, is_replaced
    for line in text.split("\n"):
        if is_patch:
            if found := _FILE_OF_PATCH.match(line):
                is_wanted = is_file(found[1] or found[2])
            elif is_wanted and line.startswith("-" if is_old else "+"):
                yield line[1:].strip()
        elif _SEARCH.match(line) or (in_old and _REPLACE.match(line)):
            in_old = not in_old
        elif in_old == is_old and not _MARK.match(line):
            yield line.strip()


def is_attributable(line: str) -> bool:
    """Return whether a line says enough to be attributed to an edit."""
    return sum(map(str.isalnum, line)) >= SHORTEST_LINE
