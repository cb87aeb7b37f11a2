"""Secrets whose place in a command, a call, a statement or a file shows that they are secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pastchats_memory.redact.assignments import RANK
from pastchats_memory.redact.heuristics import Judgement, is_mixed_secret, is_user_password
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
_ON_THE_LINE = r"[^\n|;&]{0,200}? (?: \\\n [^\n|;&]{0,200}? ){0,4}? (?<=[ \t\"'])"
"""Matches the words of a command up to an option, also over continued lines and as a list of strings."""
_GAP = r"(?: [ \t]*\\\n[ \t]* | [\"'],\s{0,20}[\"'] | [ \t]+ | = )"
"""Matches what separates an option and its value."""
_QUOTED = r"\\{0,7} (?: ' (?P<single> [^'\s\\]{4,255} ) \\{0,7}' | \" (?P<double> [^\"\s\\]{4,255} ) \\{0,7}\" )"
"""Matches an argument of a call."""
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
    judge: Judgement = is_user_password
    spacing: int = 0
    """Characters behind a place without a secret in which no other place is tried.

    It keeps a text linear that repeats the keyword of a pattern which looks far.
    """

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
                end = max(end, at + self.spacing)
                continue
            group = str(found.lastgroup)
            value = found[group].rstrip(".,;:?)*")
            if (
                len(value) >= LEAST_LENGTH
                and value.isascii()
                and "[redacted:" not in value
                and self.judge(value, self.kind)
            ):
                yield Secret(found.start(group), found.start(group) + len(value), self.kind, RANK)
                end = found.end()


def _option(keyword: str, flags: str, value: str = rf"{_GAP} (?!-) {_WORD}") -> CommandGrammar:
    """Return the grammar of a command that takes a secret behind one of its options."""
    sign = "-" if all(flag.startswith("-") for flag in flags.split("|")) else ""
    return CommandGrammar(keyword, rf"{_ON_THE_LINE} (?: {flags} ) {value}", sign=sign, spacing=32)


def _call(keyword: str, before: str, judge: Judgement = is_mixed_secret) -> CommandGrammar:
    """Return the grammar of a call with a password among its arguments.

    `before` is a pattern for the arguments between the bracket and the password.
    """
    return CommandGrammar(keyword, rf"\s{{0,40}} {before} {_QUOTED}", judge=judge)


_MORE_OPTIONS = r"(?:[ \t]+-\w{1,4}(?:[ \t]+\d{1,4})?){0,3}"
_ONE_STRING = r"(?: [a-z]{0,2} \\{0,7}[\"'] [^\"'\n]{0,100} [\"'] | [\w.$]{1,40} ),\s{0,40} (?:Some\()? [a-z]{0,2}"
"""Matches the first argument of a call, such as a user's name."""
_PROGRAMS_BY_OPTION: dict[str, tuple[str, ...]] = {
    "-p": (
        "docker login", "podman login", "registry login", "oc login", "az login", "acr login", "mongo", "twine", "cqlsh", "beeline", "useradd", "usermod",
        "psexec", "rdesktop", "cypher-shell", "rabbitmqadmin", "ncftp", "vncdo", "hydra ", "crackmapexec ", "nxc ", "netexec ", "evil-winrm ",
        "bloodhound", "add-user", "elasticsearch-users", "altool", "-keychain",
    ),
    "-P": ("ssh-keygen", "sqlcmd", "bcp ", "isql", "zip", "mosquitto", "ipmitool", "security import", "knife bootstrap"),
    "-w": ("ldap", "-password", "odoo"),
    "-s": ("ldappasswd", "slappasswd"),
    "-pw": ("plink", "pscp", "psftp", "putty"),
    "-k|-K": ("openssl enc", "openssl aes", "openssl des", "set-key-partition-list"),
    "-N": ("ssh-keygen",),
    "-A": ("snmp",),
    "-X": ("snmp",),
    "-a|--pass": ("redis-cli", "valkey-cli"),
    "-opw|-upw": ("pdf",),
    "(?i:/rp)": ("schtasks",),
    "-t": ("influx",),
}  # fmt: skip
"""By option, programs that take a password behind it."""
_SINKS = r"""
    (?:
        --(?:password-stdin|with-token|passphrase-fd|passwd-on-stdin|stdin)\b
      | sudo[ ]-S | cryptsetup | (?:smb|ch|mk)?passwd\b | su\b | kinit | secret-tool
      | vercel[ ]env[ ]add | gcloud[ ]secrets | pass[ ]insert | gh[ ]secret[ ]set | docker[ ]secret[ ]create | wrangler[ ]secret[ ]put
    )
"""
"""Matches programs that read a password from their input."""
_FOUR_GROUPS = r"[a-z]{4} (?: [ ][a-z]{4} ){3}"
_OPTIONS = r"(?:-\S{1,40}[ \t]+){0,3}(?!-)"
_OF_A_USER = r"[^\s:]{1,64}:[^\s:]{1,64}:"
_BETWEEN = {
    "operator unseal ": "",
    "masterauth ": "",
    "auth default ": "",
    " on >": r"(?!=)",
    "bindpw ": "",
    "rootpw ": r"(?:--(?:plaintext|iscrypted)[ \t]+)?",
    "enable secret ": r"(?:\d[ \t]+)?",
    "enable password ": r"(?:\d[ \t]+)?",
    " secret 0 ": "",
    " secret 5 ": "",
    "privilege ": r"\d{1,2}[ \t]+(?:secret|password)[ \t]+(?:\d[ \t]+)?",
    "chpasswd:": r"\s{1,8}(?:expire:[^\n]{0,20}\n\s{1,20})?list:[ \t]{0,4}[|>]?-?\s{1,20}[^\s:]{1,64}:",
    "password 0 ": "",
    "user_pw ": "",
    "owner_pw ": "",
    "input_pw ": "",
    "--secret-string ": "",
    " /v ": r"\w{0,40}(?:[Pp]ass|[Pp]wd|[Ss]ecret|[Tt]oken)\w{0,40}[^\n]{0,40}?[ \t]/d[ \t]+",
    "netsh wlan ": r"[^\n]{0,120}?\bkey(?:Material)?=",
    "--encrypt ": "",
    "obscure ": "",
    "changeme/": "",
    "/pass ": "",
    "password/i), ": r"(?=[\"'])",
    "bw unlock ": "",
    "bw login ": r"\S{1,64}@\S{1,64}[ \t]+",
    "hash-password ": r"(?:--plaintext|-p)[ \t]+",
    "-storepasswd -new ": "",
    "password -string ": "",
    "winrs ": r"[^\n|;&]{0,120}?[ \t][-/]p(?:assword)?:",
    "securestring ": r"[^\n|;&]{0,80}?--value[ \t=]",
    "openssl passwd ": r"(?:-salt[ \t]+\S{1,40}[ \t]+|-\w{1,10}[ \t]+){0,4}(?!-)",
    "mkpasswd ": r"(?:-m[ \t]+\S{1,20}[ \t]+|-\S{1,30}[ \t]+){0,4}(?!-)",
    "-passwd /": r"\S{1,64}[ \t]+",
    "samba-tool user ": r"\w{1,12}[ \t]+\S{1,64}[ \t]+(?!-)",
    "user:password ": r"\S{1,64}[ \t]+(?!-)",
    "wpa_passphrase ": r"(?:\"[^\"\n]{1,64}\"|\S{1,64})[ \t]+",
    "setairportnetwork ": r"\S{1,20}[ \t]+(?:\"[^\"\n]{1,64}\"|\S{1,64})[ \t]+",
    "wifi-sec.psk ": "",
    "sp_addlogin ": r"[^\s,]{1,80},[ \t]*N?",
    "sp_password ": r"[^\s,]{1,80},[ \t]*N?",
    "set password for ": r"(?:[^\n=;]{1,80}=[ \t]*|\S{1,64}[ \t]+(?!to\b|with\b))",
    "neo4j_auth=": r"[^\s/]{1,64}/",
    "userid=": r"[^\s/]{1,64}/",
    **dict.fromkeys(
        ("expdp ", "impdp ", "rman ", "oracle.connect(", "oracledb.connect("), r"[^\n|;&]{0,60}?[\w$#]{1,64}/"
    ),
    "-passwd /users/": r"\S{1,64}[ \t]+\S{1,64}[ \t]+(?!-)",
    "secret set ": rf"\S{{1,64}}[ \t]+(?:-b|--body|<<<){_GAP}?",
    "requirepass ": "",
    "set_password ": r"\S{1,64}[ \t]+",
    **dict.fromkeys(("password-command ", "password_cmd="), r"[\"']?echo[ \t]+(?:-n[ \t]+)?"),
    "sp_addlinkedsrvlogin ": r"[^;\n]{1,200},[ \t]*N?(?=')",
    "creds=": r"[^\s:]{1,64}:",
    "open -u ": r"[^\s,]{1,64},",
    "/connect ": r"\S{1,100}[ ]\d{2,5}[ ]",
    "option key ": r"(?=[\"'])",
    **dict.fromkeys(
        ("radius-server ", "tacacs-server ", "neighbor "), r"[^\n]{0,80}? (?<=[ ])(?:key|password)[ \t]+(?:[07][ \t]+)?"
    ),
    "auth sha ": "",
    "auth md5 ": "",
    "priv aes ": r"(?:\d{3}[ \t]+)?",
    "priv des ": "",
    "snmp-server community ": "",
    "pass:": "",
    "::add-mask::": "",
    "nickserv identify ": r"(?:\S{1,64}[ \t]+(?=\S))?",
    "rabbitmqctl ": r"(?:add_user|change_password|authenticate_user)[ \t]+\S{1,64}[ \t]+",
    "mc alias set ": r"(?:\S{1,200}[ \t]+){3}",
    "vault login ": _OPTIONS,
    "cargo login ": _OPTIONS,
    "setapikey ": "",
    "net user ": r"(?:/\w{1,10}[ \t]+)?\S{1,64}[ \t]+",
    "bundle config ": r"(?:set[ \t]+)?(?:--\w{1,20}[ \t]+)?\S{1,100}[ \t]+[^\s:]{1,64}:",
    "bundle_": r"[A-Za-z0-9_]{1,100}:[ \t]{1,4}\\{0,7}[\"']?[^\s:\"']{1,64}:(?=[^\s/])",
    "http-basic.": r"\S{1,100}[ \t]+\S{1,64}[ \t]+",
    "pypi-token.": r"\S{1,64}[ \t]+",
    "freerdp": r"[^\n|;&]{0,200}?[ \t][\"']?/p:",
    "password\nv ": r"\d{1,3}\n",
    **dict.fromkeys((":6432:", ":6543:", ":*:"), _OF_A_USER),
    ":543": rf"\d:{_OF_A_USER}",
}
"""By keyword, a verbose pattern for the text between it and the secret."""

GRAMMARS: tuple[CommandGrammar, ...] = (
    *(_option(program, "-p", _JOINED_WORD) for program in ("mysql", "mariadb", "7z")),
    *(_option(program, "-h?p", _JOINED_WORD) for program in ("rar a", "rar x", "rar e")),
    _option("sshpass", "-p", rf"{_GAP}?{_WORD}"),
    *(_option(program, flags) for flags, programs in _PROGRAMS_BY_OPTION.items() for program in programs),
    *(
        CommandGrammar(
            keyword,
            rf"[\"']? [^\s\"'$\-]{{1,64}} [\"']? {_ON_THE_LINE} (?: -p | -P | -w | -pw ) {_GAP} (?!-) {_WORD}",
            judge=is_mixed_secret,
            spacing=64,
        )
        for keyword in (" -u ", " --user ", " --username ")
    ),
    _option(
        "curl", "-u|-U|--user|--proxy-user|-E|--cert", rf"{_GAP}?\\{{0,7}}[\"']?[^\s:\"'$/]{{0,64}}:{_JOINED_WORD}"
    ),
    _option("curl", "--pass"),
    _option("secret set ", "--value"),
    *(
        CommandGrammar(keyword, rf"[a-z]{{0,2}}[\"'][^\s:\"']{{1,64}}:{_WORD}", judge=is_mixed_secret)
        for keyword in ("btoa(", "b64encode(", "base64_encode(", "buffer.from(", "encode_base64(")
    ),
    _option("mosquitto_passwd", r"-b[ \t]+\S{1,100}[ \t]+\S{1,100}"),
    CommandGrammar("auth ", rf"{_WORD}[ \t]{{0,4}}(?=\r?\n|\Z)", judge=is_mixed_secret),
    *(
        CommandGrammar(keyword, rf"[^\n|;]{{0,80}}?<<-?[ \t]?[\"']?\w{{1,20}}[\"']?\n{before}{_WORD}", sign="<<")
        for keyword, before in (("pass insert ", ""), ("chpasswd", r"[^\s:\"']{1,64}:"))
    ),
    CommandGrammar("[+]", rf"[^\n]{{0,120}}?\\{{1,2}}[\w.\-]{{1,64}}:{_WORD}", judge=is_mixed_secret),
    CommandGrammar("new value: ", _WORD, sign="assword", judge=is_mixed_secret),
    CommandGrammar("identified by ", rf"(?i)[^\n;]{{1,300}}?[ ]replace[ ]{_WORD}", spacing=32),
    *(_option(program, "-P", _JOINED_WORD) for program in ("sqlcmd", "bcp ", "osql")),
    CommandGrammar("-pw ", _WORD, judge=is_mixed_secret),
    CommandGrammar("-pass ", rf"(?!pass:|env:|file:|fd:|stdin){_WORD}", judge=is_mixed_secret),
    CommandGrammar("psk ", rf"[\"']?{_WORD}", judge=is_mixed_secret),
    *(
        CommandGrammar(f"type={quote}password{quote}", rf"[^<>]{{0,200}}?\bvalue={_WORD}")
        for quote in ('"', "'", '\\"')
    ),
    _option("ab ", "-A", rf"{_GAP}[^\s:\"'$]{{1,64}}:{_JOINED_WORD}"),
    CommandGrammar("auth ", rf"\\{{0,7}}[\"']?[\w.@\-]{{1,64}}:{_WORD}", judge=is_mixed_secret),
    *(
        CommandGrammar(keyword, rf"[^\n]{{0,200}}?/[^\s:/]{{1,64}}:{_WORD}[\"']?@", sign="@")
        for keyword in ("impacket", "secretsdump", "exec.py")
    ),
    *(CommandGrammar(keyword, rf"{between}{_WORD}") for keyword, between in _BETWEEN.items()),
    _option("htpasswd", rf"-(?=\w{{0,4}}n)\w{{0,4}}b\w{{0,4}}{_MORE_OPTIONS}[ \t]+\S{{1,100}}", rf"[ \t]+(?!-){_WORD}"),
    _option(
        "htpasswd",
        rf"-(?!\w{{0,4}}n)\w{{0,4}}b\w{{0,4}}{_MORE_OPTIONS}[ \t]+\S{{1,100}}[ \t]+\S{{1,100}}",
        rf"[ \t]+(?!-){_WORD}",
    ),
    CommandGrammar("--encrypt ", rf"\S{{1,64}}[ \t]+(?!-){_WORD}"),
    *(
        CommandGrammar(
            keyword,
            rf"""
                (?:-[neE]{{1,3}}[ \t]+)? (?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?
                [\"']? {user} (?P<secret> [^\s\"'`<>|;&\\$({{%*][^\s\"'`|;&\\)]{{3,255}} (?:\\n[^\s\"'|]{{1,255}})? ) (?:\\n)? [\"']?
                (?=
                    (?:;[ \t]{{0,4}}echo[ \t]+\S{{1,255}})? \)? [ \t]{{0,4}}\|[ \t]{{0,4}} [^\n|]{{0,120}}? {sinks}
                )
            """,
            sign="|",
        )
        for keyword in ("echo ", "printf ")
        for user, sinks in (("", _SINKS), (r"[^\s:\"']{1,64}:", r"(?:chpasswd|base64)\b"))
    ),
    *(
        CommandGrammar(
            keyword,
            rf"(?:[\"']?%s[\"']?[ \t]+)?{_WORD}[\"']?[ \t]{{0,4}}>{{1,2}}[ \t]{{0,4}}[^\s>|]{{0,100}}?(?:pass(?:wo?r?d)?|secret|token)",
            sign=">",
        )
        for keyword in ("echo ", "printf ")
    ),
    *(
        CommandGrammar(keyword, rf"[^\n|;]{{0,80}}?<<<[ \t]{{0,4}}{before}{_WORD}", sign="<<<")
        for keyword, before in (
            ("sudo ", ""),
            ("passwd", ""),
            ("kinit ", ""),
            ("openconnect ", ""),
            ("cryptsetup ", ""),
            ("su - ", ""),
            ("chpasswd", r"[\"']?[^\s:\"']{1,64}:"),
            ("stdinpass", ""),
        )
    ),
    _option("lftp", r"-u[ \t]+[^\s,]{1,64},", _JOINED_WORD),
    *(_option(program, r"-U[ \t]+[\"']?[^\s%]{1,64}%", _JOINED_WORD) for program in ("smbclient", "rpcclient")),
    CommandGrammar(" -u ", rf"[^\s:%\"']{{1,64}}%{_JOINED_WORD}", judge=is_mixed_secret),
    _option("net use", r"/user:\S{1,64}"),
    CommandGrammar("net use ", rf"(?:[^\s/]\S{{0,200}}[ \t]+){{1,2}}{_WORD}(?=[ \t]+/user:)"),
    *(
        CommandGrammar(
            keyword,
            rf"[^\n()]{{0,300}}?,\s{{0,8}}(?:[\"'][^\"'\n]{{1,64}}[\"']|[\w.$]{{1,40}}),\s{{0,8}}(?=[\"']){_WORD}[\"']",
        )
        for keyword in (
            "new pdo(",
            "mysqli_connect(",
            "new mysqli(",
            "getconnection(",
            "getpdo(",
            "plainauth(",
            "ftp(",
            "new sequelize(",
        )
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
    *(
        CommandGrammar(
            f"assword{end}",
            r"""
                \)? [;\s{]{0,20}
                (?: [\w.]{1,20}\. )? (?: send(?:_user|line|_line|_command)? | write ) [ \t(]{1,4} (?: -- [ \t]+ )?
                [bfr]? [\"'] (?P<secret> [^\"'\s\\$]{4,255} ) (?: \\[rn] | [\"'] )
            """,
        )
        for end in (':"', ":'", ': "', ": '", ':*"', '*"', '"\n', '" {', '";', "';", "'\n")
    ),
    CommandGrammar(".sendline(", rf"[bf]?(?=[\"']){_WORD}", sign="assword", judge=is_mixed_secret),
    *(
        CommandGrammar(
            f"{user}{sign}pass",
            rf"""
                \w{{0,6}} [\"'`*]{{0,3}} [ \t]{{0,4}} (?: [:=] | is\b ) [\"'`*]{{0,3}} [ \t]{{0,4}} [\"'`*]{{0,3}}
                [\w.@+\-]{{1,64}} [\"'`]? [ \t]? [:/|,] [ \t]? [\"'`]? {_WORD}
            """,
            judge=is_mixed_secret,
        )
        for user in ("user", "username", "login", "mail", "account")
        for sign in ("/", " / ", ":", "|", " | ", " & ")
    ),
    CommandGrammar("convertto-securestring ", rf"(?i)(?:-(?:string|asplaintext|force)[ \t]+){{0,3}}(?!-){_WORD}"),
    *(
        _call(keyword, _ONE_STRING)
        for keyword in (
            "auth(",
            "authenticate(",
            "basic_auth(",
            "basicauth(",
            "credentials(",
            "credentials.basic(",
            "credential]::new(",
            "credential(",
            "signin(",
            "sign_in(",
            "changeuserpassword(",
            "wifi.begin(",
            "wlan.connect(",
            "login(",
            "authenticationtoken(",
            "passwordtoken(",
            "passwordcredentials(",
            "authentication.plain(",
            "strcmp(password,",
            "login_as(",
            "loginas(",
            "log_in(",
            "auth = (",
            "credentials = (",
            "creds = (",
            "auth: (",
            "users = [(",
            "accounts = [(",
            "oracle.connect(",
            "oracledb.connect(",
        )
    ),
    *(
        _call(keyword, r"[\"'][^\"'\n]{1,64}[\"']:\s{0,8}")
        for keyword in ("users = {", "accounts = {", "credentials = {", "basic_auth = {")
    ),
    _call("andpassword(", rf"{_ONE_STRING} (?:{_ONE_STRING})?"),
    *(
        _call(keyword, rf"{_ONE_STRING} (?:{_ONE_STRING})")
        for keyword in ("create_user(", "create_superuser(", "createuser(", "register(", "signup(", "sign_up(")
    ),
    *(
        _call(keyword, rf"{_ONE_STRING} (?: \d{{1,5}},\s{{0,8}} )? {_ONE_STRING}")
        for keyword in ("connect(", ".connect(")
    ),
    *(
        _call(keyword, r"[a-z]{0,2}")
        for keyword in (
            "bcrypt.hash(",
            ".hashsync(",
            "encoder.encode(",
            "encoder().encode(",
            "hasher().hash(",
            "bcrypt.hashpw(",
            "bcrypt.compare(",
            "bcrypt.comparesync(",
            "bcrypt.checkpw(",
            "argon2.hash(",
            "password_hash(",
            "password_verify(",
            "_crypt.hash(",
            "hash::make(",
            "hash::check(",
            "crypt(",
            "hash_password(",
            "check_password(",
            "verify_password(",
            "pwd_context.hash(",
            "strcmp(pass,",
            "strcmp(pw,",
            "byte(",
        )
    ),
    CommandGrammar(
        "ssid",
        rf"[^\n,;]{{0,60}}(?:\n|[,;])[ \t]{{0,20}}(?:[Kk]ey|[Pp]ass\w{{0,8}}|pw)(?:[ \t]{{0,2}}[:=][ \t]{{0,2}}|[ \t]+){_WORD}",
    ),
    CommandGrammar("password is generated for ", rf"\S{{1,64}}:[ \t]{_WORD}"),
    CommandGrammar("::set-output name=", rf"[\w\-]{{0,40}}(?:pass|secret|token|key)[\w\-]{{0,40}}::{_WORD}"),
    CommandGrammar(
        "sqlplus ", r"(?:-[a-z]+[ \t]+){0,3}[A-Za-z0-9_$#]{1,64}/(?P<secret>[^\s\"'\\]{4,128}(?=@)|[^\s@\"'\\]{4,128})"
    ),
    CommandGrammar("login(", rf"\s{{0,40}}\\{{0,7}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,40}}{_WORD}\\{{0,7}}[\"']"),
    CommandGrammar("login(", rf"\s{{0,40}}[\"'][^\"'\n]{{1,100}}[\"'],\s{{0,40}}[\"'](?P<secret>{_FOUR_GROUPS})[\"']"),
    *(
        CommandGrammar(
            keyword, rf"[\"']?[^\s\"']{{1,64}}[\"']?(?:[ \t]?[/:][ \t]?|[ \t]and[ \t](?:password[ \t])?){_WORD}"
        )
        for keyword in (
            "log in as ",
            "login as ",
            "log in with ",
            "login with ",
            "logs in with ",
            "logged in with ",
            "sign in with ",
        )
    ),
    CommandGrammar("login: ", rf"\S{{1,64}}[ \t]?/[ \t]?{_WORD}"),
    *(
        CommandGrammar(
            keyword,
            rf"""
                (?: [^\n:]{{0,60}} : [*_]{{0,2}} | [ \t]+(?:are|is|were)\b | [ \t]*(?:→|⇒|[=\-]>|=) | (?=[ \t]+\S{{1,64}}:\S) )
                \s{{0,8}} (?:[-*][ \t])? [`\"']? (?!return\b|arn:) [\w.@+\-]{{1,64}} [`\"']? (?: [ \t]?[:/|][ \t]? | [ \t](?:and[ \t])? ) [`\"']? {_WORD}
            """,
            judge=is_mixed_secret,
        )
        for keyword in (
            "creds",
            "credentials",
            "zugangsdaten",
            "logindaten",
            "identifiants",
            "credenciales",
            "credenziali",
            "inloggegevens",
            "wifi",
            "wi-fi",
            "wlan",
            "login",
            "logins",
        )
    ),
    *(
        CommandGrammar(
            keyword,
            rf"[^\n|;&]{{0,80}}?(?:\n|\\n)[ \t]{{0,8}}{_WORD}[ \t]{{0,8}}(?=\r?\n|\\n|\Z)",
            judge=is_mixed_secret,
        )
        for keyword in ("pass show ", "get password ", "-field=password ", "pwgen ", "makepasswd", "openssl rand ")
    ),
    CommandGrammar("db2 connect ", rf"[^\n]{{0,100}}?[ \t]using[ \t]+{_WORD}"),
    CommandGrammar("input password", rf"(?:[ ]{{2,8}}|\t)\S{{1,100}}(?:[ ]{{2,8}}|\t){_WORD}"),
    _call("simple_bind_s(", rf"{_ONE_STRING}"),
    _call("simple_bind(", rf"{_ONE_STRING}"),
    CommandGrammar("storepass", rf"[ \t]+{_WORD}"),
    CommandGrammar("keypass", rf"[ \t]+{_WORD}"),
    CommandGrammar(
        "identified",
        rf"(?i)(?:[ \t]+with[ \t]+\S{{1,40}})?[ \t]+(?:by|as)[ \t]+(?:password[ \t]+)?(?=\\{{0,7}}[\"']|\S{{0,80}}\d){_WORD}",
    ),
    CommandGrammar("password '", r"(?P<secret>[^'\n\\]{4,255})'"),
    CommandGrammar("login ", rf"\S{{1,100}}\s{{1,8}}(?:account\s+\S{{1,100}}\s{{1,8}})?password\s{{1,8}}{_WORD}"),
    CommandGrammar("auth=(", rf"\\{{0,7}}[\"'][^\"'\n]{{0,100}}[\"'],[ \t]{{0,4}}{_WORD}\\{{0,7}}[\"']"),
    CommandGrammar("mnemonic", _SEED_WORDS, "seed-phrase"),
    CommandGrammar("seed phrase", _SEED_WORDS, "seed-phrase"),
    CommandGrammar("recovery phrase", _SEED_WORDS, "seed-phrase"),
)


MANIFEST = 2000
"""Characters of a manifest between its kind and its data, which may stand in either order."""
_DATA = re.compile(
    r"""
    [ \t>+|\d→-]{0,20} (?:data|stringData) [ \t]*:[ \t]*\r?\n
    (?P<lines>
        (?: [ \t>+|\d→-]{1,20} [\w.\-]{1,128}: [^\n]{0,8000} (?:\n|\Z) ){1,100}
    )
  | \\{0,7}\"(?:data|stringData)\\{0,7}\" \s{0,8} : \s{0,8} \{ (?P<object> [^{}]{0,16000} ) \}
    """,
    re.VERBOSE,
)
_ENTRY = re.compile(
    r"""
    (?<![\w.\-]) [\w.\-]++ (?: \\{0,7}\" )? \s{0,4} : [ \t]* \\{0,7} [\"']? (?P<secret> [^\s\"'|>{\\] [^\s\"'\\]{3,} )
    """,
    re.VERBOSE,
)


class Manifest(NamedTuple):
    """The kind of a Kubernetes secret as YAML or JSON writes it, in lower case."""

    keyword: str

    def find(self, scanned: ScannedText, places: Iterable[int]) -> Iterator[Secret]:
        """Find the entries of Kubernetes secrets, whatever their names."""
        done = 0
        for at in places:
            if at < done:
                continue
            for block in _DATA.finditer(scanned.text, max(0, at - MANIFEST), at + MANIFEST):
                for entry in _ENTRY.finditer(scanned.text, *block.span(str(block.lastgroup))):
                    if is_user_password(entry["secret"]):
                        yield Secret(*entry.span("secret"), "kubernetes-secret", RANK)
            done = at + MANIFEST


MANIFESTS = (
    Manifest("stringdata"),
    *(
        Manifest(f"kind{sign}secret")
        for sign in (": ", '": "', '":"', '\\": \\"', '\\":\\"', '\\\\\\": \\\\\\"', '\\\\\\":\\\\\\"')
    ),
)
