"""Write and read the files of a synchronised folder, which something else carries between machines.

    FOLDER/pastchats-sync.json            id of the folder, and whether its files are encrypted
    FOLDER/key.age                        the key of the files, encrypted with the passphrase
    FOLDER/MACHINE/00000001.jsonl.gz.age  each machine writes only its own files, and numbers them

A file is JSON Lines, compressed, then encrypted (https://age-encryption.org/v1): a header, the records, and a last line
with their number. It is taken whole or not at all.
"""

from __future__ import annotations

import gzip
import os
import re
import secrets
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyrage

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelUnavailable, UsageFault
from pastchats_memory.files.atomic import write_atomic
from pastchats_memory.files.regular_file import NotRegularFile, open_regular
from pastchats_memory.text.encoding import MAX_DEPTH, is_shallow
from pastchats_memory.text.timestamps import iso_utc

MARKER = "pastchats-sync.json"
KEY_FILE = "key.age"
SCHEMA = "sync/1"
MAX_BYTES = 1 << 28
"""Of a file, as it lies there and after decompression."""
MAX_MARKER_BYTES = 1 << 16
MAX_HOST_CHARS = 255
_MACHINE = re.compile(r"[0-9a-f]{16}")
_ID = re.compile(r"[0-9a-f]{32}")
_FILE = re.compile(r"([0-9]{8})\.jsonl\.gz(\.age)?")

Json = dict[str, Any]


HEADER: Mapping[str, Callable[[Any], bool]] = {
    "host": lambda value: isinstance(value, str) and len(value) <= MAX_HOST_CHARS,
    "at": lambda value: isinstance(value, str) and iso_utc(value) == value,
    "files": lambda value: isinstance(value, list) and all(type(one) is int for one in value),
    "forgettings": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
}
"""Check of each field of a header that others show or follow."""


class UnusableFile(Exception):
    """A file that is incomplete, damaged, or not what its name says."""


class Marker(NamedTuple):
    """What a folder says of itself."""

    id: str
    is_encrypted: bool


class Segment(NamedTuple):
    """The content of a file."""

    header: Json
    records: list[Json]


def describe_model(session: ModelSession) -> list[str] | None:
    """Return name and version of the model that a file's vectors are of; None if it cannot be used now."""
    try:
        return [session.name, session.version]
    except ModelUnavailable:
        return None


def read_marker(folder: Path) -> Marker | None:
    """Return what a folder says of itself; None before its first use. Raises UsageFault, OSError."""
    path = folder / MARKER
    if not os.path.lexists(path):
        return None
    try:
        body = orjson.loads(_read_regular(path, MAX_MARKER_BYTES))
    except (UnusableFile, orjson.JSONDecodeError) as fault:
        raise UsageFault(f"{path} is damaged", "Wait until the folder is complete, then try again.") from fault
    if not isinstance(body, dict) or body.get("schema") != SCHEMA or not _ID.fullmatch(str(body.get("id"))):
        raise UsageFault(f"{path} is of another release, or damaged", "Update pastchats-memory on this machine.")
    return Marker(str(body["id"]), body.get("is_encrypted") is not False)


def write_marker(folder: Path, *, is_encrypted: bool) -> Marker:
    """Begin to use a folder. Raises OSError."""
    marker = Marker(secrets.token_hex(16), is_encrypted)
    body = {"schema": SCHEMA, "id": marker.id, "is_encrypted": is_encrypted}
    write_atomic(folder / MARKER, orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n")
    return marker


def write_new_key(folder: Path, passphrase: str) -> None:
    """Put a new age identity into the folder, encrypted with the passphrase. Raises UsageFault, OSError."""
    key = str(pyrage.x25519.Identity.generate())
    write_atomic(folder / KEY_FILE, pyrage.passphrase.encrypt(key.encode(), passphrase))


def read_key(folder: Path, passphrase: str) -> str:
    """Return the key that lies encrypted in the folder. Raises UsageFault, OSError."""
    path = folder / KEY_FILE
    try:
        return parse_key(pyrage.passphrase.decrypt(_read_regular(path, MAX_MARKER_BYTES), passphrase).decode())
    except (pyrage.DecryptError, UnicodeDecodeError) as fault:
        raise UsageFault("this is not the folder's passphrase", f"Use the one that encrypted {path}.") from fault
    except UnusableFile as fault:
        raise UsageFault(f"{path} {fault}", "Wait until the folder is complete, then try again.") from fault


def parse_key(text: str) -> str:
    """Return the age identity in the text of a key file, as `age-keygen` writes it. Raises UsageFault."""
    for line in text.splitlines():
        if line.startswith("AGE-SECRET-KEY-"):
            try:
                return str(pyrage.x25519.Identity.from_str(line.strip()))
            except pyrage.IdentityError as fault:
                raise UsageFault("the key is damaged", "Use a file that `age-keygen` wrote.") from fault
    raise UsageFault("there is no age key in the file", "Use a file that `age-keygen` wrote.")


def list_machines(folder: Path) -> list[str]:
    """Return the machines with files in the folder, by name. Raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(
            entry.name for entry in entries if _MACHINE.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        )


def list_numbered_files(folder: Path, machine: str) -> dict[int, Path]:
    """Return the files of a machine by number. Copies under other names are not among them. Raises OSError."""
    place = folder / machine
    if place.is_symlink() or not place.is_dir():
        return {}
    with os.scandir(place) as entries:
        named = [(entry, _FILE.fullmatch(entry.name)) for entry in entries if entry.is_file(follow_symlinks=False)]
    return {int(match[1]): Path(entry.path) for entry, match in sorted(named, key=lambda one: one[0].name) if match}


def write_segment(folder: Path, machine: str, number: int, segment: Segment, key: str | None) -> Path:
    """Write a file, which gets its name once the disk has all of it. Raises UsageFault, OSError."""
    header = segment.header | {"schema": SCHEMA, "machine": machine, "number": number}
    lines = [header, *segment.records, {"end": len(segment.records)}]
    content = gzip.compress(b"".join(orjson.dumps(line) + b"\n" for line in lines), mtime=0)
    name = f"{number:08}.jsonl.gz"
    if key is not None:
        content = pyrage.encrypt(content, [pyrage.x25519.Identity.from_str(key).to_public()])
        name += ".age"
    path = folder / machine / name
    if path.parent.is_symlink():
        raise UsageFault(f"{path.parent} is a link", "Delete it. Only `sync` writes there.")
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_atomic(path, content)
    return path


def read_segment(path: Path, machine: str, number: int, key: str | None) -> Segment:
    """Return the content of a file.

    Raises:
        UnusableFile: it is incomplete, damaged, of another key, or not the file of this machine and number.
    """
    try:
        content = _read_regular(path, MAX_BYTES)
    except OSError as fault:
        raise UnusableFile(f"cannot be read ({fault.strerror})") from fault
    if key is not None:
        try:
            content = pyrage.decrypt(content, [pyrage.x25519.Identity.from_str(key)])
        except pyrage.DecryptError as fault:
            raise UnusableFile("is incomplete, or encrypted with another key") from fault
    lines = list(_parse_lines(_decompress(content)))
    if len(lines) < 2 or lines[-1] != {"end": len(lines) - 2}:  # noqa: PLR2004 - a header and an end
        raise UnusableFile("is incomplete")
    header, *records, _ = lines
    if header.get("schema") != SCHEMA:
        raise UnusableFile("is of another release")
    if (header.get("machine"), header.get("number")) != (machine, number):
        raise UnusableFile("is a copy of another file")
    if not all(is_proper(header.get(name)) for name, is_proper in HEADER.items()):
        raise UnusableFile("has a malformed header")
    return Segment(header, records)


def _decompress(content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as stream:
            found = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as fault:
        raise UnusableFile("is incomplete or damaged") from fault
    if len(found) > MAX_BYTES:
        raise UnusableFile("is too large")
    return found


def _parse_lines(content: bytes) -> Iterator[Json]:
    for line in content.splitlines():
        try:
            body = orjson.loads(line)
        except orjson.JSONDecodeError as fault:
            raise UnusableFile("is damaged") from fault
        if not isinstance(body, dict) or not is_shallow(body, 2 * MAX_DEPTH):
            raise UnusableFile("is damaged")
        yield body


def _read_regular(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file. Raises UnusableFile, OSError."""
    try:
        file = open_regular(path, may_be_link=False)
    except NotRegularFile as fault:
        raise UnusableFile("is no regular file") from fault
    with file:
        if os.fstat(file.fileno()).st_size > most:
            raise UnusableFile("is too large")
        return file.read(most + 1)
