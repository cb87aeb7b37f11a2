"""The rules and word lists that are data work, and none of their entries could be deleted."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import pytest
from program import REPOSITORY

from pastchats_memory.redact.rules import load_rules


@pytest.fixture(scope="module")
def checker() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(REPOSITORY / "scripts")
        yield importlib.import_module("check_word_lists")


def test_no_data_file_has_a_problem(checker: ModuleType) -> None:
    problems = {file: list(check()) for file, check in checker.CHECKS.items()}
    assert problems
    assert not any(problems.values()), problems


def test_a_redaction_rule_whose_example_another_rule_finds_is_reported(checker: ModuleType) -> None:
    github = next(rule for rule in load_rules() if rule.id == "github-token")
    copy = replace(github, id="copy-of-github-token")
    example = checker.fill_example("ghp_{A36}")
    assert checker.find_overlaps(copy, example) == ["github-token"]
    assert checker.find_overlaps(github, example) == []
    (problem,) = checker._check_rule(copy, example, "ghp_ begins a token", "")  # noqa: SLF001 - one rule of the check
    assert problem.startswith("copy-of-github-token: github-token find its example")


def test_a_redaction_rule_that_misses_its_example_or_finds_its_counter_example_is_reported(checker: ModuleType) -> None:
    github = next(rule for rule in load_rules() if rule.id == "github-token")
    token = checker.fill_example("ghp_{A36}")
    problems = list(checker._check_rule(github, "ghp_short", token, ""))  # noqa: SLF001 - as above
    assert problems == [
        "github-token: does not find its example",
        "github-token: its counter-example is redacted",
    ]
