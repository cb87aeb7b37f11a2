"""Our hooks into an agent's settings, and out again.

What was put in is recorded, so that taking it out leaves the file byte for byte as it would be without us. A file that
was rewritten since, by its program or by hand, is searched for our entries instead.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.hooks.agents import AGENTS
from pastchats_memory.hooks.settings import Edited, with_hooks, without_ours, without_pieces

TARGETS = tuple(AGENTS)
IS_OURS = re.compile(r"pastchats[-_]memory\S{0,40} hook ")
TIMEOUT_S = 5
"""What the agent is told to wait at most; the hook itself ends after two seconds."""
BEFORE = ".before-pastchats-memory"
AFTERWARDS = ".with-pastchats-memory"
"""What is added to the name of a copy: of a file before our hooks went in, and before they were taken out."""
SKILL = "SKILL.md"
SKILLS = Path(__file__).with_name("skills")
WITH_SKILLS = ("claude-code", "codex")
"""Agents that read skills in a folder `skills` beside their settings."""
_FEATURES = re.compile(r"^\[features\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """A file of an agent's settings as it is and as it shall be."""

    path: Path
    before: str | None
    """None: there is no file."""
    after: str | None
    """None: the file goes."""
    pieces: tuple[str, ...] = ()
    """What was put in."""

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where nothing changes."""
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = unified_diff(before, after, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@contextmanager
def _explained() -> Iterator[None]:
    """What the file system refuses as a fault with the file's name."""
    try:
        yield
    except OSError as fault:
        about = f"{fault.filename or 'the settings'}: {fault.strerror}"
        raise MemoryFault(
            about, "Let it be a file that you may read and write, or see `install TARGET --print`."
        ) from fault


@_explained()
def installing(target: str, database: str | None, environment: Mapping[str, str] = os.environ) -> list[Change]:
    """What `install` would change; nothing is written. Raises MemoryFault."""
    hooks = {event: [_entry(target, event, database)] for event in AGENTS[target].events}
    extra = {"version": 1} if target in ("cursor", "copilot") else {}
    path = settings_path(target, environment)
    before = _read(path)
    changes = [_change(path, before, lambda text: with_hooks(text, hooks, extra, IS_OURS))]
    if target == "codex":
        config = path.with_name("config.toml")
        changes.append(_change(config, _read(config), _with_codex_hooks))
    changes += _skills(path.parent / "skills") if target in WITH_SKILLS else []
    return [change for change in changes if change.before != change.after]


def _skills(folder: Path) -> list[Change]:
    """Our skills where the agent looks for them; one of the same name that is there already is left."""
    found = []
    for skill in sorted(SKILLS.glob(f"*/{SKILL}")):
        path = folder / skill.parent.name / SKILL
        text = skill.read_text(encoding="utf-8")
        if not path.exists():
            found.append(Change(path, None, text, (text,)))
    return found


@_explained()
def uninstalling(target: str, state: Path, environment: Mapping[str, str] = os.environ) -> list[Change]:
    """What `uninstall` would change; nothing is written. Raises MemoryFault."""
    recorded = _recorded(state).get(target, [])
    paths = {Path(record["path"]): tuple(record["pieces"]) for record in recorded} or {
        settings_path(target, environment): ()
    }
    changes = []
    for path, pieces in paths.items():
        before = _read(path)
        if before is None:
            continue
        after = without_pieces(before, pieces) if pieces else None
        if after is None and path.suffix == ".json":
            after = without_ours(before, IS_OURS)
        made_by_us = any(record["path"] == str(path) and record["was_missing"] for record in recorded)
        if after is None:  # changed by hand since: it is the person's now
            continue
        changes.append(Change(path, before, None if made_by_us and not after.strip() else after))
    return [change for change in changes if change.before != change.after]


@_explained()
def write(target: str, changes: list[Change], state: Path, *, is_install: bool) -> dict[Path, str]:
    """Make the changes, and remember or forget what was put in. By file the copy that was kept of it as it was.

    What is put in is remembered before, and forgotten after it is taken out: whatever stops this half-way, `uninstall`
    knows all that may be there. Raises MemoryFault.
    """
    if is_install:
        _record(target, changes, state)
    kept = {}
    for change in changes:
        copy = change.path.with_name(change.path.name + (BEFORE if is_install else AFTERWARDS))
        if change.before is not None and change.after is not None:
            shutil.copy2(change.path, copy)
            copy.chmod(0o600)
            kept[change.path] = str(copy)
        _replace(change.path, change.after)
    if not is_install:
        _record(target, [], state)
    return kept


def _replace(path: Path, text: str | None) -> None:
    place = path.resolve()  # settings are often links into somebody's dotfiles
    if text is None:
        place.unlink()
        if place.name == SKILL and not any(place.parent.iterdir()):
            place.parent.rmdir()
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(f"{place.name}.pastchats-memory-{os.getpid()}")
    fresh.write_bytes(text.encode("utf-8", "surrogateescape"))
    if place.exists():
        shutil.copymode(place, fresh)
    fresh.replace(place)


def settings_path(target: str, environment: Mapping[str, str] = os.environ) -> Path:
    """The person's own settings file of an agent, where that agent's variables and folders have it. Raises UsageFault."""
    home = environment.get("HOME")
    if not home:
        raise UsageFault("the home folder is not known", "Set HOME.")
    folders = {
        "claude-code": (environment.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude", "settings.json"),
        "codex": (environment.get("CODEX_HOME") or f"{home}/.codex", "hooks.json"),
        "gemini": (f"{environment.get('GEMINI_CLI_HOME') or home}/.gemini", "settings.json"),
        "cursor": (f"{home}/.cursor", "hooks.json"),
        "copilot": (environment.get("COPILOT_HOME") or f"{home}/.copilot", "hooks/pastchats-memory.json"),
    }
    folder, name = folders[target]
    return Path(folder) / name


def _entry(target: str, event: str, database: str | None) -> dict[str, Any]:
    """The entry for an event, in the form of the agent."""
    words = [*_program(), "hook", target, event, *(["--db", str(Path(database).absolute())] if database else [])]
    line = shlex.join(words)
    if target == "cursor":
        return {"command": line, "timeout": TIMEOUT_S}
    if target == "copilot":
        return {"type": "command", "bash": line, "timeoutSec": TIMEOUT_S}
    if target == "gemini":
        return {
            "hooks": [{"type": "command", "name": "pastchats-memory", "command": line, "timeout": TIMEOUT_S * 1000}]
        }
    return {"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_S}]}


def _program() -> list[str]:
    """The words that start this very installation from anywhere."""
    beside = Path(sys.executable).with_name("pastchats-memory")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "pastchats_memory"]


def _with_codex_hooks(text: str) -> Edited:
    """Codex's TOML settings with hooks switched on."""
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise UsageFault("it is not TOML", "Mend the file first.") from fault
    features = settings.get("features", {})
    if "codex_hooks" in features or "hooks" in features:
        return Edited(text)
    table = _FEATURES.search(text)
    if table is None:
        piece = ("" if text.endswith("\n") or not text else "\n") + "\n[features]\ncodex_hooks = true\n"
        edited = Edited(text + piece, (piece,))
    else:
        piece = "\ncodex_hooks = true"
        edited = Edited(text[: table.end()] + piece + text[table.end() :], (piece,))
    if tomllib.loads(edited.text).get("features", {}).get("codex_hooks") is not True:
        raise UsageFault(
            "its [features] are written in a way that nothing can be added to", "Add codex_hooks = true by hand."
        )
    return edited


def _change(path: Path, before: str | None, edit: Any) -> Change:
    mark = "\ufeff" if (before or "").startswith("\ufeff") else ""
    try:
        edited = edit((before or "").removeprefix(mark))
    except UsageFault as fault:
        raise UsageFault(f"{path}: {fault.message}", fault.hint) from fault
    return Change(path, before, mark + edited.text, edited.pieces)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _recorded(state: Path) -> dict[str, list[dict[str, Any]]]:
    file = state / "installed.json"
    try:
        recorded: dict[str, list[dict[str, Any]]] = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as fault:
        hint = "Remove it: without it our entries are looked for in the settings."
        raise UsageFault(f"{file}, the record of what was installed, is damaged", hint) from fault
    return recorded


def _record(target: str, changes: list[Change], state: Path) -> None:
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    earlier = _recorded(state)
    records = [
        {"path": str(change.path), "pieces": list(change.pieces), "was_missing": change.before is None}
        for change in changes
    ]
    earlier[target] = earlier.get(target, []) + records if changes else []
    fresh = state / f"installed.json.{os.getpid()}"
    fresh.write_text(json.dumps({name: of for name, of in earlier.items() if of}, indent=2), encoding="utf-8")
    fresh.replace(state / "installed.json")
