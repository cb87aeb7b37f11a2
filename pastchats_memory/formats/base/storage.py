"""Find the project of a file in a program's storage, whose folders are named after anything but projects."""

import re
from functools import cache
from pathlib import Path

from pastchats_memory.files.project import HOMES, UNKNOWN, find_worktree, is_home, project_at
from pastchats_memory.formats.base.dialect import read_spellings
from pastchats_memory.formats.base.sibling_files import read_sibling_field

_WORDS = read_spellings(__file__)
STORAGE = frozenset(_WORDS["storage_folders"])
APPLICATIONS = frozenset(_WORDS["folders_of_applications"])
"""Folders whose subfolders have the names of programs."""
PARENTS = frozenset(_WORDS["parents_of_projects"])
TRANSCRIPTS = 3
"""How many transcripts of a folder are asked for the working directory."""

_ENCODED = re.compile(r"-{1,2}[A-Za-z0-9][\w.]*-[\w.-]*|[A-Za-z]--[\w.-]+")
"""A path whose separators became hyphens: `-home-ada-kiln`, or of Windows `C--Users-ada-kiln`."""
_ID = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT, _CONDUCTOR = re.compile(r"--(\w+)-worktrees-"), "-conductor-workspaces-"
_UNSPELLED = re.compile(r"[^A-Za-z0-9]")


def project_of_folder(folder: str) -> str:
    """Return the project of a working directory; one that has an id for its name belongs to the folder above."""
    project = project_at(folder)
    return project_of_file(Path(folder)) if _ID.fullmatch(project) else project


def project_of_file(path: Path) -> str:
    """Return the project of a file by the folders above it; "unknown" if all of them are a program's."""
    for folder in path.parents:
        if is_home(folder.parts):
            break
        if _ENCODED.fullmatch(folder.name):
            return decode_project(folder.name, path)
        if not _is_storage(folder):
            is_inside = any(part.startswith(".") for part in folder.parts)
            return folder.name if is_inside else project_at(str(folder))
    return UNKNOWN


def _is_storage(folder: Path) -> bool:
    name, above = folder.name, folder.parent.name
    is_hidden = name.startswith(".") or above.startswith(".")
    is_programs = is_hidden or not APPLICATIONS.isdisjoint((name.lower(), above.lower()))
    return is_programs or name.isdigit() or name.lower() in STORAGE or _ID.fullmatch(name) is not None


def decode_project(name: str, path: Path) -> str:
    """Return the project of a file by a name that encodes its path, else the name; "unknown" for an id.

    Transcripts beside the file know the path. Without them the folders that exist decide where a hyphen was a separator,
    else the usual names of folders above projects.
    """
    here = next((folder for folder in path.parents if folder.name == name), None)
    is_bare = here is not None and here.parent.name == "projects" and name.partition("-")[0].lower() in PARENTS
    if not (is_bare or _ENCODED.fullmatch(name)):
        return UNKNOWN if _ID.fullmatch(name) else name
    transcripts = sorted(here.glob("*.jsonl"))[:TRANSCRIPTS] if here is not None else ()
    folders = (read_sibling_field(transcript, "cwd") for transcript in transcripts)
    cwd = next((folder for folder in folders if _encode(folder).strip("-") == name.lower().strip("-")), "")
    return project_at(cwd) if cwd else _decode(name.strip("-"))


def _encode(name: str) -> str:
    return _UNSPELLED.sub("-", name).lower()


@cache
def _decode(name: str) -> str:
    root, below = (f"{name[0]}:/", name[3:]) if name[1:3] == "--" and Path("C:/").is_absolute() else ("/", name)
    if found := _find_existing(Path(root), below.lower()):
        return project_at(str(found))
    text = _AGENT.sub(r"/.\1/worktrees/", name, count=1).replace(_CONDUCTOR, "/conductor/workspaces/")
    before, is_worktree, own = text.rpartition("/")
    parts, depth = (before or own).partition("/")[0].split("-"), 0
    while depth < len(parts) - 1 and parts[depth].lower() in PARENTS:
        depth += 1 + (parts[depth].lower() in HOMES)
    main = "-".join(parts[depth:]) or parts[-1]
    if not is_worktree:
        return main
    inside = own.replace("-", "/", 1) if ".codex" in before else "/".join(own.rsplit("-", 1))
    worktree = find_worktree(Path("/", *parts[:depth], "-".join(parts[depth:]), before.partition("/")[2], inside).parts)
    return worktree.main[-1] if worktree else main


def _find_existing(folder: Path, rest: str) -> Path | None:
    """Return the folder below another one whose encoded path is `rest`, or None."""
    if not rest:
        return folder if folder.is_dir() else None
    try:
        names = sorted((one.name for one in folder.iterdir()), key=len, reverse=True)
    except OSError:
        return None
    fitting = (name for name in names if f"{rest}-".startswith(f"{_encode(name)}-"))
    return next(filter(None, (_find_existing(folder / name, rest[len(name) + 1 :]) for name in fitting)), None)
