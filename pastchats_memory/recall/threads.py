"""Order the entries of a block: a later decision precedes what it replaced. Pure."""

from collections.abc import Sequence

from pastchats_memory.model import RecallEntry


def put_successors_first(entries: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Move each later decision before the entry that it replaced, and name that entry in it."""
    ordered: list[RecallEntry] = []
    for entry in entries:
        is_replaced = [one.superseded_by is not None and one.superseded_by.id == entry.first.id for one in entries]
        replaced = next((one.first.id for one, is_old in zip(entries, is_replaced, strict=True) if is_old), "")
        place = next((place for place, one in enumerate(ordered) if one.first.id == replaced), len(ordered))
        ordered.insert(place, entry._replace(supersedes=replaced))
    return ordered
