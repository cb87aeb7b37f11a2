"""A fixture grown to a file of megabytes: one history that goes on and on, with texts as long as people's and agents' are.

What a format repeats is repeated (lines behind the first one, the items of the longest list, rows of a database, Markdown
from its first heading on), each time with other ids and with made-up talk behind every sentence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import corpus
import orjson

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


def grown(fixture: Path, folder: Path, size: int) -> Path:
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
    writer, number = corpus.Writer(seed=5), 0
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


def _talk(writer: corpus.Writer) -> str:
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


def parsed(path: Path) -> None:
    """Parse the same bytes barely: JSON by orjson, rows one by one, text by lines."""
    if path.suffix == ".db":
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str) and value.startswith(("{", "[")):
                        _loaded(value.encode())
        database.close()
    elif path.suffix == ".jsonl":
        for line in path.read_bytes().split(b"\n"):
            _loaded(line)
    elif path.suffix == ".json":
        _loaded(path.read_bytes())
    else:
        path.read_text(encoding="utf-8").split("\n")


def _loaded(text: bytes) -> None:
    with suppress(orjson.JSONDecodeError):
        orjson.loads(text)
