"""Ask git what is left of the edits of an episode: their commit, its revert, and their lines in HEAD."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from pastchats_memory.model import Item
from pastchats_memory.model.episodes import Edits, RecallEntry, StandingLines

if TYPE_CHECKING:
    from pastchats_memory.files.git import Commit

MAX_DELAY_S = 24 * 3600
"""Seconds after the last turn of an episode within which its edits are committed; later commits hold other work as well."""
MAX_MERGES = 3
"""The newest reverts of merges that are looked up, each by a process of git."""
SHORT = 7
"""Digits of a hash that are shown."""
MAX_ENTRIES = 2
"""The first entries with edits whose transcripts are read again for lines."""
MAX_FILES = 20
"""Files of an episode whose lines are looked up, each by a process of git."""


def add_commits(entries: Sequence[RecallEntry], folder: str) -> list[RecallEntry]:
    """Return the entries of the current project with what git has of their edits; a commit takes the whole file."""
    spans = {place: span for place, entry in enumerate(entries) if entry.is_current and (span := _Span.of(entry.edits))}
    if not spans:
        return list(entries)
    from pastchats_memory.files.git import list_commits

    files = sorted({name for span in spans.values() for name in span.files})
    commits = list_commits(folder, files, min(span.begin for span in spans.values()))
    reverted = _find_reverted(folder, commits)
    counted = list(spans)[:MAX_ENTRIES]
    known = list(entries)
    for place, span in spans.items():
        if place in counted:
            edits = known[place].edits
            known[place] = known[place]._replace(standing=count_standing_lines(edits.turns, edits.files, folder))
        known[place] = _add_commit(known[place], span, commits, reverted)
    return known


def count_standing_lines(turns: Iterable[Item], files: Collection[str], folder: str) -> StandingLines | None:
    """Return how many lines that some turns added to the files stand in HEAD; None for none, or without a repository."""
    from pastchats_memory.episodes.recorded_edits import list_added_lines
    from pastchats_memory.files.git import identify_repository, read_committed_lines

    added = list_added_lines(turns)
    names = [name for name in added if added[name] and name in files and not name.startswith("../")]
    standing = sum(len(added[name] & read_committed_lines(folder, name)) for name in names[:MAX_FILES])
    total = sum(len(added[name]) for name in names[:MAX_FILES])
    return StandingLines(standing, total) if total and identify_repository(folder) else None


def _find_reverted(folder: str, commits: Sequence[Commit]) -> dict[str, str]:
    """Return the hashes of reverted commits, each with that of its revert; `commits` are the newest first.

    A commit that was applied again is not reverted. The revert of a merge concerns all commits that the merge brought.
    """
    from pastchats_memory.files.git import list_merged

    undone: dict[str, str] = {}
    merges = 0
    for one in commits:
        if one.reverts and one.id not in undone:
            ids = frozenset(other.id for other in commits if other.id.startswith(one.reverts))
            if not ids and merges < MAX_MERGES:
                merges += 1
                ids = list_merged(folder, one.reverts)
            undone |= dict.fromkeys(ids, one.id)
    return undone


class _Span(NamedTuple):
    """Edits with their times in seconds since 1970."""

    files: frozenset[str]
    begin: int
    end: int

    @classmethod
    def of(cls, edits: Edits) -> _Span | None:
        if edits.begin is None or edits.end is None:
            return None
        files = frozenset(name for name in edits.files if not name.startswith("../"))
        begin, end = (int(datetime.fromisoformat(time).timestamp()) for time in (edits.begin, edits.end))
        return cls(files, begin, end) if files else None


def _add_commit(entry: RecallEntry, span: _Span, commits: Sequence[Commit], reverted: Mapping[str, str]) -> RecallEntry:
    """Return the entry with the first commit of its edits; `commits` are the newest first."""
    held = (
        commit
        for commit in reversed(commits)
        if span.begin <= commit.written_at <= span.end + MAX_DELAY_S
        and commit.files & span.files
        and not commit.reverts
    )
    if (first := next(held, None)) is None:
        return entry
    return entry._replace(commit=first.id[:SHORT], reverted_by=reverted.get(first.id, "")[:SHORT])
