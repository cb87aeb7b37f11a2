"""Recognise a value that was a secret once, wherever it stands in this memory, by a keyed hash.

The hashes and their key lie in a file beside the database, which no backup, export or sync copies: a copy of the database
has no hash of a password alone. Each line has the hash of a value and its kind, in the order in which
they were learned. A later line for the same hash counts. The kind `common` says that the value stays, since it stands in
too many rows to be a secret.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes

from pastchats_memory.redact.decoding import unescape_lines
from pastchats_memory.redact.heuristics import has_letters_and_digits, is_unlike_words
from pastchats_memory.redact.rules import Secret

FILE_END = ".secrets"
"""End of the name of the file, behind that of the database."""
COMMON = "common"
SHORTEST, LONGEST = 8, 128
"""Characters of a value that is recognised in other texts."""
RANK = 3
KEY_BYTES, HASH_BYTES = 32, 16
_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}")
_ENTRY = re.compile(rf"([0-9a-f]{{{2 * HASH_BYTES}}}) ([a-z0-9\-]+)")
_WORD = re.compile(rf"(?<!\S)(?=\S{{{SHORTEST}}})\S*\d\S*")
"""Matches a long word with a digit."""
_AROUND, _BETWEEN = re.compile(r"""\\[nrt]|[\\"'`,;()<>\[\]{}|]"""), re.compile(r"[=:/@&]|\Z")
"""Match what may stand between a value and its neighbours in a word; the latter may stand in a value, too."""
MOST_BETWEEN = 6
_QUOTES, _ENDS = "\"'`([{<>}]),;", ".:!?"
_SYMBOL = re.compile(r"[^\w\-./:]")
_JOINT = re.compile(r"[-_./:+\\]+|[=~<>]?=|@(?=v?\d)")
_NAME_PART = re.compile(r"[A-Za-z]+(?:\d+[A-Za-z]?)?|\d+(?:[A-Za-z]\d*)?|[0-9a-f]{7,12}")
"""Matches a part of names such as `gpt-4o-mini`, `us-east-1a`, `react@18.2.0`, and of a path, a host or a time."""
_ID = re.compile(r"[0-9a-f]{8,12}|[0-9a-f]{40}|0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
"""Matches the hash of a commit, an address or a UUID."""
MOST_VALUES = 10_000
"""Entries of the file, beyond which none is learned."""


class KnownSecrets:
    """The values that were secrets in texts of one memory."""

    def __init__(self, path: Path) -> None:
        """Read the file at a path, if there is one. Raises OSError."""
        self._path = path
        self.fresh: list[str] = []
        """Values that were learned since the file was read first."""
        self.removed: set[bytes] = set()
        """Hashes of the values that `find` looks for."""
        self._read()

    def _read(self) -> None:
        text = (
            self._path.read_text(encoding="ascii", errors="replace") if self._path.is_file() else ""
        )  # a pipe has no end
        lines = text.splitlines()
        self._is_stored = bool(lines and _KEY.fullmatch(lines[0]))
        if not self._is_stored:
            self._path.unlink(missing_ok=True)
            lines = [token_bytes(KEY_BYTES).hex()]
        self._key = bytes.fromhex(lines[0])
        found = map(_ENTRY.fullmatch, lines[1:])
        # A line that a kill cut keeps its place, by which `state` counts.
        self._entries = [(bytes.fromhex(line[1]), line[2]) if line else (b"", COMMON) for line in found]
        self._kinds = dict(self._entries)

    @property
    def key(self) -> bytes:
        """The key of this memory, stored beside its database; a new one for each process if it cannot be stored."""
        self._begin()
        return self._key

    @property
    def state(self) -> str:
        """The file as it is now: a digest of its key, and the number of its entries."""
        if self._path.exists():
            self._read()  # another process may have learned more
        return f"{self._hash('').hex()}:{len(self._entries)}"

    def list_hashes(self, state: str) -> tuple[set[bytes], set[bytes]]:
        """Return the hashes that the file had in a former state, and those that it got since, without common values."""
        key, _, count = state.partition(":")
        known = int(count) if key == self._hash("").hex() else 0
        wanted = [hash_ for hash_, _ in self._entries if self._kinds[hash_] != COMMON]
        before = {hash_ for hash_, _ in self._entries[:known]}
        return before & {*wanted}, {*wanted} - before

    def learn(self, values: Mapping[str, str]) -> None:
        """Remember new values with their kinds, unless other texts may have them as ordinary words."""
        for value in filter(_is_learnable, values):
            self._begin()
            if (hash_ := self._hash(value)) not in self._kinds and len(self._entries) < MOST_VALUES:
                self._append(hash_, values[value])
                self.fresh.append(value)

    def except_common(self, hash_: bytes) -> None:
        """Leave a value where it stands from now on."""
        self._append(hash_, COMMON)
        self.removed.discard(hash_)

    def find(self, text: str) -> Iterator[tuple[bytes, Secret]]:
        """Yield the places of the values that are to be removed from a text, with their hashes."""
        if not self.removed:
            return
        yield from self._find(text)
        for view in unescape_lines(text):
            yield from ((hash_, view.place_in_original(secret)) for hash_, secret in self._find(view.text))

    def _find(self, text: str) -> Iterator[tuple[bytes, Secret]]:
        words = {*_WORD.findall(text)}
        for value in {part for word in words for part in _list_parts(word) if has_letters_and_digits(part)}:
            if (hash_ := self._hash(value)) in self.removed:
                for found in re.finditer(re.escape(value), text):
                    yield hash_, Secret(found.start(), found.end(), self._kinds[hash_], RANK)

    def _begin(self) -> None:
        """Store the key unless it is stored; take that of another process which was faster."""
        if self._is_stored and self._path.exists():
            return
        try:
            with os.fdopen(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
                file.write(self._key.hex())
            self._is_stored = True
        except FileExistsError:  # another process has begun it
            self._read()
        except OSError:  # as in `_append`
            return

    def _append(self, hash_: bytes, kind: str) -> None:
        with suppress(OSError), self._path.open("a", encoding="ascii") as file:  # the database reports a full disk
            file.write(f"\n{hash_.hex()} {kind}")  # so that half a line before it costs only itself
        self._entries.append((hash_, kind))
        self._kinds[hash_] = kind

    def _hash(self, value: str) -> bytes:
        return blake2b(value.encode("utf-8", "surrogatepass"), key=self._key, digest_size=HASH_BYTES).digest()


_IN_USE: ContextVar[KnownSecrets | None] = ContextVar("known_secrets", default=None)


def known_secrets() -> KnownSecrets | None:
    """Return the known secrets of the memory that is being written; None outside of `using`."""
    return _IN_USE.get()


@contextmanager
def using(known: KnownSecrets | None) -> Iterator[None]:
    """Learn secrets from every text that is redacted meanwhile, and remove known ones; None for neither."""
    before = _IN_USE.set(known)
    try:
        yield
    finally:
        _IN_USE.reset(before)


def _is_learnable(value: str) -> bool:
    return (
        SHORTEST <= len(value) <= LONGEST
        and not re.search(r"\s", value)
        and has_letters_and_digits(value)
        and (is_unlike_words(value) or _SYMBOL.search(value) is not None)
        and not _is_name(value)
    )


def _is_name(value: str) -> bool:
    """Return whether other texts may name something by a value, since one wrong text could damage all of them."""
    parts = _JOINT.split(value.strip("@#-"))
    return bool(_ID.fullmatch(value)) or (len(parts) > 1 and all(map(_NAME_PART.fullmatch, parts)))


def _list_parts(word: str) -> Iterator[str]:
    """Yield what may be a value in a word: all of it, without quotes, behind a name or a flag, or between marks."""
    bare = word.strip(_QUOTES)
    parts = [word, bare, bare.partition("=")[2], bare.partition(":")[2]]
    for whole in _AROUND.split(word):
        ends = [found.start() for found in _BETWEEN.finditer(whole)]
        starts = [0, *(end + 1 for end in ends)]
        parts += [whole[start:end] for at, start in enumerate(starts) for end in ends[at : at + MOST_BETWEEN]]
    for part in parts:
        for one in (part, part.rstrip(_ENDS + _QUOTES), part[2:] if part.startswith("-p") else ""):
            if SHORTEST <= len(one) <= LONGEST:
                yield one
