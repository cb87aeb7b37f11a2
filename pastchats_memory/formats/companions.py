"""Which files are read as one, for programs that keep a conversation in several: asked when files are looked for."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from pastchats_memory.files import foreign_sqlite
from pastchats_memory.formats.agents import amazon_q, antigravity, cline, droid, gptme, grok, kimi, openhands, vibe
from pastchats_memory.formats.agents.opencode import files

DATABASE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3", ".vscdb"})
OF_TREES = (files.SESSION, files.MESSAGE, openhands.EVENT, vibe.META)
"""How the names of files begin of which others may tell more."""
BESIDE_IT = {
    antigravity.SHORT: (antigravity.FULL,),
    gptme.LOG: gptme.ABOUT_IT,
    grok.UPDATES: (grok.SENT, grok.SUMMARY),
    kimi.WIRE: (kimi.SENT,),
    kimi.AGENTS: (kimi.STATE,),
    openhands.FOLDER: (openhands.STATE,),
}
"""By the name of a conversation's file or folder how those begin beside it that say the same again, or only tell about it."""

ENDINGS = {droid.SESSIONS: droid.SETTINGS, amazon_q.SESSIONS: ".json"}
"""By a part of the path of a folder of sessions how the names of the files end that tell about one of them."""


def is_read_with_others(where: str) -> bool:
    """Whether the name of a file tells that there may be others: asked of each file that is found."""
    return where.lower().endswith(tuple(DATABASE_SUFFIXES)) or where.rpartition(os.sep)[2].startswith(OF_TREES)


def read_with(path: Path) -> Iterator[Path]:
    """The other files whose change is a change of this one. Raises OSError."""
    if path.suffix.lower() in DATABASE_SUFFIXES:
        yield from foreign_sqlite.beside(path)
    elif path.name.startswith(OF_TREES) and (tree := files.tree_of(path)):
        yield from (file for file in tree.files() if file != path)
    elif path.name.startswith(openhands.EVENT):
        yield from (file for file in openhands.events_beside(path) if file != path)
    elif path.name == vibe.META:
        yield from vibe.read_with(path)


def state_of(path: Path) -> tuple[int, int]:
    """Bytes of a file and of those that are read with it, and when the last of them was changed, in ns. Raises OSError."""
    together = [path.stat(), *(other.stat() for other in read_with(path))]
    return sum(each.st_size for each in together), max(each.st_mtime_ns for each in together)


def told_elsewhere(folder: str, names: Collection[str]) -> Collection[str]:
    """The files of a folder that are read with another one, and not for themselves. Raises OSError."""
    if any(name in cline.NAMES for name in names):
        return [name for name in names if name.startswith(cline.FOCUS_CHAIN)]
    ending = next((ending for sessions, ending in ENDINGS.items() if sessions in Path(folder).as_posix()), "")
    if ending:
        return {name.removesuffix(".jsonl") + ending for name in names if name.endswith(".jsonl")}.intersection(names)
    beside = tuple(chain.from_iterable(others for name, others in BESIDE_IT.items() if name in names))
    if beside:
        return [name for name in names if name.startswith(beside) and name.endswith((".json", ".jsonl"))]
    if any(name.startswith(openhands.EVENT) for name in names):
        return openhands.told_elsewhere(folder, names)
    if of_session := vibe.told_elsewhere(folder, names):
        return of_session
    of_tree = any(name.startswith((files.MESSAGE, files.PART)) for name in names)
    return files.told_elsewhere(Path(folder), names) if of_tree else ()
