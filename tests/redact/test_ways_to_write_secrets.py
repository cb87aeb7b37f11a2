"""A secret is found however people and programs write it: labels, commands, statements, sibling fields, sentences."""

from __future__ import annotations

import pytest

from pastchats_memory.redact import redact, redact_path
from pastchats_memory.redact.assignments import assignments_by_character
from pastchats_memory.redact.rules import ScannedText

PASSWORD = "Winter1984Q"  # noqa: S105 - nobody's
WAYS = (
    "new pass -> {}",
    "db_pass <- '{}'",
    'password = """{}"""',
    "password = <<EOT\n{}\nEOT",
    "password: !plain {}",
    "Password ......... {}",
    "password&#61;{}",
    "<pass>{}</pass>",
    "passwords:\n  - {}",
    "root password? {}",
    "Q: what is the wifi password?\nA: {}",
    "it is ann and {} for the password",
    "| Host | PW |\n|--|--|\n| nas | {} |",
    "host;passwort\nnas;{}",
    "PW {}",
    "pw ist {}",
    "msf > set SMBPass {}",
    "ENV ADMIN_PW {}",
    "u: ann p: {}",
    "WLAN-Schlüssel: {}",
    "wifi: ssid home, key {}",
    "snmp-server user u g v3 auth sha {}",
    "radius-server host 10.0.0.1 key {}",
    "sudo chpasswd <<EOF\nbob:{}\nEOF",
    'restic backup --password-command "echo {}"',
    'echo -n "{}" | gcloud secrets create db --data-file=-',
    "az keyvault secret set --vault-name v --name db --value {}",
    "manage-bde -unlock D: -pw {}",
    "skopeo copy --dest-creds=ci:{} docker://a docker://b",
    "bcp d.t out f -U sa -P{}",
    'ALTER USER a IDENTIFIED BY "x9y8z7w6" REPLACE "{}";',
    "EXEC sp_addlinkedsrvlogin 's', 'false', NULL, 'sa', '{}';",
    "salt '*' shadow.set_password bob {}",
    "btoa('ann:{}')",
    'strcmp(pw, "{}") == 0',
    'login_as("ann", "{}")',
    "Password(value='{}')",
    'onView(withId(R.id.password)).perform(typeText("{}"))',
    'app.secureTextFields["Password"].typeText("{}")',
    'getenv("PW") ?: "{}"',
    '{{"stringData": {{"pw": "{}"}}}}',
    "[+] 10.0.0.1:445 - Success: 'CORP\\ann:{}'",
    "**Password:** `{}`",
    "__Password:__ {}",
    "<b>Password:</b> {}",
    "<p>Password: <em>{}</em></p>",
    "Password -> {}",
    "Username / Password: admin / {}",
    "user admin, pass {}",
    "creds are admin / {}",
    "log in with admin and {}",
    "ada@example.org / {}",
    "admin:{} works on staging",
    "# Password\n{}",
    "curl -uadmin:{} https://example.org",
    "curl \\\n  -u admin:{} \\\n  https://example.org",
    '["curl", "-u", "admin:{}", "https://example.org"]',
    "echo {} | passwd --stdin bob",
    'echo -e "{}\\n{}" | passwd bob',
    'chpasswd <<< "bob:{}"',
    "echo '{}' > /run/secrets/db_password",
    "security unlock-keychain -p {} login.keychain",
    "ssh-keygen -t ed25519 -N {} -f key",
    "htpasswd -nb bob {}",
    "nxc smb host -u bob -p {}",
    'expect "*assword:*"\nsend "{}\\r"',
    'ConvertTo-SecureString -AsPlainText -Force "{}"',
    '"{}" | ConvertTo-SecureString -AsPlainText -Force',
    "INSERT INTO users (email, password) VALUES ('b@a', '{}')",
    "INSERT INTO users (id, password) VALUES (1, 'x9y8z7w6'), (2, '{}');",
    "INSERT INTO users (name, password) VALUES ('bob', MD5('{}'));",
    "SET PASSWORD FOR 'app'@'%' = '{}';",
    '{{"kind": "Secret", "stringData": {{"pw": "{}"}}}}',
    '{{"stringData":{{"pw":"{}"}},"kind":"Secret"}}',
    '{{"Name": "/prod/db/password", "Value": "{}"}}',
    '{{"Value":"{}","Name":"/prod/db/password"}}',
    "- value: {}\n  name: DB_PASSWORD",
    "export DB_PASSWORD=\\\n{}",
    'password = (\n    "{}"\n)',
    'createUserWithEmailAndPassword(auth, "bob@example.org", "{}")',
    'await page.fill(\'input[name="password"]\', "{}");',
    "bcrypt.hashSync('{}', 10)",
    'password: {{ type: String, default: "{}" }}',
    "username, password = 'bob', '{}'",
    'def get_password(): return "{}"',
    "heslo: {}",
    "κωδικός: {}",
    "口令：{}",
    "密码为：{}",
    "비번: {}",
    "DB_PASS ?= {}",
    'const password: []const u8 = "{}";',
    "v_password VARCHAR2(30) := '{}';",
    "DATA(lv_password) = '{}'.",
    '#define SECRET_PASS "{}"',
    "secrets:\n  db_password:\n    content: {}",
    "Password:: {}",
    "pass phrase = {}",
    "Passordet er {}",
    "parola este {}",
    "creds → kim / {}",
    'fill in "Password" with "{}"',
    "Input Password    id:pw    {}",
    "postgres://app:p@{}@db.example/shop",
    'conn.simple_bind_s("cn=admin", "{}")',
    "db2 connect to shop user kim using {}",
    "$ pass show db/prod\n{}",
    "vercel env add DB_PASSWORD production <<< {}",
    "$ vault kv get -field=password secret/db\n{}",
)


@pytest.mark.parametrize("way", WAYS)
def test_a_password_is_replaced_in_each_way_of_writing_it(way: str) -> None:
    assert PASSWORD not in redact(way.format(PASSWORD, PASSWORD)).text


@pytest.mark.parametrize("way", ["password: {}", "the password is {}", "mysql -u root -p{} shop", "login('bob', '{}')"])
def test_joined_words_are_a_password_although_a_program_could_write_them(way: str) -> None:
    assert "battery" not in redact(way.format("correct-horse-battery-staple")).text


def test_a_password_may_have_letters_beyond_ascii() -> None:
    assert "Grüße" not in redact("Passwort: Grüße2024!").text


@pytest.mark.parametrize(
    "token",
    [
        "sk-" + "qwhzkfmxvbtrplcnjdgsyaeu" * 2,
        "sk-kimi-7Rw2Xc9Lm4Tz8Vb1NfKq7Rw2Xc9Lm4Tz8Vb1NfKq",
        "sk-cp-7Rw2Xc9Lm4Tz8Vb1NfKq7Rw2Xc9Lm4Tz8Vb1NfKq",
        "AGE-SECRET-KEY-PQ-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 3,
    ],
)
@pytest.mark.parametrize("place", ["{}", "API_KEY={}", "`{}`", "I pasted {} here"])
def test_a_key_of_a_new_shape_is_replaced_where_nothing_names_it(place: str, token: str) -> None:
    assert token[-12:] not in redact(place.format(token)).text


@pytest.mark.parametrize("prefix", ["sk-kimi-", "sk-cp-", "AGE-SECRET-KEY-PQ-1"])
def test_a_key_in_the_name_of_a_file_is_replaced(prefix: str) -> None:
    key = prefix + "7RW2XC9LM4TZ8VB1NFKQ" * 3
    assert key not in redact_path(f"/home/ada/{key}.txt")


@pytest.mark.parametrize(
    "way",
    [
        'it says wrong password, but I typed "{}"',
        "### Password\n\n`{}`",
        "**User** admin **Pass** {}",
        "[mail.example.org]:587 ops@example.org:{}",
        "notes/router-password-{}.txt",
        'admin_password                  = "{}"',
        "we use {} as the root password everywhere",
    ],
)
def test_a_password_is_replaced_in_everyday_words_and_files(way: str) -> None:
    assert "9ZRgxR4OYiGf" not in redact(way.format("9ZRgxR4OYiGf")).text


def test_a_salesforce_session_is_replaced() -> None:
    assert "Zq8Kd2Lm" not in redact("use 00DSqUtqwiqM7kH!AQ" + "Zq8Kd2Lm.w_" * 8).text


def test_a_password_behind_thousands_of_names_without_one_is_replaced() -> None:
    text = "pass phrase %61/" * 5_000 + "x" * 200 + "\nDB_PASSWORD=9ZRgxR4OYiGf"
    assert "9ZRgxR4OYiGf" not in redact(text).text


@pytest.mark.parametrize(
    "harmless",
    [
        "**Password:** Required",
        "**Pass** 12 of 14",
        "## Password\n\nUse SHA256.\n",
        "static/password-reset2.html",
        "password: must-be-changed-by-the-user",
        "copying build/lib/ai/secrets.py -> build/bdist.linux-x86_64/wheel/ai",
        '"minipass": "^7.1.2"',
        '{"NextToken": "9d624e0c-388b-4862-a31e-a85c64fc1d4a"}',
        '"encryptionKey": "arn:aws:kms:us-west-2:123456789012:alias/aws/s3"',
        "token = _OAUTH_USER_ID.set(resp.user_id)",
        'href="https://play.rust-lang.org/?code=%23!%5Ballow(unused)%5D"',
        "the item identified by INDEX",
        "root:x:0:0:root:/root:/bin/bash",
        "docker run -u root -p 8080:80 image",
        "INSERT INTO users (email, password) VALUES (?, ?)",
        'signal.connect("changed", "on_change")',
        "run my-secret --policy-file=my-file.json",
        "All tests pass 12 of 12",
        "two tokens?\n20260204000001_add_agent_session_token.sql",
        "PASS src/login1.test.ts",
        "ctx->pass->next1 = 2",
        "the password ... was changed in 2025a",
        "id|name|pw column\n1|a|b",
    ],
)
def test_text_that_only_looks_like_a_password_stays(harmless: str) -> None:
    assert redact(harmless).text == harmless


@pytest.mark.parametrize("name_end", "是：は")
def test_a_value_ends_at_a_letter_of_a_script_without_blanks(name_end: str) -> None:
    """A pattern that went on would read a long text once for each name in it."""
    text = f"密码{name_end}" * 1000
    forms = assignments_by_character("password")[name_end]
    assert forms.find_value(ScannedText(text, text, {}), 2) is None
    assert redact(text).text == text
    assert redact(f"{text}Abc12345。").text == f"{text}[redacted:password]。"


@pytest.mark.parametrize(
    "text",
    [
        '{{"password": "{}"}}', 'db: {{password: "{}", port: 1}}', '"password" : "{}"', r'{{\"password\": \"{}\"}}', 'passphrase="{}"',
        'ssh-keygen -N "{}"', 'mysql -p"{}" shop', '--password "{}"', "--password='{}'", "ALTER USER a PASSWORD '{}'",
        'the password is "{}"', "my password is `{}`", 'smtp_password = "{}"', "export SECRET_KEY='{}'", '$password = "{}";',
        'const password = "{}";', 'let apiKey = "{}"', 'login("ann", password="{}", retries=3)',
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["kf83Qz9t UtX3K7lt", "kf83Qz9t xy Qz9tR4x7", "kf83#Qzzt9x, UtX3K7lt"])
def test_a_quoted_secret_with_blanks_is_removed_up_to_its_closing_mark(text: str, value: str) -> None:
    kept = redact(text.format(value)).text
    assert not any(part in kept for part in value.split())
    assert kept.startswith(text.format("").replace("{{", "{")[:5])


@pytest.mark.parametrize(
    "text",
    [
        'password: "must have 12 characters"', 'password: "min 8chars, 1upper"', 'password="changed on 2024-01-05T10:00:00Z"',
        '"password": "see RFC2617 section 3.2a"', "password: '1Password vault item x7'", '"token_type": "3Legged 2a token"',
        f'api_key = "-----BEGIN PUBLIC KEY-----{"kf83Qz9t" * 16}"',
    ],
)  # fmt: skip
def test_a_quoted_sentence_behind_the_name_of_a_secret_stays(text: str) -> None:
    assert redact(text).text == text
