"""Add the MCP server to an agent's settings, and remove it again.

The file of an agent is JSON with `mcpServers`, or TOML with `mcp_servers`. Only our entry in it changes. Every function raises
MemoryFault if a file cannot be read, and UsageFault if one is not understood.
"""

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from pastchats_memory.errors import UsageFault
from pastchats_memory.hooks import install, jsonc

JSON_PARENT, TOML_PARENT = "mcpServers", "mcp_servers"
_OWN_TABLE = re.compile(rf"^[ \t]*\[[ \t]*[\"']?{TOML_PARENT}[\"']?[ \t]*\]", re.MULTILINE)
"""A table that the user has begun, with what they noted below; we write only the one of our server."""


def record_name(target: str) -> str:
    """Return the name under which the server of an agent is recorded."""
    return f"{target} mcp"


@install.explain_os_errors()
def plan_server(
    target: str, database: str | None, state: Path, environment: Mapping[str, str] = os.environ
) -> list[install.SettingsChange]:
    """Return what adding the server to an agent would change, and write nothing.

    A server of our name that the user has added stays.

    Raises:
        UsageFault: the file is not understood, this program lies in a cache, or the program of the user's server is gone.
        MemoryFault: the file cannot be read.
    """
    agent = install.targets()[target]
    if agent.servers is None:
        return []
    path = Path(agent.servers(install.with_home(environment)))
    before = install.read_settings(path)
    pieces = install.list_pieces(record_name(target), state).get(str(path), ())
    present = _find_entry(path, before)
    if present is not None and not pieces:
        if "command" in present and not _is_program_there(present):
            message = f"{path} has a server `{install.COMMAND}` that `setup` did not add, and its program is gone"
            raise UsageFault(message, "It stays as it is. Mend or remove it, and run `setup` again.")
        return []
    entry = agent.server([*install.lasting_command(), "mcp", *install.database_options(database)])
    if present is not None and entry.items() <= present.items():
        return []
    edited = _edit(path, before or "", {**(present or {}), **entry}, pieces)
    return [
        install.SettingsChange(
            path, before, edited.text, "the MCP server", edited.pieces, install.missing_folders(path)
        )
    ]


@install.explain_os_errors()
def plan_server_removal(target: str, state: Path) -> list[install.SettingsChange]:
    """Return what removing the server that we added would change, and write nothing."""
    return [
        install.removal(
            record, before, _without_entry(Path(record["path"]), before, record["pieces"]), "the MCP server"
        )
        for record, before, _ in _find_recorded(target, state)
    ]


@install.explain_os_errors()
def find_broken_servers(state: Path) -> list[tuple[str, str]]:
    """Return each agent whose server calls a program that is gone, with the program."""
    return [
        (target, str(entry.get("command")))
        for target in install.targets()
        for _, _, entry in _find_recorded(target, state)
        if not _is_program_there(entry)
    ]


def _find_recorded(target: str, state: Path) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Yield the record, the text and our entry of each file with a server that we added."""
    for record in install.read_records(state).get(record_name(target), []):
        path = Path(record["path"])
        text = install.read_settings(path)
        entry = _find_entry(path, text)
        if text is not None and entry is not None:
            yield record, text, entry


def _is_program_there(entry: Mapping[str, Any]) -> bool:
    command = entry.get("command")
    return isinstance(command, str) and shutil.which(command) is not None


def _find_entry(path: Path, text: str | None) -> dict[str, Any] | None:
    _, text = install.split_mark(text)
    try:
        if path.suffix == ".toml":
            servers = tomllib.loads(text).get(TOML_PARENT, {})
            entry = servers.get(install.COMMAND) if isinstance(servers, dict) else None
        else:
            entry = jsonc.find_member(text, JSON_PARENT, install.COMMAND)
    except (UsageFault, tomllib.TOMLDecodeError) as fault:
        raise UsageFault(f"{path}: {fault}", "Mend the file, or add the server by hand.") from fault
    return entry if isinstance(entry, dict) else None


def _edit(path: Path, text: str, entry: dict[str, Any], pieces: Sequence[str]) -> jsonc.Edited:
    """Return the text with our entry, in place of an earlier one."""
    mark, text = install.split_mark(text)
    if path.suffix != ".toml":
        edited = jsonc.with_member(text, JSON_PARENT, install.COMMAND, entry, pieces)
        return jsonc.Edited(mark + edited.text, edited.pieces)
    base = _without_table(text, pieces)
    lines = [
        "" if not base or base.endswith("\n") else "\n",
        "\n" if base.strip() else "",
        f"[{TOML_PARENT}.{install.COMMAND}]\n",
    ]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items()]
    piece = "".join(lines)
    piece = piece.replace("\n", "\r\n") if "\r\n" in base else piece
    try:
        tomllib.loads(base + piece)
    except tomllib.TOMLDecodeError as fault:
        raise UsageFault(f"{path}: {fault}", "Add the server by hand, as the help of the agent shows.") from fault
    return jsonc.Edited(mark + base + piece, (piece,))


def _without_entry(path: Path, text: str, pieces: Sequence[str]) -> str:
    mark, text = install.split_mark(text)
    if path.suffix == ".toml":
        return mark + _without_table(text, pieces)
    return mark + jsonc.without_inserted(
        text, pieces, lambda text: jsonc.without_member(text, JSON_PARENT, install.COMMAND, pieces)
    )


def _without_table(text: str, pieces: Sequence[str]) -> str:
    """Return TOML without our server, and everything else as it stands."""
    try:
        wanted = tomlkit.parse(text)
    except TOMLKitError as fault:
        raise UsageFault(f"it is not TOML: {fault}", "Mend the file, or edit the server by hand.") from fault
    servers = wanted.get(TOML_PARENT)
    if servers is None or install.COMMAND not in servers:
        return text
    del servers[install.COMMAND]
    if not servers and not _OWN_TABLE.search(text):
        del wanted[TOML_PARENT]
    restored = jsonc.without_pieces(text, pieces)
    if restored is not None and _parse(restored) == wanted.unwrap():
        return restored
    return tomlkit.dumps(wanted)


def _parse(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
