"""Secrets are found wrapped, quoted, encoded, in commands and in the files of many programs."""

from __future__ import annotations

import base64
import json
import random
import string
from urllib.parse import quote

import pytest

from pastchats_memory.redact import redact

LETTERS = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = LETTERS) -> str:
    """Random characters, the same in every run, so that no key of a real account stands in this file."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))  # noqa: S311 - nothing is kept secret with it


GITHUB = "ghp_" + drawn(36)
HEX = drawn(32, "0123456789abcdef")
WORD = "kf83-Qzzt.19xx"
KEY = drawn(40)
PEM = "\n".join(("-----BEGIN RSA PRIVATE KEY-----", drawn(64), drawn(63), "-----END RSA PRIVATE KEY-----"))
SERVICE_ACCOUNT = {"type": "service_account", "private_key": PEM, "client_email": "x@y.iam.gserviceaccount.com"}

HARD = {
    "wrapped in a narrow terminal": (f"the token is\n{GITHUB[:24]}\n{GITHUB[24:]}\nand works", GITHUB[24:]),
    "wrapped with a backslash": (f"TOKEN={GITHUB[:30]}\\\n  {GITHUB[30:]}\nrun", GITHUB[30:]),
    "quoted export": (f"export DB_PASSWORD='{WORD}'", WORD),
    "yaml in a block": (f"api_key: |\n  {KEY}\nnext: 1", KEY),
    "yaml environment": (f"env:\n  - name: DB_PASSWORD\n    value: {WORD}\n  - name: PORT", WORD),
    "json environment": (json.dumps({"name": "API_TOKEN", "value": KEY}), KEY),
    "compose list": (f"environment:\n  - POSTGRES_PASSWORD={WORD}\n", WORD),
    "json in json in json": (json.dumps(json.dumps(json.dumps({"password": WORD}))), WORD),
    "url in a parameter": ("https://x.example/cb?next=" + quote(f"https://u:{WORD}@h.example/", safe=""), WORD),
    "url twice encoded": ("?dsn=" + quote(quote(f"redis://:{WORD}@h/0", safe=""), safe=""), WORD),
    "slashes escaped by php": (json.dumps(f"mysql://u:{WORD}@h/d").replace("/", "\\/"), WORD),
    "query parameter token": (f"GET /v1/x?token={KEY}&page=2", KEY),
    "query parameter key": (f"https://maps.example/x?v=1&key={KEY}", KEY),
    "curl header": (f'curl -H "X-Api-Key: {KEY}" https://x.example', KEY),
    "curl header in one word": (f"curl -H 'Authorization: token {KEY}' https://x.example", KEY),
    "curl user": (f"curl -u 'me:{WORD}' https://x.example", WORD),
    "docker -e": (f"docker run -e API_SECRET={KEY} -p 80:80 image", KEY),
    "netrc": (f"machine x.example\n  login me\n  password {WORD}\n", WORD),
    "npmrc": (f"//registry.npmjs.org/:_authToken={KEY}", KEY),
    "npmrc password": (f'//x.example/:_password="{base64.b64encode(WORD.encode()).decode()}"', "a2Y4My1"),
    "pip.conf": (f"extra-index-url = https://me:{WORD}@pypi.example/simple", WORD),
    "pypirc": (f"[pypi]\nusername = me\npassword = {WORD}\n", WORD),
    "docker config": (json.dumps({"auths": {"x": {"auth": base64.b64encode(f"me:{WORD}".encode()).decode()}}}), "bWU6"),
    "kubernetes secret": (f"data:\n  token: {base64.b64encode(KEY.encode()).decode()}\n", base64.b64encode(KEY.encode()).decode()[:20]),
    "base64 of a configuration": (base64.b64encode(f"user: me\npassword: {WORD}\n".encode()).decode(), "cGFzc3dvcmQ6"),
    "pem with \\n": (json.dumps({"key": PEM}), drawn(64)),
    "service account": (json.dumps(json.dumps(SERVICE_ACCOUNT)), drawn(64)),
    "pem in a diff": ("\n".join("+" + line for line in PEM.splitlines()), drawn(64)),
    "pem in yaml": ("key: |\n" + "\n".join("    " + line for line in PEM.splitlines()), drawn(63)),
    "pem in a program": (" +\n".join(f'"{line}\\n"' for line in PEM.splitlines()), drawn(64)),
    "pem that is cut": ("\n".join(PEM.splitlines()[:2]), drawn(64)),
    "jdbc": (f"jdbc:mysql://h/d?user=u&password={WORD}&useSSL=true", WORD),
    "jdbc oracle": (f"jdbc:oracle:thin:scott/{WORD}@//h:1521/x", WORD),
    "odbc": (f"Driver={{PostgreSQL}};Server=h;Uid=u;Pwd={WORD};", WORD),
    "sqlalchemy": (f"engine = create_engine('postgresql+psycopg2://u:{WORD}@h:5432/d')", WORD),
    "amqp with a slash": (f"amqp://u:{WORD}@h:5672/%2F", WORD),
    "libpq": (f"psql 'host=h user=u password={WORD} dbname=d'", WORD),
    "pgpass": (f"h.example:5432:shop:app:{WORD}", WORD),
    "mysql tied": (f"mysql -uroot -p{WORD} -e 'SELECT 1'", WORD),
    "sshpass": (f"sshpass -p '{WORD}' ssh me@h", WORD),
    "docker login": (f"docker login -u me -p {WORD} r.example", WORD),
    "redis-cli": (f"redis-cli -h h -a {WORD} PING", WORD),
    "mongo": (f"mongosh --host h -u me -p {WORD} --authenticationDatabase admin", WORD),
    "ldapsearch": (f"ldapsearch -D cn=admin -w {WORD} -b dc=x", WORD),
    "openssl": (f"openssl rsa -in k.pem -passin pass:{WORD}", WORD),
    "keytool": (f"keytool -genkey -storepass {WORD} -alias x", WORD),
    "sql": (f"ALTER ROLE app WITH LOGIN PASSWORD '{WORD}';", WORD),
    "sql identified": (f"CREATE USER a IDENTIFIED WITH mysql_native_password BY '{WORD}';", WORD),
    "kubectl literal": (f"kubectl create secret generic x --from-literal=password='{WORD}'", WORD),
    "helm": (f"helm install x --set auth.rootPassword={WORD}", WORD),
    "requests auth": (f'requests.get(url, auth=("me", "{WORD}"))', WORD),
    "php": (f"define('DB_PASSWORD', '{WORD}');", WORD),
    "java": (f'props.setProperty("client.secret", "{KEY}");', KEY),
    "typescript": (f'const apiKey: string = "{KEY}";', KEY),
    "go": (f'token := "{KEY}"', KEY),
    "ruby": (f"config.secret_key_base = '{KEY}{KEY}'", KEY),
    "rust": (f'let password: &str = "{WORD}";', WORD),
    "table": (f"| API token | {KEY} |", KEY),
    "prose": (f"The admin password for staging is {WORD}, keep it", WORD),
    "prose in quotes": (f"my password is “{WORD}”.", WORD),
    "prose in the next line": (f"Here is the API key you asked for:\n\n{KEY}\n", KEY),
    "german": (f"Das Passwort lautet: {WORD}", WORD),
    "chinese": (f"密码：{WORD}，请保存", WORD),
    "russian": (f"пароль: {WORD}", WORD),
    "session cookie": (f"Cookie: lang=de; JSESSIONID={HEX.upper()}; theme=dark", HEX.upper()),
    "set-cookie": (f"set-cookie: sid=s%3A{KEY}.abc; Path=/", KEY),
    "azure sas": (f"https://a.blob.core.windows.net/c?sv=2024-01-01&sp=r&sig={quote(drawn(43) + '=', safe='')}", drawn(43)),
    "azure storage": (f"AccountName=a;AccountKey={drawn(86)}==;EndpointSuffix=x", drawn(86)),
    "aws pair": (f"AKIA{drawn(16, string.ascii_uppercase)} / {drawn(40, LETTERS + '+/')}", drawn(40, LETTERS + "+/")),
    "aws signed url": (f"https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={HEX}{HEX}", HEX),
    "sentry dsn": (f"dsn='https://{HEX}@o1.ingest.sentry.io/2'", HEX),
    "wireguard": (f"[Interface]\nPrivateKey = {drawn(43)}=\nAddress = 10.0.0.1", drawn(43)),
    "age": ("AGE-SECRET-KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    "colours of a terminal": (f"\x1b[32m{GITHUB}\x1b[0m", GITHUB[4:]),
    "escaped unicode": (f"token\\u003d{GITHUB}", GITHUB[4:]),
    "mnemonic": ("seed phrase: " + "legal winner thank year wave sausage worth useful legal winner thank yellow", "sausage worth useful"),
    "uuid key": ("HEROKU_API_KEY=0f1e2d3c-4b5a-4687-a0b1-c2d3e4f5a6b7", "0f1e2d3c-4b5a"),
    "html attribute": (f'<input type="hidden" name="csrf_token" value="{KEY}">', KEY),
    "xml attribute": (f'<add key="ApiSecret" value="{KEY}" />', KEY),
    "terraform": (f'  password = "{WORD}"\n', WORD),
    "ini with blanks": (f"password    =    {WORD}\n", WORD),
    "powershell": (f"$env:API_TOKEN = '{KEY}'", KEY),
    "fish": (f"set -x API_TOKEN {KEY}", KEY),
    "windows": (f"setx API_SECRET {KEY}", KEY),
    "dockerfile": (f"ENV API_TOKEN {KEY}\nARG X", KEY),
    "http form": (f"grant_type=password&username=me&password={WORD}&scope=x", WORD),
    "graphql": (f'login(email: "a@b.c", password: "{WORD}")', WORD),
    "python repr": (f"{{'Authorization': 'Bearer {KEY}'}}", KEY),
    "log line": (f"2026-05-04 INFO auth token={KEY} user=7", KEY),
    "ansible": (f"ansible_ssh_pass={WORD} ansible_user=me", WORD),
    "git remote": (f"git remote add o https://x-access-token:{GITHUB}@github.com/o/r.git", GITHUB),
    "htpasswd": (f"htpasswd -cb .htpasswd me {WORD}", WORD),
}  # fmt: skip


@pytest.mark.promise(
    "secrets", "Secrets are removed if they are wrapped, encoded, part of a command or part of another program's file."
)
@pytest.mark.parametrize("place", HARD)
def test_no_piece_of_a_secret_is_left_wherever_it_hides(place: str) -> None:
    text, secret = HARD[place]
    assert secret in text
    redacted = redact(text).text
    pieces = {secret[at : at + 12] for at in range(max(1, len(secret) - 11))}
    assert not [piece for piece in pieces if piece in redacted], redacted
    assert "[redacted:" in redacted
