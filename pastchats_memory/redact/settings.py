"""Passwords that are words, where only a value can stand: in quotes, or in a file of settings.

`password = correcthorse` alone is how a program mentions a variable. A word without quotes is therefore a secret only
in a line of a `.env` or properties file, below the head of a section, or among other entries of YAML.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pastchats_memory.redact.assignments import RANK, is_end_of_name
from pastchats_memory.redact.heuristics import is_placeholder
from pastchats_memory.redact.rule_files import read_patterns, read_rules
from pastchats_memory.redact.rules import ScannedText, Secret

_RULES = read_rules("settings.toml")
_PATTERNS = read_patterns("settings.toml")
_VALUE = _PATTERNS["value"]
_VALUE_STARTS = frozenset("=: \t\"'\\]")
"""The characters with which `_VALUE` begins."""
_NAME = _PATTERNS["name"]
_SECTION = _PATTERNS["section"]
_ENTRY = _PATTERNS["entry"]
_OBJECT_LINE = _PATTERNS["object_line"]
_STATE_OF_PASSWORD = _PATTERNS["state_of_password"]
_LABEL = re.compile(r"""(?:=>|[=:])[ \t]*["']?([^\s"'][^\n]*)""")
REACH_OF_LABELS = 300
REACH = 2000
"""Characters before a line in which the head of its section is looked for."""


class SecretSetting(NamedTuple):
    """The end of a name, behind which a word is a secret, as the header of `settings.toml` explains."""

    kind: str
    part: str
    is_environment_only: bool

    def find(self, scanned: ScannedText, places: Iterable[int]) -> list[Secret]:
        """Return the words, from left to right."""
        text, known_ends, length = scanned.text, scanned.known_ends, len(self.part)
        words: list[Secret] = []
        for at in places:
            end = at + length
            if text[end : end + 1] not in _VALUE_STARTS or (known_ends and scanned.is_whole_secret(end + 1)):
                continue
            if self.is_environment_only and not (text[end] == "=" and text[end - 3 : end].isupper()):
                continue
            found = _VALUE.match(text, end)
            if found is None or not (self._is_quoted(text, found) or self._is_setting(text, found)):
                continue
            group = str(found.lastgroup)
            if not (
                is_placeholder(found[group])
                or _STATE_OF_PASSWORD.match(found[group])
                or is_end_of_name(scanned, found[group], end)
            ):
                words.append(Secret(*found.span(group), self.kind, RANK))
        return words

    def _is_quoted(self, text: str, found: re.Match[str]) -> bool:
        return (
            found["quoted"] is not None and not self.is_environment_only and not _is_label(text, found.start(), found)
        )

    def _is_setting(self, text: str, found: re.Match[str]) -> bool:
        """Return whether the line belongs to a file of settings and not to a program."""
        name_end = found.start()
        start = text.rfind("\n", 0, name_end) + 1
        name = _NAME.match(text, start, name_end)
        if name is None or _is_label(text, start, found):
            return False
        if found["tight"] and not name["indent"]:
            return True
        if self.is_environment_only:
            return False
        if found["entry"]:
            is_upper = text[max(start, name_end - 3) : name_end].isupper()
            return found["word"].islower() and _is_among_entries(text, start, found.end(), is_upper=is_upper)
        return _SECTION.search(text, max(0, start - REACH), start) is not None


def _is_label(text: str, start: int, found: re.Match[str]) -> bool:
    """Return whether a line belongs to a list of translations: most lines around it begin with a capital as well."""
    around = text[max(0, start - REACH_OF_LABELS) : start] + text[found.end() : found.end() + REACH_OF_LABELS]
    labels = _LABEL.findall(around)
    is_list = sum(label[0].isupper() for label in labels) > len(labels) / 2 and any(" " in label for label in labels)
    return is_list and str(found["word"] or found["quoted"])[0].isupper()


def _is_among_entries(text: str, start: int, end: int, *, is_upper: bool) -> bool:
    """Return whether the lines around one may be YAML and are no object of a program."""
    before = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]
    neighbours = (before, *text[end : end + REACH].split("\n", 2)[1:2])
    return (is_upper or any(map(_ENTRY.match, neighbours))) and not any(map(_OBJECT_LINE.match, neighbours))


SETTINGS = tuple(
    SecretSetting(entry["kind"], part, entry.get("is_environment_only", False))
    for entry in _RULES["settings"]
    for part in entry["parts"]
)
