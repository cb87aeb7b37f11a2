"""Find the episodes that changed a file, and those that wrote one of its lines.

Stored turns name the files that they changed. The changes themselves are read again from the transcripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

from pastchats_memory.episodes import find_request, list_recorded
from pastchats_memory.episodes.actions import ABSOLUTE, CUT, calls_of, use_slashes
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.recorded_edits import read_turn, written_lines
from pastchats_memory.episodes.threads import cite_attempts, describe_attempt
from pastchats_memory.fields import As, At, Line, Resume, Shown, TurnId, View
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.model import Attempt, Cited, Edit, Item
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.text.shell import is_editor, is_shell, written_files


class FileNames(NamedTuple):
    """The names that a file has and had."""

    root: str
    """The folder of its repository, or its own folder without one."""
    project: str
    relative: tuple[str, ...]
    """Below the root, with `/` between the parts; the present name comes first."""

    def match(self, path: str, project: str, folder: str | None) -> bool:
        """Return whether a path of a session of a project, in its working directory, names the file."""
        path = use_slashes(path)
        whole = path if ABSOLUTE.match(path) else str(PurePosixPath(folder or "", path))
        if any(whole == f"{self.root}/{name}" for name in self.relative):
            return True
        if project != self.project:
            return False
        if not ABSOLUTE.match(whole):
            return str(PurePosixPath(whole)) in self.relative
        parts = PurePosixPath(whole).parts
        below = ["/".join(parts[place + 1 :]) for place, part in enumerate(parts) if part == project]
        own = whole.removeprefix(f"{folder}/") if folder else whole
        return any(name in self.relative for name in below or [own])


def _name_file(turn: Item) -> str:
    return cited_place(turn).path


class EditView(View):
    """The turn whose calls changed the file."""

    id: Annotated[TurnId, At("shown_id")]
    source_path: Annotated[str, At("", _name_file)]
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
    """Return the episodes that changed a file, or wrote a line with this text, the newest first."""
    found: list[Blamed] = []
    seen: set[tuple[str, str | None, int]] = set()
    file_names = {PurePosixPath(name).name for name in names.relative}
    for item, folder in turns.with_changed_file(database, file_names, names.project):
        if not _changed(item, folder, names, line):
            continue
        episode, ending = load_episode(database, item)
        key = (item.project, item.conversation_id, ending.first_index)
        if key in seen:
            continue
        seen.add(key)
        question = find_request(episode)
        attempt = describe_attempt(database, question, ending)
        (cited,) = cite_items(database, [item])
        found.append(Blamed(item.project, item.conversation_id, cite_attempts(database, [attempt])[attempt.id], cited))
        if len(found) == limit:
            break
    return found


def _changed(item: Item, folder: str | None, names: FileNames, line: str | None) -> bool:
    """Return whether a turn changed the file, and wrote the line if one is given."""

    def is_file(path: str) -> bool:
        return names.match(path, item.project, folder)

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
