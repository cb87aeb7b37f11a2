"""Keep requests to index on disk until they are fulfilled, so that no kill loses one.

A request is a file of JSON in `waiting`. Its name ends in the number of attempts: a request whose transcript kills every
process that reads it is given up in the end. This module imports little: a hook writes the request before anything else.
Functions that write raise OSError.
"""

import json
from _blake2 import blake2b  # hashlib would bring OpenSSL, which a hook has no use for
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.files.atomic import write_atomic
from pastchats_memory.hooks.state import WAITING

MOST_ATTEMPTS = 5
EVERY_AGENT = "*"
"""The agent of a request for every history on this machine."""


class IndexRequest(NamedTuple):
    """What to index: the history of an agent, and a transcript that may lie elsewhere."""

    agent: str
    database: str | None = None
    """None: the one that the configuration names when the request is fulfilled."""
    transcript: str | None = None

    def encode(self) -> str:
        """Return the request as JSON, in ASCII."""
        return json.dumps(self)


def parse_request(text: bytes | str) -> IndexRequest | None:
    """Return the request that a text stands for; None for any other text."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    is_one = isinstance(found, list) and len(found) == len(IndexRequest._fields) and isinstance(found[0], str)
    return IndexRequest(*found) if is_one and all(isinstance(each, str | None) for each in found) else None


def add(folder: Path, request: IndexRequest) -> None:
    """Write a request down; an equal one that waits already is enough."""
    text = request.encode().encode("ascii")
    waiting = folder / WAITING
    waiting.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(waiting / f"{blake2b(text, digest_size=12).hexdigest()}.0.json", text)


def list_waiting(folder: Path) -> list[Path]:
    """Return the files of all requests, in an order of their own."""
    return sorted((folder / WAITING).glob("*.json"))


def withdraw(folder: Path, agent: str) -> int:
    """Remove the requests of an agent that wait, and return their number."""
    removed = 0
    for file in list_waiting(folder):
        with suppress(FileNotFoundError):  # a process that fulfils it was quicker
            request = parse_request(file.read_bytes())
            if request is not None and request.agent == agent:
                file.unlink()
                removed += 1
    return removed


def begin_attempt(file: Path) -> Path | None:
    """Count an attempt in the file's name, and return the new name; None if it was the last one.

    Raises FileNotFoundError if another process was quicker.
    """
    name, _, attempts = file.stem.rpartition(".")
    number = int(attempts) if attempts.isdecimal() else 0
    if number >= MOST_ATTEMPTS:
        file.unlink()
        return None
    return file.replace(file.with_name(f"{name or attempts}.{number + 1}.json"))
