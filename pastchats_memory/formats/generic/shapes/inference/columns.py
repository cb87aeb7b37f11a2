"""Records as rows of plain values, a column a path of keys."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pastchats_memory.formats.base.source import Json, list_of, mapping_of
from pastchats_memory.formats.generic.shapes.naming import CURRENT, DELTA, GONE, HIDDEN, TEXT, TOOL, has, words_of
from pastchats_memory.formats.generic.shapes.values import FEWEST_WORDS
from pastchats_memory.formats.generic.visible import shown_parts

Row = dict[str, object]
"""Path of keys → string, number, flag or None."""

MADE = "\0"
"""In the names of the columns that we add, and of none that a file has."""
PIECE = MADE + "piece"
"""Where what was said is not a string of the file, under this key one by which it is found there: its first piece."""
DEEPEST = 8
MOST_CELLS = 80
FEWEST_DRAFTS = 2
VERSIONS = frozenset({
    "revisions", "versions", "edits", "variants", "candidates", "alternatives", "drafts", "choices", "swipes", "attempts", "revision",
    "options", "generations", "samples", "history", "takes", "tries",
})  # fmt: skip
NEWEST_LAST = frozenset({"revisions", "versions", "edits", "revision", "history", "drafts"})


def row_of(record: Json) -> Row:
    """The record's values by their paths; of drafts the one that was chosen, of parts their text as one."""
    row: Row = {}
    _flatten(record, "", row, 0)
    return row


def _flatten(value: object, path: str, row: Row, depth: int) -> None:
    if len(row) >= MOST_CELLS or depth > DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            below = f"{path}.{key}" if path else key
            chosen = _chosen(value, key, inner)
            _flatten(inner if chosen is None else chosen, below, row, depth + 1)
    elif isinstance(value, list):
        _flatten_list(value, path, row, depth)
    else:
        row[path] = value


def _flatten_list(items: list[object], path: str, row: Row, depth: int) -> None:
    if items and all(isinstance(item, str) for item in items):
        row[path] = joined([str(item) for item in items])
        return
    cells: dict[str, list[object]] = {}
    for item in shown_parts(items):
        if isinstance(item, dict) and not _is_plumbing(item):
            inner: Row = {}
            _flatten(item, path, inner, depth + 1)
            for key, value in inner.items():
                cells.setdefault(key, []).append(value)
        elif isinstance(item, str):
            cells.setdefault(f"{path}.text", []).append(item)
    for key, values in cells.items():
        texts = [value for value in values if isinstance(value, str)]
        row[key] = (
            joined(texts, "" if has(key.rpartition(".")[2], DELTA) else "\n")
            if len(texts) > 1 and (has(key.rpartition(".")[2], TEXT | DELTA) or len(set(texts)) > 1)
            else values[0]
        )


def _is_plumbing(part: Json) -> bool:
    """Whether a part of a message says that it is a thought or a tool's, or that nobody sees it."""
    if any(told is True and has(key, GONE | HIDDEN) for key, told in part.items()):
        return True
    kind = next(
        (part[key] for key in ("type", "kind", "content_type", "part_kind") if isinstance(part.get(key), str)), ""
    )
    return has(str(kind), HIDDEN | TOOL)


def joined(pieces: Sequence[str], between: str = "\n") -> str:
    """The pieces as one text: as they stand where they bring their own spaces, else with `between` in between."""
    spaced = any(piece[-1:].isspace() or after[:1].isspace() for piece, after in pairwise(pieces))
    single = len(pieces) > FEWEST_WORDS and not any(" " in piece for piece in pieces)
    return ("" if spaced else " " if single else between).join(pieces)


def _chosen(holder: Json, key: str, value: object) -> object | None:
    """The one of several drafts of a message that counts, or None where the value holds none."""
    named = bool(VERSIONS & set(words_of(key)))
    if isinstance(value, dict) and not named:
        return None
    drafts = list(value.values()) if isinstance(value, dict) else list_of(value)
    objects = [item for item in drafts if isinstance(item, dict)]
    if not drafts or len(objects) not in (0, len(drafts)):
        return None
    pointers = [
        told
        for other, told in holder.items()
        if other != key and has(other, CURRENT) and isinstance(told, int | str) and not isinstance(told, bool)
    ]
    if isinstance(value, dict):
        return value.get(str(pointers[0])) if pointers else None
    pointed = next(
        (draft for pointer in pointers if (draft := _pointed_at(drafts, pointer, named=named)) is not None), None
    )
    flagged = [item for item in objects if any(told is True and has(name, CURRENT) for name, told in item.items())]
    if pointed is not None or len(flagged) == 1 < len(objects):
        return flagged[0] if pointed is None else pointed
    are_alike = len(objects) < FEWEST_DRAFTS or len({tuple(item) for item in objects}) <= len(objects) // 2 + 1
    if not named or not are_alike:
        return None
    return drafts[-1] if NEWEST_LAST & set(words_of(key)) else drafts[0]


def _pointed_at(drafts: list[object], pointer: object, *, named: bool) -> object | None:
    """The draft that has the pointer for an id, or whose place it is."""
    for draft in drafts:
        if pointer in [told for told in mapping_of(draft).values() if not isinstance(told, bool)]:
            return draft
    return (
        drafts[pointer]
        if (named or isinstance(drafts[0], str)) and isinstance(pointer, int) and 0 <= pointer < len(drafts)
        else None
    )


def last_key(path: str) -> str:
    """The innermost key of a path."""
    return path.rpartition(".")[2]


def columns_of(rows: Sequence[Row]) -> dict[str, list[object]]:
    """The values of each column, None where a row has none; columns in the order in which they first appear."""
    paths = dict.fromkeys(path for row in rows for path in row)
    return {path: [row.get(path) for row in rows] for path in paths}
