"""The rules and word lists that are data work, and none of their entries could be deleted."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import ModuleType

import pytest
from program import REPOSITORY

from pastchats_memory.redact.rules import Finder, ScannedText, Secret, load_rules


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


@pytest.mark.parametrize(("example", "expected"), [("a mysql -p", "a mongo -p"), ("a MYSQL -p", "a MONGO -p")])
def test_a_keyword_takes_the_place_of_the_first_in_an_example(checker: ModuleType, example: str, expected: str) -> None:
    assert checker.put_keyword(example, "mysql", "mongo") == expected


def test_a_keyword_that_misses_the_example_of_its_entry_is_reported(checker: ModuleType) -> None:
    def find_mysql(scanned: ScannedText, places: Iterable[int]) -> Iterable[Secret]:
        return (Secret(at, at + 1, "password") for at in places if scanned.text.startswith("mysql", at))

    entry = {"keywords": ["mysql", "mongo"], "example": "mysql", "counter_example": "a password=kf83Qzzt19"}
    finders: dict[str, list[Finder]] = {"mysql": [find_mysql], "mongo": [find_mysql]}
    assert list(checker.check_keywords([entry], "keywords", finders)) == [
        "'mongo': does not find 'mongo'",
        "'a password=kf83Qzzt19': has none of the keywords ['mysql', 'mongo']",
        "'a password=kf83Qzzt19': is redacted",
    ]
