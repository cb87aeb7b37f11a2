"""What has become of the files since they were read: unchanged, grown, rewritten, moved."""

from __future__ import annotations

import hashlib
import io
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from pastchats_memory.formats.base.format import TRANSCRIPT
from pastchats_memory.formats.registry import all_formats, formats_of_kind
from pastchats_memory.ingest.discover import AS_DETECTED, Candidate, IndexOptions, ReadAs
from pastchats_memory.ingest.identity import RECIPE
from pastchats_memory.redact import redact
from pastchats_memory.store.sources import SourceState

ENDS = 4096
"""Bytes at the start, and before the place where a reader goes on, that must be the same for it to go on there."""

VERSIONS = {known.name: known.version for known in all_formats()}
"""In the order in which the formats are asked."""
COPIES = {known.name: known.fidelity for known in all_formats() if known.fidelity < TRANSCRIPT}
"""Fidelity of each format that repeats transcripts without their ids, by name."""
HASHED_FORMATS = frozenset(known.name for known in all_formats() if not known.keeps_mtime)
NOTE_FORMATS = frozenset(known.name for known in formats_of_kind("notes"))


@dataclass(frozen=True, slots=True)
class Plan:
    """A file and what is known of it."""

    candidate: Candidate
    state: SourceState | None
    """As it was when it was last read; None for a file that never was."""
    project: str | None
    """What was said of it with --project, now or before."""
    is_unchanged: bool
    read_as: ReadAs = AS_DETECTED
    """The format or map that was named for it, now or before."""

    @property
    def is_known_whole(self) -> bool:
        """The file is as it was, and only its reader is another: rows that it no longer gives were never in it."""
        state = self.state
        return (
            state is not None and state.size in (self.candidate.size, -1) and state.mtime_ns == self.candidate.mtime_ns
        )


def plans(
    found: Iterable[Candidate], known: Mapping[str, SourceState], options: IndexOptions
) -> tuple[list[Plan], dict[str, Candidate]]:
    """For each file what is known of it, and those that were moved, by their old paths. Raises OSError."""
    found = list(found)
    moved = _moved([candidate for candidate in found if candidate.name not in known], known)
    old_paths = {new.name: old for old, new in moved.items()}
    expected = _Expected.by(options)
    planned = []
    for candidate in found:
        state = known.get(old_paths.get(candidate.name, candidate.name))
        if state is not None and candidate.name in old_paths and state.size == candidate.size:
            state = state._replace(mtime_ns=candidate.mtime_ns)  # its bytes were compared
        if state is not None and state.format in NOTE_FORMATS:
            candidate = replace(candidate, named=True)  # noqa: PLW2901 - a note that was taken once stays taken
        project = state.project if options.project is None and state else redact(options.project or "").text or None
        read_as = options.read_as
        if read_as == AS_DETECTED and state is not None:
            read_as = ReadAs.from_json(state.read_as)
        is_unchanged = not options.force and expected.unchanged(candidate, state, project, read_as)
        planned.append(Plan(candidate, state, project, is_unchanged, read_as))
    return planned, moved


def recipe_of(format_: str, options: IndexOptions) -> str:
    """What besides its bytes decides what is made of a file that was understood: its own reader, and no other."""
    others = ""
    if any(
        format_ == known.name and not known.is_specific for known in all_formats()
    ):  # a reader that is new may know it better
        others = ";before=" + ",".join(takewhile(format_.__ne__, VERSIONS)) + options.maps_recipe()
    return f"{format_}={VERSIONS.get(format_, 0)};identity={RECIPE}{others}{options.recipe() if format_ in NOTE_FORMATS else ''}"


def recipe_of_left(candidate: Candidate, options: IndexOptions) -> str:
    """The same of a file that was not understood: every reader, and whether notes were wanted."""
    return _recipe_of_left(options, notes=_wants_notes(candidate, options))


def _wants_notes(candidate: Candidate, options: IndexOptions) -> bool:
    return candidate.named or options.wants_notes_at(candidate.path)


def _recipe_of_left(options: IndexOptions, *, notes: bool) -> str:
    versions = ",".join(f"{name}={version}" for name, version in VERSIONS.items())
    return f"{versions};notes={notes:d}{options.maps_recipe()}"


@dataclass(frozen=True, slots=True)
class _Expected:
    """What a file that is as it was was read by, if it would be read the same way today: put together once a run."""

    options: IndexOptions
    of: Mapping[str, str]
    """By format."""
    of_left: Mapping[bool, str]
    """Of what was not understood, by whether notes were wanted."""

    @classmethod
    def by(cls, options: IndexOptions) -> _Expected:
        of = {format_: recipe_of(format_, options) for format_ in VERSIONS}
        return cls(options, of, {notes: _recipe_of_left(options, notes=notes) for notes in (False, True)})

    def unchanged(self, candidate: Candidate, state: SourceState | None, project: str | None, read_as: ReadAs) -> bool:
        if state is None or (state.size, state.mtime_ns) != (candidate.size, candidate.mtime_ns):
            return False
        if state.read_as != read_as.to_json():
            return False
        if state.format is None:
            return state.recipe == self.of_left[_wants_notes(candidate, self.options)]
        if state.format in HASHED_FORMATS and state.fingerprint != fingerprint(candidate.path):
            return False
        return (state.recipe, state.project) == (self.of.get(state.format), project)


def _moved(new: list[Candidate], known: Mapping[str, SourceState]) -> dict[str, Candidate]:
    """By old path each file that is gone from there and whose bytes are found elsewhere."""
    gone = [state for state in known.values() if state.fingerprint and not os.path.lexists(state.path)] if new else []
    by_mark: defaultdict[object, list[SourceState]] = defaultdict(list)
    for state in gone:
        by_mark[state.file_id].append(state)
        by_mark[state.fingerprint if _is_whole(state) else state.size].append(state)
    sizes = {state.size for state in gone if _is_whole(state)}
    moved: dict[str, Candidate] = {}
    for candidate in new:
        mark = _fingerprint_or_none(candidate.path) if candidate.size in sizes else candidate.size
        likely = (*by_mark[candidate.file_id], *by_mark[mark])
        for state in likely:
            if state.path not in moved and has_still(state, candidate):
                moved[state.path] = candidate
                break
    return moved


def _is_whole(state: SourceState) -> bool:
    return (state.fingerprint or "").startswith("sha256:")


def _fingerprint_or_none(path: Path) -> str | None:
    try:
        return fingerprint(path)
    except OSError:
        return None


def has_still(state: SourceState, candidate: Candidate) -> bool:
    """Whether the file has the bytes that were read of it, or of the one that it was: all, or for one that grows its ends."""
    how, _, rest = (state.fingerprint or "").partition(":")
    offset = rest.partition(":")[0]
    try:
        if how == "ends" and candidate.size >= int(offset):
            return state.fingerprint == fingerprint(candidate.path, int(offset))
        return how == "sha256" and state.size == candidate.size and state.fingerprint == fingerprint(candidate.path)
    except OSError:
        return False


def fingerprint(path: Path, offset: int | None = None) -> str:
    """SHA-256 of a file, or of its first 4 KB and the last 4 KB before `offset`. Raises OSError."""
    with path.open("rb") as file:
        if offset is None:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
        digest = hashlib.sha256(file.read(min(ENDS, offset)))
        file.seek(max(0, offset - ENDS), io.SEEK_SET)
        digest.update(file.read(min(ENDS, offset)))
        return f"ends:{offset}:{digest.hexdigest()}"
