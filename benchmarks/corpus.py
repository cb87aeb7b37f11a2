"""Synthetic histories that are the same everywhere: conversations in projects, with dates, repeats and long answers.

Words are the 21,000 English ones of the packaged tokenizer's vocabulary, which lists them by frequency, drawn with
Zipf's weights; each conversation has a few words of its own that it keeps coming back to, and one word in thirty is a
made-up identifier, so that the vocabulary grows with the corpus as a real one does. Lengths are log-normal with the
medians and tails of real agent sessions (people: half below 80 characters; answers: half below 270, a tenth above
1,300). One prompt in eight is one that everybody types ("continue").

`grow` makes a fixture a file of megabytes: one history that goes on and on. What a format repeats is repeated (lines behind the
first one, the items of the longest list, rows of a database, Markdown from its first heading on), each time with other ids and
with made-up talk behind every sentence.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import re
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import orjson

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.tokenizer import FOLDER
from pastchats_memory.store.database import open_database

CACHE = Path(tempfile.gettempdir()) / "pastchats-memory-benchmarks"
DISTINCT = 5000
"""Texts of a large database that really go through the model."""
NOISE = 0.7
"""Length of the noise that is added to a real unit vector to make another: the cosine between the two is about .8."""
OFTEN = ("continue", "yes, do that", "run the tests again", "fix it", "why?", "commit this", "looks good, go on", "1")
PROJECTS = 24
TURNS_A_CONVERSATION = 40
SUFFIXES = (".jsonl", ".json", ".md", ".txt", ".sql")
MEDIAN, SPREAD = 200, 1.0
"""Characters of talk behind a sentence, in the log-normal spread of real ones."""
MIXED = 0x9E3779B1
"""Odd, so that adding its multiples spells the beginning of no two ids alike."""

_ID = re.compile(r"(?<![\w-])(?!\d{4}-\d\d-\d\d)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]{7,79}(?![\w-])")
_UUID = re.compile(r"[0-9a-f]{8}(?=-[0-9a-f]{4}-)")
_SENTENCE = re.compile(r'(?<=[:\[,] )"\w[^"\\\n]*(?: [^"\\\n ]+){2}(?=")')
_LINE = re.compile(r"^[A-Za-z]\S*(?: \S+){2,}$", re.MULTILINE)
_NUMBER = re.compile(r"(?<=VALUES \()\d{1,6}(?=,)")


@dataclass(frozen=True)
class Utterance:
    """A turn before it is written in any format."""

    role: str
    text: str
    time: datetime


@dataclass(frozen=True)
class Conversation:
    """A session in a project."""

    id: str
    project: str
    turns: tuple[Utterance, ...]


@cache
def vocabulary() -> tuple[list[str], list[float]]:
    """English words, the most frequent first, and their cumulative Zipf weights."""
    pieces = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    listed = [word for word in pieces if word.isascii() and word.isalpha() and len(word) > 1]
    return listed, list(itertools.accumulate(1 / (rank + 2) for rank in range(len(listed))))


class Writer:
    """Makes up texts and conversations, the same ones for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)  # noqa: S311 - the same texts everywhere

    def text(self, median: float, spread: float, topic: Iterable[str] = ()) -> str:
        """Sentences of about `median` characters, in the log-normal spread, now and then about the topic."""
        words, weights = vocabulary()
        topic = list(topic)
        length = min(20_000, max(2, median * self.spread(spread))) if spread else median
        utterance = self._random.choices(words, cum_weights=weights, k=max(1, round(length / 5.4)))
        for place in range(len(utterance)):
            chance = self._random.random()
            if topic and chance < 0.08:
                utterance[place] = self._random.choice(topic)
            elif chance > 0.97:
                utterance[place] = "_".join(self._random.choices(words[200:], k=2)) + self._random.choice(
                    ("", "()", ".py")
                )
        sentences = []
        while utterance:
            length = self._random.randint(5, 18)
            sentences.append(
                " ".join(utterance[:length]).capitalize() + self._random.choice((".", ".", "?", ":", ".\n"))
            )
            utterance = utterance[length:]
        return " ".join(sentences).strip()

    def spread(self, sigma: float) -> float:
        """Return a log-normal factor of median 1."""
        return math.exp(self._random.gauss(0, sigma))

    def conversation(self, number: int) -> Conversation:
        """One session: what was asked and what was answered, turn by turn, minutes apart."""
        topic = self._random.choices(vocabulary()[0][100:], k=8)
        moment = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=number * 3 + self._random.random())
        turns = []
        for _ in range(TURNS_A_CONVERSATION // 2):
            often = self._random.random() < 1 / 8
            prompt = self._random.choice(OFTEN) if often else self.text(75, 1.1, topic)
            for role, utterance in (("user", prompt), ("assistant", self.text(250, 1.1, topic))):
                moment += timedelta(seconds=self._random.uniform(5, 300))
                turns.append(Utterance(role, utterance, moment))
        identity = uuid.UUID(int=self._random.getrandbits(128), version=4)
        return Conversation(str(identity), f"project-{number % PROJECTS}", tuple(turns))


def conversations(turns: int, seed: int = 1) -> Iterator[Conversation]:
    """Sessions that have so many turns together."""
    writer = Writer(seed)
    return (writer.conversation(number) for number in range(turns // TURNS_A_CONVERSATION))


def write_session(conversation: Conversation, folder: Path) -> Path:
    """Write a session as Claude Code does: one JSONL file in its project's folder."""
    home = folder / conversation.project
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{conversation.id}.jsonl"
    parent = None
    with path.open("w", encoding="utf-8") as file:
        for number, utterance in enumerate(conversation.turns):
            record_id = str(uuid.uuid5(uuid.UUID(conversation.id), str(number)))
            file.write(json.dumps(record(conversation, utterance, record_id, parent)) + "\n")
            parent = record_id
    return path


def record(conversation: Conversation, utterance: Utterance, record_id: str, parent: str | None) -> dict[str, object]:
    """One line of a Claude Code session."""
    content = utterance.text if utterance.role == "user" else [{"type": "text", "text": utterance.text}]
    message: dict[str, object] = {"role": utterance.role, "content": content}
    if utterance.role == "assistant":
        message |= {"id": f"msg_{record_id.replace('-', '')}", "model": "claude", "type": "message"}
    return {
        "type": utterance.role,
        "uuid": record_id,
        "parentUuid": parent,
        "sessionId": conversation.id,
        "cwd": f"/home/me/{conversation.project}",
        "isSidechain": False,
        "timestamp": utterance.time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "message": message,
    }


def write_sessions(folder: Path, turns: int, seed: int = 1) -> list[Path]:
    """Write a history of so many turns to a folder."""
    return [write_session(conversation, folder) for conversation in conversations(turns, seed)]


class Variations(PackagedEmbedder):
    """The packaged model for the first texts; later ones get a vector made of one of theirs and noise.

    How long a search takes depends on how many vectors there are and how long they are, not on where they point, and
    100,000 texts would keep the model busy for ten minutes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._real: list[Vector] = []

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield unit vectors of shape (384,); each depends on the texts so far."""
        rest = iter(texts)
        for vector in super().embed(itertools.islice(rest, max(0, DISTINCT - len(self._real)))):
            self._real.append(vector)
            yield vector
        for text in rest:
            maker = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
            noise = maker.standard_normal(self.dim).astype(np.float32)
            near = self._real[maker.integers(len(self._real))] + NOISE * noise / np.linalg.norm(noise)
            yield near / np.linalg.norm(near)


def database(turns: int) -> Path:
    """Return a database of so many turns, which later runs use again.

    The program itself builds it, with `Variations` for the model.
    """
    made_by = (Path(__file__), *sorted(Path(__file__).parent.parent.glob("pastchats_memory/store/*.sql")))
    recipe = hashlib.sha256(b"".join(path.read_bytes() for path in made_by)).hexdigest()[:12]
    path = CACHE / f"{turns}-turns-{recipe}.db"
    if not path.exists():
        print(f"building {path}, once", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            write_sessions(Path(folder), turns)
            with Memory(open_database(unfinished, create=True), Variations()) as memory:
                memory.index([folder])
        unfinished.rename(path)
    return path


def grow(fixture: Path, folder: Path, size: int) -> Path:
    """Write a file of about so many bytes and return its path."""
    folder.mkdir()
    if fixture.suffix == ".sql":
        return _database(fixture.read_text(encoding="utf-8").splitlines(), folder / f"{fixture.stem}.db", size)
    path = folder / fixture.name
    text = fixture.read_text(encoding="utf-8")
    if fixture.suffix == ".jsonl":
        lines = text.splitlines(keepends=True)
        written = "".join([lines[0], *_copies(lines[1:] or lines, size)])
    elif fixture.suffix == ".json":
        written = _document(json.loads(text), size)
    else:
        first = text.find("\n#") + 1
        written = text[:first] + "".join(_copies([text[first:].rstrip() + "\n\n"], size, _LINE))
    path.write_text(written, encoding="utf-8")
    return path


def _copies(pieces: Sequence[str], size: int, sentence: re.Pattern[str] = _SENTENCE) -> Iterator[str]:
    """Yield the pieces again and again, with talk behind their sentences.

    An id that half of the pieces have belongs to the history and stays.
    """
    writer, number = Writer(seed=5), 0
    counted = Counter(name for piece in pieces for name in set(_ID.findall(piece)))
    own = {name for name, count in counted.items() if 2 * count >= max(4, len(pieces))}
    while size > 0:
        for piece in pieces:
            copy = _ID.sub(lambda found: found[0] if found[0] in own else _renamed(found[0], number), piece)  # noqa: B023 - used at once
            copy = sentence.sub(lambda found: f"{found[0]} {_talk(writer)}", copy)
            yield copy
            size -= len(copy)
        number += 1


def _renamed(name: str, number: int) -> str:
    found = _UUID.match(name)
    return f"{(int(found[0], 16) + number * MIXED) % (1 << 32):08x}{name[8:]}" if found else f"{name}{number:x}"


def _talk(writer: Writer) -> str:
    return writer.text(MEDIAN, SPREAD).replace("\n", " ").replace('"', "").replace("'", "")


def _document(value: object, size: int) -> str:
    """Return the document with its longest list continued."""
    place = max(_lists(value, ()), key=lambda place: len(json.dumps(_at(value, place))), default=())
    items = [json.dumps(item, indent=1) for item in _at(value, place) or []]
    mark = '"the list goes here"'
    if place:
        above = _at(value, place[:-1])
        above[place[-1]] = mark.strip('"')
    else:
        value = mark.strip('"')
    listed = ",\n".join(_copies(items, size))
    return json.dumps(value).replace(mark, f"[{listed}]")


def _lists(value: object, place: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of lists of objects, the outermost first."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield place
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _lists(below, (*place, key))


def _at(value: Any, place: Sequence[str | int]) -> Any:
    for key in place:
        value = value[key]
    return value


def _database(statements: Sequence[str], path: Path, size: int) -> Path:
    rows = [line for line in statements if line.startswith("INSERT")]
    database = apsw.Connection(str(path))
    database.execute("BEGIN")
    tables = [line for line in statements if not line.startswith("INSERT")]
    for count, line in enumerate([*tables, *_copies(rows, size)]):
        numbered = _NUMBER.sub(lambda found: str(int(found[0]) + count * 1_000_000), line)  # noqa: B023 - used at once
        with suppress(apsw.Error):  # a row that is there, or one that the fixture has torn
            database.execute(numbered.replace("INSERT INTO", "INSERT OR IGNORE INTO", 1))
    database.execute("COMMIT")
    database.close()
    return path


def parse(path: Path) -> None:
    """Parse the same bytes barely: JSON by orjson, rows one by one, text by lines."""
    if path.suffix == ".db":
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str) and value.startswith(("{", "[")):
                        _parse_json(value.encode())
        database.close()
    elif path.suffix == ".jsonl":
        for line in path.read_bytes().split(b"\n"):
            _parse_json(line)
    elif path.suffix == ".json":
        _parse_json(path.read_bytes())
    else:
        path.read_text(encoding="utf-8").split("\n")


def _parse_json(text: bytes) -> None:
    with suppress(orjson.JSONDecodeError):
        orjson.loads(text)
