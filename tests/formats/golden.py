"""What the reader tests share: a file's turns as plain values, the golden pairs of a format, real samples where there are any."""

import os
from pathlib import Path

import pytest
from made import made

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.key_map import KeyMap
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.testing import list_inputs, load_expected, to_plain
from pastchats_memory.model import Turn

expected, plain = load_expected, to_plain

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
FOLDERS = {"markdown": "dialogue"}
"""Where the fixtures of a format are, if not in a folder of its name."""


def inputs(format_name):
    """Every input file of a format's fixtures; never none."""
    return list_inputs(FIXTURES / FOLDERS.get(format_name, format_name))


def refused(format_name):
    found = sorted((FIXTURES / format_name / "refused").iterdir())
    assert found, f"no refused fixtures for {format_name}"
    return found


def key_map(path):
    """The `--map` line beside a file of messages, by which it is read; None for a file with known keys."""
    sidecar = path.with_suffix(".map")
    return KeyMap.parse(sidecar.read_text(encoding="utf-8").strip()) if sidecar.exists() else None


def rows(reader, path, **wanted):
    source = SourceFile(made(Path(path)), **wanted)
    assert reader.detect(source), f"{path} is not recognised"
    return [row for row in reader.read(source) if not isinstance(row, Checkpoint)]


def turns(reader, path, **wanted):
    return [row for row in rows(reader, path, **wanted) if isinstance(row, Turn)]


def shared(*parts):
    """A folder of real samples (PASTCHATS_SHARED, by default beside the repository); skips the test where there is none."""
    folder = Path(os.environ.get("PASTCHATS_SHARED", ROOT.parent / "shared")).joinpath(*parts)
    if not folder.is_dir():
        pytest.skip(f"no real samples at {folder}")
    return folder
