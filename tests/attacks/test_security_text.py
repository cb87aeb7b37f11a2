"""Every promise of SECURITY.md names a test, and that test is there."""

from __future__ import annotations

import ast
import re

from program import REPOSITORY

NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_promise_names_a_test_that_exists() -> None:
    text = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
    promises = [line for line in text.splitlines() if line.startswith("| ") and "| shown by |" not in line]
    assert len(promises) > 8
    for promise in promises:
        shown = NAMED.findall(promise)
        assert shown, f"no test shows: {promise}"
        for file, name in shown:
            tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (
                f"{file} has no {name}"
            )
