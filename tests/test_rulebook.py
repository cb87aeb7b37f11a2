"""The version of rules changes with what they state, and with nothing that is only said of them."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from program import REPOSITORY

from pastchats_memory import rulebook
from pastchats_memory.rulebook import version_of

PACKAGE = REPOSITORY / "pastchats_memory"
ROOMS = ("redact", "episodes/outcome")
MODULES = sorted(path for room in ROOMS for path in (PACKAGE / room).glob("*.py"))


def stated(text: str) -> str:
    """All that a module states, without strings that stand alone."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [one for one in node.body if not (isinstance(one, ast.Expr) and is_text(one.value))]
    return ast.dump(tree)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _in_short(said: re.Match[str]) -> str:
    """Of a docstring, which may be all that a function has, an empty one, so that what is left can be read."""
    indented = said[0].partition('"""')
    return f'{indented[0]}""\n' if indented[1] else ""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_nothing_that_a_rule_states_is_left_out_of_its_version(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    kept = rulebook._SAID.sub(_in_short, text)  # noqa: SLF001 - what the version is of
    assert stated(kept) == stated(text)
    assert len(kept) < len(text)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return Path(shutil.copy(PACKAGE / "redact" / "detector.py", tmp_path))


def test_comments_docstrings_and_empty_lines_do_not_count(rules: Path) -> None:
    before, text = version_of([rules]), rules.read_text(encoding="utf-8")
    said = (
        text.replace('"""One', '"""Another')
        .replace("\n\n", "\n\n\n")
        .replace("import re\n", "# Here.\nimport re  # so\n")
    )
    assert said.count("so") > text.count("so")
    rules.write_text(said, encoding="utf-8")
    assert version_of([rules]) == before


def test_a_pattern_a_number_and_a_name_count(rules: Path) -> None:
    text = rules.read_text(encoding="utf-8")
    versions = {version_of([rules])}
    for old, new in (("SPAN = 96", "SPAN = 97"), ("is_token", "is_name"), ("[A-Za-z0-9]", "[A-Za-z]")):
        assert old in text
        rules.write_text(text.replace(old, new), encoding="utf-8")
        versions.add(version_of([rules]))
    assert len(versions) == 4
