"""Each form of writing a value behind a name finds secrets that no other form finds."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest
from program import REPOSITORY

from pastchats_memory.redact import assignments, redact, secret_names

FORMS = range(len(assignments._FORMS))  # noqa: SLF001 - data


@pytest.fixture(scope="module")
def examples() -> list[str]:
    """Return a text with a secret for each form, in the order in which the forms are tried."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(REPOSITORY / "scripts")
        checker = importlib.import_module("check_word_lists")
    return [checker.fill_example(entry["example"]) for entry in checker.read_entries("forms.toml", "forms")]


@pytest.fixture(params=FORMS)
def number(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of a form that is left out."""
    forms = [form for number, form in enumerate(assignments._FORMS) if number != request.param]  # noqa: SLF001 - data
    with monkeypatch.context() as patch:
        patch.setattr(assignments, "_FORMS", forms)
        kinds = {name.kind for name in secret_names.NAMES}
        without = {kind: assignments.assignments_by_character(kind) for kind in kinds}
        patch.setattr(secret_names, "_ASSIGNMENTS", without)
        yield request.param


@pytest.mark.parametrize("form", FORMS)
def test_the_secret_of_an_example_is_replaced(examples: list[str], form: int) -> None:
    assert redact(examples[form]).kinds.total() == 1


def test_no_other_form_finds_the_secret_of_a_form(examples: list[str], number: int) -> None:
    assert redact(examples[number]).text == examples[number]
