"""Names and docstrings use the words of the glossary, and docstrings begin with a verb."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from program import REPOSITORY

MODULES = sorted(
    [
        *(REPOSITORY / "pastchats_memory").rglob("*.py"),
        *(REPOSITORY / "scripts").rglob("*.py"),
        *(REPOSITORY / "benchmarks").rglob("*.py"),
    ],
)
RETIRED = {
    "told",
    "tell",
    "telling",
    "said",
    "kept",
    "going",
    "beside",
    "spoken",
    "buried",
    "taken",
    "meant",
    "deed",
    "deeds",
    "errand",
    "asked",
    "finding",
    "findings",
}
"""Words that had several meanings, or none that a reader would guess."""
RETIRED_IN_TESTS = {"told", "tell", "telling", "said", "spoken", "buried", "deed", "deeds", "errand"}
"""Retired words that no sentence about behaviour needs either."""
CLAUSES = {
    "what",
    "who",
    "whoever",
    "whose",
    "whether",
    "where",
    "wherever",
    "how",
    "of",
    "nor",
    "neither",
    "it",
    "its",
}
"""Words at the start of a test's name that make it a half sentence or one that needs the test above it."""
JSON_FIELDS = {"asked", "asked_before", "files_taken", "going", "is_asked", "said_next"}
"""Fields of the published JSON. They may be fields of a class, since programs that read the JSON depend on them."""
NOT_IMPERATIVE = {"What", "Who", "Whoever", "Whether", "Where", "How", "Of"}
"""Words that begin a clause."""
ARTICLES = {"The", "A", "An"}
"""Words that begin a noun phrase, which only a property may have."""
LONGEST = 120
"""Characters of a docstring's first line. Aim for fewer than 80."""


def parse_all(paths: Iterable[Path]) -> tuple[tuple[Path, ast.Module], ...]:
    parsed = tuple((path.relative_to(REPOSITORY), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)
    gc.freeze()  # a collection would look at every node again
    return parsed


@cache
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    return parse_all(MODULES)


@cache
def parsed_tests() -> tuple[tuple[Path, ast.Module], ...]:
    return parse_all(sorted((REPOSITORY / "tests").rglob("*.py")))


@pytest.fixture(scope="module", autouse=True)
def release_trees() -> Iterator[None]:
    """Release all trees after the last test: each process of the tests would hold half a gigabyte to its end."""
    yield
    trees.cache_clear()
    parsed_tests.cache_clear()


def is_product_word(name: str) -> bool:
    """Tell whether a name has `said_next`, the answer's field of the user's next message."""
    return "said_next" in name


def json_fields(tree: ast.Module) -> set[ast.AST]:
    """Return the annotated fields of classes that have the name of a published field."""
    bodies = (node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    targets = (node.target for node in chain.from_iterable(bodies) if isinstance(node, ast.AnnAssign))
    return {node for node in targets if isinstance(node, ast.Name) and node.id in JSON_FIELDS}


def names(node: ast.AST) -> list[str]:
    """Return the names that a node defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.arg():
            return [node.arg]
        case ast.Name(ctx=ast.Store()):
            return [node.id]
        case ast.Attribute(ctx=ast.Store()):
            return [node.attr]
        case ast.alias(asname=str(name)) | ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
            return [name]
        case _:
            return []


def words(name: str) -> set[str]:
    """Return the words of a name in lower case: `said` and `next` of `SaidNext` and `said_next`."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"))


def first_lines() -> Iterator[tuple[str, bool, str]]:
    """Yield place, whether it is a property, and first line of each function's docstring."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
                is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
                yield f"{path}:{node.lineno} {node.name}", is_property, text.split("\n")[0]


def test_no_name_contains_a_retired_word() -> None:
    found = [
        f"{path}:{getattr(node, 'lineno', 1)} {name}"
        for path, tree in trees()
        for exempt in [json_fields(tree)]
        for node in ast.walk(tree)
        for name in names(node)
        if words(name) & RETIRED and node not in exempt
    ]
    assert found == []


def test_no_name_in_the_tests_contains_a_word_that_no_sentence_needs() -> None:
    found = [
        f"{path}:{getattr(node, 'lineno', 1)} {name}"
        for path, tree in parsed_tests()
        for node in ast.walk(tree)
        for name in names(node)
        if words(name) & RETIRED_IN_TESTS and not is_product_word(name)
    ]
    assert found == []


def test_no_test_begins_with_a_clause_or_a_pronoun() -> None:
    found = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in parsed_tests()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and node.name.split("_")[1] in CLAUSES
    ]
    assert found == []


def test_no_module_is_named_by_a_retired_word() -> None:
    parts = {part for path in MODULES for part in path.relative_to(REPOSITORY).with_suffix("").parts}
    assert {part for part in parts if words(part) & RETIRED} == set()


@pytest.mark.parametrize(
    ("name", "is_retired"),
    [("said_next", True), ("SaidNext", True), ("_KEPT", True), ("last_message", False), ("foretold", False)],
)
def test_a_retired_word_is_a_whole_part_of_a_name(name: str, is_retired: bool) -> None:
    assert bool(words(name) & RETIRED) == is_retired


def test_no_docstring_of_a_function_begins_with_a_clause_or_a_noun() -> None:
    """Ruff's D401 finds verbs that are not imperative, but does not know most nouns."""
    wrong = [
        f"{place}: {line}"
        for place, is_property, line in first_lines()
        if (first := line.split()[0]) in NOT_IMPERATIVE or (first in ARTICLES and not is_property)
    ]
    assert wrong == []


def test_the_first_line_of_a_docstring_is_one_short_sentence() -> None:
    wrong = [
        f"{place}: {line}" for place, _, line in first_lines() if len(line) > LONGEST or not line.endswith((".", "?"))
    ]
    assert wrong == []
