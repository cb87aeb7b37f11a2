"""Compile the phrases of `phrases.toml` and the expressions of `patterns.toml` at their first use."""

import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import orjson
from ahocorasick_rs import BytesAhoCorasick

from pastchats_memory.text.data_file import read_data
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.words import fold_case

REQUIRED_WORDS = Path(__file__).with_name("required_words.json")
"""Words of which each match has one, by the key of the expression. `scripts/word_lists/required_words.py` writes it."""
_APOSTROPHE = re.compile(r"'(?=\??(?:s|ll|re|ve|m|d)\b)")
BOUNDARY = r"\b"
"""Frame of a phrase unless its group states another one."""

Kind = Literal["evidence", "guards"]
Group = Mapping[str, str | list[str]]
"""One frame (`before`, `after`) with phrases by language code."""


class Pattern(LazyPattern):
    """A verbose expression that is searched only in texts with one of its required words."""

    flags = re.VERBOSE | re.MULTILINE | re.IGNORECASE

    def __init__(self, source: str | Callable[[], str], *, cased: bool = False) -> None:
        super().__init__(source, self.flags & ~re.IGNORECASE if cased else self.flags)

    @property
    def key(self) -> str:
        """Return what stands for the expression in the table of required words."""
        return blake2b(f"{self._flags:d} {self.source}".encode(), digest_size=8).hexdigest()

    @cached_property
    def _automaton(self) -> BytesAhoCorasick | None:
        """The words of which each match has one. None if a match needs none, or the table lacks the expression."""
        words = _read_required_words().get(self.key)
        return BytesAhoCorasick([word.encode() for word in words]) if words else None

    def may_occur(self, text: str) -> bool:
        """Return False if no match can be in the text: most texts have none of the words that the expression needs."""
        return self._automaton is None or bool(self._automaton.find_matches_as_indexes(_folded(text)))

    def find_last(self, text: str) -> re.Match[str] | None:
        """Return the last match, or None."""
        found = None
        for found in self.finditer(text):  # noqa: B007 - the last one is wanted
            pass
        return found


@cache
def _read_required_words() -> dict[str, list[str]]:
    return orjson.loads(REQUIRED_WORDS.read_bytes())  # type: ignore[no-any-return] # a test writes it anew


@lru_cache(maxsize=64)
def _folded(text: str) -> bytes:
    """Return the text as `Pattern` looks for words in it. Dozens of patterns read the same few texts of an episode."""
    return fold_case(text).encode("utf-8", "replace")


def load_pattern(table: str, name: str, *, cased: bool = False) -> Pattern:
    """Return an expression of `patterns.toml`, which is read when it is first needed."""
    return Pattern(lambda: str(read_data(__file__, "patterns.toml")[table][name]), cased=cased)


class _Expressions(dict[str, Pattern]):
    """The expressions of `patterns.toml` by table and name, as in "checks.red"."""

    def __missing__(self, name: str) -> Pattern:
        return self.setdefault(name, load_pattern(*name.split(".")))


EXPRESSIONS = _Expressions()


class Phrases(Pattern):
    """Find the phrases of one meaning; blanks count, and case does not."""

    flags = re.IGNORECASE | re.MULTILINE

    def __init__(self, kind: Kind, meaning: str) -> None:
        super().__init__(lambda: join_groups(read_phrases()[kind][meaning]))
        self.kind: Kind = kind
        self.meaning = meaning


class _Meanings(dict[str, Phrases]):
    """The phrases of one kind by meaning."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, meaning: str) -> Phrases:
        return self.setdefault(meaning, Phrases(self._kind, meaning))


EVIDENCE = _Meanings("evidence")
GUARDS = _Meanings("guards")
_KINDS: dict[Kind, _Meanings] = {"evidence": EVIDENCE, "guards": GUARDS}


def list_phrases() -> list[Phrases]:
    """Return the phrases of every meaning."""
    return [_KINDS[kind][meaning] for kind, meanings in read_phrases().items() for meaning in meanings]


def read_phrases() -> dict[Kind, dict[str, list[Group]]]:
    """Return the groups of every meaning, by kind."""
    return read_data(__file__, "phrases.toml")  # type: ignore[return-value] # tests check the file's shape


def join_groups(groups: list[Group]) -> str:
    """Return one expression for all phrases of the groups."""
    return "|".join(map(_join_group, groups))


def _join_group(group: Group) -> str:
    """Return one expression for the phrases of a group. "Doesn't" also stands for "doesnt" and "doesn’t", "let's" for "let’s"."""
    phrases = [phrase for values in group.values() if isinstance(values, list) for phrase in values]
    before, after = (group.get(edge, BOUNDARY) for edge in ("before", "after"))
    joined = f"{before}(?:{'|'.join(phrases)}){after}".replace("n't", "n['’]?t")
    return _APOSTROPHE.sub("['’]", joined)
