"""Secrets of 160 kinds as people and programs write them, and what looks like secrets and is none.

To measure `redact` by, of which nothing here knows. The kinds are made from the providers' documents alone. Every secret is drawn at
random, so none opens anything. `samples(seed)` gives fifty of each kind: ten in each of prose, code,
JSON in JSON, shell and URLs.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import quote

UPPER = string.ascii_uppercase
LOWER = string.ascii_lowercase
DIGITS = string.digits
LETTERS = string.ascii_letters
ALNUM = LETTERS + DIGITS
HEX = "0123456789abcdef"
URL64 = ALNUM + "-_"
B64 = ALNUM + "+/"
BASE32 = UPPER + "234567"

Maker = Callable[[Random], str]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret.

    `make` gives the whole of it, its secret part between two NUL characters where that is not all. `name` is the
    variable that such a value is known by where its shape alone says nothing, `said` the same in a sentence.
    """

    make: Maker
    name: str = ""
    phrase: str = ""


def of(*parts: str | tuple[str, int]) -> Maker:
    """Literals, and (alphabet, length) for a random run."""
    return lambda random: "".join(
        part if isinstance(part, str) else "".join(random.choices(part[0], k=part[1])) for part in parts
    )


def one_of(*makers: Maker) -> Maker:
    return lambda random: random.choice(makers)(random)


def uuid(random: Random) -> str:
    drawn = "".join(random.choices(HEX, k=30))
    return f"{drawn[:8]}-{drawn[8:12]}-4{drawn[12:15]}-a{drawn[15:18]}-{drawn[18:30]}"


def _password(random: Random) -> str:
    """Return a password as a password manager makes it.

    It has a digit, a mark and nothing that a URL must escape.
    """
    letters = random.choices(ALNUM + "!_*-.~", k=random.randint(9, 20))
    letters[random.randrange(1, len(letters) - 1)] = random.choice(DIGITS)
    letters[0] = random.choice(LETTERS)
    letters[-1] = random.choice(ALNUM)
    return "".join(letters)


def _within(frame: str, make: Maker) -> Maker:
    """Return a maker that puts a secret in its frame in place of `{}`."""
    return lambda random: frame.replace("{}", f"\0{make(random)}\0")


def _jwt(random: Random) -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    subject = "".join(random.choices(DIGITS, k=10))
    head, body = part({"alg": "HS256", "typ": "JWT"}), part({"sub": subject, "iat": random.randint(10**9, 2 * 10**9)})
    return f"{head}.{body}.{''.join(random.choices(URL64, k=43))}"


def _pem(label: str) -> Maker:
    def make(random: Random) -> str:
        lines = "\n".join("".join(random.choices(B64, k=64)) for _ in range(random.randint(3, 12)))
        return f"-----BEGIN {label}-----\n\0{lines}\n{''.join(random.choices(B64, k=38))}==\0\n-----END {label}-----"

    return make


def _basic(random: Random) -> str:
    return base64.b64encode(f"{of((LOWER, 6))(random)}:{_password(random)}".encode()).decode()


def _session_token(random: Random) -> str:
    return "IQoJb3JpZ2luX2VjE" + "".join(random.choices(B64, k=random.randint(300, 500))) + "=="


BY_SHAPE: dict[str, Maker] = {
    "openai-legacy": of("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)),
    "openai-project": of("sk-proj-", (URL64, 74), "T3BlbkFJ", (URL64, 74)),
    "openai-service": of("sk-svcacct-", (URL64, 58), "T3BlbkFJ", (URL64, 58)),
    "openai-admin": of("sk-admin-", (URL64, 58), "T3BlbkFJ", (URL64, 58)),
    "openai-session": of("sess-", (ALNUM, 40)),
    "anthropic-api": of("sk-ant-api03-", (URL64, 93), "AA"),
    "anthropic-admin": of("sk-ant-admin01-", (URL64, 93), "AA"),
    "anthropic-oauth": of("sk-ant-oat01-", (URL64, 86), "AA"),
    "aws-access-key-id": one_of(of("AKIA", (BASE32, 16)), of("ASIA", (BASE32, 16))),
    "aws-session-token": _session_token,
    "google-api": of("AIzaSy", (URL64, 33)),
    "google-oauth-client": of("GOCSPX-", (URL64, 28)),
    "google-oauth-access": of("ya29.a0", (URL64, 160)),
    "google-refresh": of("1//0", (DIGITS, 1), (URL64, 60)),
    "azure-client-secret": of((ALNUM, 3), (DIGITS, 1), "Q~", (ALNUM + "-_.~", 33), (ALNUM, 1)),
    "azure-openai": of((ALNUM, 52), "JQQJ99", ("ABC", 3), "C", (ALNUM, 12), "AAAB", "ACOG", (ALNUM, 4)),
    "github-classic": of("ghp_", (ALNUM, 36)),
    "github-fine-grained": of("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "github-app": one_of(*(of(prefix, (ALNUM, 36)) for prefix in ("gho_", "ghu_", "ghs_", "ghr_"))),
    "gitlab-personal": one_of(of("glpat-", (URL64, 20)), of("glpat-", (URL64, 27), ".01.", (LOWER + DIGITS, 9))),
    "gitlab-others": one_of(
        *(of(f"{prefix}-", (URL64, 20)) for prefix in ("gldt", "glrt", "glptt", "glsoat", "glft", "glimt", "glagent")),
        of("glcbt-", (HEX, 2), "_", (URL64, 20)),
        of("gloas-", (HEX, 64)),
        of("GR1348941", (URL64, 20)),
    ),
    "slack-bot": of("xoxb-", (DIGITS, 12), "-", (DIGITS, 13), "-", (ALNUM, 24)),
    "slack-user": of("xoxp-", (DIGITS, 12), "-", (DIGITS, 12), "-", (DIGITS, 13), "-", (HEX, 32)),
    "slack-app": of("xapp-1-A0", (UPPER + DIGITS, 9), "-", (DIGITS, 13), "-", (HEX, 64)),
    "slack-webhook": of(
        "https://hooks.slack.com/\0services/T0", (UPPER + DIGITS, 9), "/B0", (UPPER + DIGITS, 9), "/", (ALNUM, 24), "\0"
    ),
    "discord-bot": of("MT", (ALNUM, 24), ".G", (URL64, 5), ".", (URL64, 38)),
    "discord-webhook": of("https://discord.com/api/webhooks/\0", ("123456789", 18), "/", (URL64, 68), "\0"),
    "telegram-bot": of(("123456789", 10), ":AA", (URL64, 33)),
    "stripe": one_of(
        *(of(prefix, (ALNUM, 24)) for prefix in ("sk_live_", "sk_test_", "rk_live_")),
        of("sk_live_51", (ALNUM, 97)),
        of("whsec_", (ALNUM, 32)),
    ),
    "square": one_of(of("EAAA", ("lE", 1), (URL64, 59)), of("sq0csp-", (URL64, 43)), of("sq0atp-", (URL64, 22))),
    "shopify": one_of(*(of(prefix, (HEX, 32)) for prefix in ("shpat_", "shpss_", "shpca_", "shppa_"))),
    "npm": of("npm_", (ALNUM, 36)),
    "pypi": of("pypi-AgEIcHlwaS5vcmcC", (URL64, 150)),
    "rubygems": of("rubygems_", (HEX, 48)),
    "crates-io": of("cio", (ALNUM, 32)),
    "nuget": of("oy2", (LOWER + DIGITS, 43)),
    "docker-hub": of("dckr_pat_", (URL64, 27)),
    "hugging-face": of("hf_", (LETTERS, 34)),
    "replicate": of("r8_", (ALNUM, 37)),
    "groq": of("gsk_", (ALNUM, 52)),
    "xai": of("xai-", (ALNUM, 80)),
    "perplexity": of("pplx-", (ALNUM, 48)),
    "openrouter": of("sk-or-v1-", (HEX, 64)),
    "twilio-api-key": of("SK", (HEX, 32)),
    "sendgrid": of("SG.", (URL64, 22), ".", (URL64, 43)),
    "mailgun": of("key-", (HEX, 32)),
    "mailchimp": of((HEX, 32), "-us", ("123456789", 1)),
    "brevo": of("xkeysib-", (HEX, 64), "-", (ALNUM, 16)),
    "heroku": of("HRKU-AA", (URL64, 58)),
    "digitalocean": one_of(*(of(prefix, (HEX, 64)) for prefix in ("dop_v1_", "doo_v1_", "dor_v1_"))),
    "databricks": of("dapi", (HEX, 32)),
    "new-relic": one_of(of("NRAK-", (UPPER + DIGITS, 27)), of((HEX, 36), "NRAL")),
    "grafana": one_of(of("glsa_", (ALNUM, 32), "_", (HEX, 8)), of("glc_", (B64, 80), "=")),
    "sentry-token": one_of(of("sntryu_", (HEX, 64)), of("sntrys_eyJ", (ALNUM, 100), "_", (B64, 43))),
    "sentry-dsn": of("https://\0", (HEX, 32), "\0@o", (DIGITS, 6), ".ingest.sentry.io/", (DIGITS, 7)),
    "dynatrace": of("dt0c01.", (BASE32, 24), ".", (BASE32, 64)),
    "postman": of("PMAK-", (HEX, 24), "-", (HEX, 34)),
    "linear": of("lin_api_", (ALNUM, 40)),
    "notion": one_of(of("ntn_", (DIGITS, 11), (ALNUM, 35)), of("secret_", (ALNUM, 43))),
    "airtable": of("pat", (ALNUM, 14), ".", (HEX, 64)),
    "figma": of("figd_", (URL64, 40)),
    "atlassian": of("ATATT3xFfGF0", (URL64, 170), "=", (UPPER + DIGITS, 8)),
    "bitbucket": of("ATBB", (ALNUM, 32)),
    "terraform-cloud": of((ALNUM, 14), ".atlasv1.", (ALNUM, 67)),
    "vault": one_of(of("hvs.", (URL64, 95)), of("hvb.", (URL64, 140))),
    "cloudflare-origin": of("v1.0-", (HEX, 24), "-", (HEX, 146)),
    "supabase": of("sbp_", (HEX, 40)),
    "planetscale": of("pscale_tkn_", (URL64, 43)),
    "netlify": of("nfp_", (ALNUM, 36)),
    "fly-io": of("fo1_", (URL64, 43)),
    "tailscale": of("tskey-auth-k", (ALNUM, 10), "CNTRL-", (ALNUM, 32)),
    "doppler": of("dp.pt.", (ALNUM, 43)),
    "pulumi": of("pul-", (HEX, 40)),
    "sonarqube": of("squ_", (HEX, 40)),
    "sourcegraph": of("sgp_", (HEX, 16), "_", (HEX, 40)),
    "artifactory": of("AKCp8", (ALNUM, 68)),
    "alibaba": of("LTAI5t", (ALNUM, 18)),
    "yandex": of("AQVN", (URL64, 36)),
    "facebook": of("EAA", (ALNUM, 160)),
    "plaid": lambda random: f"access-sandbox-{uuid(random)}",
    "typeform": of("tfp_", (ALNUM, 44), "_", (ALNUM, 14)),
    "shippo": of("shippo_live_", (HEX, 40)),
    "octopus": of("API-", (UPPER + DIGITS, 26)),
    "prefect": of("pnu_", (ALNUM, 36)),
    "readme": of("rdme_", (LOWER + DIGITS, 70)),
    "jwt": _jwt,
    "age": of("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
}
"""Known by their prefix or their make-up, so that any context and any name before them is fair."""

NAMED: dict[str, Kind] = {
    "aws-secret-key": Kind(of((B64, 40)), "AWS_SECRET_ACCESS_KEY", "AWS secret access key"),
    "azure-storage-key": Kind(of((B64, 86), "=="), "AZURE_STORAGE_KEY", "storage account key"),
    "twilio-auth-token": Kind(of((HEX, 32)), "TWILIO_AUTH_TOKEN", "Twilio auth token"),
    "cloudflare-api-token": Kind(of((URL64, 40)), "CLOUDFLARE_API_TOKEN", "Cloudflare API token"),
    "datadog-api-key": Kind(of((HEX, 32)), "DD_API_KEY", "Datadog API key"),
    "datadog-app-key": Kind(of((HEX, 40)), "DD_APP_KEY", "Datadog app key"),
    "mailgun-domain": Kind(of((HEX, 32), "-", (HEX, 8), "-", (HEX, 8)), "MAILGUN_API_KEY", "Mailgun API key"),
    "cohere": Kind(of((ALNUM, 40)), "CO_API_KEY", "Cohere API key"),
    "mistral": Kind(of((ALNUM, 32)), "MISTRAL_API_KEY", "Mistral API key"),
    "heroku-uuid": Kind(uuid, "HEROKU_API_KEY", "Heroku API key"),
    "algolia": Kind(of((HEX, 32)), "ALGOLIA_ADMIN_KEY", "Algolia admin key"),
    "wandb": Kind(of((HEX, 40)), "WANDB_API_KEY", "wandb api key"),
    "facebook-app": Kind(of((HEX, 32)), "FACEBOOK_APP_SECRET", "Facebook app secret"),
    "okta": Kind(of("00", (URL64, 40)), "OKTA_API_TOKEN", "Okta API token"),
    "oauth-client": Kind(of((ALNUM, 32)), "CLIENT_SECRET", "client secret"),
    "oauth-refresh": Kind(of((ALNUM, 43)), "REFRESH_TOKEN", "refresh token"),
    "jwt-signing": Kind(of((URL64, 48)), "JWT_SECRET", "JWT secret"),
    "django": Kind(of((LOWER + DIGITS + "^*_-", 50)), "SECRET_KEY", "Django secret key"),
    "rails": Kind(of((HEX, 128)), "SECRET_KEY_BASE", "Rails secret_key_base"),
    "webhook-signing": Kind(of((HEX, 40)), "WEBHOOK_SECRET", "webhook secret"),
    "encryption": Kind(of((HEX, 64)), "ENCRYPTION_KEY", "encryption key"),
    "ethereum": Kind(of("0x", (HEX, 64)), "PRIVATE_KEY", "wallet's private key"),
    "password": Kind(_password, "DB_PASSWORD", "database password"),
    "vercel": Kind(of((ALNUM, 24)), "VERCEL_TOKEN", "Vercel token"),
    "circleci": Kind(of((HEX, 40)), "CIRCLE_TOKEN", "CircleCI token"),
    "pagerduty": Kind(of((ALNUM, 20)), "PAGERDUTY_TOKEN", "PagerDuty token"),
    "laravel": Kind(of("base64:", (B64, 43), "="), "APP_KEY", "Laravel app key"),
}
"""Known by the name before them alone."""

FRAMED: dict[str, Maker] = {
    "postgres-url": _within("postgresql://app:{}@db.example.org:5432/shop", _password),
    "mysql-url": _within("mysql://root:{}@127.0.0.1/shop", _password),
    "mongodb-url": _within("mongodb+srv://admin:{}@cluster0.example.mongodb.net/shop", _password),
    "redis-url": _within("redis://:{}@cache.example.org:6379/0", _password),
    "amqp-url": _within("amqps://guest:{}@mq.example.org/vhost", _password),
    "https-url": _within("https://deploy:{}@git.example.org/shop.git", _password),
    "odbc": _within("Driver={ODBC Driver 18 for SQL Server};Server=db;Uid=app;Pwd={};Encrypt=yes", _password),
    "ado-net": _within("Server=tcp:db.example.org,1433;User ID=app;Password={};Encrypt=True", _password),
    "jdbc": _within("jdbc:postgresql://db.example.org/shop?user=app&password={}", _password),
    "libpq": _within("host=db.example.org port=5432 user=app password={} dbname=shop", _password),
    "azure-storage": _within(
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
        of((B64, 86), "=="),
    ),
    "azure-service-bus": _within(
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}", of((B64, 43), "=")
    ),
    "azure-sas": _within(
        "https://shop.blob.core.windows.net/c?sv=2022-11-02&se=2027-01-01&sp=r&sig={}",
        lambda random: quote(of((B64, 43), "=")(random), safe=""),
    ),
    "bearer": _within("Authorization: Bearer {}", of((URL64, 48))),
    "basic": _within("Authorization: Basic {}", _basic),
    "x-api-key": _within("X-Api-Key: {}", of((ALNUM, 32))),
    "cookie": _within("Cookie: theme=dark; sessionid={}", of((LOWER + DIGITS, 32))),
    "set-cookie": _within("Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly", of((URL64, 32), ".", (ALNUM, 43))),
    "netrc": _within("machine api.example.org login deploy password {}", _password),
    "npmrc": _within("//registry.npmjs.org/:_authToken={}", uuid),
    "npmrc-basic": _within("//npm.example.org/:_auth={}", _basic),
    "pip-conf": _within("index-url = https://ci:{}@pypi.example.org/simple", _password),
    "docker-config": _within('{"auths": {"registry.example.org": {"auth": "{}"}}}', _basic),
    "kubernetes-secret": _within(
        "apiVersion: v1\nkind: Secret\ndata:\n  password: {}",
        lambda random: base64.b64encode(_password(random).encode()).decode(),
    ),
    "kubeconfig": _within(
        "client-key-data: {}",
        lambda random: base64.b64encode(_pem("EC PRIVATE KEY")(random).replace("\0", "").encode()).decode(),
    ),
    "wireguard": _within("PrivateKey = {}", of((B64, 43), "=")),
    "aws-presigned": _within("https://shop.s3.amazonaws.com/a.pdf?X-Amz-Expires=600&X-Amz-Signature={}", of((HEX, 64))),
    "curl-user": _within("curl -sS -u deploy:{} https://example.org/v1/things", _password),
    "psql": _within("PGPASSWORD={} psql -h db.example.org -U app shop", _password),
    "mysql-flag": _within("mysql -h db.example.org -u root -p{} shop", _password),
    "sshpass": _within("sshpass -p {} ssh deploy@example.org", _password),
    "docker-login": _within("docker login registry.example.org -u ci -p {}", _password),
    "redis-cli": _within("redis-cli -h cache.example.org -a {} ping", _password),
    "sql-user": _within("ALTER USER app WITH PASSWORD '{}';", _password),
    "identified-by": _within("CREATE USER 'app'@'%' IDENTIFIED BY '{}';", _password),
    "yaml": _within("database:\n  user: app\n  password: {}\n  port: 5432", _password),
    "xml": _within("<server><id>nexus</id><password>{}</password></server>", _password),
    "properties": _within("spring.datasource.password={}", _password),
    "kubectl": _within("kubectl create secret generic db --from-literal=password={}", _password),
    "vault-cli": _within("vault kv put secret/shop db_password={}", _password),
    "rsa-pem": _pem("RSA PRIVATE KEY"),
    "pkcs8-pem": _pem("PRIVATE KEY"),
    "ec-pem": _pem("EC PRIVATE KEY"),
    "openssh": _pem("OPENSSH PRIVATE KEY"),
    "encrypted-pem": _pem("ENCRYPTED PRIVATE KEY"),
    "pgp": _pem("PGP PRIVATE KEY BLOCK"),
}
"""Known by what stands around them, which is no part of the secret."""

KINDS: dict[str, Kind] = {
    **{name: Kind(make) for name, make in BY_SHAPE.items()},
    **NAMED,
    **{name: Kind(make) for name, make in FRAMED.items()},
}


CONTEXTS = ("prose", "code", "json", "shell", "url")
EACH = 10
"""Samples of a kind in a context."""
PIECE = 10
"""Characters of a secret that may not be left."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with one secret in it, at `text[start:end]`, written as the context writes it."""

    kind: str
    context: str
    text: str
    start: int
    end: int

    def is_left_in(self, redacted: str) -> bool:
        """Return whether a piece of the secret is left."""
        secret = self.text[self.start : self.end]
        return any(secret[at : at + PIECE] in redacted for at in range(max(1, len(secret) - PIECE + 1)))


_PROSE = (
    "Use {} for now, and rotate it on Monday.",
    "It failed with {}, although that one worked last week",
    "I pasted this by mistake: {}\nPlease forget it.",
    "The deployment (with {}) is done; see the log.",
    "- `{}` is what the staging system has",
)
_CODE = (
    'client = Client("{}")',
    "const value = '{}';",
    'let v = String::from("{}"); // TODO',
    "    connect(timeout=3, value=r'''{}''')",
    'values := []string{"a", "{}"}',
)
_SHELL = (
    "export VALUE='{}' && ./run",
    "docker run -e 'VALUE={}' --rm image",
    'echo "{}" | tee out.txt',
    "$ ./run --value '{}' --verbose",
    "cat > .env <<EOF\nVALUE={}\nEOF",
)
_URL = (
    "https://api.example.org/v1/things?value={}&page=2",
    "https://example.org/callback?state=1&v={}#top",
    "GET /v1/things/{}?page=2 HTTP/1.1",
    "redirect_uri=https%3A%2F%2Fexample.org%2Fcb%3Fv%3D{}",
    "see <https://example.org/x?v={}>",
)
_OF_URL = (
    "curl -fsSL '{}' -o out",
    "see <{}>",
    "GET {} HTTP/1.1",
    "[the link]({})",
    "location: {}",
)
_NAMED = {
    "prose": (
        "the {said} is {}, please keep it",
        "My {said}: {}",
        "I set the {said} to `{}` yesterday.",
        "{said} = {}",
        "Here is the {said} you wanted:\n{}",
    ),
    "code": (
        '{name} = "{}"',
        "  {camel}: '{}',",
        'os.environ["{NAME}"] = "{}"',
        'client = Client({name}="{}", timeout=3)',
        'private static final String {NAME} = "{}";',
    ),
    "json": (
        '{"{name}": "{}"}',
        '{"env": {"{NAME}": "{}", "PORT": "80"}}',
        '{"{camel}":"{}"}',
        '["--{flag}", "{}"]',
        "{name}: {}",
    ),
    "shell": (
        "export {NAME}={}",
        "docker run -e {NAME}={} image",
        "./run --{flag} '{}' --verbose",
        "./run --{flag}={}",
        "{NAME}='{}' make deploy",
    ),
    "url": (
        "https://api.example.org/v1/things?{name}={}&page=2",
        "https://example.org/cb?page=2&{camel}={}",
        "POST /token HTTP/1.1\n\ngrant_type=x&{name}={}&scope=all",
        "cb%3F{name}%3D{}",
        "wss://example.org/feed?v=1&{flag}={}",
    ),
}


def _in_json(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps(text)
    return text


def _put(template: str, whole: str, write: Callable[[str], str]) -> tuple[str, int, int]:
    """Return a template's text with the secret in it, and the secret's place.

    `write` writes each part.
    """
    if "\0" not in whole:
        whole = f"\0{whole}\0"
    lead, secret, trail = whole.split("\0")
    before, after = template.split("{}")
    start = f"{before}{write(lead)}"
    return f"{start}{write(secret)}{write(trail)}{after}", len(start), len(start) + len(write(secret))


def _wrapped(text: str, start: int, end: int, depth: int) -> tuple[str, int, int]:
    """Return the text as a JSON string, escaped as often as it is nested."""
    quotes = len(_in_json("", depth)) // 2
    parts = (_in_json(part, depth) for part in (text[:start], text[start:end], text[end:]))
    before, secret, after = (part[quotes : len(part) - quotes] for part in parts)
    head = '{"type": "message", "text": "'
    return f'{head}{before}{secret}{after}"}}', len(head + before), len(head + before + secret)


def _templates(kind: Kind, context: str, *, verbatim: bool) -> tuple[str, ...]:
    if verbatim:
        return _OF_URL
    if not kind.name:
        return {"prose": _PROSE, "code": _CODE, "json": _PROSE, "shell": _SHELL, "url": _URL}[context]
    words = kind.name.lower().split("_")
    spelled = {
        "{said}": kind.phrase,
        "{NAME}": kind.name,
        "{name}": kind.name.lower(),
        "{camel}": words[0] + "".join(word.title() for word in words[1:]),
        "{flag}": "-".join(words),
    }
    return tuple(_replaced(template, spelled) for template in _NAMED[context])


def _replaced(template: str, spelled: dict[str, str]) -> str:
    for mark, word in spelled.items():
        template = template.replace(mark, word)
    return template


def _sample(name: str, kind: Kind, context: str, place: int, random: Random) -> Sample:
    whole = kind.make(random)
    escaped = context == "url" and ("://" not in whole or place % 2 == 1)
    templates = _templates(kind, context, verbatim=context == "url" and not escaped)
    template = templates[place % len(templates)]
    text, start, end = _put(template, whole, (lambda part: quote(part, safe="")) if escaped else str)
    if context == "json":
        text, start, end = _wrapped(text, start, end, depth=1 + place // len(templates))
    return Sample(name, context, text, start, end)


def samples(seed: int = 1) -> Iterator[Sample]:
    """Fifty of every kind, the same for the same seed."""
    for name, kind in KINDS.items():
        random = Random(f"{seed}/{name}")  # noqa: S311 - what is drawn is to look like a secret, and to be none
        for context in CONTEXTS:
            for place in range(EACH):
                yield _sample(name, kind, context, place, random)


HARMLESS: dict[str, Maker] = {
    "commit id": of("commit ", (HEX, 40)),
    "short commit id": of("see ", (HEX, 8), " and ", (HEX, 12)),
    "sha-256": of("sha256:", (HEX, 64)),
    "checksum line": of((HEX, 64), "  release.tar.gz"),
    "integrity": of('"integrity": "sha512-', (B64, 86), '=="'),
    "md5": of("ETag: ", (HEX, 32)),
    "uuid": lambda random: f"session {uuid(random)} started",
    "tool call": of("toolu_01", (ALNUM, 22)),
    "message id": of("msg_01", (ALNUM, 22)),
    "response id": of("chatcmpl-", (ALNUM, 29)),
    "image": of("data:image/png;base64,iVBORw0KGgo", (B64, 600), "=="),
    "image in json": of('{"type": "image", "data": "/9j/4AAQSkZJRg', (B64, 900), '"}'),
    "signature of thinking": of('"signature": "EqQB', (B64, 300), '=="'),
    "path of a build": of("/nix/store/", (LOWER + DIGITS, 32), "-python3-3.12.4/bin/python"),
    "docker image": of("image@sha256:", (HEX, 64)),
    "video": of("https://www.youtube.com/watch?v=", (URL64, 11)),
    "commit page": of("https://github.com/o/r/commit/", (HEX, 40)),
    "time in nanoseconds": of("token_count: 1", (DIGITS, 18)),
    "code": lambda random: random.choice(
        (
            "token = request.headers.get('Authorization')",
            "password: str | None = None",
            "api_key = os.environ['API_KEY']",
            "const token = await getToken(user.id);",
            "if (!password) throw new Error('password is required');",
            "secret = secrets.token_urlsafe(32)",
            "export API_KEY=$(pass show api)",
            "tokenizer = Tokenizer.from_file('tokenizer.json')",
            "PASSWORD_RESET_TIMEOUT=3600",
            'curl -H "Authorization: Bearer $TOKEN" https://example.org',
            "postgres://app:${DB_PASSWORD}@db/shop",
            "mysql -u root -p shop < dump.sql",
        )
    ),
    "prose": lambda random: random.choice(
        (
            "The token is expired, so please sign in again.",
            "Your password must be at least 12 characters long.",
            "We keep the secret in the vault, never in the repository.",
            "The key is to retry with a back-off.",
            "I would pass the API key as an environment variable.",
            "Is the password field validated on the server-side?",
            "the cookie is set with SameSite=Lax and HttpOnly",
            "It costs 4096 tokens and the key: value pairs stay.",
        )
    ),
}
"""What looks like secrets to a careless eye and is none."""


def harmless(seed: int = 1) -> Iterator[tuple[str, str]]:
    """Fifty texts of every kind that has to stay as it is, with the kind's name."""
    for name, make in HARMLESS.items():
        random = Random(f"{seed}/{name}")  # noqa: S311 - what is drawn is to look like a secret, and to be none
        for _ in range(EACH * len(CONTEXTS)):
            yield name, make(random)
