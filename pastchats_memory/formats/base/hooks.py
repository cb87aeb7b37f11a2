"""How an agent calls hooks: its events, its settings file, and its form of context."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

HookAction = Literal["recall", "greet", "warn", "brief", "cure", "compact", "index"]
"""What we do at an event: recall for the prompt, greet at a start, warn before a tool's call, brief a subagent that a call starts (also at
`warn`), name the cure after an error, index the session, also before its context is compacted."""
TIMEOUT_S = 5
"""The time limit in an agent's settings; the hook itself ends after two seconds."""


class HookSwitch(NamedTuple):
    """Keys in an agent's configuration that turn its hooks off."""

    file: str
    """A TOML file next to the settings for hooks."""
    table: str
    keys: tuple[str, ...]
    """The present name of the key, then earlier ones; a false one turns hooks off."""


def server_entry(command: Sequence[str]) -> dict[str, Any]:
    """Return the entry of an MCP server that is started by a command."""
    return {"command": command[0], "args": [*command[1:]]}


def command_group(line: str) -> dict[str, Any]:
    """Return an entry with a command and its time limit in seconds."""
    return {"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_S}]}


def specific_output(event: str, context: str) -> dict[str, Any]:
    """Return the output with which Claude Code and agents after it take a context in."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


class HookDialect(NamedTuple):
    """One agent's dialect."""

    name: str
    events: Mapping[str, HookAction]
    """Its own names of the events, in the order of a session."""
    settings: Callable[[Mapping[str, str]], str]
    """Return the person's settings file for hooks from the environment variables, which include HOME."""
    entry: Callable[[str], dict[str, Any]] = command_group
    """Return the entry for a command line."""
    context: Callable[[str, str], dict[str, Any]] = specific_output
    """Return what the hook prints at an event to add a context."""
    tools: str = ""
    """Pattern of the tools before whose calls we warn; empty if its settings choose no tools."""
    runners: str = ""
    """Pattern of the tools that run commands, after whose errors we name the cure; empty if its settings choose no tools."""
    subagents: tuple[str, ...] = ()
    """Tools that start a subagent with the text in `prompt`."""
    input_key: str = "updatedInput"
    """Key under which a hook returns another input for a tool's call."""
    begins: Mapping[str, Any] = {}
    """Keys that a new settings file needs besides hooks."""
    skills: Callable[[Mapping[str, str]], str] | None = None
    """Return the folder of its skills."""
    notes: tuple[str, ...] = ()
    """Notes that a person reads when our hooks are installed."""
    switch: HookSwitch | None = None
    servers: Callable[[Mapping[str, str]], str] | None = None
    """Return the person's file of MCP servers: JSON with `mcpServers`, or TOML with `mcp_servers`."""
    server: Callable[[Sequence[str]], dict[str, Any]] = server_entry
    """Return the entry of an MCP server for its command."""


def settings_path(variable: str, default: str, name: str) -> Callable[[Mapping[str, str]], str]:
    """Return a path below the folder that a variable names, by default below one in the home folder."""
    return lambda environment: f"{environment.get(variable) or environment['HOME'] + default}/{name}"


def named_group(line: str) -> dict[str, Any]:
    """Return an entry with our name and the time limit in ms; versions that read seconds see the hook end by itself."""
    return {"hooks": [{"type": "command", "name": "pastchats-memory", "command": line, "timeout": TIMEOUT_S * 1000}]}


def replaced_input(event: str, key: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output that gives a call another input, and leaves the decision about the call to the agent."""
    return {"hookSpecificOutput": {"hookEventName": event, key: arguments}}
