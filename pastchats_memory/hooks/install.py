"""Add our hooks to an agent's settings, and remove them again.

Added text is recorded, so that removing it restores the rest of the file byte for byte. If the file was rewritten since, by
its program or by hand, our entries are searched in it instead. Every public function raises MemoryFault if a file cannot be read
or written, and UsageFault if one is not understood.
"""

import json
import os
import re
import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.files.atomic import write_atomic
from pastchats_memory.files.command_line import join_command
from pastchats_memory.formats.base.hooks import HookDialect
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.registry import all_formats, locations_of
from pastchats_memory.hooks.jsonc import with_hooks, without_inserted, without_ours, without_pieces

IS_OURS = re.compile(r"pastchats[-_]memory\S{0,40} hook ")
_JSON_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
BEFORE = ".before-pastchats-memory"
AFTERWARDS = ".with-pastchats-memory"
"""Suffixes of copies: of a file before our hooks were added, and before they were removed."""
BYTE_ORDER_MARK = "\ufeff"
SKILL = "SKILL.md"
SKILLS = Path(__file__).with_name("skills")
COMMAND = "pastchats-memory"
"""As the skills call it."""


def targets() -> dict[str, HookDialect]:
    """Return the agents that call hooks, by the names that `install` takes."""
    return {format_.hooks.name: format_.hooks for format_ in all_formats() if format_.hooks is not None}


LASTING = f"Install it from a clone with `uv tool install .` or `pipx install .`, and run `{COMMAND} install` of that."
CACHE_NAMES = frozenset({".cache", "Caches"})
CACHE_VARIABLES = ("XDG_CACHE_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR")


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A file of an agent's settings before and after."""

    path: Path
    before: str | None
    """None: there is no file."""
    after: str | None
    """None: the file goes."""
    what: str
    """Our part of the file, for a summary."""
    pieces: tuple[str, ...] = ()
    """What was put in."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it, the innermost first; they go with it."""

    @property
    def diff(self) -> str:
        """Return the change as a unified diff; empty if nothing changes."""
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = unified_diff(before, after, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    @property
    def summary(self) -> str:
        """Return the change in a line: what is done to which file, and our part of it."""
        verb = "create" if self.before is None else "delete" if self.after is None else "change"
        return f"{verb} {self.path}: {self.what}"


@contextmanager
def explain_os_errors() -> Iterator[None]:
    """Turn errors of the file system into MemoryFault with the file's name."""
    try:
        yield
    except OSError as fault:
        about = f"{fault.filename or 'the settings'}: {fault.strerror}"
        raise MemoryFault(
            about, "Let it be a file that you may read and write, or see `install TARGET --print`."
        ) from fault


@explain_os_errors()
def plan_install(
    target: str, database: str | None, state: Path, environment: Mapping[str, str] = os.environ
) -> list[SettingsChange]:
    """Return what `install` would change, and write nothing."""
    agent = targets()[target]
    words = [*lasting_command(), "hook", target]
    hooks = {
        event: [hook_entry(agent, event, join_command([*words, event, *database_options(database)]))]
        for event in agent.events
    }
    path = settings_path(target, environment)
    put_in = list_pieces(target, state)
    changes = [_with_our_hooks(path, hooks, agent.begins, put_in.get(str(path), ()))]
    if agent.skills:
        changes += _skills(Path(agent.skills(with_home(environment))), put_in)
    return [change for change in changes if change.before != change.after]


def hook_entry(agent: HookDialect, event: str, line: str) -> dict[str, Any]:
    """Return the entry for an event; an event of calls names the tools."""
    before = "|".join(filter(None, (agent.tools, *agent.subagents)))
    tools = {"warn": before, "brief": before, "cure": agent.runners}.get(agent.events[event])
    return {**({"matcher": tools} if tools else {}), **agent.entry(line)}


def _with_our_hooks(
    path: Path, hooks: Mapping[str, Any], extra: Mapping[str, Any], pieces: tuple[str, ...]
) -> SettingsChange:
    before = read_settings(path)
    mark, text = split_mark(before)
    try:
        edited = with_hooks(text, hooks, extra, IS_OURS, pieces)
    except UsageFault as fault:
        raise UsageFault(f"{path}: {fault.message}", fault.hint) from fault
    return SettingsChange(
        path, before, mark + edited.text, f"hooks for {', '.join(hooks)}", edited.pieces, missing_folders(path)
    )


def _skills(folder: Path, put_in: Mapping[str, tuple[str, ...]]) -> list[SettingsChange]:
    """Return the changes that put our skills where the agent looks.

    Of existing ones, only our own are updated.
    """
    found = []
    for skill in sorted(SKILLS.glob(f"*/{SKILL}")):
        path = folder / skill.parent.name / SKILL
        text = skill.read_text(encoding="utf-8")
        before = read_settings(path)
        if before is None or put_in.get(str(path)) == (before,):
            found.append(
                SettingsChange(path, before, text, f"the skill {path.parent.name}", (text,), missing_folders(path))
            )
    return found


def missing_folders(path: Path) -> tuple[str, ...]:
    """Return the folders that have to be made for a file, the innermost first."""
    return tuple(str(folder) for folder in path.parents if not folder.exists())


def advice(target: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return what the user has to do before our hooks run in an agent."""
    agent = targets()[target]
    notes = list(agent.notes)
    if agent.skills and shutil.which(COMMAND, path=environment.get("PATH")) is None:
        notes.append(f"The skills call `{COMMAND}`, which is not on your PATH: its folder has to be.")
    if agent.switch is None:
        return notes
    file, table, keys = agent.switch
    config = settings_path(target, environment).with_name(file)
    try:
        switches = tomllib.loads(split_mark(read_settings(config))[1]).get(table, {})
    except tomllib.TOMLDecodeError:
        return notes  # the agent itself will say so
    if isinstance(switches, dict) and any(switches.get(key) is False for key in keys):
        notes.append(f"Hooks are switched off in {config}: let `{keys[0]}` be true below [{table}].")
    return notes


@explain_os_errors()
def plan_uninstall(target: str, state: Path, environment: Mapping[str, str] = os.environ) -> list[SettingsChange]:
    """Return what `uninstall` would change, and write nothing."""
    path = str(settings_path(target, environment))
    records = read_records(state).get(target) or [{"path": path, "pieces": [], "was_missing": False}]
    changes = [_without_our_hooks(record) for record in records]
    return [change for change in changes if change is not None and change.before != change.after]


def _without_our_hooks(record: Mapping[str, Any]) -> SettingsChange | None:
    """Return the change that removes what the record says was added.

    There is no change if the file is the user's by now.
    """
    path, pieces = Path(record["path"]), tuple(record["pieces"])
    before = read_settings(path)
    if before is None:
        return None
    after = None
    if path.suffix == ".json":
        mark, text = split_mark(before)
        after = mark + without_inserted(text, pieces, lambda text: without_ours(text, IS_OURS, pieces))
    elif pieces:
        after = without_pieces(before, pieces)
    if after is None:
        return None
    return removal(record, before, after, f"the skill {path.parent.name}" if path.name == SKILL else "our hooks")


def removal(record: Mapping[str, Any], before: str, after: str, what: str) -> SettingsChange:
    """Return the change that takes our part out of a recorded file; a file that we made goes with it if it is blank."""
    is_gone = record["was_missing"] and not after.strip()
    folders = tuple(record.get("folders", ()))
    return SettingsChange(Path(record["path"]), before, None if is_gone else after, what, folders=folders)


@explain_os_errors()
def write(target: str, changes: list[SettingsChange], state: Path, *, is_install: bool) -> dict[Path, str]:
    """Make the changes, record or forget what was added, and return the path of each copy of an original file.

    Additions are recorded before they are made, and forgotten after they are removed: after any interruption, `uninstall`
    knows all that may be there.
    """
    for change in changes:
        if read_settings(change.path) != change.before:  # while the person looked at the change
            raise MemoryFault(f"{change.path} was changed just now; nothing of it was overwritten", "Run it again.")
        if change.before is not None and not change.path.stat().st_mode & stat.S_IWUSR:
            raise MemoryFault(
                f"{change.path}: it is read-only", "Make it writable first, or see `install TARGET --print`."
            )
    # A file in which something else of ours is or stays has its copy already, or gets it with the last removal.
    ours = {
        record["path"]
        for name, records in read_records(state).items()
        for record in records
        if is_install or name != target
    }
    if is_install:
        _record(target, changes, state)
    copies: dict[Path, str] = {}
    for change in changes:
        if str(change.path) not in ours:
            copies |= _copy_original(change, BEFORE if is_install else AFTERWARDS)
        _replace(change)
    if not is_install:
        _record(target, [], state)
    return copies


def _copy_original(change: SettingsChange, ending: str) -> dict[Path, str]:
    """Copy the file as it is.

    If the change restores the copy from before, delete that one instead.
    """
    if change.before is None or change.after is None:
        return {}
    original = change.path.with_name(change.path.name + BEFORE)
    if ending == AFTERWARDS and read_settings(original) == change.after:
        original.unlink()
        return {}
    copy = change.path.with_name(change.path.name + ending)
    shutil.copy2(change.path, copy)
    copy.chmod(0o600)
    return {change.path: str(copy)}


def _replace(change: SettingsChange) -> None:
    place = change.path.resolve()  # settings are often links into somebody's dotfiles
    if change.after is None:
        place.unlink()
        for folder in map(Path, change.folders):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(place, change.after.encode("utf-8", "surrogateescape"))


def settings_path(target: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the user's own settings file of an agent, by its variables and folders."""
    return Path(targets()[target].settings(with_home(environment)))


def with_home(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables with HOME, which Windows calls USERPROFILE. Raises UsageFault without either."""
    home = environment.get("HOME") or environment.get("USERPROFILE")
    if not home:
        raise UsageFault("the home folder is not known", "Set HOME.")
    return {**environment, "HOME": home}


def find_agents(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the agents on this machine that call hooks: those with a history or a folder of settings.

    Raises UsageFault without a home folder.
    """
    variables = with_home(environment)
    place = Environment(variables, Path(variables["HOME"]), sys.platform)
    found = []
    for format_ in all_formats():
        if (agent := format_.hooks) is None:
            continue
        files = [Path(agent.settings(variables)), *([Path(agent.servers(variables))] if agent.servers else [])]
        folders = [file.parent for file in files if file.parent != place.home]
        if any(os.path.exists(path) for path in (*files, *folders, *locations_of(format_, place))):  # noqa: PTH110 - pathlib's raises below a closed folder on Python 3.11
            found.append(agent.name)
    return found


def database_options(database: str | None) -> list[str]:
    """Return the option that names a database, by its full path."""
    return ["--db", str(Path(database).expanduser().absolute())] if database else []


def lasting_command() -> list[str]:
    """Return the words that start this installation from anywhere, for as long as it is installed.

    Raises UsageFault if it is part of a cache, as `uvx` and `pipx run` make it, or was removed.
    """
    python = Path(os.path.abspath(sys.executable))  # noqa: PTH100 - resolve() would leave the virtual environment
    installed = python.with_name(COMMAND)
    if _is_in_cache(python):
        raise UsageFault(
            f"{python.parent} is in a cache that is cleaned one day, and the hooks would fail from then on", LASTING
        )
    if not python.exists():
        raise UsageFault(f"{python} is no longer there, and the hooks would fail", LASTING)
    if sys.platform == "win32" and shutil.which(COMMAND):  # its shells agree on no spelling of a path
        return [COMMAND]
    for program in (installed, installed.with_suffix(".exe")):
        if program.exists():
            return [str(program)]
    return [str(python), "-m", "pastchats_memory"]


def _is_in_cache(python: Path) -> bool:
    """Return whether an interpreter lies in a cache, by the names and marks of such folders.

    A virtual environment carries a mark of its own, since it needs no backup. So only the folders above it count.
    """
    caches = [Path(os.environ[name]) for name in CACHE_VARIABLES if os.environ.get(name)]
    above = python.parents[2:]
    return any(
        folder.name in CACHE_NAMES or folder in caches or (folder / "CACHEDIR.TAG").is_file() for folder in above
    )


def _find_program(quoted: str) -> str | None:
    """Return the program that a string of a settings file calls, if it is ours and has a full path."""
    try:
        program, *rest = shlex.split(json.loads(quoted)) if IS_OURS.search(quoted) else [""]
    except ValueError:  # somebody changed it
        return None
    return program if rest and os.path.isabs(program) else None  # noqa: PTH117 - a string is at hand


@explain_os_errors()
def find_broken(state: Path) -> list[tuple[str, str]]:
    """Return each agent whose settings call a program of ours that is gone, with the program."""
    return [
        (target, program)
        for target, records in read_records(state).items()
        for record in records
        for program in map(_find_program, _JSON_STRING.findall(read_settings(Path(record["path"])) or ""))
        if program and not os.path.exists(program)  # noqa: PTH110 - a string is at hand
    ]


@explain_os_errors()
def has_hooks(target: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether an agent's settings call our hooks, whoever put them there."""
    return IS_OURS.search(read_settings(settings_path(target, environment)) or "") is not None


def split_mark(text: str | None) -> tuple[str, str]:
    """Return the byte order mark that some editors of Windows write, or nothing, and the text behind it."""
    rest = (text or "").removeprefix(BYTE_ORDER_MARK)
    return (BYTE_ORDER_MARK if text and text != rest else ""), rest


def read_settings(path: Path) -> str | None:
    """Return the text of a file, or None if there is none. Raises OSError."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def read_records(state: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what was added to each agent, by file. Raises UsageFault, OSError."""
    file = state / "installed.json"
    try:
        recorded: dict[str, list[dict[str, Any]]] = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as fault:
        hint = "Remove it: without it our entries are looked for in the settings."
        raise UsageFault(f"{file}, the record of what was installed, is damaged", hint) from fault
    return recorded


def list_pieces(name: str, state: Path) -> dict[str, tuple[str, ...]]:
    """Return what was put into each file under a name of a record. Raises UsageFault, OSError."""
    return {record["path"]: tuple(record["pieces"]) for record in read_records(state).get(name, [])}


def _record(target: str, changes: list[SettingsChange], state: Path) -> None:
    """Record what was added for a target; without changes, forget it."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    recorded = read_records(state)
    records = {record["path"]: record for record in recorded.get(target, [])} if changes else {}
    for change in changes:
        path = str(change.path)
        first = records.get(path, {"was_missing": change.before is None, "folders": list(change.folders)})
        records[path] = {**first, "path": path, "pieces": list(change.pieces)}
    recorded[target] = list(records.values())
    text = json.dumps({name: of for name, of in recorded.items() if of}, indent=2)
    write_atomic(state / "installed.json", text.encode())
