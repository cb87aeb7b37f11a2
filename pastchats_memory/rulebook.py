"""The version of rules that are written as a program: which nobody has to count up, and which what is only said of them does not change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_SAID = re.compile(
    r'^[ \t]*(?:#[^\n]*|"""(?:[^"\\]|\\.|"(?!""))*"""[ \t]*)?\n|  # [^\'"\n]*$', re.MULTILINE | re.DOTALL
)
"""Comments, docstrings and empty lines, as `ruff format` leaves them; a raw string may be a pattern."""


def version_of(modules: Iterable[Path]) -> str:
    """Twelve hex digits of the modules' statements; comments and docstrings do not count."""
    written = "\0".join(_SAID.sub("", module.read_text(encoding="utf-8")) for module in modules)
    return hashlib.sha256(written.encode()).hexdigest()[:12]


@cache
def rules_of_secrets() -> str:
    """The version of the rules by which `redact` finds secrets, which is not imported for it: its patterns take long."""
    return version_of(sorted((Path(__file__).parent / "redact").glob("*.py")))
