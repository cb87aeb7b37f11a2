"""What the reader tests share: a file's turns as plain values, the golden pairs of a format, real samples where there are any."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from made import made

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.key_map import KeyMap
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.model import Task, Turn

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
FOLDERS = {"markdown": "dialogue"}
"""Where the fixtures of a format are, if not in a folder of its name."""


def inputs(format_name):
    """Every input file of a format's fixtures; never none."""
    folder = FIXTURES / FOLDERS.get(format_name, format_name)
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix not in (".expected", ".map")]
    assert found, f"no fixtures for {format_name}"
    return found


def refused(format_name):
    found = sorted((FIXTURES / format_name / "refused").iterdir())
    assert found, f"no refused fixtures for {format_name}"
    return found


def expected(path):
    """The golden rows, as JSON; no `.json` in the name, so that indexing this repository does not take them for messages."""
    return json.loads(path.with_suffix(".expected").read_text(encoding="utf-8"))


def key_map(path):
    """The `--map` line beside a file of messages, by which it is read; None for a file with known keys."""
    sidecar = path.with_suffix(".map")
    return KeyMap.parse(sidecar.read_text(encoding="utf-8").strip()) if sidecar.exists() else None


def plain(row):
    """A row's fields without those that are not set."""
    values = as_json(row)
    values.pop("path", None)
    values.pop("edits", None)  # whole inputs of calls, which the tests of `blame` read
    if isinstance(row, Task):
        values["cwd"] = None  # which depends on where the fixtures lie
        return {key: value for key, value in values.items() if value not in (None, "", [])}
    unset = {"branch": "main", "metadata": {}}
    return {key: value for key, value in values.items() if value is not None and value != unset.get(key)}


def as_json(value):
    if hasattr(value, "_asdict"):
        return as_json(value._asdict())
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    return [as_json(item) for item in value] if isinstance(value, tuple | list) else value


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
