"""Two similar requests concern one problem, or two."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.problems import has_different_name, is_same_problem


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Add a --verbose flag to the export command", "Add a --dry-run flag to the export command"),
        ("Fix the failing test in the orders module", "Fix the failing test in the users module, it is red again"),
        (
            "Fix the type errors that mypy finds in store/rows.py",
            "Fix the type errors that mypy finds in store/hits.py",
        ),
        ("Look at the review comments of issue 12 and answer", "Look at the review comments of issue 14 and answer"),
        ("Write unit tests for the parseDate function", "Write unit tests for the formatDate function"),
        ("Translate the onboarding mails into French please", "Translate the onboarding mails into German please"),
        ("Implement step 3 of the release plan", "Implement step 4 of the release plan"),
        ("Add an endpoint for the invoice totals", "Add an endpoint for the customer notes"),
    ],
)
def test_requests_that_differ_in_a_name_are_two_problems(first: str, second: str) -> None:
    assert not is_same_problem(first, second)
    assert not is_same_problem(second, first)
    assert is_same_problem(first, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The CSV import fails on umlauts with UnicodeDecodeError, please fix the import.",
         "CSV import fails on umlauts again (UnicodeDecodeError), fix the import please"),
        ("Fix the CSV import: it fails on umlauts with UnicodeDecodeError.", "The CSV import breaks on umlauts (UnicodeDecodeError)."),
        ("The webhook worker sends some events twice, make it send each of them once.",
         "The webhook worker delivers some of the events twice, make it send each one once."),
        ("The login test in login.spec.ts is flaky on CI.", "The login test is flaky on CI again, see login.spec.ts and retry."),
    ],
)  # fmt: skip
def test_requests_for_the_same_in_slightly_other_words_are_one_problem(first: str, second: str) -> None:
    assert is_same_problem(first, second)
    assert is_same_problem(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Fix the type errors in src/app.ts please", "Fix the type errors in app.ts please"),
        ("Correct the typos in the README please", "Correct the typos in the README.md please"),
        ("Sort the imports in web/src/app", "Sort the imports in app.ts"),
    ],
)
def test_a_file_by_a_longer_path_or_without_its_suffix_is_the_same_file(first: str, second: str) -> None:
    assert not has_different_name(first, second)
    assert not has_different_name(second, first)


def test_files_of_one_name_with_two_suffixes_are_two() -> None:
    assert has_different_name("Tidy the rules in index.css", "Tidy the rules in index.html")
