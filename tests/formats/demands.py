"""What is asked of every reader, whatever became of the file."""

import contextlib
import re

from golden import inputs
from made import made

from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.registry import all_formats
from pastchats_memory.formats.testing import check_row

FIRST_FIVE = {"claude-code", "codex", "chatgpt", "messages", "markdown"}
"""Formats whose readers are fuzzed longest."""

_QUIRK = re.compile(r"([a-z][a-z-]*-q\d+)(?:-|\Z)")


def read_by_everyone(path, wanted=None):
    """Has each reader that takes the file, and `wanted` in any case, read it; raises nothing but AssertionError."""
    source = SourceFile(made(path), named=True)
    try:
        claims = {reader: found for reader in all_formats() if (found := reader.detect(source))}
    except NotText:
        return
    best = [reader for reader, found in claims.items() if found == max(claims.values())]
    assert len(best) <= 1, f"claimed by {best}"
    for reader in {reader.name: reader for reader in (*claims, wanted) if reader}.values():
        read_by(source, reader)


def read_by(source, reader):
    """Has the reader look at the file and read it, whether it is one of its format or not."""
    with contextlib.suppress(NotText):
        reader.detect(source)
        for row in reader.read(source):
            check_row(row, reader)


def quirk_of(path):
    """`codex-q4` of `codex-q4-parent.jsonl`, None for a fixture of no quirk; what stands before the format is a date."""
    found = _QUIRK.search(path.name.split(".")[0])
    return found[1] if found else None


def quirks_of(format_name):
    """The quirks that the fixtures of a format show."""
    folder = inputs(format_name)[0].parent
    return {quirk for path in (*inputs(format_name), *folder.glob("refused/*")) if (quirk := quirk_of(path))}
