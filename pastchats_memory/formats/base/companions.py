"""Common layouts of companion files."""

import os
from collections.abc import Collection, Mapping
from itertools import chain

from pastchats_memory.formats.base.format import Companions


def named_after(owners: Mapping[str, tuple[str, ...]]) -> Companions:
    """Return companions by name: beside a file or folder of a name, files whose names begin so are not read alone."""

    def hidden_in(_folder: str, names: Collection[str]) -> Collection[str]:
        beginnings = tuple(chain.from_iterable(others for name, others in owners.items() if name in names))
        return [name for name in names if name.startswith(beginnings) and name.endswith((".json", ".jsonl"))]

    return Companions(hidden_in=hidden_in)


def ending_in(sessions: str, ending: str, *others: str) -> Companions:
    """Return companions by ending: below a folder, `a` with it belongs to `a.jsonl`, and other names to any session."""

    def hidden_in(folder: str, names: Collection[str]) -> Collection[str]:
        if sessions not in folder.replace("\\", "/"):
            return ()
        own = [name for name in names if ending and name.endswith(ending)]
        belonging = [name for name in own if ending.count(".") > 1 or name.removesuffix(ending) + ".jsonl" in names]
        return [*belonging, *set(others).intersection(names)]

    return Companions(hidden_in=hidden_in)


def read_elsewhere(folder: str, *places: str) -> Companions:
    """Return companions of a folder: a file is not read if one of the places, which take its name, has its session too."""

    def hidden_in(here: str, names: Collection[str]) -> Collection[str]:
        if not here.replace("\\", "/").endswith(folder):
            return ()
        paths = {name: [f"{here}/{place.format(name.partition('.')[0])}" for place in places] for name in names}
        return [name for name in names if any(map(os.path.exists, paths[name]))]

    return Companions(hidden_in=hidden_in)


def combine(*each: Companions) -> Companions:
    """Return the companions that any of several layouts hides."""
    return Companions(hidden_in=lambda folder, names: [name for one in each for name in one.hidden_in(folder, names)])
