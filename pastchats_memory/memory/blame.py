"""Turn a file and a line as a caller names them into what transcripts are searched for."""

import os
from pathlib import Path

from pastchats_memory.episodes.actions import ABSOLUTE, use_slashes
from pastchats_memory.episodes.recorded_edits import is_attributable
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.files.git import identify_repository
from pastchats_memory.files.processes import ask_git
from pastchats_memory.files.project import project_at
from pastchats_memory.ingest.blame import FileNames, read_line
from pastchats_memory.text.encoding import utf8


def find_names(file: Path) -> FileNames:
    """Return the names that a file has and, as far as git knows, had."""
    named = utf8(use_slashes(str(file)))
    if os.name != "nt" and ABSOLUTE.match(named) and not named.startswith("/"):
        drive, _, name = named.partition("/")
        return FileNames(drive, "", (name,), is_here=False)
    file = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow links
    folder = next((parent for parent in file.parents if parent.is_dir()), file)
    top = (ask_git(str(folder), "rev-parse", "--show-toplevel") or "").rstrip("\n")
    real = folder.resolve() / file.relative_to(folder)
    is_inside = bool(top) and real.is_relative_to(top)
    root = Path(top) if is_inside else folder
    name = (real if is_inside else file).relative_to(root).as_posix()
    former = ask_git(
        str(root), "log", "--follow", "--name-only", "--format=", "-z", "--no-ext-diff", "--no-textconv", "--", name
    )
    names = dict.fromkeys([name, *filter(None, (former or "").replace("\n", "\0").split("\0"))])
    return FileNames(
        utf8(root.as_posix()).rstrip("/"),
        utf8(project_at(str(root))),
        tuple(map(utf8, names)),
        identify_repository(str(root)) if is_inside else frozenset(),
        is_here=is_inside or folder == file.parent,
    )


def load_line(file: Path, number: int) -> str:
    """Return the text of a line.

    Raises:
        InputMissing: there is no such file.
        UsageFault: there is no such line, or it has too little text to be attributed to an edit.
    """
    if file.exists() and not file.is_file():
        raise UsageFault(f"{utf8(str(file))} has no lines", "Name a file.")
    try:
        line = read_line(file, number)
    except OSError as fault:
        raise InputMissing(
            f"{utf8(str(file))}: {fault.strerror}", "Without a line, a file that is gone is found, too."
        ) from fault
    if line is None:
        raise UsageFault(f"{utf8(str(file))} has no line {number}", "Lines are counted from 1.")
    if not is_attributable(line):
        raise UsageFault(f"line {number} has too little text to tell who wrote it", "Name a line near it.")
    return line
