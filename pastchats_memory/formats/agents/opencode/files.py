"""OpenCode before 1.2 kept a conversation in as many files as it has messages and parts of messages: which belong together.

`storage/session/<project>/ses_….json`, `storage/message/<session>/msg_….json`, `storage/part/<message>/prt_….json`; the first
releases had `info`, `message` and `part` in the folder `session`. The session's file stands for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from pastchats_memory.formats.base.sibling_files import is_sibling

SESSION = "ses_"
MESSAGE = "msg_"
PART = "prt_"


@dataclass(frozen=True, slots=True)
class Tree:
    """Where the files of one conversation are."""

    session_id: str
    session: Path | None
    """None where it is gone and only messages are left."""
    folder: Path
    """The one with `message` and `part` in it."""
    is_first_layout: bool

    def messages(self) -> list[Path]:
        """Files of messages, oldest first; ids rise with time."""
        return _files(self.folder / "message" / self.session_id, MESSAGE)

    def parts(self, message: Path) -> list[Path]:
        """Files of the parts of a message, in their order."""
        folder = self.folder / "part"
        return _files((folder / self.session_id if self.is_first_layout else folder) / message.stem, PART)

    def files(self) -> Iterator[Path]:
        """Every file but the session's own."""
        for message in self.messages():
            yield message
            yield from self.parts(message)


def tree_of(path: Path) -> Tree | None:
    """The tree that a session's file, or a message's, stands for; None for any other file."""
    kind, parents = path.name[:4], path.parents
    if path.suffix != ".json" or len(parents) < 3:  # noqa: PLR2004 - storage/session/project
        return None
    if kind == SESSION and parents[1].name == "session":
        is_first = parents[0].name == "info"
        return Tree(path.stem, path, parents[1] if is_first else parents[2], is_first)
    if kind == MESSAGE and parents[1].name == "message":
        is_first = parents[2].name == "session"
        name = f"{escape(parents[0].name)}.json"
        sessions = parents[2].glob(f"info/{name}" if is_first else f"session/*/{name}")
        return Tree(parents[0].name, next(filter(is_sibling, sessions), None), parents[2], is_first)
    return None


def other_files(path: Path) -> Iterator[Path]:
    """Yield the other files of the tree that a session's or message's file stands for. Raises OSError."""
    tree = tree_of(path)
    return (file for file in tree.files() if file != path) if tree else iter(())


def hidden_in(where: str, names: Collection[str]) -> Collection[str]:
    """Return the files that are read with another one: parts, and messages beside the first if their session is gone."""
    if not any(name.startswith((MESSAGE, PART)) for name in names):
        return ()
    folder = Path(where)
    first = min((name for name in names if name.startswith(MESSAGE) and name.endswith(".json")), default="")
    tree = tree_of(folder / first)
    if first and tree is not None:
        messages = {name for name in names if name.startswith(MESSAGE)}
        return messages if tree.session is not None else messages - {first}
    in_tree = "part" in (folder.parent.name, folder.parent.parent.name)
    return {name for name in names if in_tree and name.startswith(PART)}


def _files(folder: Path, prefix: str) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.name.startswith(prefix)
                and entry.name.endswith(".json")
                and entry.is_file(follow_symlinks=False)
            ]
        return [folder / name for name in sorted(names)]
    except (FileNotFoundError, NotADirectoryError):
        return []
