"""Passwords in command lines, statements and files whose grammar alone tells which word is the secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pastchats_memory.redact.believed import of_user
from pastchats_memory.redact.detector import Found, Looked

RANK = 2
LEAST_LENGTH = 4
_WORD = (
    r"\\{0,7}(?:'(?P<single>[^'\s\\$<{]{4,255})(?=\\{0,7}')|\"(?P<double>[^\"\s\\$<{]{4,255})(?=\\{0,7}\")|"
    r"[\"']?(?P<secret>[^\s\"'`<>|;&\\$({%*][^\s\"'`<>|;&\\]{3,255}))"
)
_ON_THE_LINE = r"[^\n|;&]{0,200}?[ \t]"
_TIED = r"\\{0,7}[\"']?(?P<secret>[^\s\"'`<>|;&\\$({%*=\-][^\s\"'`<>|;&\\]{3,255})"

_WORDS = (
    r"(?:\\{0,7}[\"']?(?:[ \t]+(?:is|was))?|[ \t]*\([^()\n]{0,30}\))\s{0,4}[:=(]?\s{0,4}\\{0,7}[\"'`]?"
    r"(?P<secret>(?:(?:\d{1,2}[.)][ \t]?)?[a-z]{3,8}[ ,\n]{1,2}){11,23}(?:\d{1,2}[.)][ \t]?)?[a-z]{3,8})(?![a-z])"
)
"""Twelve or more words of three to eight letters, as BIP 39 has them; no sentence is so long without a shorter word."""


_ONE_CODE = (
    r"(?:(?=[A-Za-z\-]{0,40}\d)(?=[\d\-]{0,40}[A-Za-z]|\d{4,6}-\d{4,6}-)[A-Za-z0-9\-]{8,64}|\d{4}(?: \d{4}){1,4}|"
    r"(?=[A-Za-z ]{0,60}[2-7])[A-Za-z2-7]{4}(?: [A-Za-z2-7]{4}){3,15})"
)
_CODES = (
    r"s?[\"'`*]{0,3}(?:[ \t]+(?:is|was|are)[ \t:]|[ \t]?[:=]|[ \t]{0,4}(?=\r?\n))\s{0,4}[\"'`*]{0,3}"
    rf"(?P<secret>{_ONE_CODE}(?:[\s,;]{{1,4}}{_ONE_CODE}){{0,19}})(?![\w./(])"
)
"""Letters and digits, as services make them for a second factor and for whoever has lost it."""


@dataclass(frozen=True)
class _Grammar:
    """Where a secret stands behind a word, as the lower-cased text has it."""

    word: str
    written: str
    """What comes behind the word, as a regular expression; one of its groups is the secret."""
    kind: str = "password"
    sign: str = ""
    """Stands in every text that the pattern fits."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when its word is first met."""
        return re.compile(self.written)

    def find(self, looked: Looked, places: Iterable[int]) -> Iterator[Found]:
        """Such secrets, from left to right."""
        text, end = looked.text, 0
        if self.sign not in text:
            return
        for at in places:
            match = self.pattern.match(text, at + len(self.word)) if at >= end else None
            if match is None:
                continue
            group = str(match.lastgroup)
            value = match[group].rstrip(".,;:?)*")
            if (
                len(value) >= LEAST_LENGTH
                and value.isascii()
                and "[redacted:" not in value
                and of_user(value, self.kind)
            ):
                yield Found(match.start(group), match.start(group) + len(value), self.kind, RANK)
                end = match.end()


def _line(word: str, flags: str, value: str = rf"(?:[ \t]+|=){_WORD}") -> _Grammar:
    sign = " -" if all(flag.startswith("-") for flag in flags.split("|")) else ""
    return _Grammar(word, rf"{_ON_THE_LINE}(?:{flags}){value}", sign=sign)


_WITH_P = (
    "docker login", "podman login", "registry login", "oc login", "az login", "acr login", "mongo", "twine", "cqlsh", "beeline", "useradd", "usermod",
)  # fmt: skip
"""Programs that are told a password by `-p`."""
_OPTIONS = r"(?:-\S{1,40}[ \t]+){0,3}(?!-)"
_OF_A_USER = r"[^\s:]{1,64}:[^\s:]{1,64}:"
_BEHIND = {
    "operator unseal ": "",
    "requirepass ": "",
    "snmp-server community ": "",
    "pass:": "",
    "::add-mask::": "",
    "nickserv identify ": r"(?:\S{1,64}[ \t]+(?=\S))?",
    "rabbitmqctl ": r"(?:add_user|change_password)[ \t]+\S{1,64}[ \t]+",
    "mc alias set ": r"(?:\S{1,200}[ \t]+){3}",
    "vault login ": _OPTIONS,
    "cargo login ": _OPTIONS,
    "setapikey ": "",
    "net user ": r"\S{1,64}[ \t]+",
    "bundle config ": r"(?:set[ \t]+)?(?:--\w{1,20}[ \t]+)?\S{1,100}[ \t]+[^\s:]{1,64}:",
    "bundle_": r"[A-Za-z0-9_]{1,100}:[ \t]{1,4}\\{0,7}[\"']?[^\s:\"']{1,64}:(?=[^\s/])",
    "http-basic.": r"\S{1,100}[ \t]+\S{1,64}[ \t]+",
    "pypi-token.": r"\S{1,64}[ \t]+",
    "xfreerdp": r"[^\n|;&]{0,200}?[ \t]/p:",
    "password\nv ": r"\d{1,3}\n",
    **dict.fromkeys((":5432:", ":5433:", ":6432:", ":6543:", ":*:"), _OF_A_USER),
}
"""What stands between a word and the secret behind it, in programs, protocols and files that name none."""

GRAMMARS: tuple[_Grammar, ...] = (
    _line("mysql", "-p", _TIED),
    _line("sshpass", "-p", rf"[ \t]*{_WORD}"),
    *(_line(program, "-p") for program in _WITH_P),
    *(_Grammar(word, rf"{between}{_WORD}") for word, between in _BEHIND.items()),
    _line("redis-cli", "-a|--pass"),
    _line("valkey-cli", "-a|--pass"),
    _line("ldap", "-w"),
    _line("sqlcmd", "-P"),
    _line("htpasswd", r"-[a-z]{0,4}b[a-z]{0,4}", rf"[ \t]+(?:\S{{1,100}}[ \t]+){{2}}{_WORD}"),
    _Grammar(
        "echo ",
        rf"(?:-n[ \t]+)?{_WORD}[\"']?[ \t]{{0,4}}\|[ \t]{{0,4}}[^\n|]{{0,120}}?(?:--password-stdin|--with-token|sudo -S|cryptsetup)",
        sign="|",
    ),
    _Grammar(
        "echo ",
        r"(?:-n[ \t]+)?[\"']?[^\s:\"']{1,64}:(?P<secret>[^\s\"']{4,255})[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]+)?chpasswd",
        sign="|",
    ),
    *(
        _Grammar(
            word,
            rf"(?:-n[ \t]+)?{_WORD}[\"']?[ \t]{{0,4}}\|[ \t]{{0,4}}(?:vercel env add|gh secret set|wrangler secret put|npx wrangler secret put|docker secret create)",
            sign="|",
        )
        for word in ("echo ", "printf ")
    ),
    _line("lftp", r"-u[ \t]+[^\s,]{1,64},", _TIED),
    _line("smbclient", r"-U[ \t]+[^\s%]{1,64}%", _TIED),
    _line("net use", r"/user:\S{1,64}"),
    _Grammar("net use ", rf"(?:[^\s/]\S{{0,200}}[ \t]+){{1,2}}{_WORD}(?=[ \t]+/user:)"),
    _line("sudo ", "<<<", rf"[ \t]*{_WORD}"),
    *(
        _Grammar(word, rf"[^\n()]{{0,300}}?,\s{{0,8}}[\"'][^\"'\n]{{1,64}}[\"'],\s{{0,8}}(?=[\"']){_WORD}[\"']")
        for word in ("new pdo(", "mysqli_connect(", "new mysqli(", "getconnection(", "new sequelize(")
    ),
    *(
        _Grammar(word, rf"[^\n,]{{0,120}},\s{{0,8}}(?=[\"']){_WORD}[\"']")
        for word in (
            "jwt.sign(",
            "jwt.encode(",
            "jwt.verify(",
            "jwt.decode(",
            "pscredential(",
            "passwordauthenticator(",
        )
    ),
    _Grammar("fernet(", rf"b?(?=[\"']){_WORD}[\"']"),
    _Grammar("hmac.new(", rf"\s{{0,8}}(?:key[ \t]?=[ \t]?)?b?(?=[\"']){_WORD}[\"']"),
    _Grammar("createhmac(", rf"\s{{0,8}}[\"'][^\"'\n]{{1,40}}[\"'],\s{{0,8}}(?=[\"']){_WORD}[\"']"),
    *(
        _Grammar(of, _CODES, "recovery-code")
        for of in ("recovery code", "recovery key", "backup code", "setup key", "2fa secret")
    ),
    _Grammar("otp(", r"\s{0,8}\\{0,7}[\"'](?P<secret>[A-Za-z2-7]{16,128})={0,6}\\{0,7}[\"']", "totp-secret"),
    _Grammar("oathtool ", r"[^\n|;&]{0,80}?(?<=[ \t\"'])(?P<secret>[A-Za-z2-7]{16,128})(?![A-Za-z0-9])", "totp-secret"),
    _Grammar(
        "app password",
        r"[^\n:=]{0,40}?(?:[ \t](?:is|was)|[:=])[ \t]{0,4}[\"'`]?(?P<secret>[a-z]{4}(?: [a-z]{4}){3})(?![a-z])",
    ),
    *(
        _Grammar(of, r"\s{0,8}[\"'](?P<secret>(?:0x)?[0-9a-f]{64})[\"']", "private-key")
        for of in ("wallet(", "accounts: [")
    ),
    _Grammar("uint8array.from(", r"\[(?P<secret>(?:\d{1,3},\s{0,4}){31,127}\d{1,3})\]", "private-key"),
    _Grammar("env ", rf"[A-Z0-9_]{{0,60}}PASS[ \t]+{_WORD}"),
    _Grammar("<auth-user-pass>", rf"\s{{1,4}}[^\s]{{1,100}}\s{{1,4}}{_WORD}"),
    _Grammar("password 7 ", r"(?P<secret>[0-9A-F]{8,64})(?![\w.])"),
    _Grammar('password:"', rf"\s{{1,8}}send(?:_user)?[ \t]+(?:--[ \t]+)?(?=\"){_WORD}"),
    _Grammar("convertto-securestring ", rf"(?i)(?:-string[ \t]+)?(?=[\"']){_WORD}"),
    _line("openssl enc", "-k|-K"),
    _Grammar("basicauth(", rf"\s{{0,8}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,8}}{_WORD}[\"']"),
    _line("zip", "-P"),
    _line("mosquitto", "-P"),
    _line("influx", "-t"),
    _Grammar("::set-output name=", rf"[\w\-]{{0,40}}(?:pass|secret|token|key)[\w\-]{{0,40}}::{_WORD}"),
    _line("7z", "-p", _TIED),
    _Grammar("sqlplus ", r"(?:-[a-z]+[ \t]+){0,3}[A-Za-z0-9_$#]{1,64}/(?P<secret>[^\s@\"'\\]{4,128})"),
    _Grammar("login(", rf"\s{{0,40}}\\{{0,7}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,40}}{_WORD}\\{{0,7}}[\"']"),
    _Grammar("login(", r"\s{0,40}[\"'][^\"'\n]{1,100}[\"'],\s{0,40}[\"'](?P<secret>[a-z]{4}(?: [a-z]{4}){3})[\"']"),
    *(
        _Grammar(word, rf"\S{{1,64}}[ \t]?[/:][ \t]?{_WORD}")
        for word in ("log in as ", "login as ", "log in with ", "login with ")
    ),
    _Grammar("login: ", rf"\S{{1,64}}[ \t]?/[ \t]?{_WORD}"),
    _Grammar("creds", rf"(?:[^\n:]{{0,60}}:|[ \t]+(?:are|is))[ \t]?[^\s:/]{{1,64}}(?::|[ \t]?/[ \t]?){_WORD}"),
    _Grammar("credentials", rf"(?:[ \t]+(?:are|is)|:)[ \t]?[^\s:/]{{1,64}}:{_WORD}"),
    _Grammar("storepass", rf"[ \t]+{_WORD}"),
    _Grammar("keypass", rf"[ \t]+{_WORD}"),
    _Grammar(
        "identified",
        rf"(?i)(?:[ \t]+with[ \t]+\S{{1,40}})?[ \t]+(?:by|as)[ \t]+(?:password[ \t]+)?{_WORD}",
    ),
    _Grammar("password '", r"(?P<secret>[^'\n\\]{4,255})'"),
    _Grammar("login ", rf"\S{{1,100}}\s{{1,8}}(?:account\s+\S{{1,100}}\s{{1,8}})?password\s{{1,8}}{_WORD}"),
    _Grammar("auth=(", rf"\\{{0,7}}[\"'][^\"'\n]{{0,100}}[\"'],[ \t]{{0,4}}{_WORD}\\{{0,7}}[\"']"),
    _Grammar("mnemonic", _WORDS, "seed-phrase"),
    _Grammar("seed phrase", _WORDS, "seed-phrase"),
    _Grammar("recovery phrase", _WORDS, "seed-phrase"),
)


_DATA = re.compile(
    r"[ \t>+|\d→-]{0,20}(?:data|stringData)[ \t]*:[ \t]*\r?\n(?P<entries>(?:[ \t>+|\d→-]{1,20}[\w.\-]{1,128}:[^\n]{0,8000}(?:\n|\Z)){1,100})"
)
_ENTRY = re.compile(r"(?<![\w.\-])[\w.\-]++:[ \t]*[\"']?(?P<secret>[^\s\"'|>{][^\s\"']{5,})")
MANIFEST = 2000
"""Characters of a manifest between its kind and its data, either before the other."""


def manifest_secrets(text: str) -> Iterator[Found]:
    """What a Kubernetes Secret holds, whatever it is called there."""
    at = text.find(OF_SECRETS)
    while at >= 0:
        for block in _DATA.finditer(text, max(0, at - MANIFEST), at + MANIFEST):
            for entry in _ENTRY.finditer(text, *block.span("entries")):
                if of_user(entry["secret"], ""):
                    yield Found(*entry.span("secret"), "kubernetes-secret", RANK)
        at = text.find(OF_SECRETS, at + MANIFEST)


OF_SECRETS = "kind: Secret\n"
