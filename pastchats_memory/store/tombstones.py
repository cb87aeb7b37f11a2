"""Recognise forgotten turns and tasks by keyed hashes, so that no file, copy, export or live turn brings them back.

The key is random bytes of this database: no table of known hashes helps, and two databases cannot be compared. Who has
the file has the key too, and can confirm a guess of a whole text, but cannot read a text from its hash.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

import orjson

from pastchats_memory.fields import IF_ANY, ON_REQUEST, As, At, Count, View
from pastchats_memory.model import Metadata, Prompt
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.live_events import LIVE
from pastchats_memory.store.visible import KINDS
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.same_words import normalize_words

LEAST = 16
"""Letters and digits from which on a text is recognised by its words alone. People repeat shorter ones: `yes, go on`."""
COPIED = frozenset({"copied", "replayed"})
"""Flags of turns that a forked or resumed session has from another one."""
HASH_BYTES = 16
TURN_COLUMNS = (
    "p.id, p.source_path, p.conversation_id, p.turn_index, p.role, p.content, p.timestamp, p.content_hash, p.echo_hash, "
    "p.metadata_json ->> 'format', p.metadata_json ->> 'native_id', "
    "EXISTS (SELECT 1 FROM json_each(p.metadata_json, '$.flags') WHERE value IN ('copied', 'replayed')), "
    "(SELECT g.line FROM sightings g JOIN sources s ON s.id = g.source_id "
    "WHERE g.prompt_id = p.id AND s.path = p.source_path)"
)

Mark = tuple[str, ...]
"""A name of the kind of mark, then the values; it is stored only as a hash, so a changed name would lose tombstones."""
TaskKind = Literal["task", "comment", "attachment"]
"""A task has its identity as key, a comment that of its task and its own, an attachment that of its task and its digest."""


class TurnIdentity(NamedTuple):
    """Fields of a turn by which a forgotten one is recognised."""

    source_path: str
    conversation_id: str | None
    turn_index: int
    role: str
    content: str
    timestamp: str | None
    content_hash: str
    echo_hash: str | None
    format: str | None
    native_id: str | None
    is_copied: bool
    """As `is_copied` returns it."""
    line: int | None

    @property
    def is_timed(self) -> bool:
        """Return whether its time distinguishes it from a turn with equal words.

        It is finer than a minute, and not the time at which the turn was stored or copied.
        """
        is_fine = self.timestamp is not None and not self.timestamp.endswith(":00.000Z")
        return is_fine and self.format != LIVE and not self.is_copied

    @property
    def places(self) -> list[Mark]:
        """Its positions in the file, if it has no id of its own: a turn that grows keeps one of them.

        The id of its conversation may be made of its words, so the line counts too.
        """
        if self.native_id is not None:
            return []
        where = (self.source_path, str(self.turn_index), self.role)
        return [("in", self.conversation_id or "", *where), ("at", str(self.line), *where)]


class SelectorView(View):
    """The choice of what was forgotten."""

    ids: Annotated[list[str], {"maxItems": 50}, IF_ANY]
    conversation: Annotated[str, IF_ANY]
    source: Annotated[str, IF_ANY]
    project: Annotated[str, IF_ANY]
    since: Annotated[str, IF_ANY]
    until: Annotated[str, IF_ANY]
    before: Annotated[str, IF_ANY]
    query: Annotated[None, "Its words are not stored.", ON_REQUEST]


class Forgetting(NamedTuple):
    """One time that something was forgotten."""

    number: Annotated[int, {"minimum": 1}]
    at: Annotated[str, "ISO 8601 in UTC."]
    selector: Annotated[Mapping[str, Any], As(SelectorView), At("selector", dict), {"minProperties": 1}]
    """Criteria of the rows, without the words of a query."""
    turns: Count
    tasks: Count
    comments: Annotated[Count, "Comments of tasks that stay."]
    attachments: Annotated[Count, "Attachments of tasks that stay."]


def is_copied(metadata: Metadata) -> bool:
    """Return whether a turn is marked as copied from another session."""
    flags = metadata.get("flags")
    return isinstance(flags, list) and any(isinstance(flag, str) and flag in COPIED for flag in flags)


def identity_of_turn(prompt: Prompt) -> TurnIdentity:
    """Return the identity of a turn that is to be stored."""
    turn = prompt.turn
    native_id, format_ = (prompt.metadata.get(key) for key in ("native_id", "format"))
    return TurnIdentity(
        prompt.source_path, turn.conversation_id, prompt.turn_index, turn.role, turn.content, turn.timestamp,
        prompt.content_hash, prompt.echo_hash, None if format_ is None else str(format_),
        None if native_id is None else str(native_id), is_copied(prompt.metadata), turn.line,
    )  # fmt: skip


def marks_of_turn(turn: TurnIdentity, *, is_unique: bool) -> list[Mark]:
    """Return the marks of a turn to be forgotten. `is_unique` says that no turn that stays has the same text."""
    marks, words = _marks_of_hashes(turn), normalize_words(turn.content)
    if turn.timestamp is not None:
        minute = str(_minute(turn.timestamp))
        marks.append(("minute in", turn.conversation_id or "", turn.role, words, minute))
        marks.append(("minute", turn.role, words, minute))
    if is_unique and len(words) >= LEAST:
        marks.append(("timed words" if turn.is_timed else "words", words))
    return marks


def marks_against_turn(turn: TurnIdentity) -> list[Mark]:
    """Return the marks by which a turn would be recognised as forgotten.

    These are its identity, or its copy's under other ids; role, words and time within a minute or two, for a short text
    only in the same or an unnamed conversation; its words alone, unless both times show that it was repeated later.
    """
    marks, words = _marks_of_hashes(turn), normalize_words(turn.content)
    is_long = len(words) >= LEAST
    if turn.timestamp is not None:
        minute = _minute(turn.timestamp)
        for near in (str(minute - 1), str(minute), str(minute + 1)):
            if turn.conversation_id is None or is_long:
                marks.append(("minute", turn.role, words, near))
            else:
                marks.append(("minute in", turn.conversation_id, turn.role, words, near))
                marks.append(("minute in", "", turn.role, words, near))
    if is_long:
        marks += [("words", words)] if turn.is_timed else [("words", words), ("timed words", words)]
    return marks


def _marks_of_hashes(turn: TurnIdentity) -> list[Mark]:
    return [("turn", turn.content_hash), *([] if turn.echo_hash is None else [("echo", turn.echo_hash)])]


def marks_of_task(kind: TaskKind, key: tuple[str, ...], text: str | None) -> list[Mark]:
    """Return the marks of a task, comment or attachment to be forgotten: its identity, and its words."""
    return [*_marks_of_identity(kind, key), *(("timed words", words) for words in _long_words(text))]


def _marks_of_identity(kind: TaskKind, key: tuple[str, ...]) -> list[Mark]:
    """Return the mark of an identity; the bytes of an attachment are recognised in other tasks too."""
    return [(kind, *key), *([("file", key[-1])] if kind == "attachment" else [])]


def _long_words(*texts: str | None) -> list[str]:
    """Return the words of each text that is recognised by them."""
    found = (normalize_words(text) for text in dict.fromkeys(texts) if text)
    return [words for words in found if len(words) >= LEAST]


def _minute(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp).timestamp() // 60)


def hash_mark(key: bytes, mark: Mark) -> bytes:
    """Return the keyed hash of a mark, 16 bytes."""
    import hashlib  # brings OpenSSL, which a query has no use for

    return hashlib.blake2b("\0".join(mark).encode(), key=key, digest_size=HASH_BYTES).digest()


class Tombstones:
    """Everything that was forgotten up to now; False if nothing was, so that it costs one statement then."""

    def __init__(self, database: Database) -> None:
        """Read the keys."""
        self._database = database
        found = database.run("SELECT DISTINCT key FROM forgettings")
        self._keys = [bytes(key) for (key,) in found]
        self._before: str | None = database.value("SELECT max(before) FROM forgettings") if found else None

    def __bool__(self) -> bool:
        """Return whether anything was forgotten."""
        return bool(self._keys)

    def forgotten_hashes(self, prompts: Sequence[Prompt]) -> frozenset[str]:
        """Return the content_hashes of the turns that were forgotten."""
        if not self:
            return frozenset()
        return frozenset(self.find_forgotten({prompt.content_hash: identity_of_turn(prompt) for prompt in prompts}))

    def find_forgotten(self, turns: Mapping[Any, TurnIdentity]) -> set[Any]:
        """Return the keys of the turns that were forgotten."""
        found = self._find_marked({name: marks_against_turn(turn) for name, turn in turns.items()})
        if self._before is not None:
            old = {name for name, turn in turns.items() if turn.timestamp is not None and turn.timestamp < self._before}
            found |= old
        return found | self._find_grown({name: turn for name, turn in turns.items() if name not in found})

    def has_task(self, identity: str, title: str, description: str) -> bool:
        """Return whether a task was forgotten, by its identity, its words, or those of a part."""
        return self.has("task", (identity,), f"{title}\n\n{description}", title, description)

    def has(self, kind: TaskKind, key: tuple[str, ...], *texts: str | None) -> bool:
        """Return whether a task, comment or attachment was forgotten, by its identity or the words of a text."""
        if not self:
            return False
        by_words = [(name, words) for words in _long_words(*texts) for name in ("words", "timed words")]
        return bool(self._find_marked({0: [*_marks_of_identity(kind, key), *by_words]}))

    def _find_marked(self, marks: Mapping[Any, Iterable[Mark]]) -> set[Any]:
        names = group_by_key(
            (hash_mark(key, mark), name) for name, of_one in marks.items() for mark in of_one for key in self._keys
        )
        return {name for hash_ in self._look_up(names) for name in names[hash_]}

    def _find_grown(self, turns: Mapping[Any, TurnIdentity]) -> set[Any]:
        """Return the keys of turns at the position of a forgotten one that begin with its text: it was unfinished then."""
        starts = {
            hash_mark(key, ("place", *place)): (name, key, place)
            for name, turn in turns.items()
            for place in turn.places
            for key in self._keys
        }
        grown = {}
        for hash_, length in self._look_up(starts).items():
            name, key, place = starts[hash_]
            grown[hash_mark(key, ("begun", *place, turns[name].content[:length]))] = name
        return {grown[hash_] for hash_ in self._look_up(grown)}

    def _look_up(self, hashes: Iterable[bytes]) -> dict[bytes, int | None]:
        """Return the hashes that are tombstones, with the number of characters where it is known."""
        listed = bind_list(hash_.hex() for hash_ in hashes)
        return self._database.mapping(
            "SELECT hash, max(length) FROM forgotten WHERE hash IN (SELECT unhex(value) FROM json_each(?)) GROUP BY hash",
            (listed,),
        )


class TombstoneWriter:
    """Writes the tombstones of one run of `forget`, in the caller's transaction."""

    def __init__(self, database: Database, at: str, selector: Mapping[str, Any], before: str | None = None) -> None:
        """Write the record of the run."""
        self._database = database
        known = database.value("SELECT key FROM forgettings ORDER BY id LIMIT 1")
        self._key = os.urandom(32) if known is None else bytes(known)
        self.id = database.number(
            "INSERT INTO forgettings(at, selector, key, turns, tasks, comments, attachments, before) "
            "VALUES (?, ?, ?, 0, 0, 0, 0, ?) RETURNING id",
            (at, orjson.dumps(dict(selector)).decode(), self._key, before),
        )

    def add_turns(self, ids: str) -> None:
        """Add tombstones of stored turns before they are deleted; `ids` is a JSON array."""
        elsewhere = set(
            self._database.column(
                "SELECT text_hash FROM prompts WHERE text_hash IN (SELECT text_hash FROM prompts "
                "WHERE id IN (SELECT value FROM json_each(?1))) AND id NOT IN (SELECT value FROM json_each(?1))",
                (ids,),
            )
        )
        rows = self._database.run(f"SELECT {TURN_COLUMNS}, p.text_hash FROM prompts p WHERE p.id IN {LISTED}", (ids,))
        self._write(
            hash_ for row in rows for hash_ in self._hash_turn(TurnIdentity(*row[1:-1]), row[-1] not in elsewhere)
        )

    def _hash_turn(self, turn: TurnIdentity, is_unique: bool) -> Iterator[tuple[bytes, int | None]]:
        for mark in marks_of_turn(turn, is_unique=is_unique):
            yield hash_mark(self._key, mark), None
        for place in turn.places:
            yield hash_mark(self._key, ("place", *place)), len(turn.content)
            yield hash_mark(self._key, ("begun", *place, turn.content)), None

    def add_marks(self, marks: Iterable[Mark]) -> None:
        """Add tombstones of these marks."""
        self._write((hash_mark(self._key, mark), None) for mark in marks)

    def _write(self, hashes: Iterable[tuple[bytes, int | None]]) -> None:
        self._database.run_many(
            "INSERT OR IGNORE INTO forgotten(hash, forgetting_id, length) VALUES (?, ?, ?)",
            [(hash_, self.id, length) for hash_, length in hashes],
        )

    def set_counts(self, counts: Mapping[str, int]) -> None:
        """Write down the number of forgotten rows, by the names in KINDS."""
        assignments = ", ".join(f"{name} = ?" for name in KINDS)
        values = [counts[name] for name in KINDS]
        self._database.run(f"UPDATE forgettings SET {assignments} WHERE id = ?", (*values, self.id))


def forgettings(database: Database) -> list[Forgetting]:
    """Return the records of all runs of `forget` that were not undone, the oldest first."""
    rows = database.run(f"SELECT id, at, selector, {', '.join(KINDS)} FROM forgettings ORDER BY id")
    return [Forgetting(number, at, orjson.loads(selector), *counts) for number, at, selector, *counts in rows]


def lift(database: Database, number: int) -> None:
    """Remove the tombstones of one run of `forget`, inside the caller's transaction."""
    database.run("DELETE FROM forgettings WHERE id = ?", (number,))
    database.run("UPDATE sync_folders SET reads_again = 1")
