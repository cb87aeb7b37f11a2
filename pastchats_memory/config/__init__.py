"""Read the environment, its folders and `pastchats-memory.toml` into one frozen `Config`; nothing else reads them.

The first of these that sets a key counts: a flag, the environment, the project's file, the user's own file, the default.
The project's file may come with a cloned repository, so it is hostile input. It cannot set the places of the database, the
models and the transcripts, nor whether text leaves the machine; errors in it are reported and ignored. Errors in the
user's own file are errors of the run.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pastchats_memory.config.schema import KEYS, NOTHING, absolute
from pastchats_memory.config.schema import Config as Config
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.folders import DATABASE_VARIABLE, FOLDER, find_base_folder, find_state_folder
from pastchats_memory.files.stored_path import resolve_path

if TYPE_CHECKING:
    from pastchats_memory.config.toml import ConfigFile

FILE = "pastchats-memory.toml"
WRITTEN = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
"""Folders that this program writes into."""
PREFIX = "PASTCHATS_MEMORY_"
LONGEST_PATH = 4096
"""Characters: longer paths name no folder, and listing their parents takes time with the square of the length."""
OPENAI = "https://api.openai.com/"


def from_home(path: str) -> str:
    """Return the path with `~` in place of the home folder."""
    try:
        home = str(Path.home())
    except RuntimeError:
        return path
    return f"~{path[len(home) :]}" if len(home) > 1 and path.startswith(home + os.sep) else path


def load(
    database: str | None = None,
    environment: Mapping[str, str] = os.environ,
    flags: Mapping[str, Any] = NOTHING,
    here: Path | None = None,
) -> Config:
    """Return the effective configuration.

    Args:
        database: value of the flag `--db`.
        environment: the variables.
        flags: values of further flags by key; None for flags that were not given.
        here: the working directory; None for the process's own.

    Raises:
        UsageFault: a variable or the user's own file is wrong (the message names every line), or a default folder is needed
            and there is no home folder.
    """
    if database == "":
        raise UsageFault("--db names no file", "Is the variable that it comes from set?")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    own = own_file(environment)
    warnings: tuple[str, ...] = ()
    for path in (own, project_file(here)):
        if path is not None and os.path.isfile(path):  # noqa: PTH113 - also of a folder that may not be entered
            file = _own(path) if path == own else _projects(path, own)
            values |= _with_earlier(file.values, values)
            origins |= {key: file.origin(key) for key in file.values}
            warnings = tuple(file.problems)
    for layer, layer_origins in (_of_environment(environment), _of_flags({**flags, "database": database})):
        values |= _with_earlier(layer, values)
        origins |= layer_origins
    values["database"] = _database(values.get("database"), environment)
    values["caches"] = _caches(values.pop("cache", None), environment)
    if "api_key" not in values and str(values.get("endpoint")).startswith(OPENAI) and "OPENAI_API_KEY" in environment:
        values["api_key"] = environment["OPENAI_API_KEY"]
        origins["api_key"] = "environment OPENAI_API_KEY"
    return Config(**values, origins=MappingProxyType(origins), warnings=warnings)


def _with_earlier(layer: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a layer; exclusions add up over all layers.

    Otherwise a cloned repository could include again what the user excluded.
    """
    if "exclude" not in layer:
        return dict(layer)
    return {**layer, "exclude": tuple(dict.fromkeys((*values.get("exclude", ()), *layer["exclude"])))}


def own_file(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the path of the user's own file; None without a home folder."""
    try:
        return _folder(environment, "XDG_CONFIG_HOME") / FOLDER / FILE
    except UsageFault:
        return None


def project_file(here: Path | None = None) -> Path | None:
    """Return the project's file: the nearest up to the repository's root, else that of the folder itself."""
    try:
        here = here or Path.cwd()
    except OSError:  # the working directory is gone
        return None
    nearest = None
    for folder in (here, *here.parents):
        if nearest is None and os.path.isfile(folder / FILE):  # noqa: PTH113 - pathlib's raises below a closed folder on Python 3.11
            nearest = folder / FILE
        if os.path.exists(folder / ".git"):  # noqa: PTH110 - pathlib's raises below a closed folder on Python 3.11
            return nearest
    return here / FILE if nearest == here / FILE else None


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of logs and of what hooks remember. Raises UsageFault without a home folder."""
    found = find_state_folder(environment)
    if found is None:
        raise _homeless()
    return Path(found)


def own_places(database: Path, environment: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Return the files and folders that this program writes.

    They hold no conversation, and every run changes them.
    """
    try:
        file = os.path.abspath(database)  # noqa: PTH100 - resolve() would follow links
        folders = [_folder(environment, variable) / FOLDER for variable in WRITTEN]
    except (OSError, UsageFault):  # the working directory is gone, or there is no home
        return frozenset()
    return frozenset(
        [
            *map(str, folders),
            *(
                file + suffix
                for suffix in ("", "-journal", "-shm", "-wal", "-lock", ".secrets", ".team", ".team-shm", ".team-wal")
            ),
        ]
    )


def _own(path: Path) -> "ConfigFile":
    from pastchats_memory.config.toml import read

    file = read(path)
    if "private" in file.values:
        file.reject("private", "`private` belongs into the project's own file")
    if file.problems:
        raise UsageFault(
            "; ".join(file.problems), "Correct the file; after that `pastchats-memory config` shows what counts."
        )
    return file


def _projects(path: Path, own: Path | None) -> "ConfigFile":
    from pastchats_memory.config.toml import read

    file = read(path)
    for key in [key for key in file.values if KEYS[key].is_own]:
        where = f"your own {own}, the environment or a flag" if own else "the environment or a flag"
        file.reject(key, f"`{key}` is ignored in a project's file; it counts only in {where}")
    return file


def _of_environment(environment: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    values = {}
    origins = {}
    for name, key in KEYS.items():
        variable = PREFIX + (name.upper() if key.variable is None else key.variable)
        if key.variable == "" or not environment.get(variable):
            continue
        try:
            values[name] = key.parse(environment[variable])
        except ValueError as fault:
            raise UsageFault(f"{variable} must be {fault}", "Correct the variable, or unset it.") from fault
        origins[name] = f"environment {variable}"
    return values, origins


def _of_flags(flags: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    values = {key: value for key, value in flags.items() if value is not None}
    return values, {key: f"--{'db' if key == 'database' else key.replace('_', '-')}" for key in values}


def _database(named: str | None, environment: Mapping[str, str]) -> Path:
    try:
        if named is not None:
            return Path(named).expanduser()
    except RuntimeError as fault:
        raise _homeless() from fault
    return _folder(environment, "XDG_DATA_HOME") / FOLDER / "memory.db"


def _caches(named: str | None, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return our folder of models (or fastembed's, by its variable), then huggingface_hub's, by its own rules."""
    try:
        named = named or environment.get("FASTEMBED_CACHE_PATH")
        cache = _folder(environment, "XDG_CACHE_HOME")
        own = Path(absolute(named, Path.cwd())) if named else cache / FOLDER / "models"
        hub_home = environment.get("HF_HOME") or str(cache / "huggingface")
        return own, Path(environment.get("HF_HUB_CACHE") or str(Path(hub_home) / "hub")).expanduser()
    except (UsageFault, RuntimeError, OSError):
        return ()


def _folder(environment: Mapping[str, str], variable: str) -> Path:
    """Return one of the folders that ours lie in. Raises UsageFault without a home folder."""
    found = find_base_folder(environment, variable)
    if found is None:
        raise _homeless()
    return Path(found)


def _homeless() -> UsageFault:
    hint = f"Name the database by its full path with --db or {DATABASE_VARIABLE}."
    return UsageFault("the home folder is not known", hint)


def is_private(folder: str) -> bool | None:
    """Return whether a folder's project file says `private = true`; None if the file is not understood."""
    try:
        path = project_file(Path(folder)) if len(folder) <= LONGEST_PATH else None
    except (OSError, ValueError):  # a folder of another person, or of another kind of machine
        return False
    if path is None:
        return False
    from pastchats_memory.config.toml import read

    file = read(path)
    is_understood = "private" in file.values or not file.problems or (file.lines and "private" not in file.lines)
    return bool(file.values.get("private", False)) if is_understood else None


def private_among(folders: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the projects of the stored folders whose project file says `private = true`, or is not understood."""
    return frozenset(project for folder, project in folders if is_private(str(resolve_path(folder))) is not False)
