"""Test a format: its golden pairs, files of other formats, and damaged and growing files.

A package that adds a format calls `check_format` in a test. The tests of the built-in formats use the same functions.
Each `check` function raises AssertionError, which names the file and the fault.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pastchats_memory.formats.base.checkpoint import CannotResume, Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.session import Row
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.base.values import mapping_of
from pastchats_memory.model import TURN_KINDS, Task, TaskState, Turn
from pastchats_memory.text.clean import clean_turn

EXPECTED, MAP = ".expected", ".map"
"""Suffixes of the files beside an input: its rows, and the `--map` line by which it is read."""
ROLES = frozenset({"user", "assistant", "system", "tool", "note"})
BRANCHES = frozenset({"main", "abandoned", "sidechain"})


def check_format(format_: Format, folder: Path, scratch: Path) -> None:
    """Check a format with all files of a folder of fixtures.

    Args:
        format_: the format.
        folder: its inputs with their `.expected` files, and in `refused` files of other formats.
        scratch: an empty folder for damaged and growing copies, such as pytest's `tmp_path`.
    """
    for path in list_inputs(folder):
        check_pair(format_, path)
        check_damaged(format_, path, scratch)
        check_growing(format_, path, scratch)
    for path in sorted(folder.glob("refused/*")):
        check_refused(format_, path)


def list_inputs(folder: Path) -> list[Path]:
    """List the inputs of a folder of fixtures; a folder without any is a fault."""
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix not in (EXPECTED, MAP)]
    _require(found, f"no fixtures in {folder}")
    return found


def check_pair(format_: Format, path: Path) -> None:
    """Check that the format recognises an input and yields the rows of its `.expected` file."""
    found, wanted = [to_plain(row) for row in read_rows(format_, path)], load_expected(path)
    differing = next((place for place, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), None)
    if differing is not None:
        raise AssertionError(f"{path}: row {differing + 1} is\n{found[differing]}\nand not\n{wanted[differing]}")
    _require(len(found) == len(wanted), f"{path}: {len(found)} rows, and not {len(wanted)}")


def check_refused(format_: Format, path: Path) -> None:
    """Check that the format does not recognise a file of another format."""
    _require(not _detects(format_, SourceFile(path)), f"{path} is recognised as {format_.name}")


def check_damaged(format_: Format, path: Path, scratch: Path) -> None:
    """Check that the file is read without an exception after each of its lines is lost, doubled or cut."""
    lines = path.read_bytes().splitlines(keepends=True)
    copy = scratch / path.name
    for place, line in enumerate(lines):
        before, after = b"".join(lines[:place]), b"".join(lines[place + 1 :])
        for damaged in (b"", line * 2, line[: len(line) // 2]):
            copy.write_bytes(before + damaged + after)
            source = SourceFile(copy)
            if _detects(format_, source):
                for row in format_.read(source):
                    check_row(row, format_)


def check_growing(format_: Format, path: Path, scratch: Path, first: int = 1) -> int:
    """Check that a file cut after any line from `first` on gives, once it is complete again, the rows of the whole file.

    Return how often the format resumed; 0 for a format that yields no checkpoint.
    """
    lines = path.read_bytes().splitlines(keepends=True)
    copy = scratch / path.name
    copy.write_bytes(b"".join(lines))
    before, _, after = read_to_checkpoint(format_, copy)
    resumed = 0
    for cut in range(first, len(lines)):
        copy.write_bytes(b"".join(lines[:cut]))
        certain, checkpoint, open_rows = read_to_checkpoint(format_, copy)
        copy.write_bytes(b"".join(lines))
        if checkpoint is None:
            continue
        try:
            more, _, rest = read_to_checkpoint(format_, copy, checkpoint)
        except CannotResume:
            continue
        resumed += 1
        _require(turns_of(certain + more + rest) == turns_of(before + after), f"{path}: other turns after line {cut}")
        _require(_states_of(open_rows + rest) == _states_of(after), f"{path}: other tasks after line {cut}")
    return resumed


def check_row(row: Row, format_: Format) -> None:
    """Check that a row can be stored: its words are known, its text is clean, and its metadata is JSON."""
    if isinstance(row, Checkpoint):
        json.dumps(row.state)
    elif isinstance(row, Task):
        _require(row.native_id and row.line >= 0, f"a task without an id or a line: {row}")
        json.dumps(dict(row.metadata))
    elif isinstance(row, Turn):
        stored = clean_turn(row)
        if stored is not None:
            _require(stored.content.encode() and "\0" not in stored.content, f"a text that cannot be stored: {row}")
            json.dumps(stored.metadata)
        _require(row.line >= 1, f"a turn without a line: {row}")
        _require(row.branch in BRANCHES and row.kind in TURN_KINDS, f"an unknown branch or kind: {row}")
        _require(row.role in ROLES or not format_.is_specific or format_.name == "export", f"an unknown role: {row}")
    else:
        _require(row.path and row.reason and row.line >= 0, f"an unreadable line without path or reason: {row}")


def read_rows(format_: Format, path: Path) -> list[Row]:
    """Return the rows of a file without checkpoints; a file that the format does not recognise is a fault."""
    source = SourceFile(path)
    _require(format_.detect(source), f"{path} is not recognised as {format_.name}")
    return [row for row in format_.read(source) if not isinstance(row, Checkpoint)]


def read_to_checkpoint(
    format_: Format, path: Path, resumed: Checkpoint | None = None
) -> tuple[list[Row], Checkpoint | None, list[Row]]:
    """Return the rows before the checkpoint, the checkpoint as it is stored, and the rows that may still change.

    Raises CannotResume if added lines change earlier turns.
    """
    rows = list(format_.read(SourceFile(path, resumed=resumed)))
    place = next((place for place, row in enumerate(rows) if isinstance(row, Checkpoint)), len(rows))
    checkpoint = next((row for row in rows[place:] if isinstance(row, Checkpoint)), None)
    stored = checkpoint and Checkpoint(checkpoint.offset, checkpoint.line, json.loads(json.dumps(checkpoint.state)))
    return rows[:place], stored, rows[place + 1 :]


def load_expected(path: Path) -> list[dict[str, object]]:
    """Return the rows of the `.expected` file beside an input."""
    rows: list[dict[str, object]] = json.loads(path.with_suffix(EXPECTED).read_text(encoding="utf-8"))
    return rows


def dump_expected(format_: Format, path: Path) -> str:
    """Return the text of the `.expected` file of an input, as the format reads it now."""
    return json.dumps([to_plain(row) for row in read_rows(format_, path)], indent=1, ensure_ascii=False)


def to_plain(row: Row) -> dict[str, object]:
    """Return the fields of a row that are set, as an `.expected` file has them.

    Paths, working directories of tasks and calls are left out: they depend on where the files lie, or are too long.
    """
    values = mapping_of(_to_json(row))
    left_out = {"path", "calls", *(["cwd"] if isinstance(row, Task) else [])}
    unset: tuple[object, ...] = (None, "", []) if isinstance(row, Task) else (None,)
    defaults: dict[str, object] = {} if isinstance(row, Task) else {"branch": "main", "metadata": {}}
    present = {key: value for key, value in values.items() if key not in left_out and value not in unset}
    return {key: value for key, value in present.items() if value != defaults.get(key)}


def _to_json(value: object) -> object:
    """Return named tuples and mappings as dicts, and other sequences as lists."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, Mapping):
        return {key: _to_json(item) for key, item in value.items()}
    return [_to_json(item) for item in value] if isinstance(value, tuple | list) else value


def _detects(format_: Format, source: SourceFile) -> int:
    try:
        return format_.detect(source)
    except NotText:
        return 0


def turns_of(rows: list[Row]) -> list[Row]:
    """Return the rows that are no tasks, without calls, which no checkpoint keeps."""
    return [row._replace(calls=()) if isinstance(row, Turn) else row for row in rows if not isinstance(row, Task)]


def _states_of(rows: list[Row]) -> dict[str, list[TaskState]]:
    states: dict[str, list[TaskState]] = {}
    for row in rows:
        if isinstance(row, Task):
            states.setdefault(row.native_id, []).extend(row.states)
    return states


def _require(holds: object, fault: str) -> None:
    if not holds:
        raise AssertionError(fault)
