"""Find the project of the working directory."""

from pathlib import Path

from pastchats_memory.errors import UsageFault
from pastchats_memory.files.project import project_at
from pastchats_memory.text.encoding import utf8


def find_current_project() -> str | None:
    """Return the project of the working directory; None if that folder was deleted."""
    try:
        return project_of_folder(str(Path.cwd()))
    except OSError:
        return None


def find_folder_of(project: str) -> str | None:
    """Return the working directory if it belongs to a project; None elsewhere."""
    return str(Path.cwd()) if find_current_project() == project else None


def resolve_project(name: str | None) -> str | None:
    """Return a project by name; `.` is that of the working directory. Raises UsageFault if that is gone."""
    if name == "." and (name := find_current_project()) is None:
        raise UsageFault(
            "the working directory is gone, and with it the project", "Name the project, or change folder."
        )
    return name and utf8(name)


def project_of_folder(folder: str) -> str:
    """Return the name of the project that a folder belongs to."""
    return utf8(project_at(folder))
