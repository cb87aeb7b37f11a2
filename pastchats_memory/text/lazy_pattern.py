"""Compile a regular expression at its first use: a cold `recall` needs few of those that its modules define."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from pastchats_memory.text.data_file import read_words


class LazyPattern:
    """A regular expression with the methods of `re.Pattern`, compiled when a text may match it.

    Args:
        source: the expression, or a function that returns it at its first use.
        flags: of the module `re`.
        words: texts of which each match has one, in these letters; none if every text may match.
    """

    def __init__(self, source: str | Callable[[], str], flags: int = 0, words: tuple[str, ...] = ()) -> None:
        self._source = source
        self._flags = flags
        self.words = words

    @cached_property
    def source(self) -> str:
        """The expression as it is written."""
        return self._source if isinstance(self._source, str) else self._source()

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression, compiled."""
        return re.compile(self.source, self._flags)

    def may_occur(self, text: str) -> bool:
        """Return False if no match can be in the text."""
        return not self.words or any(word in text for word in self.words)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match, or None."""
        return self.compiled.search(text, start, end) if self.may_occur(text) else None

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the match at the start, or None."""
        return self.compiled.match(text, start, end) if self.may_occur(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text, or None."""
        return self.compiled.fullmatch(text) if self.may_occur(text) else None

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """Yield every match in order."""
        return self.compiled.finditer(text, start) if self.may_occur(text) else iter(())

    def findall(self, text: str, start: int = 0) -> list[Any]:
        """Return the text of every match, or its groups if the expression has several."""
        return self.compiled.findall(text, start) if self.may_occur(text) else []

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with every match replaced."""
        return self.compiled.sub(replacement, text) if self.may_occur(text) else text

    def split(self, text: str) -> list[str | Any]:
        """Return the texts between the matches, with the groups of each match."""
        return self.compiled.split(text) if self.may_occur(text) else [text]


def read_pattern(module: str, name: str, flags: int = 0, *, words: tuple[str, ...] = (), also: str = "") -> LazyPattern:
    """Return an expression of `patterns.txt` beside a module (`__file__`), or of `also`."""

    def read() -> str:
        own = read_words(module, "patterns.txt")[name]
        return f"{also}|{own}" if also else own

    return LazyPattern(read, flags | re.VERBOSE, words)
