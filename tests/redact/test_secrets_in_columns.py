"""Secrets are found in a column below their name, and before a phrase that names them."""

from __future__ import annotations

import pytest

from pastchats_memory.redact import redact

KEY = "q7Rw2Xc9Lm4Tz8VbQ1nF6kYp"


@pytest.mark.parametrize(
    "written",
    [
        "| service | API key | since |\n|---|:--|---|\n| mail | {} | 2024 |",
        " id |  auth_token  \n----+--------------\n  1 | {}\n(1 row)",
        "+----+------------+\n| id | secret_key |\n+----+------------+\n| 1  | {} |\n+----+------------+",
        "name,password,role\nada,{},admin\n",
        "name,access_token\nada,{}\n",
        "name;password;role\nada;{};admin\n",
        "name\tpassword\nada\t{}\n",
        "NAME   PASSWORD        ROLE\nada    {}   admin\n",
        "use {} as the API key",
        "`{}` is my password, keep it",
        "(`{}`) is the Stripe secret key for staging",
    ],
)
def test_a_secret_below_or_before_its_name_is_replaced(written: str) -> None:
    redacted = redact(written.format(KEY)).text
    kind = "password" if "password" in written.lower() else "secret"
    assert redacted == written.format(f"[redacted:{kind}]")


@pytest.mark.parametrize(
    "harmless",
    [
        "| model | tokens |\n|---|---|\n| q7Rw2Xc9Lm4Tz8VbQ1nF6kYp | 1532 |",
        "| secret |\n|---|\nq7Rw2Xc9Lm4Tz8VbQ1nF6kYp is the build",
        "name,token,count\nthe,1,532\n",
        "name\tversion\nsshpass\tq7Rw2Xc9\npass\tq8Rw3Xc9\n",
        "first(token, key, value)\nq7Rw2Xc9Lm4Tz8VbQ1nF6kYp,1,2\n",
        "use q7Rw2Xc9Lm4Tz8VbQ1nF6kYp as the cache key",
        "d68bc27b841808cf77cccc317eff26d7a0b1c2d3 is the commit of the token",
    ],
)
def test_other_columns_and_other_names_stay(harmless: str) -> None:
    assert redact(harmless).text == harmless


@pytest.mark.parametrize(
    "line", ["password,a\n", "|--|\n", "| token |\n|---|\n", "a is the password ", "password,token,"]
)
def test_a_text_of_many_heads_of_columns_stays_as_it_is(line: str) -> None:
    text = line * 10_000  # time that grows with the square of it would reach the time limit of tests
    assert redact(text).text == text


def test_a_line_of_a_hundred_columns_that_is_no_head_is_read() -> None:
    text = "aa   " * 140 + "password  b\0\nx"
    assert redact(text).text == text
