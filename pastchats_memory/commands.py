"""What a tool and a shell command are for. Pure."""

from __future__ import annotations

import re

SHELLS = frozenset({
    "bash", "exec_command", "execute_command", "local_shell", "powershell", "run_command", "run_in_terminal",
    "run_shell_command", "run_terminal_cmd", "shell", "terminal", "unified_exec",
})  # fmt: skip
"""Tools that run a command, in lower case."""
_EDITS = frozenset({"create", "edit", "insert", "multiedit", "patch", "replace", "update", "write"})
_OF_FILES = _EDITS | frozenset({
    "and", "apply", "based", "block", "blocks", "cell", "code", "content", "copilot", "diff", "editor", "file", "files", "functions", "in", "into",
    "lines", "multi", "new", "notebook", "regex", "search", "str", "string", "symbol", "text", "to", "tool",
})  # fmt: skip
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LOOKS = re.compile(
    r"(?:cat|head|tail|ls|ll|grep|egrep|rg|ag|find|fd|pwd|echo|which|type|wc|tree|stat|file|du|df|less|more|sed -n|awk|sleep|ps|env|history"
    r"|cd|diff|jq|sort|date|whoami|printenv|git (?:status|log|diff|show|branch|blame|remote|stash list|rev-parse|ls-files|grep))(?:\s|$)"
)
_BETWEEN = re.compile(r"&&|\|\||;|\|")


def is_editor(tool: str) -> bool:
    """Whether a tool changes files, by the words of its name: `MultiEdit`, `copilot_replaceString`, `mcp__fs__write_file`."""
    words = frozenset(part.lower() for part in _PART.findall(tool.rpartition("__")[2]))
    return words <= _OF_FILES and bool(words & _EDITS or words >= {"apply", "diff"})


def is_look(command: str) -> bool:
    """Whether every part of a command only looks and changes nothing."""
    return all(_LOOKS.match(part) for part in map(str.strip, _BETWEEN.split(command)) if part)
