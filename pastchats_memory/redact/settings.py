"""Passwords that are words, where nothing but a value can stand: in quotes, or in a file of settings.

`password = correcthorse` by itself is how a program speaks of a variable, so a word without quotes is believed only in a
line as of a `.env` or properties file, below the head of a section, and among other entries of YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pastchats_memory.redact.believed import LEAST_PASSWORD, is_placeholder
from pastchats_memory.redact.detector import Found, Looked
from pastchats_memory.redact.ways import RANK

_MARGIN = r"(?:[ \t]{0,8}\d{1,6}[→\t:]|[+\-] ?|> )?"
"""What readers of files, comparisons and quotations put before a line."""
_QUOTED = (
    r"(?:\\{0,3}[\"'])?\]?(?:[ \t]?:[ \t]?[Ss]tr(?:ing)?)?[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}"
    rf"(?P<open>\\{{0,3}}[\"'])(?P<quoted>[A-Za-z]{{{LEAST_PASSWORD},64}}(?:-[a-z]{{1,64}}){{0,6}})(?P=open)(?![ \t]?[+%.:=])"
)
_SET = (
    r"(?:(?P<tight>=)|[ \t]{0,8}=[ \t]{0,8}|(?P<entry>:[ \t]{1,8}))"
    r"(?P<word>[A-Za-z][A-Za-z0-9]{3,63}(?:[_\-][A-Za-z0-9]{1,64}){0,6})[ \t]{0,80}(?:#[^\n]*)?(?=\r?\n|\Z)"
)
_WRITTEN = re.compile(f"{_QUOTED}|{_SET}")
_FOLLOWS = frozenset("=: \t\"'\\]")
"""One of these begins whatever stands between a name and its value."""
_NAME = re.compile(rf"{_MARGIN}(?P<indent>[ \t]*+)(?:- |export )?[\w.\-]*\Z")
_SECTION = re.compile(
    rf"(?:\A|\n){_MARGIN}\[[\w.:\- \"]{{1,64}}\][ \t]{{0,80}}\r?\n"
    rf"(?>(?:{_MARGIN}(?:[^\n=\[]{{1,64}}=[^\n]*|[ \t]{{0,80}}(?:[#;][^\n]*)?)\n){{0,40}})\Z"
)
"""The head of one, and behind it no more than settings, remarks and blank lines."""
_ENTRY = re.compile(rf"{_MARGIN}[ \t]*+(?:- )?[\w.\-]{{1,64}}:(?: |\r?\Z)")
_OF_AN_OBJECT = re.compile(rf"[^\n]*[,;{{(]\s*\Z|{_MARGIN}\s*[}})]")
_SAID_OF_IT = re.compile(
    r"[\w\-]*(?:pass|ed\Z)|(?:(?:un|re)?set|(?:in)?valid|hash|bcrypt|varchar|wrong|plain)\Z", re.IGNORECASE
)
"""What is done with a password, and how one is kept."""
REACH = 2000
"""Characters before a line in which the head of its section is looked for."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The end of a name, in small letters, behind which a word is a secret."""

    kind: str
    part: str
    is_shouted: bool = False
    """Whether it is believed of environment variables alone."""

    def find(self, looked: Looked, places: Iterable[int]) -> list[Found]:
        """The words, from left to right."""
        text, shapes, length = looked.text, looked.shapes, len(self.part)
        words: list[Found] = []
        for at in places:
            end = at + length
            if text[end : end + 1] not in _FOLLOWS or (shapes and looked.is_known(end + 1)):
                continue
            if self.is_shouted and not (text[end] == "=" and text[end - 3 : end].isupper()):
                continue
            found = _WRITTEN.match(text, end)
            if found is None or not (self._is_quoted(found) or self._is_setting(text, found)):
                continue
            word = str(found.lastgroup)
            if not is_placeholder(found[word]) and not _SAID_OF_IT.match(found[word]):
                words.append(Found(*found.span(word), self.kind, RANK))
        return words

    def _is_quoted(self, found: re.Match[str]) -> bool:
        return found["quoted"] is not None and not self.is_shouted

    def _is_setting(self, text: str, found: re.Match[str]) -> bool:
        """Whether its line can be none of a program."""
        name_ends = found.start()
        start = text.rfind("\n", 0, name_ends) + 1
        name = _NAME.match(text, start, name_ends)
        if name is None:
            return False
        if found["tight"] and not name["indent"]:
            return True
        if self.is_shouted:
            return False
        if found["entry"]:
            is_shouted = text[max(start, name_ends - 3) : name_ends].isupper()
            return found["word"].islower() and _is_among_entries(text, start, found.end(), is_shouted=is_shouted)
        return _SECTION.search(text, max(0, start - REACH), start) is not None


def _is_among_entries(text: str, start: int, end: int, *, is_shouted: bool) -> bool:
    """Whether the lines beside one may be of YAML and cannot be of an object in a program."""
    before = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]
    beside = (before, *text[end : end + REACH].split("\n", 2)[1:2])
    return (is_shouted or any(map(_ENTRY.match, beside))) and not any(map(_OF_AN_OBJECT.match, beside))


SETTINGS = (
    *(Setting("password", part) for part in ("password", "passwd", "pwd", "passphrase", "passwort", "_pass", "pw")),
    *(
        Setting(kind, part, is_shouted=True)
        for part, kind in (
            ("secret", "secret"),
            ("token", "token"),
            *((f"{of}_key", "api-key") for of in ("api", "secret", "access", "private", "encryption", "signing")),
        )
    ),
)
