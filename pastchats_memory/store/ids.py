"""Ids as arrays in ascending order: what NumPy's `unique` and `isin` do, without the module of masked arrays that they load."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


def listed(numbers: str | None) -> Ids:
    """The numbers that SQLite's `group_concat` has put together; None where there were none."""
    return np.fromstring(numbers or "", np.int64, sep=",")  # a third of the time that JSON and a list of objects take


def among(ids: Ids, ascending: Ids) -> NDArray[np.bool_]:
    """Which of the ids stand in an ascending array, shape (ids,)."""
    if not len(ascending):
        return np.zeros(len(ids), dtype=bool)
    places = np.searchsorted(ascending, ids)
    return np.asarray(ascending[np.minimum(places, len(ascending) - 1)] == ids)


def distinct(ids: Ids) -> Ids:
    """Each once, ascending."""
    return runs(np.sort(ids))[0]


def runs(ascending: Ids) -> tuple[Ids, Ids]:
    """Each once, and where its run begins in an array that may have it several times."""
    firsts = np.flatnonzero(np.diff(ascending, prepend=-1))
    return ascending[firsts], firsts
