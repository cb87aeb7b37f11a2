"""A word is a password where only a value can stand, and stays where a program may name a variable."""

from __future__ import annotations

import re

import pytest

from pastchats_memory.redact import redact


@pytest.mark.promise(
    "secrets",
    "A password that is a plain word is removed if quotes or a settings file (`.env`, properties, INI, YAML) show it.",
)
@pytest.mark.parametrize(
    "text",
    [
        'password = "swordfish"',
        "password: 'swordfish'",
        'password = "correct-horse-battery"',
        'db = connect(user="app", password="swordfish", host="x")',
        '{"user": "app", "password": "swordfish"}',
        r"{\"user\": \"app\", \"password\": \"swordfish\"}",
        'const dbPassword = "swordfish";',
        'let pwd: string = "swordfish"',
        'PASSWD := "swordfish"',
        "$config['password'] = 'swordfish';",
        "password=swordfish",
        "export db_password=swordfish\n",
        "spring.datasource.username=app\nspring.datasource.password=swordfish\n",
        "     3→db.password=swordfish\r\n     4→db.user=app",
        "+password=swordfish",
        "[client]\nuser = root\n\n# of the old host\npassword = swordfish  # changed in May\nhost = db\n",
        "[database.main]\n  user = root\n  password = swordfish",
        "     1→[client]\n     2→user = root\n     3→password = swordfish\n",
        "database:\n  user: app\n  password: swordfish\n  port: 5432",
        "database:\n  password: swordfish",
        "Username: bob\nPassword: swordfish",
        "environment:\n  POSTGRES_PASSWORD: swordfish\n",
        "env:\n  - name: x\n    PGPASSWORD: swordfish",
        "JWT_SECRET=swordfish",
        "DB_PASSWORD=Blue.swordfish9!",
        "password = 'swordfish.day!'",
        "SECRET_KEY=swordfish",
        "export API_TOKEN=swordfish",
        "      - OPENAI_API_KEY=swordfish\n".strip(),
    ],
)
def test_a_word_that_is_set_as_a_password_is_taken_out(text: str) -> None:
    redacted = redact(text).text
    assert not re.search("swordfish|correct-horse", redacted)
    assert "[redacted:" in redacted


@pytest.mark.parametrize(
    "text",
    [
        "password = correcthorse",
        "    password = getpass(prompt)",
        "user = form.user\npassword = cleaned\nlogin(user, password)",
        "connect(\n    user=user,\n    password=plaintext\n)",
        "login({\n  user: name,\n  password: plaintext\n})",
        "login({\n  password: plaintext,\n  user: name\n})",
        "class Login(BaseModel):\n    username: str\n    password: str\n",
        "interface Login {\n  username: string\n  password: string\n}",
        "def login(password: str, token: str) -> None:",
        "data[i]\npassword = correcthorse",
        "properties:\n  password:\n    type: string\n",
        "columns:\n  email: varchar\n  password: varchar\n",
        "email: verified\npassword: unchanged\n",
        '{"username": "Benutzername", "password": "Passwort"}',
        'errors = {"password": "required"}',
        'password: "invalid"',
        'grant_type = "password"\nscope = "openid"',
        'password = "db." + environment',
        'password = "prefix" + suffix',
        "token=swordfish",
        "TOKEN_LIMIT=unlimited",
        "SECRET_NAME=production",
        "    API_TOKEN=arguments\n",
        "the password is forgotten",
    ],
)
def test_a_variable_a_type_or_a_label_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "[a]\n" + "password = \n" * 4_000,
        "[a]\n" + "k=v\n" * 9_000 + "password = swordfish",
        "password:" + " " * 60_000,
        "password=" + "a-" * 30_000,
        "\n" * 60_000 + "password: swordfish",
        "password: swordfish\n" * 3_000,
        "  " * 30_000 + "password = swordfish",
    ],
    ids=lambda text: repr(text[:24]),
)
def test_settings_made_to_hold_a_pattern_up_are_redacted(text: str) -> None:
    once = redact(text).text  # a pattern that one of them held up would reach the time limit of tests
    assert redact(once).text == once


def test_a_translation_of_the_word_password_stays() -> None:
    labels = "username=Uživatelské jméno\npassword=Heslo\ncaptcha=CAPTCHA\nremember=Zapamatovat přihlášení\n"
    assert redact(labels).text == labels
    assert "Dragonfly" not in redact("[db]\nuser=ada\npassword=Dragonfly\nhost=db.local\n").text
