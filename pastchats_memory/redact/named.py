r"""Secrets that are known by the name before them: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `the password is …`.

A name alone proves nothing (`max_tokens: 4096`, `password: string`, `token = request.token`), so each way of writing a
value has its own test of whether the value looks like one that somebody keeps secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pastchats_memory.redact.detector import Found, Looked
from pastchats_memory.redact.ways import ANYTHING, ASSIGNS, ways_by_letter


@dataclass(frozen=True, slots=True)
class _Name:
    """A part of secret-looking names, as it stands in the lower-cased text."""

    kind: str
    part: str
    ends: re.Pattern[str] | None = None
    """Has to match what stands before the part in the lower-cased text, read from there backwards; None: anything does."""
    before: re.Pattern[str] | None = None
    """Has to match right before the part, found by a search; None: anything does."""
    after: re.Pattern[str] | None = None
    """Has to match right behind it."""
    follows: str = ""
    """The characters of which `after` begins with one; none: any. Most places are given up here, without a pattern."""
    reach: int = 24
    """Characters before the part that `before` may look at."""

    def find(self, looked: Looked, places: Iterable[int]) -> list[Found]:
        """Values behind names with this part, from left to right."""
        text, lowered, shapes = looked.text, looked.lowered, looked.shapes
        end, length = 0, len(self.part)
        ends, before, after, follows = self.ends, self.before, self.after, self.follows
        ways_from = _WAYS_FROM[self.kind]
        is_whole = self.part[-1] in _ENDS_NAME
        values: list[Found] = []
        for at in places:
            if at < end:
                continue
            end = behind = at + length
            if (
                (follows and lowered[end : end + 1] not in follows)
                or (after is not None and not after.match(lowered, end))
                or (ends is not None and not ends.match(lowered[max(0, at - LONGEST_END) : at][::-1]))
                or (before is not None and not before.search(lowered, max(0, at - self.reach), at))
            ):
                continue
            if is_whole:
                ways = ways_from.get(ANYTHING)
            else:
                goes_on: re.Match[str] = _GOES_ON.match(text, end)  # type: ignore[assignment] # it fits everywhere
                behind = goes_on.end("rest")
                if (
                    (shapes and looked.is_known(behind + 1))
                    or (goes_on.lastgroup == "computed" and not text[behind - 1].isupper())
                    or (behind > end and _HARMLESS_ENDING.fullmatch(lowered, end, behind))
                ):
                    continue
                ways = ways_from.get(ASSIGNS if text.startswith(ASSIGNS, behind) else text[behind : behind + 1])
            found = ways.value(looked, behind) if ways else None
            if found is not None:
                values.append(found)
                end = found.end
        return values


LONGEST_END = 24
"""Characters before a part that `ends` may look at."""
_ENDS_NAME = " =/"
"""A part that ends so is no beginning of a longer name."""


_PROVIDERS = (
    "adafruit|adobe|airtable|algolia|alpaca|amplitude|anthropic|asana|assemblyai|atlassian|auth0|aws|azure|bitbucket|brevo|bugsnag|"
    "clickup|cloudflare|cloudinary|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|deepseek|discord|drone|dropbox|"
    "elastic|elevenlabs|etsy|fastly|figma|finnhub|flickr|freshbooks|github|gitlab|gitter|grafana|groq|heroku|honeycomb|hubspot|"
    "intercom|jfrog|jira|kraken|kucoin|linear|linode|linkedin|loggly|looker|mailchimp|mailgun|mailjet|mattermost|messagebird|"
    "mistral|mixpanel|netlify|new relic|newrelic|notion|nytimes|okta|opsgenie|pagerduty|papertrail|perplexity|pinecone|plaid|plivo|"
    "postmark|pusher|rapidapi|replicate|rollbar|segment|sendbird|sendgrid|sentry|shopify|snyk|sparkpost|spotify|square|stripe|"
    "sumologic|telegram|trello|twilio|twitch|twitter|vercel|vultr|wandb|weather|zendesk|zoom"
)
KEYS = (
    f"{_PROVIDERS}|wrapping|data|root|integration|write|read|ingest|ingestion|insert|record|reporter|feed|trigger|recovery|application|license|"
    "project|server|team|personal|secret access|api|access|secret|private|signing|encryption|master|auth|account|service|storage|app|session|"
    "deploy|subscription|functions|client|consumer|shared|bot|webhook|admin|ssh|hmac|fernet|aes|crypto|cipher|cookie|jwt|csrf|cosmos|db|search|"
    "user|developer|dev|prod|live|staging|publish|push|rest|web|mobile|upload|registry|ai|fal"
)
_NO_SECRETS = "publishable|public|primary|foreign|cache|sort|partition|idempotency|unique|group|index|query|object|node|anon|i18n|translation|message"


def _backwards(words: str) -> str:
    """Words with `|` between them, as they read from their ends."""
    return "|".join(word[::-1] for word in words.split("|"))


_KEY_OF = re.compile(rf"[_\-. ]?(?:{_backwards(KEYS)})|_(?!{_backwards(_NO_SECRETS)})")
_HOST = re.compile(_backwards("github|gitlab|gh|gl|devops|azdo|ado|vsts|bitbucket|docker|jira|asana|airtable|git"))
_NOT_A_WORD = re.compile(r"(?![a-z])")
_USERS = (
    "db|my|root|user|admin|smtp|imap|mail|email|redis|sql|mysql|mongo|pg|postgres|ssh|sftp|ftp|ldap|bind|login|auth|become|sudo|proxy|http|api|app|"
    "wifi|wlan|vault|key|cert|store"
)
_PASS_OF = re.compile(rf"[_\-]|(?:{_backwards(_USERS)})(?![a-z])")
_SIGNS = "\\\"'`] \t:="
"""What `_PASS_ASSIGNED` begins with."""
_PASS_ASSIGNED = re.compile(r"(?=(?:\\{0,7}[\"'`])?\]?[ \t]{0,4}[:=])")
_PASS = re.compile(r"(?:w(?:or)?d|phrase|wd|code|wort)s?(?![a-z])|e(?=[ \t]*:|[ \t]+est)|(?=[\"'=])")
_BEHIND_NO_LETTER = re.compile(rf"(?![a-z]|[_\-](?:{_backwards('publishable|public')}))")
_KEY_SAID = re.compile(r"(?=[\"'`\])\\ \t]{0,8}[:=,|]|[ \t]+(?:is|was|for|you|[\"'`])|[ \t]+[A-Za-z0-9+/_\-]{24})")
_IN_URL = re.compile(r"https?://[^\s\"'<>]{0,100}\Z")
_PARAMETER = re.compile(r"(?:[?&;]|%3f|%26)(?:[a-z][\w.\-]{0,40}[_\-])?\Z")

NAMES: tuple[_Name, ...] = (
    _Name("password", "pass", after=_PASS, follows="wpce\"'="),
    _Name("password", "pass", ends=_PASS_OF, after=_PASS_ASSIGNED, follows=_SIGNS),
    _Name("spoken-password", "pass", ends=re.compile(r"(?![a-z_\-])"), after=_PASS_ASSIGNED, follows=_SIGNS),
    _Name("secret", "secret"),
    _Name("secret", "credential"),
    _Name("secret", "pepper"),
    _Name("secret", "_verifier"),
    *(
        _Name("password", word)
        for word in ("kennwort", "senha", "wachtwoord", "clave secreta", "adgangskode", "salasana")
    ),
    _Name("password", "psk", ends=_BEHIND_NO_LETTER, after=_PASS_ASSIGNED, follows=_SIGNS),
    _Name("password", "mdp", ends=_BEHIND_NO_LETTER, after=_PASS_ASSIGNED, follows=_SIGNS),
    _Name("key", "unseal key"),
    _Name("token", "token"),
    _Name("token", "_pat", after=_NOT_A_WORD),
    _Name("token", "_tok", after=_NOT_A_WORD),
    _Name("token", "-pat", after=re.compile(r"[\"']?[ \t]{0,2}[:=]|[ \t]+[a-z0-9]{40}")),
    _Name("token", "pat", ends=_HOST, after=_NOT_A_WORD),
    _Name("key", "key", ends=_BEHIND_NO_LETTER, after=_KEY_SAID),
    *(_Name("url-token", f"{word}=", before=_PARAMETER, reach=48) for word in ("key", "signature", "code", "appid")),
    *(_Name("session", f"{word}=") for word in ("session", "sessionid", "session_id", "sessid")),
    _Name("session", "sid=", ends=_BEHIND_NO_LETTER),
    *(
        _Name("webhook", place, before=_IN_URL, reach=120)
        for place in (
            "hook/",
            "hooks/",
            "make.com/",
            "with/key/",
            "hc-ping.com/",
            "reset-password/",
        )
    ),
    _Name("auth", "auth", ends=_BEHIND_NO_LETTER, after=re.compile(r"\\{0,7}[\"']?[ \t]{0,4}[:=]")),
    _Name("password", "pw", after=re.compile(r"d|[ \t]{0,4}[:=]|[ \t]+is\b")),
    _Name("api-key", "key", ends=_KEY_OF, after=_NOT_A_WORD),
    _Name("authorization", "authorization"),
    _Name("authorization", "bearer "),
    _Name("authorization", "cookie"),
    _Name("basic-auth", " -u ", before=re.compile(r"(?:curl|http|wget)\b[^\n]{0,400}\Z"), reach=420),
    _Name(
        "basic-auth", " -a ", before=re.compile(r"(?:\A|[\s;|&(`$])(?:https?|xhs?)(?:[ \t][^\n]{0,400})?\Z"), reach=420
    ),
    _Name("basic-auth", "--user ", before=re.compile(r"(?:curl|http|wget)\b[^\n]{0,400}\Z"), reach=420),
)
FOREIGN_NAMES = tuple(
    _Name("password", word)
    for word in (
        "contraseña",
        "пароль",
        "пароль —",
        "пароль –",
        "密码",
        "密碼",
        "パスワード",
        "비밀번호",
        "hasło",
        "şifre",
        "lösenord",
        "كلمة المرور",
        "mật khẩu",
        "סיסמה",
    )
)
_HARMLESS_ENDING = re.compile(
    r"[_\-]?(?:s?_?(?:count|limit|length|size|budget|usage|type|name|names|url|uri|path|file|files|dir|id|ids|field|column|"
    r"env|var|policy|regex|pattern|hint|label|hash|prefix|suffix|format|expir\w*|ttl|age|manager|provider|service|class|"
    r"store|storage|reset|input|output|schema|version|endpoint|required|enabled|present|valid|rotation|status|error|"
    r"location|ref|refs|mode|status|map|list|index|usage|izer\w*|ize\w*|ization))\b"
)
"""Rests of a name after which comes something about the secret, not the secret."""
_GOES_ON = re.compile(
    r"(?P<rest>[A-Za-z0-9_\-.]{0,48}+)(?P<computed>[ \t]?=[ \t]?(?!(?:bearer|basic|token)[ \t])[a-z]{1,20}(?>(?:_[a-z]+)*)(?>(?:\.[a-z]+(?>(?:_[a-z]+)*))*)(?=\(|[,;)]?(?:\s|\Z))|"
    r"[ \t](?:or|and|is(?: not)?|[=!]={1,2})[ \t](?:None|null|undefined|[Tt]rue|[Ff]alse)\b|[\"'][)\]][,;)]|(?:[ \t]?=|:)[ \t]?\d{1,7}(?=[,;)]?(?:\s|\Z)))?"
)
"""The rest of a name, and how most go on in a program: as the last argument of a call, or with a number or what a value is computed from;
nowhere but behind a shouted name is any of it a secret. Said first, since all ways of writing one would be tried."""
_WAYS_FROM = {name.kind: ways_by_letter(name.kind) for name in NAMES}
