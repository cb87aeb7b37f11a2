"""Files of one conversation in OpenCode before 1.2: one for each session, message and part.

`storage/session/<project>/ses_….json`, `storage/message/<session>/msg_….json`, `storage/part/<message>/prt_….json`; the first
releases had `info`, `message` and `part` in the folder `session`. The session's file represents all of them.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from pastchats_memory.formats.base.sibling_files import is_sibling

SESSION = "ses_"
MESSAGE = "msg_"
PART = "prt_"
CHANGES = "session_diff"
"""The folder with what each session changed in files."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of one conversation."""

    session_id: str
    session: Path | None
    """The session's file; None if only messages are left."""
    folder: Path
    """The folder with `message` and `part`."""
    is_first_layout: bool

    def messages(self) -> list[Path]:
        """Return the files of messages, oldest first; ids rise with time."""
        return _files(self.folder / "message" / self.session_id, MESSAGE)

    def parts(self, message: Path) -> list[Path]:
        """Return the files of the parts of a message in order."""
        folder = self.folder / "part"
        return _files((folder / self.session_id if self.is_first_layout else folder) / message.stem, PART)

    def files(self) -> Iterator[Path]:
        """Yield every file except the session's own."""
        for message in self.messages():
            yield message
            yield from self.parts(message)


def tree_of(path: Path) -> Tree | None:
    """Return the tree of a session's or message's file, or None."""
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
    """Yield the other files of the tree that a file stands for. Raises OSError."""
    tree = tree_of(path)
    return (file for file in tree.files() if file != path) if tree else iter(())


def hidden_in(where: str, names: Collection[str]) -> Collection[str]:
    """Return the files that are read with another one: parts, and messages beside the first if their session is gone."""
    folder = Path(where)
    if folder.name == CHANGES:
        return [name for name in names if name.startswith(SESSION)]
    if not any(name.startswith((MESSAGE, PART)) for name in names):
        return ()
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
            named = (entry for entry in entries if entry.name.startswith(prefix) and entry.name.endswith(".json"))
            names = [entry.name for entry in named if entry.is_file(follow_symlinks=False)]
        return [folder / name for name in sorted(names)]
    except (FileNotFoundError, NotADirectoryError):
        return []
