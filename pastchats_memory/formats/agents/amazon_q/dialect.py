"""Name Amazon Q's own spellings, which Kiro CLI shares."""

import re
from collections.abc import Iterable

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import mapping_of, text_of

DIALECT = COMMON | Dialect(editors=("fs_write", "fs_read"))

_EXIT = re.compile(r"\d{1,9}\Z")


def parse_parts(parts: Iterable[object], *, failed: bool) -> ToolResult:
    """Return a tool result from its parts: text, or the output of a command with its exit code."""
    texts: list[str] = []
    code: int | None = None
    for part in parts:
        printed = mapping_of(part)
        texts += [text_of(printed.get(key)) for key in ("stdout", "stderr")] if printed else [text_of(part)]
        found = _EXIT.search(text_of(printed.get("exit_status")))
        code = int(found[0]) if found else code
    return ToolResult("\n".join(filter(None, texts)), code, failed=failed or bool(code))
