"""Secrets whose place in a command, a call, a statement or a file shows that they are secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pastchats_memory.redact.assignments import RANK
from pastchats_memory.redact.heuristics import is_user_password
from pastchats_memory.redact.rules import ScannedText, Secret

LEAST_LENGTH = 4

# The patterns below are verbose ones.

_WORD = r"""
    \\{0,7}
    (?:
        ' (?P<single> [^'\s\\$<{]{4,255} ) (?= \\{0,7}' )
      | \" (?P<double> [^\"\s\\$<{]{4,255} ) (?= \\{0,7}\" )
      | [\"']? (?P<secret> [^\s\"'`<>|;&\\$({%*] [^\s\"'`<>|;&\\]{3,255} )
    )
"""
_ON_THE_LINE = r"[^\n|;&]{0,200}? [ \t]"
_JOINED_WORD = r"\\{0,7} [\"']? (?P<secret> [^\s\"'`<>|;&\\$({%*=\-] [^\s\"'`<>|;&\\]{3,255} )"
"""Matches a value that follows its option without a blank."""
_SEED_WORDS = r"""
    (?: \\{0,7}[\"']? (?: [ \t]+(?:is|was) )? | [ \t]*\([^()\n]{0,30}\) ) \s{0,4} [:=(]? \s{0,4} \\{0,7}[\"'`]?
    (?P<secret>
        (?: (?:\d{1,2}[.)][ \t]?)? [a-z]{3,8} [ ,\n]{1,2} ){11,23}
        (?:\d{1,2}[.)][ \t]?)? [a-z]{3,8}
    )
    (?![a-z])
"""
"""Matches twelve or more words of three to eight letters, as BIP 39 lists them; a sentence has shorter words too."""
_ONE_CODE = r"""
    (?:
        (?=[A-Za-z\-]{0,40}\d) (?= [\d\-]{0,40}[A-Za-z] | \d{4,6}-\d{4,6}- ) [A-Za-z0-9\-]{8,64}
      | \d{4} (?: [ ]\d{4} ){1,4}
      | (?=[A-Za-z ]{0,60}[2-7]) [A-Za-z2-7]{4} (?: [ ][A-Za-z2-7]{4} ){3,15}
    )
"""
_CODES = rf"""
    s? [\"'`*]{{0,3}} (?: [ \t]+(?:is|was|are)[ \t:] | [ \t]?[:=] | [ \t]{{0,4}}(?=\r?\n) ) \s{{0,4}} [\"'`*]{{0,3}}
    (?P<secret> {_ONE_CODE} (?: [\s,;]{{1,4}} {_ONE_CODE} ){{0,19}} )
    (?! [\w./(] )
"""
"""Matches letters and digits as services hand them out for a second factor or a lost one."""


@dataclass(frozen=True)
class CommandGrammar:
    """A keyword in lower case, and where a secret stands behind it."""

    keyword: str
    behind: str
    """A verbose pattern for the text behind the keyword; one of its groups is the secret."""
    kind: str = "password"
    sign: str = ""
    """Occurs in every text that the pattern matches."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compile the pattern when its keyword is first met."""
        return re.compile(self.behind, re.VERBOSE)

    def find(self, scanned: ScannedText, places: Iterable[int]) -> Iterator[Secret]:
        """Return secrets behind the keyword, from left to right."""
        text, end = scanned.text, 0
        if self.sign not in text:
            return
        for at in places:
            found = self.pattern.match(text, at + len(self.keyword)) if at >= end else None
            if found is None:
                continue
            group = str(found.lastgroup)
            value = found[group].rstrip(".,;:?)*")
            if len(value) >= LEAST_LENGTH and value.isascii() and "[redacted:" not in value and is_user_password(value):
                yield Secret(found.start(group), found.start(group) + len(value), self.kind, RANK)
                end = found.end()


def _option(keyword: str, flags: str, value: str = rf"(?: [ \t]+ | = ) {_WORD}") -> CommandGrammar:
    """Return the grammar of a command that takes a secret behind one of its options."""
    sign = " -" if all(flag.startswith("-") for flag in flags.split("|")) else ""
    return CommandGrammar(keyword, rf"{_ON_THE_LINE} (?: {flags} ) {value}", sign=sign)


_PASSWORD_OPTION = (
    "docker login", "podman login", "registry login", "oc login", "az login", "acr login", "mongo", "twine", "cqlsh", "beeline", "useradd", "usermod",
)  # fmt: skip
"""Programs whose option `-p` takes a password."""
_FOUR_GROUPS = r"[a-z]{4} (?: [ ][a-z]{4} ){3}"
_OPTIONS = r"(?:-\S{1,40}[ \t]+){0,3}(?!-)"
_OF_A_USER = r"[^\s:]{1,64}:[^\s:]{1,64}:"
_BETWEEN = {
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
"""By keyword, a verbose pattern for the text between it and the secret."""

GRAMMARS: tuple[CommandGrammar, ...] = (
    _option("mysql", "-p", _JOINED_WORD),
    _option("sshpass", "-p", rf"[ \t]*{_WORD}"),
    *(_option(program, "-p") for program in _PASSWORD_OPTION),
    *(CommandGrammar(keyword, rf"{between}{_WORD}") for keyword, between in _BETWEEN.items()),
    _option("redis-cli", "-a|--pass"),
    _option("valkey-cli", "-a|--pass"),
    _option("ldap", "-w"),
    _option("sqlcmd", "-P"),
    _option("htpasswd", r"-[a-z]{0,4}b[a-z]{0,4}", rf"[ \t]+(?:\S{{1,100}}[ \t]+){{2}}{_WORD}"),
    CommandGrammar(
        "echo ",
        rf"""
            (?:-n[ \t]+)? {_WORD} [\"']? [ \t]{{0,4}}\|[ \t]{{0,4}}
            [^\n|]{{0,120}}? (?: --password-stdin | --with-token | sudo[ ]-S | cryptsetup )
        """,
        sign="|",
    ),
    CommandGrammar(
        "echo ",
        r"""
            (?:-n[ \t]+)? [\"']? [^\s:\"']{1,64} : (?P<secret> [^\s\"']{4,255} ) [\"']?
            [ \t]{0,4}\|[ \t]{0,4} (?:sudo[ \t]+)? chpasswd
        """,
        sign="|",
    ),
    *(
        CommandGrammar(
            keyword,
            rf"""
                (?:-n[ \t]+)? {_WORD} [\"']? [ \t]{{0,4}}\|[ \t]{{0,4}}
                (?:
                    vercel[ ]env[ ]add | gh[ ]secret[ ]set | docker[ ]secret[ ]create
                  | wrangler[ ]secret[ ]put | npx[ ]wrangler[ ]secret[ ]put
                )
            """,
            sign="|",
        )
        for keyword in ("echo ", "printf ")
    ),
    _option("lftp", r"-u[ \t]+[^\s,]{1,64},", _JOINED_WORD),
    _option("smbclient", r"-U[ \t]+[^\s%]{1,64}%", _JOINED_WORD),
    _option("net use", r"/user:\S{1,64}"),
    CommandGrammar("net use ", rf"(?:[^\s/]\S{{0,200}}[ \t]+){{1,2}}{_WORD}(?=[ \t]+/user:)"),
    _option("sudo ", "<<<", rf"[ \t]*{_WORD}"),
    *(
        CommandGrammar(
            keyword, rf"[^\n()]{{0,300}}?,\s{{0,8}}[\"'][^\"'\n]{{1,64}}[\"'],\s{{0,8}}(?=[\"']){_WORD}[\"']"
        )
        for keyword in ("new pdo(", "mysqli_connect(", "new mysqli(", "getconnection(", "new sequelize(")
    ),
    *(
        CommandGrammar(keyword, rf"[^\n,]{{0,120}},\s{{0,8}}(?=[\"']){_WORD}[\"']")
        for keyword in (
            "jwt.sign(",
            "jwt.encode(",
            "jwt.verify(",
            "jwt.decode(",
            "pscredential(",
            "passwordauthenticator(",
        )
    ),
    CommandGrammar("fernet(", rf"b?(?=[\"']){_WORD}[\"']"),
    CommandGrammar("hmac.new(", rf"\s{{0,8}}(?:key[ \t]?=[ \t]?)?b?(?=[\"']){_WORD}[\"']"),
    CommandGrammar("createhmac(", rf"\s{{0,8}}[\"'][^\"'\n]{{1,40}}[\"'],\s{{0,8}}(?=[\"']){_WORD}[\"']"),
    *(
        CommandGrammar(keyword, _CODES, "recovery-code")
        for keyword in ("recovery code", "recovery key", "backup code", "setup key", "2fa secret")
    ),
    CommandGrammar("otp(", r"\s{0,8}\\{0,7}[\"'](?P<secret>[A-Za-z2-7]{16,128})={0,6}\\{0,7}[\"']", "totp-secret"),
    CommandGrammar(
        "oathtool ",
        r"[^\n|;&]{0,80}? (?<=[ \t\"']) (?P<secret> [A-Za-z2-7]{16,128} ) (?![A-Za-z0-9])",
        "totp-secret",
    ),
    CommandGrammar(
        "app password",
        rf"""
            [^\n:=]{{0,40}}? (?: [ \t](?:is|was) | [:=] ) [ \t]{{0,4}} [\"'`]?
            (?P<secret> {_FOUR_GROUPS} ) (?![a-z])
        """,
    ),
    *(
        CommandGrammar(keyword, r"\s{0,8}[\"'](?P<secret>(?:0x)?[0-9a-f]{64})[\"']", "private-key")
        for keyword in ("wallet(", "accounts: [")
    ),
    CommandGrammar("uint8array.from(", r"\[(?P<secret>(?:\d{1,3},\s{0,4}){31,127}\d{1,3})\]", "private-key"),
    CommandGrammar("env ", rf"[A-Z0-9_]{{0,60}}PASS[ \t]+{_WORD}"),
    CommandGrammar("<auth-user-pass>", rf"\s{{1,4}}[^\s]{{1,100}}\s{{1,4}}{_WORD}"),
    CommandGrammar("password 7 ", r"(?P<secret>[0-9A-F]{8,64})(?![\w.])"),
    CommandGrammar('password:"', rf"\s{{1,8}}send(?:_user)?[ \t]+(?:--[ \t]+)?(?=\"){_WORD}"),
    CommandGrammar("convertto-securestring ", rf"(?i)(?:-string[ \t]+)?(?=[\"']){_WORD}"),
    _option("openssl enc", "-k|-K"),
    CommandGrammar("basicauth(", rf"\s{{0,8}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,8}}{_WORD}[\"']"),
    _option("zip", "-P"),
    _option("mosquitto", "-P"),
    _option("influx", "-t"),
    CommandGrammar("::set-output name=", rf"[\w\-]{{0,40}}(?:pass|secret|token|key)[\w\-]{{0,40}}::{_WORD}"),
    _option("7z", "-p", _JOINED_WORD),
    CommandGrammar("sqlplus ", r"(?:-[a-z]+[ \t]+){0,3}[A-Za-z0-9_$#]{1,64}/(?P<secret>[^\s@\"'\\]{4,128})"),
    CommandGrammar("login(", rf"\s{{0,40}}\\{{0,7}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,40}}{_WORD}\\{{0,7}}[\"']"),
    CommandGrammar("login(", rf"\s{{0,40}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,40}}[\"'](?P<secret>{_FOUR_GROUPS})[\"']"),
    *(
        CommandGrammar(keyword, rf"\S{{1,64}}[ \t]?[/:][ \t]?{_WORD}")
        for keyword in ("log in as ", "login as ", "log in with ", "login with ")
    ),
    CommandGrammar("login: ", rf"\S{{1,64}}[ \t]?/[ \t]?{_WORD}"),
    CommandGrammar("creds", rf"(?:[^\n:]{{0,60}}:|[ \t]+(?:are|is))[ \t]?[^\s:/]{{1,64}}(?::|[ \t]?/[ \t]?){_WORD}"),
    CommandGrammar("credentials", rf"(?:[ \t]+(?:are|is)|:)[ \t]?[^\s:/]{{1,64}}:{_WORD}"),
    CommandGrammar("storepass", rf"[ \t]+{_WORD}"),
    CommandGrammar("keypass", rf"[ \t]+{_WORD}"),
    CommandGrammar(
        "identified",
        rf"(?i)(?:[ \t]+with[ \t]+\S{{1,40}})?[ \t]+(?:by|as)[ \t]+(?:password[ \t]+)?{_WORD}",
    ),
    CommandGrammar("password '", r"(?P<secret>[^'\n\\]{4,255})'"),
    CommandGrammar("login ", rf"\S{{1,100}}\s{{1,8}}(?:account\s+\S{{1,100}}\s{{1,8}})?password\s{{1,8}}{_WORD}"),
    CommandGrammar("auth=(", rf"\\{{0,7}}[\"'][^\"'\n]{{0,100}}[\"'],[ \t]{{0,4}}{_WORD}\\{{0,7}}[\"']"),
    CommandGrammar("mnemonic", _SEED_WORDS, "seed-phrase"),
    CommandGrammar("seed phrase", _SEED_WORDS, "seed-phrase"),
    CommandGrammar("recovery phrase", _SEED_WORDS, "seed-phrase"),
)


MANIFEST_KIND = "kind: Secret\n"
MANIFEST = 2000
"""Characters of a manifest between its kind and its data, which may stand in either order."""
_DATA = re.compile(
    r"""
    [ \t>+|\d→-]{0,20} (?:data|stringData) [ \t]*:[ \t]*\r?\n
    (?P<entries>
        (?: [ \t>+|\d→-]{1,20} [\w.\-]{1,128}: [^\n]{0,8000} (?:\n|\Z) ){1,100}
    )
    """,
    re.VERBOSE,
)
_ENTRY = re.compile(r"(?<![\w.\-])[\w.\-]++:[ \t]*[\"']?(?P<secret>[^\s\"'|>{][^\s\"']{5,})")


def find_in_manifests(text: str) -> Iterator[Secret]:
    """Find the entries of Kubernetes secrets, whatever their names."""
    at = text.find(MANIFEST_KIND)
    while at >= 0:
        for block in _DATA.finditer(text, max(0, at - MANIFEST), at + MANIFEST):
            for entry in _ENTRY.finditer(text, *block.span("entries")):
                if is_user_password(entry["secret"]):
                    yield Secret(*entry.span("secret"), "kubernetes-secret", RANK)
        at = text.find(MANIFEST_KIND, at + MANIFEST)
