"""Test which commands count as the same, and which as another way to do the same."""

from __future__ import annotations

import pytest

from pastchats_memory.text.commands import (
    find_folder,
    find_program,
    find_purpose,
    is_related,
    simplify_purpose,
    sort_options,
)


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("cd /srv/app && npm test 2>&1 | tail -20", "npm test"),
        ("timeout 60 pytest -q tests/x.py", "pytest tests/x.py"),
        ('git commit -m "fix: a && b; c"', "git commit"),
        ("npm run build; echo done", "npm run build"),
        ("docker compose down && docker compose up -d", "docker compose down && docker compose up -d"),
        ("LANG=C ./run.sh", "LANG=C ./run.sh"),
        ("npm   run\n  'e2e'", "npm run e2e"),
        ("python -c 'import a; print(1)'", "python -c import a; print(1)"),
        ("docker run -v /a:/b image", "docker run -v /a:/b image"),
        ("nohup ./serve.sh &", "./serve.sh"),
        ("python -m build", "python -m build"),
        ("pytest -m slow", "pytest -m slow"),
        ('git add . && git commit -m "a | b; echo c"', "git add . && git commit"),
        ("cat x | grep y", ""),
        ("ls && git status", ""),
        ("", ""),
    ],
)
def test_the_purpose_of_a_command(command: str, purpose: str) -> None:
    assert find_purpose(command) == purpose


@pytest.mark.parametrize(
    ("purpose", "program"),
    [
        ("uv run pytest tests", "pytest"),
        ("A=1 ./bin/serve --x", "serve"),
        ("npm ci && npm test", "npm"),
        ("python -m mypy", "mypy"),
        ("", ""),
    ],
)
def test_the_program_of_a_command(purpose: str, program: str) -> None:
    assert find_program(purpose) == program


def test_commands_are_related_by_an_argument() -> None:
    assert is_related("make deploy", "./ops/deploy.sh staging")
    assert not is_related("make deploy", "./ops/rollback.sh staging")


@pytest.mark.parametrize(
    ("purpose", "simplified"),
    [
        ("CI=1 npm run e2e", "npm run e2e"),
        ("PORT=1 npm start", "PORT=1 npm start"),
        ("python3.12 -m pytest ./tests", "pytest tests"),
        ("python3 manage.py migrate", "manage.py migrate"),
        ("python -c x", "python -c x"),
        ("npx --yes eslint .", "npx eslint ."),
        ("pytest /home/u/shop/tests/a.py", "pytest tests/a.py"),
        ("pytest C:/code/shop/tests/a.py", "pytest tests/a.py"),
        ("pytest /home/u/shop", "pytest ."),
        ("make all > /tmp/make.log", "make all"),
        ("make all | tee make.log", "make all"),
        ("echo x > notes.log", "echo x > notes.log"),
        ("CI=1", ""),
        ("", ""),
    ],
)
def test_a_purpose_has_one_spelling(purpose: str, simplified: str) -> None:
    assert simplify_purpose(purpose, "shop") == simplified


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("docker run -p 1:1 --name db image", "docker run --name db -p 1:1 image", True),
        ("cargo build --release --features gpu", "cargo build --features gpu --release", True),
        ("etl --date=2026-01-31", "etl --date 2026-01-31", True),
        ("cp -r a b", "cp -r b a", False),
        ("docker run -p 1:1 image", "docker run -p 2:2 image", False),
        ("npm test -- -u x", "npm test x -- -u", False),
    ],
)
def test_the_order_of_options_does_not_matter(one: str, other: str, expected: bool) -> None:
    assert (sort_options(one) == sort_options(other)) is expected


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("cd /home/u/shop && npm test", ""),
        ("cd /home/u/shop/packages/api/ && npm test", "packages/api"),
        ("cd 'my app'; make", "my app"),
        ("cd ./web && make", "web"),
        ("npm test", ""),
    ],
)
def test_the_folder_in_which_a_command_runs(command: str, folder: str) -> None:
    assert find_folder(command, "shop") == folder
