"""Rules of redaction that are data: TOML files of this folder, with patterns that share named parts."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pastchats_memory.redact.rules_version import strip_documentation

FOLDER = Path(__file__).parent
_PART = re.compile(r"\(\?&(\w+)\)")


def read_rules(name: str) -> dict[str, Any]:
    """Read a TOML file of rules without its comments, descriptions and examples."""
    return tomllib.loads(strip_documentation((FOLDER / name).read_text(encoding="utf-8")))


def fill_parts(pattern: str, parts: Mapping[str, str]) -> str:
    """Put the named parts into a pattern: `(?&word)` stands for the part `word`, in a group.

    Raises KeyError if there is no such part.
    """
    return _PART.sub(lambda found: f"(?:{fill_parts(parts[found[1]], parts)})", pattern)


def compile_patterns(rules: Mapping[str, Any], parts: Mapping[str, str] | None = None) -> dict[str, re.Pattern[str]]:
    """Compile the `patterns` of a file of rules, by name, with the parts of that file unless others are given."""
    filling = rules.get("parts", {}) if parts is None else parts
    return {entry["name"]: compile_pattern(entry["pattern"], filling) for entry in rules["patterns"]}


@cache
def read_patterns(name: str) -> dict[str, re.Pattern[str]]:
    """Return the compiled patterns of a file of rules, by name."""
    return compile_patterns(read_rules(name))


def compile_pattern(pattern: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    """Compile a verbose pattern with named parts."""
    return re.compile(fill_parts(pattern, parts), re.VERBOSE)
