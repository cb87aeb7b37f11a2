"""Secrets are replaced by their kind, and the rest of a text stays."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.redact import redact, redact_json, redact_split
from pastchats_memory.redact.rules import load_rules
from pastchats_memory.redact.secret_names import NAMES

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def drawn(alphabet: str, length: int) -> str:
    """Random characters, the same in every run, so that this file holds no token of a real account."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))  # noqa: S311 - nothing is kept secret with it


TOKEN_OF = {
    "anthropic-key": "sk-ant-api03-" + drawn(LETTERS + "-_", 93) + "AA",
    "openai-key": "sk-proj-" + drawn(LETTERS + "-_", 120),
    "aws-access-key": "AKIA" + drawn(string.ascii_uppercase + "234567", 16),
    "alibaba-access-key": "LTAI" + drawn(LETTERS, 11) + "7",
    "google-api-key": "AIza" + drawn(LETTERS + "-_", 35),
    "google-oauth-secret": "GOCSPX-" + drawn(LETTERS, 28),
    "azure-client-secret": drawn(LETTERS, 3) + "8Q~" + drawn(LETTERS, 34),
    "github-token": "ghp_" + drawn(LETTERS, 36),
    "gitlab-token": "glpat-" + drawn(LETTERS, 20),
    "slack-token": "xoxb-" + drawn(string.digits, 12) + "-" + drawn(string.digits, 13) + "-" + drawn(LETTERS, 24),
    "stripe-key": "sk_live_" + drawn(LETTERS, 24),
    "npm-token": "npm_" + drawn(LETTERS, 36),
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + drawn(LETTERS + "-_", 150),
    "hugging-face-token": "hf_" + drawn(string.ascii_letters, 34),
    "twilio-key": "SK" + drawn(HEX, 32),
    "sendgrid-key": "SG." + drawn(LETTERS, 22) + "." + drawn(LETTERS, 43),
    "telegram-token": drawn("123456789", 10) + ":AA" + drawn(LETTERS + "-_", 33),
    "digitalocean-token": "dop_v1_" + drawn(HEX, 64),
    "databricks-token": "dapi" + drawn(HEX, 32),
    "vault-token": "hvs." + drawn(LETTERS, 90),
    "mailchimp-key": drawn(HEX, 32) + "-us14",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI" + drawn(LETTERS, 40) + "." + drawn(LETTERS + "-_", 43),
}
CONTEXTS = (
    "Use {} for now, and rotate it on Monday.",
    'client = Client("{}")',
    '"text": "first line\\n{}\\nlast line"',
    "export THING={} && ./run",
    "https://api.example.org/v1/things?key={}&page=2",
    "callback%3D{}",
    "({})",
)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", TOKEN_OF)
def test_a_token_is_replaced_by_its_kind_wherever_it_stands(kind: str, context: str) -> None:
    token = TOKEN_OF[kind]
    redacted = redact(context.format(token)).text
    assert token not in redacted
    assert redacted == context.format(f"[redacted:{kind}]")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("POSTGRES_PASSWORD=postgres", "postgres"),
        ("my password is Tr0ub4dor&3 since May", "Tr0ub4dor&3"),
        ("curl -u admin:s3cr3tPass https://example.org", "s3cr3tPass"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='", "dXNlcjpwYXNzd29yZA=="),
        ("mysqldump --password=S3cretPw! shop", "S3cretPw!"),
        ('{"apiKey": "9f86d081884c7d659a2feaa0c55ad015"}', "9f86d081884c7d659a2feaa0c55ad015"),
        (r"{\"client_secret\": \"aB3dE5fG7hI9jK1lM3nO5pQ7\"}", "aB3dE5fG7hI9jK1lM3nO5pQ7"),
        ("https://example.org/v1?api_key=4f3c2b1a0d9e8f7a6b5c&page=1", "4f3c2b1a0d9e8f7a6b5c"),
        ("postgres://app:pa55word@localhost:5432/shop", "pa55word"),
        ("Server=tcp:db;User Id=app;Password=Pa$$w0rd;Encrypt=yes", "Pa$$w0rd"),
        ("<password>h4xx0r99</password>", "h4xx0r99"),
        ('request.setHeader("X-Api-Key", "abc123def456ghi789")', "abc123def456ghi789"),
        ("Set-Cookie: session=k4j5h6k7j8q9w1e2; Path=/", "k4j5h6k7j8q9w1e2"),
        ("AccountName=x;AccountKey=" + drawn(LETTERS + "+/", 86) + "==", drawn(LETTERS + "+/", 86)),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA04up8hoq\n-----END RSA PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEA",
        ),
        (r'"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhki\n-----END PRIVATE KEY-----\n"', "MIIEvQIBADANBgkqhki"),
    ],
)
def test_a_secret_behind_its_name_or_in_a_frame_is_replaced(text: str, secret: str) -> None:
    redacted = redact(text).text
    assert secret not in redacted
    assert "[redacted:" in redacted


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "data:image/png;base64," + drawn(LETTERS + "+/", 400),
        "max_tokens: 4096, total_tokens: 123456",
        "password: string",
        "the password is required",
        "token = request.token",
        "const token = process.env.TOKEN",
        'api_key = os.environ["API_KEY"]',
        "password = config.get_password(user)",
        "API_KEY=your-api-key-here",
        "password: ${DB_PASSWORD}",
        "postgres://app:${PASSWORD}@host/db",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
        'cache_key = f"user:{id}"',
        "git@github.com:org/repo.git",
        "the token count was 1500 for gpt-4-0613",
        "task-force, risk-free, sk-learn",
        "密码：存储密码失败",
    ],
)
def test_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert redact(text).text == text


def test_kinds_are_counted() -> None:
    token = TOKEN_OF["github-token"]
    assert redact(f"{token} and DB_PASSWORD=hunter2 and {token}").kinds == {"github-token": 2, "password": 1}


def test_metadata_is_redacted_by_its_texts_and_by_its_keys() -> None:
    metadata = {"api_key": "9f86d081884c7d659a2f", "nested": [{"note": f"see {TOKEN_OF['npm-token']}"}], "turns": 3}
    assert redact_json(metadata) == {
        "api_key": "[redacted:api-key]",
        "nested": [{"note": "see [redacted:npm-token]"}],
        "turns": 3,
    }


SECRETISH = st.sampled_from(
    [
        *TOKEN_OF.values(),
        "password",
        "=",
        ": ",
        '"',
        "\\n",
        "token",
        "hunter2",
        "://a:b1cdef@c",
        "-----BEGIN ",
        "eyJ",
        " ",
    ]
)


@given(st.lists(st.one_of(SECRETISH, st.text(max_size=8)), max_size=12).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@pytest.mark.parametrize("filler", ["a", "A1", "a.", ":", "=", "\\", " is", "b=", "-", "\n", "a:", '"'])
def test_text_made_to_hold_a_pattern_up_is_redacted(filler: str) -> None:
    keywords = {keyword for rule in load_rules() for keyword in rule.keywords} | {name.part for name in NAMES}
    for keyword in sorted(keywords):
        redact((keyword + filler * 200) * 3)  # a pattern that it held up would reach the time limit of tests


def test_a_word_behind_a_whole_secret_is_no_part_of_it() -> None:
    token = "glpat-q7Rw2Xc9Lm4Tz8Vb1NfK"  # noqa: S105 - nobody's
    assert redact_split(f"push with {token}", "Step 2: push") is None
    assert redact_split(f"push with {token[:14]}", f"{token[14:]} now") == (
        "push with [redacted:gitlab-token]",
        "[redacted:gitlab-token] now",
    )
