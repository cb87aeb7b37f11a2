"""The structure of the package, and the habits that can be counted."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from program import REPOSITORY, find_script

from pastchats_memory.formats.registry import BUILT_IN
from pastchats_memory.store import visible

PACKAGE = REPOSITORY / "pastchats_memory"
ORDINARY_WORDS = {"agent", "agent-log", "continue", "cursor", "plan", "plan-files", "prompt", "prompt-history"}
"""Names of formats, and their beginnings, that texts use in another sense."""
FORBIDDEN_NAMES = {"utils", "common", "helpers"}


@cache
def modules(package: Path) -> tuple[tuple[Path, ast.Module], ...]:
    parsed = tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(package.rglob("*.py")))
    gc.freeze()  # a collection would look at every node again
    return parsed


@pytest.fixture(scope="module", autouse=True)
def release_trees() -> Iterator[None]:
    """Release all trees after the last test, as in `test_language`."""
    yield
    modules.cache_clear()


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and full names: of `from a.b import c` both `a.b` and `a.b.c`, since c may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def test_top_level_modules_are_the_three_that_everything_may_import() -> None:
    modules_at_top = {path.stem for path in PACKAGE.glob("*.py")}
    assert modules_at_top - {"__init__", "__main__"} == {"arrays", "errors", "fields"}


def test_every_import_is_absolute() -> None:
    relative = [
        f"{path}:{line}" for path, tree in modules(PACKAGE) for line, name in imports(tree) if name.startswith(".")
    ]
    assert relative == []


def test_the_imports_between_packages_are_those_of_the_contracts() -> None:
    run = subprocess.run(
        [find_script("lint-imports"), "--no-cache"],
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


def test_every_test_module_has_a_name_of_its_own() -> None:
    """Pytest refuses to run two modules of one name, which a run of a single folder does not show."""
    paths = {path.name: path for path in (REPOSITORY / "tests").rglob("test_*.py")}
    assert [path for path in (REPOSITORY / "tests").rglob("test_*.py") if paths[path.name] != path] == []


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
    files = [path for suffix in ("*.py", "*.toml", "*.txt") for path in PACKAGE.rglob(suffix)]
    assert len(files) > 100
    assert not {
        f"{path.name}: {found[0]}"
        for path in files
        for found in repeated_group.finditer(path.read_text(encoding="utf-8"))
    }


ALL = frozenset({"*"})
WRITERS: dict[str, frozenset[str]] = {
    "store/checks.py": ALL,
    "store/deletion.py": ALL,
    "store/inserted.py": ALL,
    "store/live_events.py": ALL,
    "store/middles.py": ALL,
    "store/pending_vectors.py": ALL,
    "store/recover.py": ALL,
    "store/redactions.py": ALL,
    "store/repeated_runs.py": ALL,
    "store/replies.py": ALL,
    "store/sources.py": ALL,
    "store/sync.py": ALL,
    "store/tasks.py": ALL,
    "store/tombstone_transfer.py": ALL,
    "store/tombstones.py": ALL,
    "store/vectors/reindex.py": ALL,
    "store/vectors/vec0.py": ALL,
    "store/visible.py": ALL,
    "store/interchange.py": frozenset({"newer_than"}),
    "store/recalled.py": frozenset({"add", "delete_quoting", "_find_source"}),
    "store/outcomes.py": frozenset({"mark_all", "mark_of_tasks", "claim_rules", "first_to_derive"}),
    "store/turns.py": frozenset({"known_vectors", "overwrite", "_find_outgrown", "_stored"}),
}
"""Modules that write, check or exchange rows, or their functions that do: they read the tables themselves."""
READ_TABLE = re.compile(rf"(?<!DELETE )\b(?:FROM|JOIN) (?:main\.)?(?:{'|'.join(visible.TABLES)})\b")


def readers_of_tables(path: Path, tree: ast.Module) -> Iterator[str]:
    """Functions, classes and constants of a module whose SQL reads a table that has a view."""
    for part in tree.body:
        names = [target.id for target in getattr(part, "targets", []) if isinstance(target, ast.Name)]
        texts = [node.value for node in ast.walk(part) if isinstance(node, ast.Constant)]
        if any(isinstance(text, str) and READ_TABLE.search(text) for text in texts):
            yield getattr(part, "name", None) or ", ".join(names) or f"{path}:{part.lineno}"


def test_readers_read_the_views_of_visible_rows() -> None:
    found = {
        module: frozenset(readers_of_tables(path, tree))
        for path, tree in modules(PACKAGE)
        if WRITERS.get(module := path.relative_to(PACKAGE).as_posix()) != ALL
    }
    assert {module: names for module, names in found.items() if names} == {
        module: names for module, names in WRITERS.items() if names != ALL
    }


def test_every_listed_writer_reads_a_table() -> None:
    for module, names in WRITERS.items():
        if names == ALL:
            path = PACKAGE / module
            assert list(readers_of_tables(path, ast.parse(path.read_text(encoding="utf-8")))), module


def test_a_name_of_a_class_has_one_meaning() -> None:
    places: dict[str, set[str]] = {}
    for path, tree in modules(PACKAGE):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add(str(path.relative_to(PACKAGE)))
    same = {"FirstPass"}  # several agents' formats read a file in two passes
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in same} == {}


def graph_of_imports() -> dict[str, set[str]]:
    """The modules that each module imports, inside its functions too."""
    named = {
        ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__"): tree
        for path, tree in modules(PACKAGE)
    }
    graph = {}
    for name, tree in named.items():
        full = {
            f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in named else str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        } | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        graph[name] = (full & named.keys()) - {name}
    return graph


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = graph_of_imports()
    below = {name: set(found) for name, found in graph.items()}
    for middle in graph:  # the transitive closure, as Warshall makes it
        for found in below.values():
            if middle in found:
                found.update(below[middle])
    circles = {
        frozenset({name, *(one for one in found if name in below[one])})
        for name, found in below.items()
        if name in found
    }
    assert circles == set()
