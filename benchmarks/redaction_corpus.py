"""Secrets of `redaction_kinds.py` as people and programs write them, and what looks like secrets and is none.

To measure `redact` by, which nothing here knows of. `samples(seed)` gives fifty of each kind: ten in each of prose, code,
JSON in JSON, shell and URLs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import quote

from redaction_kinds import ALNUM, B64, DIGITS, HEX, KINDS, LOWER, URL64, Kind, Maker, of, uuid

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
