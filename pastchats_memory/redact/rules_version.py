"""Version of rules that are written as code or as data: nobody has to count it up.

A change of what the rules do changes it. A change of comments, descriptions and examples does not.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_NO_CODE = r"""(?msx)
    # an empty line, a comment, or a docstring; the quotes that end a pattern are followed by no letter
    ^[ \t]* (?: \#[^\n]* | \"{3}(?![\s,)])(?> (?: [^"\\] | \\. | "(?!"") )* )\"{3}[ \t]* )? \n
    # a comment behind code
  | [ ]{2}\#[ ][^'"\n]*$
"""
"""Matches text between the statements of a module, as `ruff format` lays it out; a raw string may be a pattern."""
_DOCUMENTATION = ("#", "description = ", "example = ", "counter_example = ", "overlap = ")
"""Begin lines of a TOML file that only people and tests read."""


def strip_documentation(toml: str) -> str:
    """Remove comments, descriptions and examples from TOML rules. What is left parses in half the time."""
    lines = toml.splitlines(keepends=True)
    return "".join(line for line in lines if (text := line.lstrip()) and not text.startswith(_DOCUMENTATION))


def hash_rules(files: Iterable[Path]) -> str:
    """Return twelve hexadecimal digits that stand for what some modules and TOML files state."""
    return hashlib.sha256("\0".join(map(_read_statements, files)).encode()).hexdigest()[:12]


def _read_statements(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    return strip_documentation(text) if file.suffix == ".toml" else re.sub(_NO_CODE, "", text)


@cache
def rules_version() -> str:
    """Return the version of the rules by which `redact` finds secrets, without loading them."""
    folder = Path(__file__).parent
    return hash_rules(sorted([*folder.glob("*.py"), *folder.glob("*.toml")]))
