"""The version of rules changes with what they do, and with nothing that only describes them."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from program import REPOSITORY

from pastchats_memory.redact import rules_version
from pastchats_memory.redact.rules_version import hash_rules

PACKAGE = REPOSITORY / "pastchats_memory"
MODULES = sorted(path for folder in ("redact", "outcome") for path in (PACKAGE / folder).glob("*.py"))


def dump_statements(text: str) -> str:
    """All that a module states, without docstrings, and without the comments and empty lines of verbose patterns."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [one for one in node.body if not (isinstance(one, ast.Expr) and is_text(one.value))]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = re.sub(r"^[ \t]*(#.*)?\n|  # [^'\"\n]*$", "", node.value, flags=re.MULTILINE)
    return ast.dump(tree)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def shorten(found: re.Match[str]) -> str:
    """An empty docstring for a docstring, which may be all that a function has, so that the rest still parses."""
    indented = found[0].partition('"""')
    return f'{indented[0]}""\n' if indented[1] else ""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_statement_of_a_module_counts(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    statements = re.sub(rules_version._NO_CODE, shorten, text)  # noqa: SLF001 - what the version leaves out
    assert dump_statements(statements) == dump_statements(text)
    assert len(statements) < len(text)


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return Path(shutil.copy(PACKAGE / "redact" / "rules.py", tmp_path))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return Path(shutil.copy(PACKAGE / "redact" / "rules.toml", tmp_path))


def version_after(file: Path, old: str, new: str) -> str:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return hash_rules([file])


@pytest.mark.parametrize(
    ("old", "new"), [('"""One', '"""Another'), ("\n\n", "\n\n\n"), ("import re\n", "# Here.\nimport re  # so\n")]
)
def test_comments_docstrings_and_empty_lines_do_not_count(module: Path, old: str, new: str) -> None:
    before = hash_rules([module])
    assert version_after(module, old, new) == before


@pytest.mark.parametrize(
    ("old", "new"), [("SPAN = 96", "SPAN = 97"), ("is_token", "is_name"), ("[A-Za-z0-9]", "[A-Za-z]")]
)
def test_a_number_a_name_and_a_pattern_count(module: Path, old: str, new: str) -> None:
    before = hash_rules([module])
    assert version_after(module, old, new) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [("# A rule", "# Each rule"), ('description = "', 'description = "The '), ("example = '", "example = 'a")],
)
def test_comments_descriptions_and_examples_of_rules_do_not_count(rules: Path, old: str, new: str) -> None:
    before = hash_rules([rules])
    assert version_after(rules, old, new) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('id = "', 'id = "a-'),
        ("{20,200}", "{20,201}"),
        ('keywords = ["', 'keywords = ["a'),
        ("reach = 76", "reach = 77"),
    ],
)
def test_fields_that_find_and_name_secrets_count(rules: Path, old: str, new: str) -> None:
    before = hash_rules([rules])
    assert version_after(rules, old, new) != before


def test_a_release_has_one_version_for_modules_and_rules_together() -> None:
    files = (PACKAGE / "redact").iterdir()
    expected = hash_rules(sorted(file for file in files if file.suffix in {".py", ".toml"}))
    assert rules_version.rules_version() == expected
