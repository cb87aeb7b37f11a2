"""Secrets behind a name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `the password is …`.

A name alone proves nothing: `max_tokens: 4096`, `password: string`, `token = request.token`. Each form of writing a
value therefore has its own test of whether the value is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pastchats_memory.redact.assignments import ANYTHING, RANK, RUN, SPACED_EQUALS, assignments_by_character
from pastchats_memory.redact.heuristics import is_mixed_secret, is_random_secret
from pastchats_memory.redact.rules import ScannedText, Secret

LONGEST_END = 24
"""Characters before a name's part that `ends` may look at."""
SPACING = 96
"""Characters behind a name without a secret in which the name is not tried again, if a long run goes on there.

It keeps a text linear that repeats a name without a blank.
"""
MOST_TRIED = 2_000
"""Places of a name without a secret in one text, beyond which `SPACING` lies between any two.

It bounds the time of a text that repeats a name: no list of real secrets has so many names without one.
"""
_LONG_RUN = re.compile(rf"{RUN}{{256}}")
_NAME_CLOSERS = " =/"
"""A part with one of these at its end is no beginning of a longer name."""


class SecretName(NamedTuple):
    """A part of names of secrets, in lower case."""

    kind: str
    part: str
    ends: re.Pattern[str] | None = None
    """Has to match the lower-cased text before the part, read backwards from there."""
    before: re.Pattern[str] | None = None
    """Has to occur right before the part."""
    after: re.Pattern[str] | None = None
    """Has to match right behind the part."""
    follows: str = ""
    """The characters with which `after` can begin; empty for any. Most places fail here, without a pattern."""
    excludes: tuple[str, ...] = ()
    """Beginnings with which the part is another word."""
    reach: int = 24
    """Characters before the part that `before` may look at."""

    def find(self, scanned: ScannedText, places: Iterable[int]) -> list[Secret]:
        """Return values behind names with this part, from left to right."""
        text, lowered, known_ends = scanned.text, scanned.lowered, scanned.known_ends
        end, length, tried = 0, len(self.part), 0
        ends, before, after, follows = self.ends, self.before, self.after, self.follows
        assignments = _ASSIGNMENTS[self.kind]
        is_closed = self.part[-1] in _NAME_CLOSERS
        values: list[Secret] = []
        for at in places:
            if at < end:
                continue
            end = behind = name_end = at + length
            if (
                (follows and lowered[end : end + 1] not in follows)
                or (after is not None and not after.match(lowered, end))
                or (ends is not None and not ends.match(lowered[max(0, at - LONGEST_END) : at][::-1]))
            ):
                continue
            tried += 1
            end += SPACING if tried > MOST_TRIED else 0
            if before is not None and not before.search(lowered, max(0, at - self.reach), at):
                continue
            if is_closed:
                forms = assignments.get(ANYTHING)
            else:
                rest: re.Match[str] = _REST_OF_NAME.match(text, name_end)  # type: ignore[assignment] # it matches everywhere
                behind = rest.end("rest")
                if (
                    (known_ends and scanned.is_whole_secret(behind + 1))
                    or (rest.lastgroup == "computed" and not text[behind - 1].isupper())
                    or (behind > name_end and _HARMLESS_ENDING.fullmatch(lowered, name_end, behind))
                ):
                    continue
                key = SPACED_EQUALS if text.startswith(SPACED_EQUALS, behind) else text[behind : behind + 1]
                forms = assignments.get(key)
            found = forms.find_value(scanned, behind) if forms else None
            if found is not None and not lowered.endswith(self.excludes, max(0, at - LONGEST_END), at):
                values.append(found)
                end, tried = found.end, tried - 1
            elif _LONG_RUN.match(text, behind):
                end = behind + SPACING
        return values


_PROVIDERS = (
    "adafruit|adobe|airtable|algolia|alpaca|amplitude|anthropic|asana|assemblyai|atlassian|auth0|aws|azure|bitbucket|brevo|bugsnag|"
    "clickup|cloudflare|cloudinary|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|deepseek|discord|drone|dropbox|"
    "elastic|elevenlabs|etsy|fastly|figma|finnhub|flickr|freshbooks|github|gitlab|gitter|grafana|groq|heroku|honeycomb|hubspot|"
    "intercom|jfrog|jira|kraken|kucoin|linear|linode|linkedin|loggly|looker|mailchimp|mailgun|mailjet|mattermost|messagebird|"
    "mistral|mixpanel|netlify|new relic|newrelic|notion|nytimes|okta|opsgenie|pagerduty|papertrail|perplexity|pinecone|plaid|plivo|"
    "postmark|pusher|rapidapi|replicate|rollbar|segment|sendbird|sendgrid|sentry|shopify|snyk|sparkpost|spotify|square|stripe|"
    "sumologic|telegram|trello|twilio|twitch|twitter|vercel|vultr|wandb|weather|zendesk|zoom"
)
KEY_WORDS = (
    f"{_PROVIDERS}|wrapping|data|root|integration|write|read|ingest|ingestion|insert|record|reporter|feed|trigger|recovery|application|license|"
    "project|server|team|personal|secret access|api|access|secret|private|signing|encryption|master|auth|account|service|storage|app|session|"
    "deploy|subscription|functions|client|consumer|shared|bot|webhook|admin|ssh|hmac|fernet|aes|crypto|cipher|cookie|jwt|csrf|cosmos|db|search|"
    "user|developer|dev|prod|live|staging|publish|push|rest|web|mobile|upload|registry|ai|fal"
)
"""Words before "key" that make it the name of a secret, with `|` between them."""
_PUBLIC_KEY_WORDS = (
    "publishable|public|primary|foreign|cache|sort|partition|idempotency|unique|group|index|query|object|node|anon|i18n|"
    "translation|message"
)


def _reverse_words(words: str) -> str:
    """Reverse each of the words between `|`."""
    return "|".join(word[::-1] for word in words.split("|"))


_KEY_OF = re.compile(rf"[_\-. ]?(?:{_reverse_words(KEY_WORDS)})|_(?!{_reverse_words(_PUBLIC_KEY_WORDS)})")
_HOST = re.compile(_reverse_words("github|gitlab|gh|gl|devops|azdo|ado|vsts|bitbucket|docker|jira|asana|airtable|git"))
_NO_LETTER = re.compile(r"(?![a-z])")
_PLACES_IN_LIST = tuple(
    f"{place}{joint}"
    for place in (
        "next", "page", "pagination", "continuation", "starting", "creation", "change", "lock", "idempotency", "sync", "cursor",
    )
    for joint in ("", "_", "-")
)  # fmt: skip
"""Tokens that mark a place in a list or one request open nothing."""
_OF_AN_ARN = tuple(f"{digit}:" for digit in range(10))
"""The names of secrets at AWS follow the number of an account."""
_USERS = (
    "db|my|root|user|admin|smtp|imap|mail|email|redis|sql|mysql|mongo|pg|postgres|ssh|sftp|ftp|ldap|bind|login|auth|become|sudo|proxy|http|api|app|"
    "wifi|wlan|vault|key|cert|store"
)
_OTHER_WORDS = ("by", "com", "sur", "tres", "mini", "over", "multi", "llvm::", "single")
_PASS_OF = re.compile(rf"[_\-]|(?:{_reverse_words(_USERS)})(?![a-z])")
_PASS_ASSIGNED = re.compile(
    r"(?=(?:\\{0,7}[\"'`])?[\])]?[ \t]{0,4}(?:[:=]|\?[?:=]|\|\||<-|-{1,2}>|[→⇒])|[ \t]{1,4}[\"']|\*\*[ \t]|>[^<>\s]{4,64}</)"
)
_NO_LETTER_BEFORE = re.compile(r"(?![a-z_\-])")
_BEHIND_USER = re.compile(
    r"\b(?:user(?:name)?|login|account|as|logged)[ \t:=]{1,3}\S{1,64}?[\s,;/&]{0,3}(?:[ \t](?:and|with|its))?\Z"
)
_SETTING_WORD = re.compile(r"\b(?:set|setenv|env|arg|setg)[ \t]+[\w$:]*\Z")
_BEHIND_SHORT_USER = re.compile(r"(?<![a-z])u(?:ser)?:[ ][^\s:]{1,20}[,;]?\Z")
_SIGNS = "\\\"'`]) \t:=?|<->*"
"""The characters with which `_PASS_ASSIGNED` begins."""
_PASS_WORD = re.compile(
    r"(?:w(?:or)?d|[ \-]?phrase|[ ]word|key|wd|code|wort|w)(?:s|_?confirm(?:ation)?|again|repeat|new|input|field|box)?(?![a-z])|e(?=[ \t]*:|[ \t]+est)|(?=[\"'=])"
)
_BEHIND_NO_LETTER = re.compile(rf"(?![a-z]|[_\-](?:{_reverse_words('publishable|public')}))")
_KEY_IN_PROSE = re.compile(
    r"""
    (?=
        [\"'`\])\\ \t]{0,8} (?: [:=,|→⇒] | -{1,2}> )
      | [ \t]+(?:is|was|for|you|[\"'`])
      | [ \t]+[A-Za-z0-9+/_\-]{24}
    )
    """,
    re.VERBOSE,
)
_IN_URL = re.compile(r"https?://[^\s\"'<>]{0,100}\Z")
_PARAMETER = re.compile(r"(?:[?&;]|%3f|%26)(?:[a-z][\w.\-]{0,40}[_\-])?\Z")
_HTTPIE = re.compile(r"(?:\A|[\s;|&(`$])(?:https?|xhs?)(?:[ \t][^\n]{0,400})?\Z")

NAMES: tuple[SecretName, ...] = (
    SecretName("password", "pass", excludes=_OTHER_WORDS, after=_PASS_WORD, follows="wpcke -\"'="),
    SecretName("password", "pass", ends=_PASS_OF, after=_PASS_ASSIGNED, follows=_SIGNS),
    SecretName("pass", "pass", ends=_NO_LETTER_BEFORE, after=_PASS_ASSIGNED, follows=_SIGNS),
    SecretName("pass-of-user", " pass ", before=_BEHIND_USER, reach=80),
    SecretName("pass-of-user", "\npass ", before=_BEHIND_USER, reach=80),
    SecretName("pass-of-user", "(pw "),
    SecretName("pass-of-user", "(pass "),
    SecretName("pass-of-user", "pass is ", ends=_NO_LETTER_BEFORE),
    SecretName("secret", "secret", excludes=_OF_AN_ARN),
    SecretName("secret", "credential"),
    SecretName("secret", "pepper"),
    SecretName("secret", "_verifier"),
    *(
        SecretName("password", word)
        for word in (
            "pass phrase",
            "kennwort",
            "senha",
            "wachtwoord",
            "clave",
            "adgangskode",
            "salasana",
            "passord",
            "heslo",
            "parola",
            "parool",
            "geslo",
            "lozinka",
            "lozinku",
            "hasla",
            "hasle",
            "sifre",
            "kata sandi",
            "kata laluan",
            "palavra-passe",
            "contrasenya",
            "contrasena",
            "contrasinal",
            "jelszava",
            "pasahitza",
            "losenord",
            "mot de passe",
            "zugangscode",
            "sandi:",
            "parole:",
            "passwrd",
            "pswd",
            "psw:",
            "p/w:",
            "pa55word",
            "pword:",
            "pword=",
            "wifi key",
            "wi-fi key",
            "wlan key",
            "wpa key",
            "wpa2 key",
            "network key",
            "security key",
        )
    ),
    SecretName("password", "psk", ends=_BEHIND_NO_LETTER, after=_PASS_ASSIGNED, follows=_SIGNS),
    SecretName("password", "mdp", ends=_BEHIND_NO_LETTER, after=_PASS_ASSIGNED, follows=_SIGNS),
    SecretName("key", "unseal key"),
    SecretName("token", "token", excludes=_PLACES_IN_LIST),
    SecretName("token", "_pat", after=_NO_LETTER),
    SecretName("token", "_tok", after=_NO_LETTER),
    SecretName("token", "-pat", after=re.compile(r"[\"']?[ \t]{0,2}[:=]|[ \t]+[a-z0-9]{40}")),
    SecretName("token", "pat", ends=_HOST, after=_NO_LETTER),
    SecretName("key", "key", ends=_BEHIND_NO_LETTER, after=_KEY_IN_PROSE),
    *(
        SecretName("url-token", f"{word}=", before=_PARAMETER, reach=48)
        for word in ("key", "signature", "code", "appid")
    ),
    *(SecretName("session", f"{word}=") for word in ("session", "sessionid", "session_id", "sessid")),
    SecretName("session", "sid=", ends=_BEHIND_NO_LETTER),
    *(
        SecretName("webhook", place, before=_IN_URL, reach=120)
        for place in ("hook/", "hooks/", "make.com/", "with/key/", "hc-ping.com/", "reset-password/")
    ),
    SecretName("auth", "auth", ends=_BEHIND_NO_LETTER, after=re.compile(r"\\{0,7}[\"']?[ \t]{0,4}[:=]")),
    SecretName(
        "password", "pw", after=re.compile(rf"d|[ \t]+(?:is|ist|est|es|é|är|er|for|of|to)\b|{_PASS_ASSIGNED.pattern}")
    ),
    *(SecretName("pass-of-user", word, before=_SETTING_WORD) for word in ("pass ", "pw ")),
    *(SecretName("pass-of-user", word, ends=_NO_LETTER_BEFORE) for word in ("pw ", "psw ", "mdp est ", "salasana on ")),
    SecretName("pass-of-user", " p: ", before=_BEHIND_SHORT_USER),
    SecretName("api-key", "key", ends=_KEY_OF, after=_NO_LETTER),
    SecretName("authorization", "authorization"),
    SecretName("authorization", "bearer "),
    SecretName("authorization", "cookie"),
    *(SecretName("basic-auth", option, before=_HTTPIE, reach=420) for option in (" -a ", " --auth ")),
)
FOREIGN_NAMES = tuple(
    SecretName("password", word)
    for word in (
        "contraseña",
        "пароль",
        "пароля",
        "паролем",
        "парола",
        "парола:",
        "лозинка",
        "密码",
        "密碼",
        "口令",
        "暗証番号",
        "パスワード",
        "비밀번호",
        "암호",
        "비번",
        "패스워드",
        "hasło",
        "şifre",
        "lösenord",
        "jelszó",
        "parolă",
        "salasõna",
        "slaptažodis",
        "schlüssel",
        "κωδικός",
        "κωδικό",
        "συνθηματικό",
        "كلمة المرور",
        "كلمة السر",
        "رمز عبور",
        "گذرواژه",
        "mật khẩu",
        "סיסמה",
        "סיסמא",
        "รหัสผ่าน",
        "पासवर्ड",
        "পাসওয়ার্ড",
        "கடவுச்சொல்",
        "lykilorð",
    )
)
"""Names that are not ASCII, which the keyword index cannot hold."""
_HARMLESS_ENDING = re.compile(
    r"""
    [_\-]?
    (?:
        s?_?(?:count|limit|length|size|budget|usage|type|name|names|url|uri|path|file|files|dir|id|ids|field|column
          |env|var|policy|regex|pattern|hint|label|hash|prefix|suffix|format|expir\w*|ttl|age|manager|provider|service
          |class|store|storage|reset|input|output|schema|version|endpoint|required|enabled|present|valid|rotation
          |status|error|location|ref|refs|mode|status|map|list|index|usage|alias|arn|algorithm|stdin|fd|prompt|attr\w*|header|selector|placeholder|template|izer\w*|ize\w*|ization)
    )\b
  | [\w.\-]*
    \.(?:py|pyi|js|jsx|ts|tsx|mjs|json|ya?ml|toml|txt|md|rst|rs|go|java|rb|php|sh|html?|css|c|h|cpp|cs|kt|swift|lock|log|csv|sql|tf)
    """,
    re.VERBOSE,
)
"""Matches the rest of a name whose value describes a secret, as in `token_count`, or of a file's name."""
_REST_OF_NAME = re.compile(
    r"""
    (?P<rest> [A-Za-z0-9_\-.]{0,48}+ )
    (?P<computed>
        # from another name
        [ \t]?=[ \t]? (?! (?:bearer|basic|token)[ \t] )
        [a-z]{1,20} (?>(?:_[a-z]+)*) (?> (?: \.[a-z]+ (?>(?:_[a-z]+)*) )* ) (?= \( | [,;)]?(?:\s|\Z) )
        # in a comparison
      | [ \t] (?: or | and | is(?:[ ]not)? | [=!]={1,2} ) [ \t] (?: None | null | undefined | [Tt]rue | [Ff]alse )\b
        # as the last argument of a call
      | [\"'][)\]][,;)](?!\.)
        # from a number
      | (?: [ \t]?= | : ) [ \t]? \d{1,7} (?= [,;)]?(?:\s|\Z) )
    )?
    """,
    re.VERBOSE,
)
"""Matches the rest of a name, and how most names go on in a program.

What is `computed` is a secret only behind a name in capitals. The test is early, since all forms would be tried.
"""
_ASSIGNMENTS = {kind: assignments_by_character(kind) for kind in {name.kind for name in NAMES}}
PASSWORD_WORDS = (
    "(?:password|passwd|passphrase|passcode|pwd|pass|pw|"  # noqa: S105 - a pattern # nosec B105
    "passwort|kennwort|contraseña|senha|mot de passe|wachtwoord|hasło|пароль|密码)"
)
SECRET_WORDS = rf"(?:secret|token|(?:{KEY_WORDS})[_\-. ]?key(?:_base)?)"
"""Whole names in lower case, as patterns: those of passwords, and those of other secrets."""
LONGEST_BEFORE = 300
"""Characters before a phrase in which its value is looked for."""
_NAME_BEHIND = re.compile(
    r"(?:(?!(?:of|for|to|in|on|at|by|that|which|where|when|from|with) )[\w.\-]{1,20} ){0,3}?"
    rf"(?:(?P<password>{PASSWORD_WORDS})|{SECRET_WORDS})"
    r"(?=[.,;:!?)\n]|\Z| (?:for|of|in|on|and|from|when|to|here|there|everywhere|now|again|instead|too)\b)"
)
_VALUE_BEFORE = re.compile(
    r"""(?: ^ | (?<=[\s\"'`(:]) ) (?P<secret> [^\s\"'`<>(),]{6,256} ) [\"'`)]{0,2} (?:,|[ ][—–\-])? \Z""",
    re.MULTILINE | re.VERBOSE,
)


class NamingPhrase(NamedTuple):
    """A phrase between a value and its name: `… as the API key`, `… is my password`."""

    words: str
    name_start: str = ""
    """Letters with which the name has to begin, in lower case."""

    @property
    def keyword(self) -> str:
        """Return the text at whose places the phrase may stand."""
        return self.words + self.name_start

    def find(self, scanned: ScannedText, places: Iterable[int]) -> Iterator[Secret]:
        """Return values before the phrase, from left to right."""
        for at in places:
            name = _NAME_BEHIND.match(scanned.lowered, at + len(self.words))
            value = _VALUE_BEFORE.search(scanned.text, max(0, at - LONGEST_BEFORE), at) if name else None
            if name is None or value is None:
                continue
            kind = "password" if name["password"] else "secret"
            is_secret = is_mixed_secret if name["password"] else is_random_secret
            if "[redacted:" not in value["secret"] and is_secret(value["secret"], kind):
                yield Secret(*value.span("secret"), kind, RANK)


NAMING_PHRASES = (
    *(
        NamingPhrase(words)
        for words in (" that's the ", " that is the ", " (the ", " (that's the ", " (that is the ", " (that's my ")
    ),
    *(NamingPhrase(f" for {article} ", "pass") for article in ("the", "my")),
    *(NamingPhrase(" as ", start) for start in ("pass", "pwd", "api", "token", "secret")),
    *(
        NamingPhrase(f" {verb} {article} ")
        for verb in ("as", "is", "was")
        for article in ("the", "my", "our", "your", "its")
    ),
)
