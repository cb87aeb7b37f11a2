"""Arrays of ids in ascending order: of rows that pass filters, of samples, and the operations on them.

NumPy's own `unique` and `isin` would load its module of masked arrays.
"""

from collections.abc import Sequence

from pastchats_memory.arrays import Bools, Ids, np
from pastchats_memory.model import Filters
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.filters import FIRST_TEXT, TEXTS, conditions, task_conditions

SCATTER = 2654435761
"""Knuth's multiplicative hash: every n-th id could be the same speaker of every dialogue."""


def listed(numbers: str | None) -> Ids:
    """Return the numbers of SQLite's `group_concat`, which is None for no rows."""
    return np.fromstring(numbers or "", np.int64, sep=",")  # takes a third of the time of JSON and a list of objects


def among(ids: Ids, ascending: Ids) -> Bools:
    """Return which of the ids are in an ascending array, shape (ids,)."""
    if not len(ascending):
        return np.zeros(len(ids), dtype=bool)
    places = np.searchsorted(ascending, ids)
    return np.asarray(ascending[np.minimum(places, len(ascending) - 1)] == ids)


def distinct(ids: Ids) -> Ids:
    """Return the distinct ids, ascending."""
    return runs(np.sort(ids))[0]


def runs(ascending: Ids) -> tuple[Ids, Ids]:
    """Return the distinct ids of an ascending array, and the position at which the run of each begins."""
    firsts = np.flatnonzero(np.diff(ascending, prepend=-1))
    return ascending[firsts], firsts


def allowed_ids(database: Database, given: Sequence[int] | None, filters: Filters) -> Ids:
    """Return the ids that pass the filters, ascending, of those given or of all: turns, then texts of tasks."""
    found = np.empty(0, np.int64)
    if given is not None and not given:
        return found
    if not filters.of_tasks:
        found = _allowed(database, "visible_prompts p", "p.id", given, conditions(filters))
    if not filters.of_turns:
        found = np.concatenate([found, _allowed(database, TEXTS, "t.id", given, task_conditions(filters))])
    return found


def _allowed(
    database: Database, rows: str, id_: str, given: Sequence[int] | None, condition: tuple[str, list[str]]
) -> Ids:
    where, values = condition
    if given is not None:
        where += f" AND {id_} IN {LISTED}"
        values = [*values, bind_list(given)]
    # As one text: fetching half of a large memory row by row takes longer than finding it.
    return np.sort(listed(database.value(f"SELECT group_concat({id_}) FROM {rows} WHERE {where}", values)))


def spread_ids(database: Database, about: int) -> list[int]:
    """Return a sample of about so many ids, or all; some may have been deleted."""
    turns = database.value("SELECT max(id) FROM visible_prompts") or 0
    texts = (database.value("SELECT max(id) FROM visible_task_texts") or FIRST_TEXT) - FIRST_TEXT
    for_turns = about * turns // max(1, turns + texts)
    return [*_scattered(0, turns, for_turns), *_scattered(FIRST_TEXT, texts, about - for_turns)]


def _scattered(before: int, rows: int, about: int) -> list[int]:
    """Return about so many of the `rows` ids after `before`, ascending."""
    return sorted({before + 1 + number * SCATTER % rows for number in range(about)}) if rows else []


def spread_among(ids: Ids, about: int) -> list[int]:
    """Return a sample of about so many of the ids, or all, ascending."""
    scattered = (ids & FIRST_TEXT - 1) * SCATTER >> 16
    chosen: list[int] = ids[scattered % max(1, len(ids) // about) == 0].tolist()
    return chosen
