r"""Secrets that are known by the name before them: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `the password is …`.

A name alone proves nothing (`max_tokens: 4096`, `password: string`, `token = request.token`), so each way of writing a
value has its own test of whether the value looks like one that somebody keeps secret.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pastchats_memory.redact.detector import Found

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


_KEY_OF = re.compile(
    r"(?:(?:api|access|secret|private|signing|encryption|master|auth|account|service|storage|license|app|session|deploy|"
    r"subscription|functions|client|consumer|shared|bot|webhook|admin|root|ssh|[a-z0-9]*ai)[_\- ]?|"
    r"(?<!publishable)(?<!public)(?<!primary)(?<!foreign)(?<!cache)(?<!sort)(?<!partition)(?<!idempotency)(?<!unique)"
    r"(?<!group)(?<!index)(?<!query)(?<!object)(?<!node)(?<!anon)(?<!i18n)(?<!translation)(?<!message)_)\Z"
)
_NOT_A_WORD = re.compile(r"(?![a-z])")
_PASS = re.compile(r"(?:w(?:or)?d|phrase|wd|code)s?(?![a-z])|(?=[\"'=])")

_NAMES: tuple[_Name, ...] = (
    _Name("password", "pass", after=_PASS),
    _Name("password", "pwd"),
    _Name("secret", "secret"),
    _Name("secret", "credential"),
    _Name("token", "token"),
    _Name("token", "_pat", after=_NOT_A_WORD),
    _Name("token", "jwt"),
    _Name("api-key", "key", before=_KEY_OF, after=_NOT_A_WORD),
    _Name("authorization", "authorization"),
    _Name("authorization", "x-auth"),
    _Name("authorization", "bearer "),
    _Name("authorization", "cookie"),
    _Name("basic-auth", " -u ", before=re.compile(r"(?:curl|http|wget)\b[^\n]{0,400}\Z"), reach=420),
    _Name("basic-auth", "--user ", before=re.compile(r"(?:curl|http|wget)\b[^\n]{0,400}\Z"), reach=420),
)
_HARMLESS_ENDING = re.compile(
    r"[_\-]?(?:s?_?(?:count|limit|length|size|budget|usage|type|name|names|url|uri|path|file|files|dir|id|ids|field|column|"
    r"env|var|policy|regex|pattern|hint|label|hash|prefix|suffix|format|expir\w*|ttl|age|manager|provider|service|class|"
    r"store|storage|reset|input|output|schema|version|endpoint|required|enabled|present|valid|rotation|status|error|"
    r"location|ref|refs|mode|status|map|list|index|usage|izer\w*|ize\w*|ization))\b",
    re.IGNORECASE,
)
"""Rests of a name after which comes something about the secret, not the secret."""

_PLACEHOLDER = re.compile(
    r"(?:[x*.•_\-#0?]{3,}|<.*|\[.*|\{.*|\$.*|%\w+%|@\w+@|#\{.*|\.{3}|(?:your|my|the|some|insert|enter|replace|change|put|"
    r"add|set|use|new|old)[\-_ ]?\w*[\-_ ].*|(?:your|insert|enter|replace|change)\w*|\w*(?:example|placeholder|changeme|"
    r"change_me|redacted|dummy|foobar)\w*|(?:none|null|nil|undefined|true|false|required|optional|string|str|bytes|number|"
    r"int|integer|bool|boolean|object|any|void|secret\w?|password\w?|passwd|token\w?|key\w?|value|text|hidden|basic|bearer|"
    r"username|user|email|input|test|self|this|not|empty|missing|invalid|incorrect|wrong|expired|function|return|"
    r"async|await|const|import|export|default|type|name|default|unset|here|there|field|from|with|and|the|for|was|are|"
    r"has|must|should|will|can|may|in|is|it|of|on|or|to|as|at|be|by)[;,.:!?]?)\Z",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+|[A-Za-z_$][\w$.:>\-]*[(\[].*|[(\[{@].*|/[\w./\-]*|\.{1,2}/.*|~/.*|"
    r"(?:https?|file|ftp)://.*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:_[a-z]+)+|[a-z]+(?:-[a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+|"
    r"@?[A-Z][a-z]+(?:[A-Z][a-z]+)*|[a-z]{1,20}|\d{1,11}|\d+\.\d+.*|\d{4}-\d\d-\d\d.*|[&*!][\w.]+|\w+\\)\Z"
)
"""What stands on the right of an assignment in a program and is no literal: names, calls, paths, numbers, dates."""

_QUOTE = r"\\{0,3}[\"'`]"
_RUN = r"[^\s\"'`<>{}()\[\],;|\\]"
_ESCAPED_END = r"(?=\\{0,3}[\"'`])"
_NAME_END = re.compile(r"[^A-Za-z0-9_\-.]")
LONGEST_REST = 48
"""Characters that a name may go on after the part that makes it look secret."""

_ASSIGNED = re.compile(
    rf"(?:{_QUOTE})?\]?(?:\s?:\s?[A-Za-z][\w\[\]|. ]{{0,30}}(?==|\s=))?[ \t]{{0,8}}(?P<sign>=>|:=|\?=|===?|!=|=|:|%3D|%3A)[ \t]{{0,8}}"
    rf"(?:(?:Bearer|Basic|Token|ApiKey|Bot|token|bearer|basic)[ \t]+)?"
    rf"(?:[a-z]{{0,2}}(?P<open>{_QUOTE})(?P<quoted>[^\"'`\n]{{4,1024}}?){_ESCAPED_END}|(?P<bare>{_RUN}{{4,1024}}))"
)
_NEXT_LINE = re.compile(rf"[ \t]*:[ \t]*\n[ \t]+[\"']?(?P<bare>{_RUN}{{8,1024}})")
_ARGUMENT = re.compile(
    rf"\\{{0,3}}[\"'][ \t]{{0,4}},[ \t]{{0,4}}\\{{0,3}}[\"'](?:Bearer |Basic |Token )?(?P<quoted>[^\"'`\n\\]{{6,1024}}){_ESCAPED_END}"
)
_ELEMENT = re.compile(r"(?:\s[^<>]{0,80})?>(?P<bare>[^<>\s]{4,1024})</")
_FLAG = re.compile(rf"[ \t]+{_QUOTE}?(?P<bare>{_RUN}{{4,1024}})")
_SAID = re.compile(
    r"[\"'`*]{0,3}(?:[ \t]+(?!is\b|was\b)[A-Za-z0-9()/._\-]{1,24}){0,5}?(?:[ \t]*:|[ \t]+(?:is|was|to|be|equals|as|now)\b[ \t]*:?)[ \t]+"
    r"[\"'`*]{0,3}(?P<bare>[^\s\"'`<>\\]{6,1024})"
)
_SCHEME = re.compile(
    rf"(?:{_QUOTE})?[ \t]*[:=,]?[ \t]*(?:{_QUOTE})?(?:Bearer|Basic|Token|Digest|Bot|ApiKey|AWS4-HMAC-SHA256|SSWS|Key|GenieKey|Apikey|token|bearer|basic)"
    rf"(?:[ \t]+|%20|\+)(?P<bare>[A-Za-z0-9._~+/=:\-]{{8,4096}})",
)
_BEARER = re.compile(r"(?P<bare>[A-Za-z0-9._~+/=\-]{16,4096})")
_COOKIE = re.compile(
    rf"(?:{_QUOTE})?\s?[:=]\s?(?:{_QUOTE})?(?P<bare>[\w.\-]{{1,40}}=[^\s\"'`\\;,]{{12,1024}}(?:;[ \t]?[\w.\-]{{1,40}}=[^\s\"'`\\;,]{{1,1024}}){{0,20}})"
)
_USER = re.compile(rf"{_QUOTE}?[^\s:\"'`\\%$+]{{1,64}}:(?P<bare>{_RUN}{{4,256}})")


@dataclass(frozen=True, slots=True)
class _Way:
    """One way of writing a value behind its name, and when such a value is believed to be secret."""

    pattern: re.Pattern[str]
    kinds: frozenset[str]
    believes: Callable[[str, str], bool]
    """Of the value and the name's kind."""


def named_secrets(text: str) -> Iterator[Found]:
    """Values behind secret-looking names, from left to right for each part of a name."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered, and places would no longer be the same
        lowered = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    for name in _NAMES:
        at = lowered.find(name.part)
        while at >= 0:
            end = at + len(name.part)
            found = None
            if name.before is None or name.before.search(lowered, max(0, at - name.reach), at):
                found = _value(text, lowered, end, name)
            if found is not None:
                yield found
                end = found.end
            at = lowered.find(name.part, end)


def _value(text: str, lowered: str, end: int, name: _Name) -> Found | None:
    if name.after is not None and not name.after.match(lowered, end):
        return None
    if name.part[-1] != " ":
        name_end = _NAME_END.search(text, end, end + LONGEST_REST)
        rest_end = min(end + LONGEST_REST, len(text)) if name_end is None else name_end.start()
        if _HARMLESS_ENDING.fullmatch(text, end, rest_end):
            return None
        end = rest_end
    for way in _WAYS:
        match = way.pattern.match(text, end) if name.kind in way.kinds else None
        found = match and _believed(text, match, way, name.kind)
        if found:
            return found
    return None


def _believed(text: str, match: re.Match[str], way: _Way, kind: str) -> Found | None:
    group = "quoted" if match.groupdict().get("quoted") is not None else "bare"
    value = match[group]
    if value is None:
        return None
    start = match.start(group)
    if "&" in value and _IN_URL.search(text, max(0, match.start() - 80), match.start()):
        value = value[: value.index("&")]
    value = value.rstrip(".,;:?*\\)") if group == "bare" else value.rstrip("\\")
    end = start + len(value)
    if (
        len(value) < LEAST_LENGTH
        or not value.isascii()
        or text.startswith(("(", "[", "...", "…"), end)
        or "[redacted:" in value
    ):
        return None
    believes = way.believes
    if way.pattern is _ASSIGNED and match["sign"] == "=" and text[match.start() - 4 : match.start()].isupper():
        believes = _of_environment
    return Found(start, end, kind, RANK) if believes(value, kind) else None


_IN_URL = re.compile(r"[?&][\w.\-%]{0,80}\Z")
LEAST_LENGTH = 4


LEAST_DISTINCT = 4
LEAST_PASSWORD = 6
LEAST_RANDOM = 8
LEAST_SAID = 12
LEAST_LETTERS = 16
"""Characters that a value without a digit has to have before it can look random."""


def _is_placeholder(value: str) -> bool:
    if _PLACEHOLDER.match(value) or len(set(value)) < LEAST_DISTINCT:
        return True
    return value.endswith(("...", "…"))


def _assigned(value: str, kind: str) -> bool:
    """A value that is assigned, quoted or not: no placeholder, no code, and, but for passwords, not readable."""
    if _is_placeholder(value) or _CODE.match(value):
        return False
    if kind == "password":
        return len(value) >= LEAST_PASSWORD and " " not in value.strip()
    return _looks_random(value)


def _said(value: str, kind: str) -> bool:
    """A value in a sentence: nobody's word."""
    value = value.rstrip("!")
    if _is_placeholder(value) or _CODE.match(value) or value.isalpha():
        return False
    if kind == "password":
        return len(value) >= LEAST_PASSWORD and _classes(value) > 1 and not _WORDLIKE.match(value)
    return len(value) >= LEAST_SAID and _looks_random(value)


def _of_environment(value: str, kind: str) -> bool:
    """A value that an environment variable with a shouted name is given: any word may be a password there."""
    if kind != "password" or value[0] in "$/.<{%":
        return _assigned(value, kind)
    return not _is_placeholder(value)


_WORDLIKE = re.compile(r"[A-Za-z]+(?:['’\-/.][A-Za-z]+)*\Z")


def _classes(value: str) -> int:
    tests = (str.islower, str.isupper, str.isdigit, lambda one: not one.isalnum())
    return sum(any(test(one) for one in value) for test in tests)


LEAST_ENTROPY = 2.8
"""Bits a character (Shannon, over the value's own characters): words and names of things lie below, random hex at 3.3 to 3.9."""
LEAST_ENTROPY_OF_LETTERS = 3.5


def entropy(value: str) -> float:
    """Shannon's H = -Σ p log2 p over the characters of a text, in bits a character."""
    length = len(value)
    return -sum(count / length * math.log2(count / length) for count in Counter(value).values())


def _looks_random(value: str) -> bool:
    """Long enough, without blanks, of several kinds of characters, and with little repetition."""
    if len(value) < LEAST_RANDOM or " " in value or not _unlike_words(value):
        return False
    if any(one.isdigit() for one in value):
        return any(one.isalpha() for one in value) and entropy(value) >= LEAST_ENTROPY
    return len(value) >= LEAST_LETTERS and _classes(value) > 1 and entropy(value) >= LEAST_ENTROPY_OF_LETTERS


_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_SEPARATED = re.compile(r"[\w]+(?:[-_./][\w]+)+\Z")


def _unlike_words(value: str) -> bool:
    """Not mostly made of words, as `llama-2-70b-chat` or `user_id_2024` are."""
    letters = sum(len(part) for part in _PART.findall(value))
    return letters < 0.8 * len(value) if not _SEPARATED.match(value) else letters < 0.6 * len(value)


def _shown_in_header(value: str, _: str) -> bool:
    return (
        not _is_placeholder(value)
        and not _CODE.match(value)
        and (_looks_random(value) or (len(value) >= LEAST_RANDOM and value.endswith("=")))
    )


def _cookie(value: str, _: str) -> bool:
    return any(_looks_random(part.partition("=")[2]) for part in value.split(";"))


def _of_user(value: str, _: str) -> bool:
    return not _is_placeholder(value) and not _CODE.match(value) and not value.startswith("//")


_ANY = frozenset({"password", "secret", "token", "api-key"})
_WAYS: tuple[_Way, ...] = (
    _Way(_SCHEME, frozenset({"authorization", "token", "api-key"}), _shown_in_header),
    _Way(_BEARER, frozenset({"authorization"}), _shown_in_header),
    _Way(_COOKIE, frozenset({"authorization"}), _cookie),
    _Way(_ASSIGNED, _ANY | {"authorization"}, _assigned),
    _Way(_NEXT_LINE, _ANY, _said),
    _Way(_ARGUMENT, _ANY | {"authorization"}, _assigned),
    _Way(_ELEMENT, _ANY, _assigned),
    _Way(_USER, frozenset({"basic-auth"}), _of_user),
    _Way(_FLAG, frozenset({"password", "token", "api-key", "secret"}), _said),
    _Way(_SAID, _ANY, _said),
)
