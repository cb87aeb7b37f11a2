r"""Secrets that are known by the name before them: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `the password is …`.

A name alone proves nothing (`max_tokens: 4096`, `password: string`, `token = request.token`), so each way of writing a
value has its own test of whether the value looks like one that somebody keeps secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pastchats_memory.redact import believed
from pastchats_memory.redact.detector import Found, gated

RANK = 2
"""Says less than a shape: a GitHub token in `TOKEN=…` is a GitHub token."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A part of secret-looking names, as it stands in the lower-cased text."""

    kind: str
    part: str
    before: re.Pattern[str] | None = None
    """Has to match right before the part, in the lower-cased text; None: anything does."""
    after: re.Pattern[str] | None = None
    """Has to match right behind it."""
    reach: int = 24
    """Characters before the part that `before` may look at."""


_PROVIDERS = (
    "adafruit|adobe|airtable|algolia|alpaca|amplitude|anthropic|asana|assemblyai|atlassian|auth0|aws|azure|bitbucket|brevo|bugsnag|"
    "clickup|cloudflare|cloudinary|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|deepseek|discord|drone|dropbox|"
    "elastic|elevenlabs|etsy|fastly|figma|finnhub|flickr|freshbooks|github|gitlab|gitter|grafana|groq|heroku|honeycomb|hubspot|"
    "intercom|jfrog|jira|kraken|kucoin|linear|linode|linkedin|loggly|looker|mailchimp|mailgun|mailjet|mattermost|messagebird|"
    "mistral|mixpanel|netlify|new relic|newrelic|notion|nytimes|okta|opsgenie|pagerduty|papertrail|perplexity|pinecone|plaid|plivo|"
    "postmark|pusher|rapidapi|replicate|rollbar|segment|sendbird|sendgrid|sentry|shopify|snyk|sparkpost|spotify|square|stripe|"
    "sumologic|telegram|trello|twilio|twitch|twitter|vercel|vultr|wandb|weather|zendesk|zoom"
)
_KEY_OF = re.compile(
    rf"(?:(?:{_PROVIDERS}|wrapping|data|root|integration|write|read|ingest|ingestion|insert|record|reporter|feed|trigger|recovery|application|license|project|server|team|personal|"
    r"secret access|api|access|secret|private|signing|encryption|master|auth|account|service|storage|license|app|session|deploy|"
    r"subscription|functions|client|consumer|shared|bot|webhook|admin|root|ssh|hmac|fernet|aes|crypto|cipher|cookie|jwt|csrf|"
    r"cosmos|db|search|user|developer|dev|prod|live|staging|publish|deploy|push|rest|web|mobile|upload|registry|[a-z0-9]*ai)[_\-. ]?|"
    r"(?<!publishable)(?<!public)(?<!primary)(?<!foreign)(?<!cache)(?<!sort)(?<!partition)(?<!idempotency)(?<!unique)"
    r"(?<!group)(?<!index)(?<!query)(?<!object)(?<!node)(?<!anon)(?<!i18n)(?<!translation)(?<!message)_)\Z"
)
_HOST = re.compile(r"(?:github|gitlab|gh|gl|devops|azdo|ado|vsts|bitbucket|docker|jira|asana|airtable|git)\Z")
_NOT_A_WORD = re.compile(r"(?![a-z])")
_PASS_OF = re.compile(
    r"(?:[_\-]|(?<![a-z])(?:db|my|root|user|admin|smtp|imap|mail|email|redis|sql|mysql|mongo|pg|postgres|ssh|sftp|ftp|ldap|bind|login|"
    r"auth|become|sudo|proxy|http|api|app|wifi|wlan|vault|key|cert|store))\Z"
)
_PASS_ASSIGNED = re.compile(r"(?=(?:\\{0,7}[\"'`])?\]?[ \t]{0,4}[:=])")
_PASS = re.compile(r"(?:w(?:or)?d|phrase|wd|code|wort)s?(?![a-z])|e(?=[ \t]*:|[ \t]+est)|(?=[\"'=])")
_BEHIND_NO_LETTER = re.compile(r"(?<![a-z])(?<!publishable[_\-])(?<!public[_\-])\Z")
_KEY_SAID = re.compile(r"(?=[\"'`\])\\ \t]{0,8}[:=,|]|[ \t]+(?:is|was|for|you|[\"'`])|[ \t]+[A-Za-z0-9+/_\-]{24})")
_PARAMETER = re.compile(r"(?:[?&;]|%3f|%26)(?:[a-z][\w.\-]{0,40}[_\-])?\Z")

_NAMES: tuple[_Name, ...] = (
    _Name("password", "pass", after=_PASS),
    _Name("password", "pass", before=_PASS_OF, after=_PASS_ASSIGNED),
    _Name("spoken-password", "pass", before=re.compile(r"(?<![a-z_\-])\Z"), after=_PASS_ASSIGNED),
    _Name("secret", "secret"),
    _Name("secret", "credential"),
    *(
        _Name("password", word)
        for word in ("kennwort", "senha", "wachtwoord", "clave secreta", "adgangskode", "salasana")
    ),
    _Name("password", "psk", before=_BEHIND_NO_LETTER, after=_PASS_ASSIGNED),
    _Name("key", "unseal key"),
    _Name("token", "token"),
    _Name("token", "_pat", after=_NOT_A_WORD),
    _Name("token", "-pat", after=re.compile(r"[\"']?[ \t]{0,2}[:=]")),
    _Name("token", "pat", before=_HOST, after=_NOT_A_WORD),
    _Name("key", "key", before=_BEHIND_NO_LETTER, after=_KEY_SAID),
    _Name("url-token", "key=", before=_PARAMETER, reach=48),
    _Name("url-token", "signature=", before=_PARAMETER, reach=48),
    _Name("url-token", "auth=", before=_PARAMETER, reach=48),
    _Name("auth", "auth", before=_BEHIND_NO_LETTER, after=re.compile(r"\\{0,7}[\"']?[ \t]{0,4}[:=]")),
    _Name("password", "pw", after=re.compile(r"d|[ \t]{0,4}[:=]|[ \t]+is\b")),
    _Name("api-key", "key", before=_KEY_OF, after=_NOT_A_WORD),
    _Name("authorization", "authorization"),
    _Name("authorization", "bearer "),
    _Name("authorization", "cookie"),
    _Name("basic-auth", " -u ", before=re.compile(r"(?:curl|http|wget)\b[^\n]{0,400}\Z"), reach=420),
    _Name("basic-auth", "--user ", before=re.compile(r"(?:curl|http|wget)\b[^\n]{0,400}\Z"), reach=420),
)
_FOREIGN_NAMES = tuple(
    _Name("password", word)
    for word in (
        "contraseña",
        "пароль",
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
    r"location|ref|refs|mode|status|map|list|index|usage|izer\w*|ize\w*|ization))\b",
    re.IGNORECASE,
)
"""Rests of a name after which comes something about the secret, not the secret."""

_QUOTE = r"\\{0,7}[\"'`]"
_RUN = r"[^\s\"'`<>{}()\[\],;|\\]"
_ESCAPED_END = r"(?=\\{0,3}[\"'`])"
_NAME_END = re.compile(r"[^A-Za-z0-9_\-.]")
LONGEST = 8192
"""Characters of a value: a private key in base64 is one."""
LONGEST_REST = 48
"""Characters that a name may go on after the part that makes it look secret."""

_ASSIGNED = re.compile(
    rf"(?:{_QUOTE})?\]?(?:\s?:\s?&?[A-Za-z][A-Za-z_\[\]|. ]{{0,30}}(?=\s?=[^=]))?[ \t]{{0,8}}(?P<sign>=>|:=|\?=|===?|!=|=|\?\?=?|\|\|=?|:|：|是|%3D|%3A)[ \t]{{0,8}}"
    rf"(?:(?:Field|SecretStr|Secret|String|env|config|getenv)\((?:default[ \t]?=[ \t]?)?)?"
    rf"(?:(?:Bearer|Basic|Token|ApiKey|Bot|token|bearer|basic)[ \t]+)?"
    rf"(?:[a-z@$]{{0,2}}(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))[^\n]){{4,{LONGEST}}}?)(?P=open)|"
    rf"[a-z@$]{{0,2}}{_QUOTE}(?P<broken>[^\"'`\n]{{4,{LONGEST}}}?){_ESCAPED_END}|(?P<bare>{_RUN}{{4,{LONGEST}}}))"
)
_NEXT_LINE = re.compile(rf"[ \t]*+:[ \t]*+(?:[|>][\-+]?[ \t]*+)?\n[ \t]++[\"']?(?P<bare>{_RUN}{{8,1024}})")
_ARGUMENT = re.compile(
    r"\\{0,7}[\"']\s{0,4},\s{0,40}(?:[\"'](?=\\[\"']))?(?P<open>\\{0,7}[\"'])(?:Bearer |Basic |Token )?(?P<quoted>(?:(?!(?P=open))[^\n\\]){6,1024}?)(?P=open)"
)
_VALUE_BESIDE = re.compile(
    rf"(?:{_QUOTE})?(?:,|\\{{1,7}}n|\s|\{{){{1,40}}(?:(?:type|Type|description|sensitive|Overwrite)[ \t]{{0,8}}[:=][^\n]{{0,80}}\n\s{{0,40}}){{0,3}}(?:{_QUOTE})?(?:value|Value|VALUE|default)(?:{_QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_QUOTE})?(?P<bare>{_RUN}{{4,{LONGEST}}})"
)
_CALL = re.compile(
    rf"[ \t]?\([ \t]{{0,4}}(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))[^\n]){{6,1024}}?)(?P=open)[ \t]{{0,4}}\)"
)
_BRACKETS = re.compile(rf"[\"'`*]{{0,3}}[ \t]\([\"'`*]{{0,3}}(?P<bare>{_RUN}{{6,1024}})[\"'`*]{{0,3}}\)")
_CELL = re.compile(
    rf"[`*]{{0,3}}[ \t]{{0,40}}\|[ \t]{{0,40}}[`*]{{0,3}}(?P<bare>{_RUN}{{6,1024}})[`*]{{0,3}}[ \t]{{0,40}}(?:\||$)",
    re.MULTILINE,
)
_COMMA = re.compile(rf",(?P<bare>{_RUN}{{12,1024}})(?=,|\r?\n|\Z)")
_ALONE = re.compile(
    r"(?:[\"'`*\])]{0,3}[ \t]{0,4}(?=\r?\n)|[^\n:]{0,80}+:\*{0,2}[ \t]{0,4}(?:\r?\n[ \t]{0,8})?(?=\r?\n))\r?\n(?:```\w{0,12}\r?\n)?"
    rf"[ \t>$]{{0,12}}(?:=>[ \t]{{0,2}})?[\"'`]?(?!\w{{1,40}}=)(?P<bare>{_RUN}{{12,1024}})[\"'`]?[ \t]{{0,4}}(?=\r?\n|\Z)"
)
"""A value that has a line for itself, below its name."""
_TYPED = re.compile(
    r"[\"'\])]{1,4}\)?[ \t]?\.(?:type|send_keys|sendKeys|fill|set_value|setValue|type_text)\(\s{0,4}(?P<open>[\"'])(?P<quoted>(?:(?!(?P=open))[^\n]){4,200}?)(?P=open)"
)
_JOINED = re.compile(rf"{_QUOTE}[ \t]{{0,4}}\+[ \t]{{0,4}}{_QUOTE}(?P<bare>[A-Za-z0-9._~+/=\-]{{16,4096}})")
_CONTENT = re.compile(r"[\"'][ \t]+content=[\"'](?P<bare>[^\s\"'<>]{8,1024})")
_CHANGED = re.compile(rf"[ \t]++from[ \t]++{_QUOTE}?(?P<bare>{_RUN}{{6,256}}){_QUOTE}?[ \t]++to\b")
_PARAMETER_VALUE = re.compile(r"(?P<bare>[^\s\"'`<>&#\\]{16,2048})")
_ELEMENT = re.compile(
    r"(?:[\"'](?=[ />])|[\"']?\s[^<>]{0,80}|</key>\s{0,40}<(?:string|data))?/?>(?P<bare>[^<>\s]{4,1024})</"
)
_FLAG = re.compile(
    rf"[ \t]++(?:(?:--type[ \t=]\S{{1,40}}[ \t]++|--overwrite[ \t]++){{0,3}}(?:--body|--value|-v)[ \t=]++)?(?:(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))[^\n\s]){{6,1024}}?)(?P=open)|"
    rf"{_QUOTE}?(?P<bare>{_RUN}{{4,1024}}))"
)
_SAID = re.compile(
    r"[\"'`*“”]{0,3}(?:,?[ \t]++(?!is\b|was\b)[A-Za-z0-9()/._'\[\]@\-]{1,40}){0,7}?(?:[ \t]*+[:：]|[ \t]++(?:is|was|to|be|equals|as|now|ist|est|es|lautet|è|é|jest)\b(?:[ \t]*+:|[ \t]++(?=\\))?)(?:[ \t]*+\n{1,2}[ \t]*+|[ \t]++|(?:\\{1,7}n){1,2})"
    r"[\"'`*“„]{0,3}(?P<bare>[^\s\"'`<>\\]{6,1024})"
)
_SCHEME = re.compile(
    rf"(?:{_QUOTE})?[ \t]*+(?:[:=,][ \t]*+)?(?:{_QUOTE})?(?:Bearer|Basic|Token|Digest|Bot|ApiKey|AWS4-HMAC-SHA256|SSWS|Key|GenieKey|Apikey|token|bearer|basic)"
    rf"(?:[ \t]++|%20|\+)(?P<bare>[A-Za-z0-9._~+/=:\-]{{8,4096}})",
)
_BEARER = re.compile(r"(?P<bare>[A-Za-z0-9._~+/=\-]{16,4096})")
_COOKIE = re.compile(
    rf"(?:{_QUOTE})?\s?[:=]\s?(?:{_QUOTE})?(?P<bare>[\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}}(?:;[ \t]?[\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}}){{0,20}})"
)
_USER = re.compile(rf"{_QUOTE}?[^\s:\"'`\\%$+]{{1,64}}:(?P<bare>{_RUN}{{4,256}})")


ANY_LETTER = "(< \t\"'`]:=,|>%\\*?!：是\n"
"""What a name ends at where a value can come."""
_QUOTED = "\"'`\\"


@dataclass(frozen=True, slots=True)
class _Way:
    """One way of writing a value behind its name, and when such a value is believed to be secret."""

    pattern: re.Pattern[str]
    kinds: frozenset[str]
    believes: Callable[[str, str], bool]
    """Of the value and the name's kind."""
    begins: str = ANY_LETTER
    """Of the letters that a name may end at those with which the pattern can begin."""


def named_secrets(text: str, lowered: str) -> Iterator[Found]:
    """Values behind secret-looking names, from left to right for each part of a name; `lowered` is the text, place by place."""
    for gate, names in _GATED if text.isascii() else _GATED_EVERYWHERE:
        if gate in lowered:
            for name in names:
                yield from _of_name(text, lowered, name)


def _of_name(text: str, lowered: str, name: _Name) -> Iterator[Found]:
    at = lowered.find(name.part)
    while at >= 0:
        end = at + len(name.part)
        found = None
        if (name.after is None or name.after.match(lowered, end)) and (
            name.before is None or name.before.search(lowered, max(0, at - name.reach), at)
        ):
            found = _value(text, end, name)
        if found is not None:
            yield found
            end = found.end
        at = lowered.find(name.part, end)


def _value(text: str, end: int, name: _Name) -> Found | None:
    if name.part[-1] not in " =":
        name_end = _NAME_END.search(text, end, end + LONGEST_REST)
        rest_end = min(end + LONGEST_REST, len(text)) if name_end is None else name_end.start()
        if _HARMLESS_ENDING.fullmatch(text, end, rest_end):
            return None
        end = rest_end
        ways = _WAYS_FROM.get((name.kind, text[end : end + 1]), ())
    else:
        ways = _WAYS_OF[name.kind]
    for way in ways:
        match = way.pattern.match(text, end)
        found = match and _believed(text, match, way, name.kind)
        if found:
            return found
    return None


def _believed(text: str, match: re.Match[str], way: _Way, kind: str) -> Found | None:
    group = str(match.lastgroup)
    value = match[group]
    start = match.start(group)
    if "&" in value and _IN_URL.search(text, max(0, match.start() - 80), match.start()):
        value = value[: value.index("&")]
    if group == "bare" and not value.isascii():
        value = _FOREIGN.split(value, 1)[0]
    if "%" in value:
        value = _ENCODED_END.split(value, 1)[0]
    value = value.rstrip(".,;:?*\\)") if group == "bare" else value.rstrip("\\")
    end = start + len(value)
    if group == "bare" and way.pattern is _ASSIGNED and (longer := _BRACKETED.match(text, end)):
        value, end = text[start : longer.end()], longer.end()
    if (
        len(value) < LEAST_LENGTH
        or not value.isascii()
        or text.startswith(("(", "[", "...", "…"), end)
        or "[redacted:" in value
    ):
        return None
    believes = way.believes
    if way.pattern is _ASSIGNED and match["sign"] == "=" and text[match.start() - 4 : match.start()].isupper():
        believes = believed.of_environment
    return Found(start, end, kind.removeprefix("spoken-"), RANK) if believes(value, kind) else None


_BRACKETED = re.compile(r"(?:[()\[\]{}]++[^\s\"'`<>.,;:|\\()\[\]{}]{2,}[^\s\"'`<>,;|\\]*+)+(?=\s|\Z|\\n|\\?\")")
"""The rest of a value with brackets in it, as generators of passwords make them; no program goes on so."""
_ENCODED_END = re.compile(r"%(?:2[026C7]|3[BbCcEe]|0[AaDd]|7[BbDd])|%2c")
"""A blank, quote, bracket, `&`, `,` or `;` as URLs write it, which ends a value that stands in one."""
_FOREIGN = re.compile(r"[\u2010-\u2e7f\u3000-\uffef]")
"""Punctuation and letters of scripts without blanks, which end a value that stands in a sentence."""
_IN_URL = re.compile(r"[?&][\w.\-%]{0,80}\Z")
LEAST_LENGTH = 4
_ANY = frozenset({"password", "secret", "token", "api-key"})
_WAYS: tuple[_Way, ...] = (
    _Way(
        _SCHEME, frozenset({"authorization", "token", "api-key", "auth"}), believed.shown_in_header, _QUOTED + " \t:=,"
    ),
    _Way(_BEARER, frozenset({"authorization"}), believed.shown_in_header),
    _Way(_JOINED, frozenset({"authorization"}), believed.shown_in_header, _QUOTED),
    _Way(_COOKIE, frozenset({"authorization"}), believed.of_cookie, _QUOTED + " \t\n:="),
    _Way(_ASSIGNED, _ANY | {"authorization"}, believed.assigned, _QUOTED + "] \t\n:=!?|：是%"),
    _Way(_ASSIGNED, frozenset({"auth"}), believed.shown_in_header, _QUOTED + "] \t\n:=!?|：是%"),
    _Way(_PARAMETER_VALUE, frozenset({"url-token"}), believed.in_a_cell),
    _Way(_NEXT_LINE, _ANY, believed.said, " \t:"),
    _Way(_VALUE_BESIDE, _ANY, believed.assigned, _QUOTED + ", \t\n"),
    _Way(_CELL, _ANY, believed.in_a_cell, "`* \t|"),
    _Way(_ARGUMENT, _ANY | {"authorization"}, believed.assigned, _QUOTED),
    _Way(_ELEMENT, _ANY, believed.assigned, "\"' \t\n><"),
    _Way(_CALL, _ANY, believed.assigned, " \t("),
    _Way(_TYPED, _ANY, believed.assigned, "\"']"),
    _Way(_CHANGED, _ANY, believed.said, " \t"),
    _Way(_CONTENT, _ANY, believed.in_a_cell, "\"'"),
    _Way(_COMMA, _ANY, believed.in_a_cell, ","),
    _Way(_ALONE, _ANY, believed.alone),
    _Way(_BRACKETS, _ANY, believed.in_brackets, "\"'`* \t"),
    _Way(_ASSIGNED, frozenset({"spoken-password"}), believed.mixed, _QUOTED + "] \t\n:=!?|：是%"),
    _Way(_USER, frozenset({"basic-auth"}), believed.of_user),
    _Way(_FLAG, _ANY, believed.said, " \t"),
    _Way(_SAID, _ANY, believed.said),
    _Way(_ASSIGNED, frozenset({"key"}), believed.of_any_key, _QUOTED + "] \t\n:=!?|：是%"),
    _Way(_ARGUMENT, frozenset({"key"}), believed.of_any_key, _QUOTED),
    _Way(_FLAG, frozenset({"key"}), believed.of_any_key, " \t"),
    _Way(_SAID, frozenset({"key"}), believed.of_any_key),
)
_WAYS_OF = {name.kind: tuple(way for way in _WAYS if name.kind in way.kinds) for name in _NAMES}
_WAYS_FROM = {
    (kind, letter): tuple(way for way in ways if letter in way.begins)
    for kind, ways in _WAYS_OF.items()
    for letter in ANY_LETTER
}
_GATES = ("pass", "pw", "auth", "key", "bearer", "-u", "密")
_GATED = gated(((name.part, name) for name in _NAMES), _GATES)
_GATED_EVERYWHERE = gated(((name.part, name) for name in (*_NAMES, *_FOREIGN_NAMES)), _GATES)
