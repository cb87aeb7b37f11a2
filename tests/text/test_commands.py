"""Test which commands count as the same, and which as another way to do the same."""

from __future__ import annotations

import pytest

from pastchats_memory.text.commands import find_program, find_purpose, is_related, is_variant


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


@pytest.mark.parametrize(
    ("purpose", "other", "expected"),
    [
        ("npm run e2e", "npm run test:e2e", True),
        ("pytest", "python -m pytest", True),
        ("docker compose up", "docker compose down && docker compose up", True),
        ("./migrate.sh --prod", "URL=x ./migrate.sh --prod", True),
        ("npm run e2e", "npm install", False),
        ("git push", "git pull --rebase", False),
        ("npm test", "npm test", False),
        ("make deploy", "./ops/deploy.sh staging", False),
    ],
)
def test_another_way_to_do_the_same(purpose: str, other: str, expected: bool) -> None:
    assert is_variant(purpose, other) is expected


def test_commands_are_related_by_an_argument() -> None:
    assert is_related("make deploy", "./ops/deploy.sh staging")
    assert not is_related("make deploy", "./ops/rollback.sh staging")
