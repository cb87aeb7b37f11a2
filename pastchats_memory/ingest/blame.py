"""Find the episodes that changed a file, and those that wrote one of its lines.

Stored turns name the files that they changed. The changes themselves are read again from the transcripts.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

from pastchats_memory.episodes import find_request, list_recorded
from pastchats_memory.episodes.actions import ABSOLUTE, CUT, calls_of, use_slashes
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.recorded_edits import read_turn, written_lines
from pastchats_memory.episodes.threads import cite_attempts, describe_attempt
from pastchats_memory.fields import As, At, Line, Resume, Shown, TurnId, View
from pastchats_memory.files.git import identify_repository, is_folder
from pastchats_memory.files.project import find_worktree
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.model import Cited, Edit, Item
from pastchats_memory.model.episodes import Attempt
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.text.shell import is_editor, is_shell, written_files

MENTIONS = 2000
"""Turns that mention a file's name of which a lookup of its changes reads the newest; most are commands that only list it."""
_WORKTREE = re.compile(r"\A(?:.*/)?\.?worktrees?/[^/]+/")
"""Matches the folder of a worktree that an agent made below a repository."""

Match = Callable[[str, str, str | None], bool]
"""Tells whether a path of a session names the file: its path, project and working directory."""


class FileNames(NamedTuple):
    """The names that a file has and had."""

    root: str
    """The folder of its repository, or its own folder without one."""
    project: str
    relative: tuple[str, ...]
    """Below the root, with `/` between the parts; the present name comes first."""
    repository: frozenset[str] = frozenset()
    """What other clones share with its repository; empty without one."""
    is_here: bool = True
    """Whether its folder is on this machine."""

    def match(self, path: str, project: str, folder: str | None) -> bool:
        """Return whether a path of a session of a project, in its working directory, names the file."""
        whole, folder = _complete(path, folder)
        if any(_fold_drive(whole) == _fold_drive(f"{self.root}/{name}") for name in self.relative):
            return True
        if not self.is_here:
            own = {name for one in self.relative for name in _list_below(f"{self.root}/{one}", project)}
            return not own.isdisjoint(_list_inside(whole, project, folder))
        return self._has_end(whole, project, folder) and (
            project == self.project
            or any(one.rpartition("/")[2] == project for one in self.repository)
            or (folder is not None and not self.repository.isdisjoint(identify_repository(folder)))
        )

    def may_match(self, path: str, _project: str, folder: str | None) -> bool:
        """Return whether a path of a session that ran in a folder of another machine ends as the file's path does.

        A file in the folder of the repository itself has a name that many repositories use.
        """
        whole, folder = _complete(path, folder)
        is_elsewhere = folder is not None and not is_folder(folder)
        return is_elsewhere and any("/" in name and whole.endswith(f"/{name}") for name in self.relative)

    def _has_end(self, whole: str, project: str, folder: str | None) -> bool:
        """Return whether a path has one of the names below the folder of a session's repository."""
        if not ABSOLUTE.match(whole):
            return whole in self.relative
        if any(name in self.relative for name in _list_inside(whole, project, folder)):
            return True
        is_renamed = not _list_below(whole, project)
        return is_renamed and any("/" in name and whole.endswith(f"/{name}") for name in self.relative)


def _complete(path: str, folder: str | None) -> tuple[str, str | None]:
    """Return the whole path, as far as it is known, and the folder, with slashes on every system."""
    folder = use_slashes(folder) if folder else None
    path = use_slashes(path)
    return posixpath.normpath(path if ABSOLUTE.match(path) else posixpath.join(folder or "", path)), folder


def _fold_drive(path: str) -> str:
    """Return a path of Windows in lower case, which does not distinguish cases; any other path unchanged."""
    return path.lower() if path[1:3] == ":/" else path


def _list_below(whole: str, project: str) -> list[str]:
    """Return the ends of a path below each folder that is called as the project."""
    parts = whole.split("/")
    ends = ["/".join(parts[place + 1 :]) for place, part in enumerate(parts) if part == project]
    worktree = find_worktree(tuple(parts))
    inside = ["/".join(parts[worktree.depth :])] if worktree and worktree.main[-1] == project else []
    return [*ends, *inside, *(_WORKTREE.sub("", end) for end in ends if _WORKTREE.match(end))]


def _list_inside(whole: str, project: str, folder: str | None) -> list[str]:
    """Return the names that a path may have inside a session's repository."""
    return _list_below(whole, project) or [whole.removeprefix(f"{folder}/") if folder else whole]


class EditView(View):
    """The turn whose calls changed the file."""

    id: Annotated[TurnId, At("shown_id")]
    source_path: Annotated[str, At("", lambda turn: cited_place(turn).path)]
    source_line: Line
    citation: Cited


class Blamed(NamedTuple):
    """An episode that changed a file."""

    project: str
    conversation_id: str | None
    episode: Attempt
    turn: Annotated[Item, "Its last turn that changed the file.", As(EditView), Shown("edit")]
    """Its citation is checked."""
    resume: Resume = None
    """Set where it is shown."""


def find_editors(database: Database, names: FileNames, line: str | None, limit: int) -> list[Blamed]:
    """Return the episodes that changed a file, or wrote a line with this text, the newest first.

    If none of a session in a known clone is found, those of unknown ones count.
    """
    return _find_editors(database, names, names.match, line, limit) or _find_editors(
        database, names, names.may_match, line, limit
    )


def _find_editors(database: Database, names: FileNames, match: Match, line: str | None, limit: int) -> list[Blamed]:
    found: list[Blamed] = []
    seen: set[tuple[str, str | None, int]] = set()
    file_names = {posixpath.basename(name) for name in names.relative}
    for item, folder in turns.with_changed_file(database, file_names, names.project):
        if not _changed(item, folder, match, line):
            continue
        episode, ending = load_episode(database, item)
        key = (item.project, item.conversation_id, ending.first_index)
        if key in seen:
            continue
        seen.add(key)
        question = find_request(episode)
        attempt = describe_attempt(question, ending, episode)
        (cited,) = cite_items(database, [item])
        found.append(Blamed(item.project, item.conversation_id, cite_attempts(database, [attempt])[attempt.id], cited))
        if len(found) == limit:
            break
    return found


def _changed(item: Item, folder: str | None, match: Match, line: str | None) -> bool:
    """Return whether a turn changed the file, and wrote the line if one is given."""

    def is_file(path: str) -> bool:
        return match(path, item.project, folder)

    labels = list(_changed_files(item))
    is_named = any(is_file(path) for path in labels)
    if line is None and is_named:
        return True
    if not is_named and not any(path.endswith(CUT) or is_file(path) for path in (*labels, *_patched_files(item))):
        return False
    turn = read_turn(item)
    if turn is None:
        return False
    edits = turn.edits or (Edit(tuple(labels), turn.content),)
    own = (edit for edit in edits if any(is_file(path) for path in edit.paths))
    return any(line is None or line in written_lines(edit.arguments, is_file) for edit in own)


def list_changes(database: Database, name: str, limit: int) -> list[Item]:
    """Return the turns whose calls changed a file of this name, in any project, among its newest MENTIONS, newest first."""
    end = use_slashes(name).lstrip("/").replace("\0", "")  # which would end the look-up early
    found = (
        item
        for item, _ in islice(turns.with_changed_file(database, {posixpath.basename(end)}, None), MENTIONS)
        if any(f"/{use_slashes(path)}".endswith(f"/{end}") for path in _changed_files(item))
    )
    return list(islice(found, limit))


def _changed_files(item: Item) -> Iterator[str]:
    """Yield the names of changed files that are stored with a turn; a list that was cut ends in `…`."""
    yield from list_recorded(item, "files")
    yield from _list_subjects(item, is_editor)


def _patched_files(item: Item) -> Iterator[str]:
    """Yield what may be names of files that a shell command wrote or patched; its text or theirs is stored."""
    for subject in _list_subjects(item, is_shell):
        yield subject
        yield from written_files(subject)


def _list_subjects(item: Item, is_wanted: Callable[[str], bool]) -> Iterator[str]:
    for tool, subject in calls_of(item):
        if is_wanted(tool):
            yield from subject.split(", ")


def read_line(file: Path, number: int) -> str | None:
    """Return a line of a file without the blanks around it; None if it has fewer lines. Raises OSError."""
    with TextIOWrapper(open_regular(file), encoding="utf-8", errors="replace") as stream:
        return next((line.strip() for place, line in enumerate(stream, start=1) if place == number), None)
