"""Order the entries of a block: a later decision precedes what it replaced. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pastchats_memory.model import RecallEntry


def put_successors_first(entries: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Move each later decision before the entry that it replaced, and name that entry in it."""
    ordered: list[RecallEntry] = []
    for entry in entries:
        id_ = entry.first.id
        replaced = [one for one in ordered if one.superseded_by is not None and one.superseded_by.id == id_]
        place = ordered.index(replaced[0]) if replaced else len(ordered)
        ordered.insert(place, entry._replace(supersedes=replaced[0].first.id if replaced else ""))
    return ordered
