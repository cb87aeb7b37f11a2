"""Each form of writing a value behind a name finds secrets that no other form finds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pastchats_memory.redact import assignments, redact, secret_names

KEY = "k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P"
EXAMPLES = (
    f"Authorization: GenieKey {KEY}",
    f"bearer {KEY}",
    f"""headers["Authorization"] = "Bearer " + '{KEY}'""",
    f"Cookie: theme=dark; remember={KEY}",
    f"api_token = '{KEY}'",
    "//npm.example.org/:_auth=ZGVmdmNnOmdGZmo2QXZNNGNm",
    "**API key:** k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P",
    "https://maps.example/x?v=1&key=9f2b7c41d0e85a63b1f4c7d290e3a586",
    "grafana_session=22e29b004039fbab484e5cd5f8125c36",
    "https://chat.example.com/hooks/huxeu90q0o1elozb7kw8f7irlx",
    "password: |+\n  Tr0ub4dor&3\nnext: 1",
    'Password = Hash("kf83-Qzzt1")',
    "env:\n  - name: DB_PASSWORD\n    value: kf83-Qzzt\n  - name: PORT",
    f"| API token | {KEY} |",
    f'localStorage.setItem("access_token", "{KEY}")',
    'strcmp(password, "kf83-Qzzt")',
    "the password for the vault was rejected again: kf83-Qzzt",
    f'<string name="api_token">{KEY}</string>',
    "<pass>kf83Qzzt19xx</pass>",
    f'ds.setPassword("{KEY}");',
    f'  ~ api_key = "old" -> "{KEY}"',
    f"the API key I gave you yesterday (`{KEY}`) fails",
    f"driver.find_element(By.ID, 'password').send_keys('{KEY}')",
    f"I changed my password from {KEY} to something else",
    f"name,value\nAPI_TOKEN,{KEY}\nPORT,80",
    f"$ echo $API_TOKEN\n{KEY}\n$ ",
    f"The MISTRAL_API_KEY ({KEY}) does not work",
    "pass: kf83Qzzt19xx",
    "**Pass:** kf83Qzzt19xx",
    "user admin, pass kf83Qzzt19xx",
    "http -a me:kf83-Qzzt https://x.example",
    f"mysqldump --password {KEY} shop",
    f"vercel env add API_TOKEN production <<< {KEY}",
    f"the password is {KEY} now",
    f"key = {KEY}{KEY.swapcase()}",
    f"getKey('key', '{KEY}')",
    f"tool --key {KEY}",
    f"the key is {KEY}",
)
"""One text for each form, in the order in which the forms are tried."""


@pytest.fixture(params=range(len(EXAMPLES)))
def number(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of a form that is left out."""
    forms = [form for number, form in enumerate(assignments._FORMS) if number != request.param]  # noqa: SLF001 - data
    with monkeypatch.context() as patch:
        patch.setattr(assignments, "_FORMS", forms)
        kinds = {name.kind for name in secret_names.NAMES}
        without = {kind: assignments.assignments_by_character(kind) for kind in kinds}
        patch.setattr(secret_names, "_ASSIGNMENTS", without)
        yield request.param


def test_there_is_an_example_of_each_form() -> None:
    assert len(EXAMPLES) == len(assignments._FORMS)  # noqa: SLF001 - as above


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_secret_of_an_example_is_replaced(example: str) -> None:
    assert redact(example).kinds.total() == 1


def test_no_other_form_finds_the_secret_of_a_form(number: int) -> None:
    assert redact(EXAMPLES[number]).text == EXAMPLES[number]
