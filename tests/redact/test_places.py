"""The place of a secret shows that it is one: places that a corpus made without the rules found open."""

from __future__ import annotations

import pytest

from pastchats_memory.redact import redact

VALUE = "k7Tz4Vb8Nc1Rw6Ly3Hd5Js0P"
HEX = "9f2b7c41d0e85a63b1f4c7d290e3a586"
WORD = "Winter@1984Q"

PLACES = (
    "\x1b[32mDB_PASSWORD\x1b[0m=\x1b[33m{}\x1b[0m",
    "I rotated the API_KEY yesterday, the new one is {}, please update staging.",
    "The MISTRAL_API_KEY ({}) does not work any more.",
    'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}',
    'resource "p" {{\n  name  = "API_TOKEN"\n  type  = "SecureString"\n  value = "{}"\n}}',
    "const dbPass = '{}';",
    "ansible_become_pass: {}",
    "X-Smtp-Pass: {}",
    'ds.setPassword("{}");',
    'smtp.login("bob@example.com", "{}")',
    'await page.locator("#password").fill("{}");',
    "driver.find_element(By.ID, 'password').send_keys('{}')",
    "log in as admin / {} and look",
    "creds for the box: ubuntu:{}",
    "echo '{}' | docker login --username bot --password-stdin ghcr.io",
    "echo 'deploy:{}' | chpasswd",
    "printf {} | vercel env add API_TOKEN production",
    "lftp -u bob,{} ftp.example.com",
    "vault login {}",
    "mc alias set minio https://m.example.com ADMIN {}",
    "new PDO('mysql:host=db;dbname=app', 'root', '{}');",
    'sql.Open("mysql", "root:{}@tcp(127.0.0.1:3306)/app")',
    "auth = HTTPBasicAuth('bob', '{}')",
    "token: process.env.API_TOKEN ?? '{}',",
    "ENV['API_TOKEN'] ||= '{}'",
    'api_token: SecretStr = Field(default="{}")',
    'configuration["ApiToken"] = @"{}";',
    'buildConfigField("String", "API_TOKEN", "\\"{}\\"")',
    '<string name="api_token">{}</string>',
    "<key>API_TOKEN</key>\n<string>{}</string>",
    "&quot;api_token&quot;: &quot;{}&quot;",
    "api_token:\u00a0{}",
    "api_token: “{}”",
    "api_token\u200b=\u200b{}",
    "│ API_TOKEN │ {} │",
    "name,value\nAPI_TOKEN,{}\nPORT,80",
    "$ echo $API_TOKEN\n{}\n$ ",
    "my api token:\n\n```\n{}\n```\n",
    "aws ssm put-parameter --name /prod/API_TOKEN --type SecureString --value {}",
    '<meta name="csrf-token" content="{}">',
    "WIFI:T:WPA;S:home;P:{};;",
    "kind: Secret\nmetadata:\n  name: db\ndata:\n  app.conf: {}\n",
    "sqlplus scott/{}@ORCL",
    "het wachtwoord is {}",
    "I changed my password from {} to something else",
    'headers["Authorization"] = "Bearer " + "{}"',
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("secret", [VALUE, "Zq8_vT4-Lm2Xc9Rw7Nb1Kf6Hd"])
def test_a_secret_in_this_place_is_replaced_as_a_whole(place: str, secret: str) -> None:
    words = redact(place.format(secret)).text
    assert "[redacted:" in words
    assert secret[:8] not in words
    assert secret[-8:] not in words


@pytest.mark.parametrize(
    "place", ["DB_PASS={}\n", "dbPass = '{}'", "the root password is {} by the way", "la password è {}"]
)
def test_a_password_that_a_person_made_is_replaced(place: str) -> None:
    assert WORD not in redact(place.format(WORD)).text


@pytest.mark.parametrize(
    "place",
    ["hmac_key = {}", "fernetKey: '{}'", "app.openai.api.key={}", "mytool --hmac-key={}", "<aesKey>{}</aesKey>"],
)
def test_a_key_in_hexadecimal_is_replaced(place: str) -> None:
    assert HEX not in redact(place.format(HEX)).text


def test_a_private_key_is_replaced_in_numbered_lines_and_without_its_first_line() -> None:
    lines = [f"{VALUE * 2}{number:02}" for number in range(6)]
    numbered = "".join(f"{number:6}→{line}\n" for number, line in enumerate(lines, 2))
    whole = f"     1→-----BEGIN RSA PRIVATE KEY-----\n{numbered}     8→-----END RSA PRIVATE KEY-----"
    tail = "\n".join((*lines, "-----END OPENSSH PRIVATE KEY-----"))
    for text in (whole, tail):
        assert VALUE[:10] not in redact(text).text


@pytest.mark.parametrize(
    "harmless",
    [
        "**Getting Cloud Token** (/home/sam/src/pkg/cloud/sync.go:812-814)",
        "refresh the token lazily (auth.go:615-657)",
        "pass: 12, fail: 3",
        "tests pass = 1,204",
        "bypass: only_for_admins",
        "the token\n\nThis is where it ends.",
        "echo hello | gh auth status",
        "vault login -method=oidc",
        "const compass = 'north-west-2';",
        '{"include_password": include_password},',
        "password: _PasswordType | None = None,",
        "session.auth = HTTPKerberosAuth(**options)",
        "password_default = plugins.hardcoded_password:password_default",
        'password = password.encode("latin1")',
        "The signature on >=3.8 is invalid in 3.7,",
    ],
)
def test_text_without_a_secret_stays(harmless: str) -> None:
    assert redact(harmless).text == harmless
