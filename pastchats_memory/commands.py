"""What a shell command is for. Pure."""

from __future__ import annotations

import re

SHELLS = frozenset({
    "bash", "exec_command", "execute_command", "local_shell", "powershell", "run_command", "run_in_terminal",
    "run_shell_command", "run_terminal_cmd", "shell", "terminal", "unified_exec",
})  # fmt: skip
"""Tools that run a command, in lower case."""
_LOOKS = re.compile(
    r"(?:cat|head|tail|ls|ll|grep|egrep|rg|ag|find|fd|pwd|echo|which|type|wc|tree|stat|file|du|df|less|more|sed -n|awk|sleep|ps|env|history"
    r"|cd|diff|jq|sort|date|whoami|printenv|git (?:status|log|diff|show|branch|blame|remote|stash list|rev-parse|ls-files|grep))(?:\s|$)"
)
_BETWEEN = re.compile(r"&&|\|\||;|\|")


def is_look(command: str) -> bool:
    """Whether every part of a command only looks and changes nothing."""
    return all(_LOOKS.match(part) for part in map(str.strip, _BETWEEN.split(command)) if part)
