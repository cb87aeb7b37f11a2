"""Look through archives as if they were folders: `export.zip/conversations.json`.

No member is unpacked to the disk. Harmful members are refused with a reason: names that lead out, sizes that no
transcript unpacks to, archives within archives.
"""

import os
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pastchats_memory.files.archives import ARCHIVES, AT_ONCE, BrokenArchive, is_archive, is_bomb, open_member
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.formats.companions import DATABASE_SUFFIXES
from pastchats_memory.ingest.changes import recipe_of_skipped
from pastchats_memory.ingest.discover import TEXTS, Candidate
from pastchats_memory.ingest.options import SKIPPED_FOLDERS, IndexOptions
from pastchats_memory.ingest.report import IndexReport, report_failed, report_refused
from pastchats_memory.model import Unreadable
from pastchats_memory.store.sources import SourceState
from pastchats_memory.text.encoding import utf8

MOST_MEMBERS = 100_000
LONGEST_NAME = 4096
"""Characters of a member's name; taking apart a name of thirty thousand folders takes seconds."""
FOREIGN = frozenset({"__MACOSX", *SKIPPED_FOLDERS})


def list_members(archive: Candidate) -> Iterator[Candidate | Unreadable]:
    """Yield the members that could be transcripts, and the refused ones. Raises OSError."""
    if archive.path.suffix.lower() == ".zip":
        yield from _list_zip(archive)
    else:
        inside, unpacked = archive.path / archive.path.stem, open_member(archive.path)
        with unpacked() as stream:  # a bomb is refused before anything reads its lines one by one
            while stream.read(AT_ONCE):
                pass
        yield _make_member(archive, str(inside), archive.size, unpacked, named=archive.named)


def reopen_member(archive: Candidate, name: str, size: int) -> Candidate:
    """Return a member with a known path."""
    unpacked = open_member(archive.path, Path(name[len(archive.name) + 1 :]).as_posix())
    is_zip = archive.path.suffix.lower() == ".zip"
    return _make_member(archive, str(Path(name)), size, unpacked, named=archive.named and not is_zip)


def _make_member(
    archive: Candidate, where: str, size: int, unpacked: Callable[[], BinaryIO], *, named: bool
) -> Candidate:
    return replace(archive, where=where, size=size, named=named, file_id="", is_alone=False, unpacked=unpacked)


def expand_archives(
    found: Sequence[Candidate], known: Mapping[str, SourceState], options: IndexOptions, report: IndexReport
) -> tuple[list[Candidate], list[Candidate]]:
    """Replace archives by their members, which are known if it is unchanged; also return opened archives."""
    files: list[Candidate] = []
    opened: list[Candidate] = []
    for candidate in found:
        if not is_archive(candidate.where):
            files.append(candidate)
            continue
        within = [name for name in known if name.startswith(candidate.name + os.sep)] if candidate.name in known else []
        recipe = recipe_of_skipped(candidate, options)
        as_it_was = SourceState(candidate.name, candidate.size, candidate.mtime_ns, recipe)
        is_known = known.get(candidate.name) == as_it_was and all(known[name].size >= 0 for name in within)
        if is_known and not options.force:
            files += [reopen_member(candidate, name, known[name].size) for name in within]
            continue
        try:
            inside = list(list_members(candidate))
        except OSError as fault:
            report.files.append(report_failed(candidate, fault))
            continue
        faults = [member for member in inside if isinstance(member, Unreadable)]
        report.files += map(report_refused, faults)
        files += [member for member in inside if isinstance(member, Candidate)]
        opened += [] if faults else [candidate]
    report.files_scanned += len(files) - len(found)
    return files, opened


def _list_zip(archive: Candidate) -> Iterator[Candidate | Unreadable]:
    try:
        with open_regular(archive.path) as file, zipfile.ZipFile(file) as opened:
            listed = opened.infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as fault:
        raise BrokenArchive(f"a zip archive that cannot be read: {fault}") from fault
    if len(listed) > MOST_MEMBERS:
        raise BrokenArchive(f"a zip archive of more than {MOST_MEMBERS:,} members")
    if is_bomb(sum(member.file_size for member in listed), archive.size):
        raise BrokenArchive("a zip archive that unpacks to far more than any transcript")
    for member in listed:
        if not 0 < len(member.filename) <= LONGEST_NAME:
            yield Unreadable(utf8(str(archive.path)), 0, "a member without a name, or with one longer than any path")
            continue
        if member.is_dir() or stat.S_ISLNK(member.external_attr >> 16) or FOREIGN & set(member.filename.split("/")):
            continue
        path = archive.path / member.filename
        if reason := _find_refusal(member):
            yield Unreadable(utf8(str(path)), 0, reason)
        elif os.path.splitext(member.filename)[1].lower() in TEXTS:  # noqa: PTH122 - a name in an archive is no path
            unpacked = open_member(archive.path, member.filename)
            yield _make_member(archive, str(path), member.file_size, unpacked, named=False)


def _find_refusal(member: zipfile.ZipInfo) -> str:
    name, suffix = PurePosixPath(member.filename), PurePosixPath(member.filename).suffix.lower()
    if not name.parts or name.is_absolute() or ".." in name.parts or "\\" in member.filename or ":" in name.parts[0]:
        return "a name that leads out of the archive"
    if suffix in ARCHIVES:
        return "an archive within an archive; unpack it first"
    if suffix in DATABASE_SUFFIXES:
        return "a database within an archive; unpack it first"
    if member.flag_bits & 1 and suffix in TEXTS:
        return "encrypted"
    if is_bomb(member.file_size, member.compress_size):
        return "unpacks to far more than any transcript"
    return ""
