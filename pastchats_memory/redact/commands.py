"""Secrets whose place in a command, a call, a statement or a file shows that they are secret."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pastchats_memory.redact.assignments import LEAST_LENGTH, RANK
from pastchats_memory.redact.heuristics import SECRET_TESTS, SecretTest, find_quoted_end, is_user_password
from pastchats_memory.redact.rule_files import compile_pattern, compile_patterns, read_rules
from pastchats_memory.redact.rules import ScannedText, Secret

OPTION_SPACING = 32
"""The spacing of commands with a secret behind an option."""
_RULES = read_rules("commands.toml")


@dataclass(frozen=True)
class CommandGrammar:
    """A keyword, and where a secret stands behind it, as the header of `commands.toml` explains."""

    keyword: str
    after: str
    is_secret: SecretTest
    kind: str = "password"
    sign: str = ""
    spacing: int = 0

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compile the pattern when its keyword is first met."""
        return compile_pattern(self.after, _RULES["parts"])

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
                and self.is_secret(value, self.kind)
            ):
                start = found.start(group)
                yield Secret(start, find_quoted_end(text, start, start + len(value)), self.kind, RANK)
                end = found.end()


def _read_grammars() -> Iterator[CommandGrammar]:
    for entry in _RULES["commands"]:
        flags = entry.pop("flags", "")
        if flags:
            entry["after"] = f"(?&command) (?: {flags} ) {entry.pop('value', '(?&gap) (?!-) (?&word)')}"
            entry["sign"] = "-" if all(flag.startswith("-") for flag in flags.split("|")) else ""
            entry["spacing"] = OPTION_SPACING
        is_secret = SECRET_TESTS[entry.pop("test", "is_user_password")]
        for keyword in entry.pop("keywords"):
            yield CommandGrammar(keyword, is_secret=is_secret, **entry)


GRAMMARS = tuple(_read_grammars())


MANIFEST = 2000
"""Characters of a manifest between its kind and its data, which may stand in either order."""
_PATTERNS = compile_patterns(_RULES)
_DATA = _PATTERNS["manifest_data"]
_ENTRY = _PATTERNS["manifest_entry"]


class Manifest(NamedTuple):
    """The kind of a Kubernetes secret as YAML or JSON writes it, in lower case."""

    keyword: str

    def find(self, scanned: ScannedText, places: Iterable[int]) -> Iterator[Secret]:
        """Find the entries of Kubernetes secrets, whatever their names."""
        done = 0
        for at in places:
            if at < done:
                continue
            first = scanned.text.rfind("\n---", max(0, at - MANIFEST), at)  # of the document in a file of several
            end = scanned.text.find("\n---", at, at + MANIFEST)
            for block in _DATA.finditer(scanned.text, max(0, at - MANIFEST, first), at + MANIFEST if end < 0 else end):
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
