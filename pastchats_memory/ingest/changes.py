"""Compare files with what is stored: unchanged, grown, rewritten or moved."""

import io
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b, file_digest
from itertools import takewhile
from pathlib import Path

from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.formats.base.format import TRANSCRIPT
from pastchats_memory.formats.registry import all_formats, formats_of_kind
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.ingest.identity import RECIPE
from pastchats_memory.ingest.options import AS_DETECTED, IndexOptions, ReadAs
from pastchats_memory.redact import redact
from pastchats_memory.store.sources import SourceState

DIGEST_BYTES = 16
ENDS = 4096
"""Bytes at the start, and before a checkpoint, that must be unchanged for the reader to resume there."""

VERSIONS = {known.name: known.version for known in all_formats()}
"""Version of each format, in the order in which formats are asked."""
COPIES = {known.name: known.fidelity for known in all_formats() if known.fidelity < TRANSCRIPT}
"""Fidelity of each format that repeats transcripts without their ids, by name."""
HASHED_FORMATS = frozenset(known.name for known in all_formats() if not known.keeps_mtime)
GENERAL_FORMATS = frozenset(known.name for known in all_formats() if not known.is_specific)
NOTE_FORMATS = frozenset(known.name for known in formats_of_kind("notes"))
"""Formats whose files state what holds now; a row that is missing from its file is superseded."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A file, and what is stored of it."""

    candidate: Candidate
    state: SourceState | None
    """Its state when it was last read; None for a new file."""
    project: str | None
    """The project that the user set with --project, now or earlier."""
    is_unchanged: bool
    read_as: ReadAs = AS_DETECTED
    """The format or map that the user named for it, now or earlier."""
    key: bytes = b""
    """That of `fingerprint`."""

    @property
    def new_bytes(self) -> int:
        """Return how many bytes of the file were never read."""
        return max(0, self.candidate.size - (max(0, self.state.size) if self.state else 0))

    @property
    def is_known_whole(self) -> bool:
        """Return whether only the reader changed, not the file.

        Then rows that the reader no longer yields were never in it.
        """
        state = self.state
        return (
            state is not None and state.size in (self.candidate.size, -1) and state.mtime_ns == self.candidate.mtime_ns
        )


def plan_files(
    found: Iterable[Candidate], known: Mapping[str, SourceState], options: IndexOptions, key: bytes
) -> tuple[list[Plan], dict[str, Candidate]]:
    """Return a plan for each file, and moved files by their old paths; `key` is that of `fingerprint`. Raises OSError."""
    found = list(found)
    moved = _find_moved([candidate for candidate in found if candidate.name not in known], known, key)
    old_paths = {new.name: old for old, new in moved.items()}
    recipes = {format_: recipe_of(format_, options) for format_ in VERSIONS}
    skipped = {notes: _recipe_of_skipped(options, notes=notes) for notes in (False, True)}
    planned = []
    for candidate in found:
        state = known.get(old_paths.get(candidate.name, candidate.name))
        if state is not None and candidate.name in old_paths and state.size == candidate.size:
            state = state._replace(mtime_ns=candidate.mtime_ns, file_id=candidate.file_id)  # its bytes were compared
        project = state.project if options.project is None and state else redact(options.project or "").text or None
        read_before = ReadAs.from_json(state.read_as) if state is not None else AS_DETECTED
        read_as = read_before if options.read_as == AS_DETECTED else options.read_as
        if state is not None and read_as == read_before and (state.format in NOTE_FORMATS or read_as.format):
            candidate = replace(candidate, named=True)  # noqa: PLW2901 - a file that was named once stays named
        is_unchanged = False
        if state is not None and not options.force:
            recipe = recipes.get(state.format) if state.format else skipped[_wants_notes(candidate, options)]
            is_unchanged = _is_unchanged(candidate, state, project, read_as, recipe, key)
        planned.append(Plan(candidate, state, project, is_unchanged, read_as, key))
    return planned, moved


def recipe_of(format_: str, options: IndexOptions) -> str:
    """Return what decides the rows of a file besides its bytes, such as its own format's version."""
    others = ""
    if format_ in GENERAL_FORMATS:  # a reader that is new may know it better
        others = ";before=" + ",".join(takewhile(format_.__ne__, VERSIONS)) + options.maps_recipe()
    version, chunks = VERSIONS.get(format_, 0), options.recipe() if format_ in NOTE_FORMATS else ""
    return f"{format_}={version};identity={RECIPE}{others}{chunks}"


def recipe_of_skipped(candidate: Candidate, options: IndexOptions) -> str:
    """Return the recipe of a file without a format: all versions, and whether notes were wanted."""
    return _recipe_of_skipped(options, notes=_wants_notes(candidate, options))


def _wants_notes(candidate: Candidate, options: IndexOptions) -> bool:
    return candidate.named or options.wants_notes_at(candidate.path)


def _recipe_of_skipped(options: IndexOptions, *, notes: bool) -> str:
    versions = ",".join(f"{name}={version}" for name, version in VERSIONS.items())
    return f"{versions};notes={notes:d}{options.maps_recipe()}"


def _is_unchanged(
    candidate: Candidate, state: SourceState, project: str | None, read_as: ReadAs, recipe: str | None, key: bytes
) -> bool:
    """Return whether neither the file nor what decides its rows has changed; `recipe` is the present one."""
    now = (candidate.size, candidate.mtime_ns, read_as.to_json(), recipe)
    if (state.size, state.mtime_ns, state.read_as, state.recipe) != now:
        return False
    _, _, changed = candidate.file_id.partition(":")  # a device may have another number after a restart
    if candidate.file_id and changed != (state.file_id or "").partition(":")[2]:
        return False
    if state.format in HASHED_FORMATS and state.fingerprint != fingerprint(candidate.path, key):
        return False
    return state.format is None or state.project == project


def _find_moved(new: list[Candidate], known: Mapping[str, SourceState], key: bytes) -> dict[str, Candidate]:
    """Return files that have the bytes of a missing file, by its old path."""
    gone = [state for state in known.values() if state.fingerprint and not os.path.lexists(state.path)] if new else []
    by_mark: defaultdict[object, list[SourceState]] = defaultdict(list)
    for state in gone:
        by_mark[_inode(state.file_id)].append(state)
        by_mark[state.fingerprint if _is_whole(state) else state.size].append(state)
    sizes = {state.size for state in gone if _is_whole(state)}
    moved: dict[str, Candidate] = {}
    for candidate in new:
        mark = _fingerprint_or_none(candidate.path, key) if candidate.size in sizes else candidate.size
        likely = (*by_mark[_inode(candidate.file_id)], *by_mark[mark])
        for state in likely:
            if state.path not in moved and has_same_bytes(state, candidate, key):
                moved[state.path] = candidate
                break
    return moved


def _inode(file_id: str | None) -> str:
    return (file_id or "").rpartition(":")[0]


def _is_whole(state: SourceState) -> bool:
    return (state.fingerprint or "").startswith("whole:")


def _fingerprint_or_none(path: Path, key: bytes) -> str | None:
    try:
        return fingerprint(path, key)
    except OSError:
        return None


def has_same_bytes(state: SourceState, candidate: Candidate, key: bytes) -> bool:
    """Check whether a file still has the bytes that were read.

    A growing file must have the same bytes at both ends of what was read.
    """
    how, _, rest = (state.fingerprint or "").partition(":")
    offset = rest.partition(":")[0]
    try:
        if how == "ends" and candidate.size >= int(offset):
            return state.fingerprint == fingerprint(candidate.path, key, int(offset))
        return how == "whole" and state.size == candidate.size and state.fingerprint == fingerprint(candidate.path, key)
    except OSError:
        return False


def fingerprint(path: Path, key: bytes, offset: int | None = None) -> str:
    """Return a hash of a file, or of both 4 KB ends of its part before `offset`. Raises OSError.

    The key lies outside the database: a copied database would else let a password be guessed that a short file has.
    """
    digest = blake2b(key=key, digest_size=DIGEST_BYTES)
    with open_regular(path) as file:
        if offset is None:
            return f"whole:{file_digest(file, lambda: digest).hexdigest()}"
        digest.update(file.read(min(ENDS, offset)))
        file.seek(max(0, offset - ENDS), io.SEEK_SET)
        digest.update(file.read(min(ENDS, offset)))
        return f"ends:{offset}:{digest.hexdigest()}"
