"""Values in the field before the one that names them: `{"value": "…", "name": "DB_PASSWORD"}`."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pastchats_memory.redact.assignments import RANK
from pastchats_memory.redact.heuristics import is_assigned_secret
from pastchats_memory.redact.rule_files import read_patterns
from pastchats_memory.redact.rules import ScannedText, Secret
from pastchats_memory.redact.secret_names import name_kind

_PATTERNS = read_patterns("places.toml")
_FIELDS = _PATTERNS["value_and_name"]


class ValueField(NamedTuple):
    """A field whose name is a word for any value."""

    keyword: str
    """In lower case."""

    def find(self, scanned: ScannedText, places: Iterable[int]) -> Iterator[Secret]:
        """Return the values that the next field calls a secret, from left to right."""
        for at in places:
            found = _FIELDS.match(scanned.text, at + len(self.keyword))
            kind = name_kind(re.sub(r"[/.\-]", "_", found["name"])) if found else ""
            if found and kind and "[redacted:" not in found["secret"] and is_assigned_secret(found["secret"], kind):
                yield Secret(*found.span("secret"), kind, RANK)


FIELDS = tuple(ValueField(word) for word in ("value", "content"))
