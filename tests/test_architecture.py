"""The table of rooms, and the habits that can be counted."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from program import REPOSITORY

from pastchats_memory.readers import FALLBACKS, READERS

PACKAGE = REPOSITORY / "pastchats_memory"
LONGEST_FUNCTION = 40
LONGEST_FILE = 400
FORBIDDEN_NAMES = {"utils", "common", "helpers"}

PURE = {
    "commands",
    "query",
    "rank",
    "outcome",
    "budget",
    "recollection",
    "render",
    "render_json",
    "pieces",
    "excerpt",
    "decisive",
    "fitting",
    "spelled_ids",
    "redact",
    "echo",
    "pasted",
    "statuses",
    "likeness",
    "questions",
    "spans",
    "dates",
    "rulebook",
}
SEARCHING = {"search", "episodes", "recall", "context", "tasks"}
BELOW = (
    {
        "forget",
        "reindex",
        "rescan",
        "embed",
        "store",
        "foreign",
        "readers",
        "formats",
        "ingest",
        "health",
        "config",
        "project",
        "whole_file",
        "citations",
        "located",
        "packed",
        "passages",
        "model",
        "errors",
    }
    | PURE
    | SEARCHING
)

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "model": set(),
    "config": {"errors", "whole_file"},
    **{room: {"model", "errors"} for room in PURE},
    "render": {"recollection", "model"},
    "render_json": {"recollection", "render", "model"},
    "pieces": set(),
    "spelled_ids": set(),
    "whole_file": set(),
    "rulebook": set(),
    "redact": {"model", "errors"},
    "excerpt": {"pieces"},
    "decisive": {"excerpt"},
    "fitting": {"decisive", "excerpt", "recollection", "render"},
    "outcome": {"commands", "model"},
    "dates": {"spans"},
    "questions": {"spans", "statuses"},
    "embed": {"errors"},
    "foreign": set(),
    "store": {"statuses", "model", "errors"},
    "readers": {"commands", "statuses", "model", "errors", "foreign", "formats"},
    "formats": {"readers", "model", "errors"},
    "project": set(),
    "packed": set(),
    "located": {"redact", "model"},
    "passages": {"redact"},
    "citations": {"readers", "store", "packed", "located", "passages", "model", "errors"},
    "ingest": {
        "readers",
        "formats",
        "embed",
        "store",
        "episodes",
        "project",
        "packed",
        "located",
        "passages",
        "model",
        "errors",
    }
    | PURE,
    **{room: {"embed", "store", "citations", "model", "errors"} | PURE | SEARCHING for room in SEARCHING},
    "health": {"embed", "store", "rulebook", "model", "errors"},
    "reindex": {"embed", "store", "errors"},
    "rescan": {"embed", "store", "episodes", "redact", "rulebook", "errors"},
    "forget": {"store", "model", "errors"} | PURE,
    "configured": {"config", "embed", "ingest", "formats", "model", "errors"},
    "arguments": {"project", "model", "errors"} | PURE,
    "privacy": {"config", "arguments", "located", "store", "tasks"},
    "memory": BELOW | {"configured", "arguments", "privacy"},
    "task_render": {"tasks", "model"} | PURE,
    "hooks": BELOW | {"memory", "arguments"},
    "http_server": BELOW | {"memory", "arguments", "task_render"},
    "mcp_server": BELOW | {"memory", "arguments", "task_render"},
    "cli": BELOW | {"configured", "arguments", "memory", "hooks", "http_server", "mcp_server", "task_render"},
    "__init__": {"memory", "recollection", "model", "errors"},
    "__main__": {"cli", "embed", "hooks"},
}
"""What each room may import of ours besides itself."""

FORMATS = {reader.__name__.rpartition(".")[2] for reader in (*READERS, *FALLBACKS) if hasattr(reader, "__name__")}
"""Readers of a format each: none may lean on another."""


def modules(package: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(package.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and full names: of `from a.b import c` both `a.b` and `a.b.c`, since c may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def trespasses(package: Path) -> list[str]:
    """Imports that the table does not allow."""
    rooms = {
        path.stem if path.is_file() else path.name for path in package.iterdir() if not path.name.startswith("__py")
    }
    faults = []
    for path, tree in modules(package):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        allowed = MAY_IMPORT.get(room)
        if allowed is None:
            faults.append(f"{room} is a room that the table does not know")
            continue
        for line, name in imports(tree):
            parts = name.split(".")
            if name.startswith("."):
                faults.append(f"{path.relative_to(package)}:{line} imports relatively")
            elif parts[0] == package.name and len(parts) > 1 and parts[1] in rooms - allowed - {room}:
                faults.append(f"{path.relative_to(package)}:{line} imports {name}")
    return faults


def leaning_formats(package: Path) -> list[str]:
    """Readers of a format that import another format's reader."""
    return sorted(
        {
            f"{path.name}:{line} imports {name.split('.')[2]}"
            for path, tree in modules(package / "readers")
            if path.stem in FORMATS
            for line, name in imports(tree)
            if name.startswith(f"{package.name}.readers.") and name.split(".")[2] in FORMATS - {path.stem}
        }
    )


def test_every_room_imports_only_what_the_table_allows() -> None:
    assert trespasses(PACKAGE) == []


def test_no_reader_leans_on_another_format() -> None:
    assert leaning_formats(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "line", "fault"),
    [
        ("store/prompts.py", "from pastchats_memory.embed import Vector", "store/prompts.py:1 imports"),
        ("rank.py", "def f():\n    from pastchats_memory.store import vectors", "rank.py:2 imports"),
        ("model.py", "from pastchats_memory import errors", "model.py:1 imports"),
        ("render.py", "from . import model", "render.py:1 imports relatively"),
        ("helpers.py", "", "helpers is a room that the table does not know"),
    ],
)
def test_an_import_against_the_table_is_noticed(tmp_path: Path, file: str, line: str, fault: str) -> None:
    package = tmp_path / "pastchats_memory"
    for room in ("store/prompts", "embed/packaged", "rank", "model", "errors", "render"):
        path = package / f"{room}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    (package / file).write_text(line, encoding="utf-8")
    assert any(found.startswith(fault) for found in trespasses(package))


def test_a_format_that_leans_on_another_is_noticed(tmp_path: Path) -> None:
    readers = tmp_path / "pastchats_memory" / "readers"
    readers.mkdir(parents=True)
    (readers / "codex.py").write_text("from pastchats_memory.readers import claude_code", encoding="utf-8")
    assert leaning_formats(readers.parent) == ["codex.py:1 imports claude_code"]


def test_the_schema_that_people_read_is_the_one_that_runs() -> None:
    packaged = files("pastchats_memory.store").joinpath("schema.sql").read_bytes()
    assert (REPOSITORY / "schema.sql").read_bytes() == packaged


def test_functions_and_files_stay_short() -> None:
    long_files = {
        path.name: length
        for path, _ in modules(PACKAGE)
        if (length := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }
    long_functions = {
        f"{path.relative_to(PACKAGE)}:{node.name}": length
        for path, tree in modules(PACKAGE)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (length := lines_of(node)) > LONGEST_FUNCTION
    }
    assert (long_files, long_functions) == ({}, {})


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines without those of the docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


@pytest.mark.parametrize("folder", ["pastchats_memory", "tests", "scripts"])
def test_nothing_is_mocked(folder: str) -> None:
    mocking = [
        f"{path}:{line}"
        for path, tree in modules(REPOSITORY / folder)
        for line, name in imports(tree)
        if name.startswith(("unittest.mock", "mock", "pytest_mock"))
    ]
    assert mocking == []


def test_there_is_no_room_for_everything() -> None:
    named = {path.stem for path in PACKAGE.rglob("*.py")} | {path.name for path in PACKAGE.rglob("*") if path.is_dir()}
    assert named & FORBIDDEN_NAMES == set()
    classes = {node.name for _, tree in modules(PACKAGE) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert [name for name in sorted(classes) if re.search(r"(Manager|Service|Helper)\Z", name)] == []


def test_the_lowest_supported_python_reads_every_module() -> None:
    for folder in ("pastchats_memory", "scripts"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 11))
    assert sys.version_info >= (3, 11)
