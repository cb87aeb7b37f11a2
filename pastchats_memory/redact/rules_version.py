"""Version of rules that are written as code or as data: nobody has to count it up.

A change of what the rules do changes it. A change of comments, descriptions and examples does not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_NO_CODE = re.compile(
    r"""
    # an empty line, a comment, or a docstring; the quotes that end a pattern are followed by no letter
    ^[ \t]* (?: \#[^\n]* | \"{3}(?![\s,)])(?: [^"\\] | \\. | "(?!"") )*\"{3}[ \t]* )? \n
    # a comment behind code
  | [ ]{2}\#[ ][^'"\n]*$
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
"""Matches text between the statements of a module, as `ruff format` lays it out; a raw string may be a pattern."""
_NO_DATA = re.compile(r"^(?:[ \t]*(?:#[^\n]*)?|(?:description|(?:counter_)?example|overlap) = [^\n]*)\n", re.MULTILINE)
"""Matches lines of a TOML file that only people and tests read."""


def hash_rules(files: Iterable[Path]) -> str:
    """Return twelve hexadecimal digits that stand for what some modules and TOML files state."""
    statements = (
        (_NO_DATA if file.suffix == ".toml" else _NO_CODE).sub("", file.read_text(encoding="utf-8")) for file in files
    )
    return hashlib.sha256("\0".join(statements).encode()).hexdigest()[:12]


@cache
def rules_version() -> str:
    """Return the version of the rules by which `redact` finds secrets, without loading them."""
    folder = Path(__file__).parent
    return hash_rules(sorted([*folder.glob("*.py"), *folder.glob("*.toml")]))
