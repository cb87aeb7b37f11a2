"""The feature files themselves: nothing left out, one wording a step, the contract's scenarios word for word."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from types import ModuleType

import pytest
import test_features
from program import REPOSITORY
from pytest_bdd import given, parsers
from pytest_bdd.feature import get_features
from pytest_bdd.parser import Step
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

FEATURES = REPOSITORY / "features"
SHARED = REPOSITORY / os.environ.get("PASTCHATS_SHARED", "../shared")


def definitions(module: ModuleType) -> list[StepFunctionContext]:
    return [known for known in step_function_context_registry.values() if known.step_func.__module__ == module.__name__]


def steps() -> list[Step]:
    templated = [scenario for feature in get_features([str(FEATURES)]) for scenario in feature.scenarios.values()]
    rendered = [scenario.render(row) for scenario in templated for row in _rows(scenario)]
    return [step for scenario in rendered for step in scenario.steps]


def _rows(scenario) -> list[dict[str, object]]:
    return [dict(row) for examples in scenario.examples for row in examples.as_contexts()] or [{}]


def matching(step: Step, known: Sequence[StepFunctionContext]) -> int:
    return sum(of.type in (None, step.type) and of.parser.is_matching(step.name) for of in known)


def test_every_step_has_exactly_one_definition() -> None:
    known = definitions(test_features)
    found = {step.name: matching(step, known) for step in steps()}
    assert len(found) > 20
    assert {name: count for name, count in found.items() if count != 1} == {}


def test_every_definition_is_used_by_a_step() -> None:
    named = steps()
    unused = [of.parser.name for of in definitions(test_features) if not any(matching(step, [of]) for step in named)]
    assert unused == []


def test_two_definitions_of_one_step_would_be_noticed() -> None:
    rival = ModuleType("rival")
    exec(  # noqa: S102 - a step definition belongs to the module whose code defines it
        "@given(parsers.parse('a memory {thing} exists'))\ndef _(): ...",
        {"given": given, "parsers": parsers, **vars(rival)},
        vars(rival),
    )
    known = [*definitions(test_features), *definitions(rival)]
    assert [step.name for step in steps() if matching(step, known) > 1][:1] == ["a memory database exists"]


def test_every_scenario_of_every_feature_file_is_a_test() -> None:
    files = sorted(FEATURES.rglob("*.feature"))
    assert len(files) >= 4
    docstrings = {value.__doc__ for name, value in vars(test_features).items() if name.startswith("test_")}
    written = set()
    for file in files:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        names = [line.split(": ", 1)[1] for line in lines if line.startswith(("Scenario: ", "Scenario Outline: "))]
        assert names, f"{file} has no scenario"
        written |= {f"{file}: {name}" for name in names}
    assert docstrings == written


def test_the_scenarios_of_the_contract_stand_word_for_word() -> None:
    contract = SHARED / "SPEC.md"
    if not contract.exists():
        pytest.skip(f"{contract} is not here; set PASTCHATS_SHARED")
    wanted = contract.read_text(encoding="utf-8").split("```gherkin\n")[1].split("```")[0]
    assert textwrap.dedent(wanted) == (FEATURES / "prompt_memory.feature").read_text(encoding="utf-8")
