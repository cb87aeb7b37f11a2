"""What is asked of every reader, whatever became of the file."""

import contextlib
import json
import re

from golden import inputs
from made import made

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.exports.own import OWN_EXPORT
from pastchats_memory.formats.registry import all_formats
from pastchats_memory.model import TURN_KINDS, Task, Turn
from pastchats_memory.text.clean import clean_turn

ROLES = {"user", "assistant", "system", "tool", "note"}
BRANCHES = {"main", "abandoned", "sidechain"}
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
            hold_to_the_contract(row, reader)


def hold_to_the_contract(row, reader):
    """A turn is fit to be stored; what was not understood is said; where to go on can be kept."""
    if isinstance(row, Checkpoint):
        json.dumps(row.state)
        return
    if isinstance(row, Task):
        assert row.native_id
        assert row.line >= 0
        json.dumps(dict(row.metadata))
        return
    if not isinstance(row, Turn):
        assert row.path
        assert row.reason
        assert row.line >= 0
        return
    stored = clean_turn(row)
    if stored is not None:
        assert stored.content.encode()
        assert "\0" not in stored.content
        json.dumps(stored.metadata).encode()
    assert row.line >= 1
    assert row.branch in BRANCHES
    assert row.kind in TURN_KINDS
    assert not reader.is_specific or reader is OWN_EXPORT or row.role in ROLES  # an export has the words of any file


def quirk_of(path):
    """`codex-q4` of `codex-q4-parent.jsonl`, None for a fixture of no quirk; what stands before the format is a date."""
    found = _QUIRK.search(path.name.split(".")[0])
    return found[1] if found else None


def quirks_of(format_name):
    """The quirks that the fixtures of a format show."""
    folder = inputs(format_name)[0].parent
    return {quirk for path in (*inputs(format_name), *folder.glob("refused/*")) if (quirk := quirk_of(path))}
