"""Passwords in command lines, statements and files whose grammar alone tells which word is the secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pastchats_memory.redact.believed import of_user
from pastchats_memory.redact.detector import Found, gated

RANK = 2
LEAST_LENGTH = 4
_WORD = r"\\{0,7}[\"']?(?P<secret>[^\s\"'`<>|;&\\$({%*][^\s\"'`<>|;&\\]{3,255})"
_ON_THE_LINE = r"[^\n|;&]{0,200}?[ \t]"
_TIED = r"\\{0,7}[\"']?(?P<secret>[^\s\"'`<>|;&\\$({%*=\-][^\s\"'`<>|;&\\]{3,255})"

_WORDS = re.compile(
    r"\\{0,7}[\"']?(?:[ \t]+(?:is|was))?\s{0,4}[:=]?\s{0,4}\\{0,7}[\"'`]?(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])"
)
"""Twelve or more words of three to eight letters, as BIP 39 has them; no sentence is so long without a shorter word."""


@dataclass(frozen=True, slots=True)
class _Grammar:
    """Where a secret stands behind a word, as the lower-cased text has it."""

    word: str
    pattern: re.Pattern[str]
    kind: str = "password"


def _line(word: str, flags: str, value: str = rf"(?:[ \t]+|=){_WORD}") -> _Grammar:
    return _Grammar(word, re.compile(rf"{_ON_THE_LINE}(?:{flags}){value}"))


_GRAMMARS: tuple[_Grammar, ...] = (
    _line("mysql", "-p", _TIED),
    _line("sshpass", "-p", rf"[ \t]*{_WORD}"),
    _line("docker login", "-p"),
    _line("podman login", "-p"),
    _line("registry login", "-p"),
    _line("oc login", "-p"),
    _line("az login", "-p"),
    _line("acr login", "-p"),
    _line("redis-cli", "-a|--pass"),
    _line("valkey-cli", "-a|--pass"),
    _line("mongo", "-p"),
    _line("ldap", "-w"),
    _line("sqlcmd", "-P"),
    _line("htpasswd", r"-[a-z]{0,4}b[a-z]{0,4}", rf"[ \t]+(?:\S{{1,100}}[ \t]+){{2}}{_WORD}"),
    _Grammar("pass:", re.compile(_WORD)),
    _Grammar("storepass", re.compile(rf"[ \t]+{_WORD}")),
    _Grammar("keypass", re.compile(rf"[ \t]+{_WORD}")),
    _Grammar(
        "identified",
        re.compile(rf"(?:[ \t]+with[ \t]+\S{{1,40}})?[ \t]+(?:by|as)[ \t]+(?:password[ \t]+)?{_WORD}", re.IGNORECASE),
    ),
    _Grammar("password '", re.compile(r"(?P<secret>[^'\n\\]{4,255})'")),
    _Grammar('password "', re.compile(r"(?P<secret>[^\"\n\\]{4,255})\"")),
    _Grammar("login ", re.compile(rf"\S{{1,100}}\s{{1,8}}(?:account\s+\S{{1,100}}\s{{1,8}})?password\s{{1,8}}{_WORD}")),
    _Grammar("auth=(", re.compile(rf"\\{{0,7}}[\"'][^\"'\n]{{0,100}}[\"'],[ \t]{{0,4}}{_WORD}\\{{0,7}}[\"']")),
    _Grammar("mnemonic", _WORDS, "seed-phrase"),
    _Grammar("seed phrase", _WORDS, "seed-phrase"),
    _Grammar("recovery phrase", _WORDS, "seed-phrase"),
    _Grammar(":5432:", re.compile(rf"[^\s:]{{1,64}}:[^\s:]{{1,64}}:{_WORD}")),
)


def commanded_secrets(text: str, lowered: str) -> Iterator[Found]:
    """Secrets that a command, a statement or a file of passwords gives away; `lowered` is the text, place by place."""
    for gate, grammars in _GATED:
        if gate in lowered:
            for grammar in grammars:
                yield from _of_grammar(text, lowered, grammar)


def _of_grammar(text: str, lowered: str, grammar: _Grammar) -> Iterator[Found]:
    at = lowered.find(grammar.word)
    while at >= 0:
        end = at + len(grammar.word)
        match = grammar.pattern.match(text, end)
        if match is not None:
            value = match["secret"].rstrip(".,;:?)*")
            if (
                len(value) >= LEAST_LENGTH
                and value.isascii()
                and "[redacted:" not in value
                and of_user(value, grammar.kind)
            ):
                yield Found(match.start("secret"), match.start("secret") + len(value), grammar.kind, RANK)
                end = match.end()
        at = lowered.find(grammar.word, end)


_GATED = gated(((grammar.word, grammar) for grammar in _GRAMMARS), ("login", "pass", "sql", "-cli", "phrase", "auth"))
