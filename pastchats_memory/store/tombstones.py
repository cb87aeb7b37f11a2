"""What was forgotten is known again by hashes, and stays away from whatever comes: files, copies, exports, stored turns.

A hash is keyed with random bytes of this database, so that it stands in no table of hashes and two databases cannot be
compared. Whoever has the file has the key too, and can confirm a text that he guesses as a whole; he cannot read one.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from pastchats_memory.model import Prompt
from pastchats_memory.store.database import Database
from pastchats_memory.store.live_events import LIVE

LEAST = 24
"""Characters from which on a text is known by its words alone. People repeat shorter ones: `yes, go on`."""
HASH_BYTES = 16
TURN_COLUMNS = (
    "p.id, p.source_path, p.conversation_id, p.turn_index, p.role, p.content, p.timestamp, p.content_hash, p.echo_hash, "
    "p.metadata_json ->> 'format', p.metadata_json ->> 'native_id', "
    "(SELECT g.line FROM sightings g JOIN sources s ON s.id = g.source_id "
    "WHERE g.prompt_id = p.id AND s.path = p.source_path)"
)
COUNTED = ("turns", "tasks", "comments", "attachments")

Mark = tuple[str, ...]


class Said(NamedTuple):
    """What of a turn tells that it is the forgotten one."""

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
    line: int | None

    @property
    def words(self) -> str:
        """The text without what copies of it may differ in."""
        return words_of(self.content)

    @property
    def is_timed(self) -> bool:
        """Its time tells it from a turn with equal words: it is finer than a minute, and that of the saying."""
        return self.timestamp is not None and not self.timestamp.endswith(":00.000Z") and self.format != LIVE

    @property
    def places(self) -> list[Mark]:
        """Where in its file it stands, if it has no id: one that goes on keeps one of them, though its conversation may be
        named by its words.
        """
        if self.native_id is not None:
            return []
        where = (self.source_path, str(self.turn_index), self.role)
        return [("in", self.conversation_id or "", *where), ("at", str(self.line), *where)]


class Forgetting(NamedTuple):
    """One time that something was forgotten."""

    number: int
    at: str
    """ISO 8601 in UTC."""
    selector: Mapping[str, Any]
    """By what it was chosen, without the words of a query."""
    turns: int
    tasks: int
    comments: int
    attachments: int


def words_of(text: str) -> str:
    """A text in one case, one Unicode form and with single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def said_of(prompt: Prompt) -> Said:
    """A turn on its way into the table."""
    turn = prompt.turn
    native_id, format_ = (prompt.metadata.get(key) for key in ("native_id", "format"))
    return Said(
        prompt.source_path, turn.conversation_id, prompt.turn_index, turn.role, turn.content, turn.timestamp,
        prompt.content_hash, prompt.echo_hash, None if format_ is None else str(format_),
        None if native_id is None else str(native_id), turn.line,
    )  # fmt: skip


def marks_of_turn(said: Said, *, is_unique: bool) -> list[Mark]:
    """What a forgotten turn is known by; by its words alone where no other turn that is kept has them."""
    marks: list[Mark] = [("turn", said.content_hash)]
    if said.echo_hash is not None:
        marks.append(("echo", said.echo_hash))
    if said.timestamp is not None:
        minute = str(_minute(said.timestamp))
        marks.append(("said in", said.conversation_id or "", said.role, said.words, minute))
        marks.append(("said", said.role, said.words, minute))
    if is_unique and len(said.words) >= LEAST:
        marks.append(("timed words" if said.is_timed else "words", said.words))
    return marks


def marks_against_turn(said: Said) -> list[Mark]:
    """What would tell that a turn was forgotten: itself or its copy under other ids; said within a minute or two by the same
    role in the same conversation, or in one that nobody names; its words, unless two times tell that it was said anew.
    """
    marks: list[Mark] = [("turn", said.content_hash)]
    if said.echo_hash is not None:
        marks.append(("echo", said.echo_hash))
    if said.timestamp is not None:
        for minute in range(_minute(said.timestamp) - 1, _minute(said.timestamp) + 2):
            if said.conversation_id is None:
                marks.append(("said", said.role, said.words, str(minute)))
            else:
                marks.append(("said in", said.conversation_id, said.role, said.words, str(minute)))
                marks.append(("said in", "", said.role, said.words, str(minute)))
    if len(said.words) >= LEAST:
        marks.append(("words", said.words))
        if not said.is_timed:
            marks.append(("timed words", said.words))
    return marks


def marks_of_task(identity: str, text: str) -> list[Mark]:
    """What a forgotten task is known by: itself, whatever becomes of it, and what it says."""
    words = words_of(text)
    return [("task", identity), *([("words of a task", words)] if len(words) >= LEAST else [])]


def marks_of_comment(task: str, identity: str, content: str) -> list[Mark]:
    """The same of a comment, by the identities of its task and its own."""
    words = words_of(content)
    return [("comment", task, identity), *([("words of a comment", words)] if len(words) >= LEAST else [])]


def marks_of_attachment(task: str, sha256: str) -> list[Mark]:
    """The same of an attachment, by its task and its bytes."""
    return [("attachment", task, sha256), ("file", sha256)]


def _minute(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp).timestamp() // 60)


def hashed(key: bytes, mark: Mark) -> bytes:
    """The keyed hash of a mark."""
    import hashlib  # brings OpenSSL, which a question has no use for

    return hashlib.blake2b("\0".join(mark).encode(), key=key, digest_size=HASH_BYTES).digest()


class Tombstones:
    """What was forgotten up to now. False where nothing was, so that it costs one statement then."""

    def __init__(self, database: Database) -> None:
        """As the database has it at this moment. Raises StoreFault."""
        self._database = database
        found = database.run("SELECT DISTINCT key FROM forgettings")
        self._keys = [bytes(key) for (key,) in found]
        self._before: str | None = database.value("SELECT max(before) FROM forgettings") if found else None

    def __bool__(self) -> bool:
        return bool(self._keys)

    def among(self, prompts: Sequence[Prompt]) -> frozenset[str]:
        """The content_hashes of those turns that were forgotten. Raises StoreFault."""
        if not self:
            return frozenset()
        turns = {prompt.content_hash: said_of(prompt) for prompt in prompts}
        return frozenset(self.of_turns(turns))

    def of_turns(self, turns: Mapping[Any, Said]) -> set[Any]:
        """The keys of those turns that were forgotten. Raises StoreFault."""
        buried = self._buried({name: marks_against_turn(said) for name, said in turns.items()})
        if self._before is not None:
            old = {name for name, said in turns.items() if said.timestamp is not None and said.timestamp < self._before}
            buried |= old
        return buried | self._gone_on({name: said for name, said in turns.items() if name not in buried})

    def has(self, *marks: Mark) -> bool:
        """Whether something that is known by one of these was forgotten. Raises StoreFault."""
        return bool(self and self._buried({0: marks}))

    def _buried(self, marks: Mapping[Any, Iterable[Mark]]) -> set[Any]:
        names: dict[bytes, list[Any]] = {}
        for name, of_one in marks.items():
            for mark in of_one:
                for key in self._keys:
                    names.setdefault(hashed(key, mark), []).append(name)
        return {name for hash_ in self._found(names) for name in names[hash_]}

    def _gone_on(self, turns: Mapping[Any, Said]) -> set[Any]:
        """Those that stand where a forgotten turn stood, and begin with its text: it was not finished then."""
        starts = {
            hashed(key, ("place", *place)): (name, key, place)
            for name, said in turns.items()
            for place in said.places
            for key in self._keys
        }
        gone_on = {}
        for hash_, length in self._found(starts).items():
            name, key, place = starts[hash_]
            gone_on[hashed(key, ("begun", *place, turns[name].content[:length]))] = name
        return {gone_on[hash_] for hash_ in self._found(gone_on)}

    def _found(self, hashes: Iterable[bytes]) -> dict[bytes, int | None]:
        """Those of the hashes that are tombstones, with the length of what lies there where it is known."""
        listed = orjson.dumps([hash_.hex() for hash_ in hashes]).decode()
        return dict(
            self._database.run(
                "SELECT hash, max(length) FROM forgotten WHERE hash IN (SELECT unhex(value) FROM json_each(?)) GROUP BY hash",
                (listed,),
            )
        )


class Burial:
    """The tombstones of one forgetting, written in the caller's transaction."""

    def __init__(self, database: Database, at: str, selector: Mapping[str, Any], before: str | None = None) -> None:
        """Begin it. Raises StoreFault."""
        self._database = database
        known = database.value("SELECT key FROM forgettings ORDER BY id LIMIT 1")
        self._key = os.urandom(32) if known is None else bytes(known)
        self.id = int(
            database.value(
                "INSERT INTO forgettings(at, selector, key, turns, tasks, comments, attachments, before) "
                "VALUES (?, ?, ?, 0, 0, 0, 0, ?) RETURNING id",
                (at, orjson.dumps(dict(selector)).decode(), self._key, before),
            )
        )

    def turns(self, ids: str) -> None:
        """Bury stored turns, of which a JSON array of ids is given, before they are deleted. Raises StoreFault."""
        elsewhere = {
            hash_
            for (hash_,) in self._database.run(
                "SELECT text_hash FROM prompts WHERE text_hash IN (SELECT text_hash FROM prompts "
                "WHERE id IN (SELECT value FROM json_each(?1))) AND id NOT IN (SELECT value FROM json_each(?1))",
                (ids,),
            )
        }
        rows = self._database.run(
            f"SELECT {TURN_COLUMNS}, p.text_hash FROM prompts p WHERE p.id IN (SELECT value FROM json_each(?))", (ids,)
        )
        self._write(hash_ for row in rows for hash_ in self._of_turn(Said(*row[1:-1]), row[-1] not in elsewhere))

    def _of_turn(self, said: Said, is_unique: bool) -> Iterator[tuple[bytes, int | None]]:
        for mark in marks_of_turn(said, is_unique=is_unique):
            yield hashed(self._key, mark), None
        for place in said.places:
            yield hashed(self._key, ("place", *place)), len(said.content)
            yield hashed(self._key, ("begun", *place, said.content)), None

    def marks(self, marks: Iterable[Mark]) -> None:
        """Bury what is known by these. Raises StoreFault."""
        self._write((hashed(self._key, mark), None) for mark in marks)

    def _write(self, hashes: Iterable[tuple[bytes, int | None]]) -> None:
        self._database.run_many(
            "INSERT OR IGNORE INTO forgotten(hash, forgetting_id, length) VALUES (?, ?, ?)",
            [(hash_, self.id, length) for hash_, length in hashes],
        )

    def count(self, counts: Mapping[str, int]) -> None:
        """Write down how much was forgotten, by the names in COUNTED. Raises StoreFault."""
        assignments = ", ".join(f"{name} = ?" for name in COUNTED)
        values = [counts[name] for name in COUNTED]
        self._database.run(f"UPDATE forgettings SET {assignments} WHERE id = ?", (*values, self.id))


def forgettings(database: Database) -> list[Forgetting]:
    """Everything that was forgotten and not lifted, the oldest first. Raises StoreFault."""
    rows = database.run(f"SELECT id, at, selector, {', '.join(COUNTED)} FROM forgettings ORDER BY id")
    return [Forgetting(number, at, orjson.loads(selector), *counts) for number, at, selector, *counts in rows]


def lift(database: Database, number: int) -> None:
    """Take the tombstones of a forgetting away; inside the caller's transaction. Raises StoreFault."""
    database.run("DELETE FROM forgettings WHERE id = ?", (number,))
