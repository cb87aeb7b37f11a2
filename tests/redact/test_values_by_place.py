"""Secrets that their place or their name shows, and values in the same places that are none."""

from __future__ import annotations

import json
import random
import string

import pytest

from pastchats_memory.redact import redact

CHANCE = random.Random(7)  # noqa: S311 - no secret
HEX, WORD = (
    "".join(CHANCE.choices("0123456789abcdef", k=64)),
    "".join(CHANCE.choices(string.ascii_letters + string.digits, k=27)),
)
PASSWORD = "Mango-kf83Qz"  # noqa: S105 - of nobody


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Added `CRON_SECRET` as an environment variable (Production, Preview) with value `{HEX}`", HEX),
        (f"Set JWT_SECRET to {HEX}", HEX),
        (f"> Private-Lines: 1\n> {WORD}A1==\n> Private-MAC: {HEX}", WORD),
        (f"kind: Secret\nstringData:\n  key: |\n    {PASSWORD}\n", PASSWORD),
        (f"$ argocd admin initial-password -n argocd\n{PASSWORD}\n", PASSWORD),
        (f"log in as root with {PASSWORD}", PASSWORD),
        (f"try logging in with {PASSWORD}", PASSWORD),
        (f'<%= ENV["DB_PASSWORD"] || "{PASSWORD}" %>', PASSWORD),
        (f"git clone https://{WORD}@github.com/ada/shop", WORD),
        (f'salt = "{WORD}"', WORD),
        ("PIN: 4711", "4711"),
        (f"snmpwalk -v2c -c {PASSWORD} 10.0.0.1", PASSWORD),
        (f"secret-tool store --label=x a b <<< {PASSWORD}", PASSWORD),
        (f"2{WORD[:26]}_{WORD[:21]}", WORD[:26]),
        (f"00{WORD}{WORD[:13]}", WORD),
        (json.dumps({"text": f"contraseña: {PASSWORD}\nusuario: ada"}), PASSWORD),
        (json.dumps(json.dumps({"text": f"kind: Secret\nstringData:\n  key: |\n    {PASSWORD}\n"})), PASSWORD),
    ],
)
def test_a_secret_is_removed_where_its_place_shows_it(text: str, secret: str) -> None:
    assert secret not in redact(text).text


def test_a_value_that_is_recognised_once_is_removed_from_the_whole_text() -> None:
    text = f"DB_PASSWORD={PASSWORD}\nada / {PASSWORD} worked; the hash of that is in q-{PASSWORD}.sql"
    assert PASSWORD not in redact(text).text
    assert redact("password: dragon\nthe dragon sleeps").text.endswith("the dragon sleeps")


@pytest.mark.parametrize(
    "text",
    [
        '_NO_KEY = re.compile(r"^[A-Z]{3}$|foo-bar1")', "password: PasswordHasher2", "private readonly apiKey: ApiKey1Type;",
        "validates :password, if: :password_required?", "config.password_length = 6..128", "reset_password_within = 6.hours",
        'tokenizer("unicode61")', "Client Credentials Grant: https://a.example/x1/y2", "log in with OAuth2", "snmpwalk -v2c -c public host",
        "kind: Secret\nstringData:\n  user: ${USER}\n---\nkind: Deployment\nspec:\n  - image: postgres:18.3",
    ],
)  # fmt: skip
def test_code_in_such_places_stays(text: str) -> None:
    assert redact(text).text == text
