"""The structure of the package, and the habits that can be counted."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from program import REPOSITORY

from pastchats_memory.formats.registry import BUILT_IN

PACKAGE = REPOSITORY / "pastchats_memory"
ORDINARY_WORDS = {"agent", "agent-log", "continue", "cursor", "plan", "plan-files", "prompt", "prompt-history"}
"""Names of formats, and their beginnings, that texts use in another sense."""
FORBIDDEN_NAMES = {"utils", "common", "helpers"}


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


def test_top_level_modules_are_the_two_that_everything_may_import() -> None:
    modules_at_top = {path.stem for path in PACKAGE.glob("*.py")}
    assert modules_at_top - {"__init__", "__main__"} == {"errors", "model"}


def test_every_import_is_absolute() -> None:
    relative = [
        f"{path}:{line}" for path, tree in modules(PACKAGE) for line, name in imports(tree) if name.startswith(".")
    ]
    assert relative == []


def test_the_imports_between_packages_are_those_of_the_contracts() -> None:
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def string_constants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and values of texts that are no docstrings."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.lineno, node.value


@pytest.mark.parametrize("package", ["ingest", "store", "hooks", "config"])
def test_no_agent_is_named_outside_of_its_own_folder(package: str) -> None:
    agents = {name for name, place in BUILT_IN.items() if place.startswith("agents.")}
    words = {word for name in agents for word in (name, name.partition("-")[0])} - ORDINARY_WORDS
    naming = re.compile(rf"(?<![a-z])({'|'.join(sorted(words, reverse=True))})(?![a-z])", re.IGNORECASE)
    named = [
        f"{path}:{line}: {text!r}"
        for path, tree in modules(PACKAGE / package)
        for line, text in string_constants(tree)
        if naming.search(text)
    ]
    assert named == []


def test_the_schema_that_people_read_is_the_one_that_runs() -> None:
    packaged = files("pastchats_memory.store").joinpath("schema.sql").read_bytes()
    assert (REPOSITORY / "schema.sql").read_bytes() == packaged


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


def test_no_pattern_repeats_a_group_possessively() -> None:
    # Python before 3.11.5 forgets to step back when the last round of such a group fails in its middle.
    # An atomic group around the repetition, `(?> (?: … )* )`, means the same and works everywhere.
    repeated_group = re.compile(r"\)(?:[*+?]|\{\{?\d*,?\d*\}\}?)\+")
    files = [path for suffix in ("*.py", "*.toml") for path in PACKAGE.rglob(suffix)]
    assert len(files) > 100
    assert not {
        f"{path.name}: {found[0]}"
        for path in files
        for found in repeated_group.finditer(path.read_text(encoding="utf-8"))
    }
