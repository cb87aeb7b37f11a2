"""Read `pastchats-memory.toml`, with the line of every error."""

import re
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pastchats_memory.config.schema import KEYS, absolute
from pastchats_memory.files.regular_file import open_regular

LARGEST = 10_000
"""Bytes that are read at all: a name of 20,000 parts takes the parser a second, and each command reads the file."""
_LINE = re.compile(r"line (\d+)")
_HEADER = re.compile(r"\s*\[([^\]]+)\]")


@dataclass(slots=True)
class ConfigFile:
    """The values of one file."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """By key where it stands, 1-based."""
    problems: list[str] = field(default_factory=list)
    """`PATH:LINE: what is wrong`."""

    def origin(self, key: str) -> str:
        """Return `PATH:LINE` of a key."""
        return f"{self.path}:{self.lines.get(key, 1)}"

    def reject(self, key: str, why: str) -> None:
        """Record an error of a key, and remove its value."""
        self.problems.append(f"{self.origin(key)}: {why}")
        self.values.pop(key, None)


def read(path: Path) -> ConfigFile:
    """Return the file's values, checked key by key.

    An error costs only its key; nothing is raised for the content.
    """
    file = ConfigFile(path)
    text = ""
    try:
        text = _text(path)
        document = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as fault:
        file.problems.append(f"{path}:{_why_not(fault, text)}")
        return file
    for key, value in document.items():
        file.lines[key] = _line_of(text, key)
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            file.reject(key, f"unknown key `{key}`" + (f"; did you mean `{near[0]}`?" if near else ""))
            continue
        try:
            parsed = KEYS[key].parse(value)
            file.values[key] = absolute(parsed, path.parent) if KEYS[key].is_path else parsed
        except ValueError as fault:
            file.reject(key, f"`{key}` must be {fault}")
        except RuntimeError:
            file.reject(key, f"`{key}` is in a home folder that is not known")
    return file


def _why_not(fault: Exception, text: str) -> str:
    """Explain as `LINE: reason` why the text is not TOML."""
    if isinstance(fault, RecursionError):
        return "1: nested too deeply"
    if isinstance(fault, OSError):
        return f"1: {fault.strerror}"
    why, _, place = str(fault).partition(" (at ")
    line = _LINE.match(place)
    last = text.rstrip("\n").count("\n") + 1 if place.startswith("end") else 1
    return f"{line[1] if line else last}: {why}"


def _text(path: Path) -> str:
    """Read a small text file. Raises OSError, ValueError."""
    with open_regular(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"larger than {LARGEST:,} bytes")
    return content.decode("utf-8")


def _line_of(text: str, key: str) -> int:
    """Return the first line that sets a top-level key or opens its table.

    tomllib returns values without their places.
    """
    sets = re.compile(rf"""\s*(["']?){re.escape(key)}\1\s*[.=]""")
    is_top = True
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            is_top = False
            if header[1].strip().strip("[\"' ").split(".")[0].strip("\"' ") == key:
                return number
        elif is_top and sets.match(line):
            return number
    return 1
