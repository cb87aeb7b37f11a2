"""Where programs keep the conversations of their users, by platform and by the variables that they honour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

NOTE_FOLDER_DEPTH = 4
"""How many folders above a file may make it a note by their name, such as `notes/2026/01/31.md`."""


class Environment(NamedTuple):
    """What the default locations of files depend on."""

    variables: Mapping[str, str]
    home: Path
    platform: str
    """As `sys.platform` has it."""

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, or the default."""
        value = self.variables.get(variable)
        return type(default)(value).expanduser() if value else default  # a hook does without the import of pathlib

    @property
    def data(self) -> Path:
        """Return XDG's folder for data (https://specifications.freedesktop.org/basedir)."""
        return self.folder("XDG_DATA_HOME", self.home / ".local" / "share")

    @property
    def configuration(self) -> Path:
        """Return XDG's folder for configuration."""
        return self.folder("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def programs(self) -> Path:
        """Return the folder where desktop programs keep their files."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", self.home / "AppData" / "Roaming")
        return self.configuration

    def local_data(self, name: str, windows_name: str = "") -> Path:
        """Return the folder in which a program keeps data that stay on this machine."""
        if self.platform == "win32":
            return self.folder("LOCALAPPDATA", self.home / "AppData" / "Local") / (windows_name or name)
        return self.data / name

    @property
    def editors(self) -> Iterator[Path]:
        """Yield the user folders of VS Code and of editors that derive from it."""
        for name in ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"):
            yield self.programs / name / "User"
        yield self.home / ".vscode-server" / "data" / "User"


Locations = Callable[[Environment], "Iterator[Path]"]


def no_locations(_: Environment) -> Iterator[Path]:
    """Yield nothing: files of the format lie wherever their owner put them."""
    return iter(())


def places(*patterns: str) -> Locations:
    """Return locations by patterns, such as `{home}/.amp/*/threads` and `{AMP_DATA_DIR:data/amp}/threads`.

    In braces stands a folder of the environment with folders below it, and before a colon the variable that moves it.
    """
    return lambda environment: (path for pattern in patterns for path in _expand(pattern, environment))


def _expand(pattern: str, environment: Environment) -> Iterator[Path]:
    head, _, below = pattern[1:].partition("}")
    variable, _, default = head.rpartition(":")
    name, _, inner = default.partition("/")
    for root in environment.editors if name == "editors" else [getattr(environment, name)]:
        folder, below = environment.folder(variable, root / inner), below.lstrip("/")
        yield from sorted(folder.glob(below)) if "*" in below else [folder / below]


def in_downloads(*patterns: str) -> Locations:
    """Return locations by patterns of names in the usual folder of downloads, and in folders directly below it."""
    found = tuple(place for pattern in patterns for place in (pattern, f"*/{pattern}"))
    return lambda environment: (path for one in found for path in sorted((environment.home / "Downloads").glob(one)))
