"""Secrets behind a name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `the password is …`.

A name alone proves nothing: `max_tokens: 4096`, `password: string`, `token = request.token`. Each form of writing a
value therefore has its own test of whether the value is a secret.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pastchats_memory.redact.assignments import ANYTHING, RANK, RUN, SPACED_EQUALS, assignments_by_character
from pastchats_memory.redact.heuristics import is_mixed_secret, is_random_secret
from pastchats_memory.redact.rule_files import compile_pattern, compile_patterns, read_rules
from pastchats_memory.redact.rules import ScannedText, Secret

LONGEST_END = 24
"""Characters before a name's part that `ends` may look at."""
SPACING = 96
"""Characters behind a name without a secret in which the name is not tried again, if a long run goes on there.

It keeps a text linear that repeats a name without a blank.
"""
MOST_TRIED = 1_000
"""Places of a name without a secret in one text, beyond which `SPACING` lies between any two.

It bounds the time of a text that repeats a name: no list of real secrets has so many names without one.
"""
_LONG_RUN = re.compile(rf"{RUN}{{256}}")
_NAME_CLOSERS = " =/"
"""A part with one of these at its end is no beginning of a longer name."""


class SecretName(NamedTuple):
    """A part of names of secrets, as the header of `names.toml` explains."""

    kind: str
    part: str
    ends: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None
    follows: str = ""
    excludes: tuple[str, ...] = ()
    reach: int = 24

    def find(self, scanned: ScannedText, places: Iterable[int]) -> list[Secret]:
        """Return values behind names with this part, from left to right."""
        text, lowered, known_ends = scanned.text, scanned.lowered, scanned.known_ends
        end, length, tried = 0, len(self.part), 0
        ends, before, after, follows = self.ends, self.before, self.after, self.follows
        assignments = _ASSIGNMENTS[self.kind]
        is_closed = self.kind == "pass-of-user" or self.part[-1] in _NAME_CLOSERS
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


_RULES = read_rules("names.toml")
_PARTS: dict[str, str] = {
    **_RULES["parts"],
    **{name: "|".join(map(re.escape, words)) for name, words in _RULES["words"].items()},
    **{
        f"backwards_{name}": "|".join(re.escape(word[::-1]) for word in words)
        for name, words in _RULES["words"].items()
    },
}


def _read_names() -> Iterator[SecretName]:
    for entry in _RULES["names"]:
        for field in ("ends", "before", "after"):
            if field in entry:
                entry[field] = compile_pattern(entry[field], _PARTS)
        entry["excludes"] = tuple(entry.get("excludes", ()))
        for part in entry.pop("parts"):
            yield SecretName(part=part, **entry)


_EVERY_NAME = tuple(_read_names())
NAMES = tuple(name for name in _EVERY_NAME if name.part.isascii())
PATTERNS = compile_patterns(_RULES, _PARTS)
_HARMLESS_ENDING = PATTERNS["harmless_ending"]
_REST_OF_NAME = PATTERNS["rest_of_name"]
_ASSIGNMENTS = {kind: assignments_by_character(kind) for kind in {name.kind for name in NAMES}}
_WHOLE_NAME = "(?:(?P<password>(?&password_names))|(?&secret_names))"
_COLUMN_NAME = compile_pattern(rf"[\w .\-]{{0,40}}?{_WHOLE_NAME}s?\Z", _PARTS)


def name_kind(name: str) -> str:
    """Return the kind of secret that a field or column of this name holds, or nothing."""
    found = _COLUMN_NAME.match(name.lower())
    return "" if found is None or name.endswith(" to pass") else "password" if found["password"] else "secret"


LONGEST_BEFORE = 300
"""Characters before a phrase in which its value is looked for."""
_NAME_BEHIND = PATTERNS["name_behind"]
_VALUE_BEFORE = PATTERNS["value_before"]


class NamingPhrase(NamedTuple):
    """A phrase between a value and its name: `… as the API key`, `… is my password`."""

    words: str
    name_start: str
    """Letters with which the name has to begin, in lower case."""

    @property
    def part(self) -> str:
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


_EVERY_PHRASE = tuple(
    NamingPhrase(words, start)
    for entry in _RULES["phrases"]
    for words in entry["words"]
    for start in entry.get("name_starts", ("",))
)
NAMING_PHRASES = tuple(phrase for phrase in _EVERY_PHRASE if phrase.part.isascii())
FOREIGN_NAMES: tuple[SecretName | NamingPhrase, ...] = (
    *(name for name in _EVERY_NAME if not name.part.isascii()),
    *(phrase for phrase in _EVERY_PHRASE if not phrase.part.isascii()),
)
"""Names and phrases that the keyword index cannot hold."""
