"""Files beside the one that is read, which tell where or when a conversation was held.

Nothing has checked them before. The writer of the folder may have put a pipe, a device, a huge sparse file or a link in
their place, so only regular files are opened, and only their beginning is read.
"""

import re
from io import TextIOWrapper
from pathlib import Path

from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import parse_json, text_of

EVENTS, WORKSPACE = "events.jsonl", "workspace.yaml"
"""What Copilot CLI writes into the folder of a session, beside plans and notes."""

_CWD = re.compile(r"^cwd:[ \t]*+(.*[^ \t\n])", re.MULTILINE)


def is_sibling(path: Path) -> bool:
    """Return whether the path is a regular file, not a link."""
    return path.is_file() and not path.is_symlink()


MOST = 1 << 16
"""Characters of a file that names a folder."""


def read_sibling(path: Path) -> str:
    """Return the beginning of a small file; return "" if there is none or it may not be read."""
    try:
        if not is_sibling(path):
            return ""
        with TextIOWrapper(open_regular(path), encoding="utf-8", errors="replace") as file:
            return file.read(MOST)
    except OSError:
        return ""


def read_sibling_json(path: Path) -> object:
    """Return the JSON document of a sibling; None without a file, BadJson for other text. Raises OSError."""
    return SourceFile(path).document if is_sibling(path) else None


def read_sibling_field(path: Path, *keys: str) -> str:
    """Return the first string under a key in the beginning of a JSON file, which may be incomplete, else `""`."""
    found = re.search(rf'"(?:{"|".join(keys)})"\s*:\s*("(?:[^"\\]|\\.){{1,4000}}")', read_sibling(path))
    return text_of(parse_json(found[1])) if found else ""


def recorded_cwd(folder: Path) -> str | None:
    """Read the working directory from the `workspace.yaml` of a session's folder."""
    found = _CWD.search(read_sibling(folder / WORKSPACE))
    if found is None:
        return None
    written = found[1]
    is_quoted = len(written) > len("''") and written[0] in "'\"" and written[0] == written[-1]
    return written[1:-1] if is_quoted else written
