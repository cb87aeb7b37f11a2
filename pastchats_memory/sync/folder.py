"""Write and read the files of a synchronised folder, which something else carries between machines.

    FOLDER/pastchats-sync.json            id of the folder, whether its files are encrypted, and by which of its keys
    FOLDER/key.age                        the key of the files, encrypted with the passphrase; key-2.age is its successor
    FOLDER/MACHINE/00000001.jsonl.gz.age  each machine writes only its own files, and numbers them

A file is JSON Lines, compressed, then encrypted (https://age-encryption.org/v1): a signature, a header, the records, and a
last line with their number. The signature is a gzip member of its own, and signs the bytes that follow, so it is checked
before they are decompressed. A file is taken whole or not at all.
"""

import gzip
import os
import re
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
from pastchats_memory.store import sync
from pastchats_memory.store.sync import SyncFolder
from pastchats_memory.sync import keys
from pastchats_memory.sync.keys import Signature
from pastchats_memory.text.encoding import MAX_DEPTH, is_shallow
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.wire import is_hex, is_number

MARKER = "pastchats-sync.json"
SCHEMA = "sync/1"
MAX_BYTES = 1 << 28
"""Of a file, as it lies there and after decompression."""
MAX_RECORDS = 2000
"""Of a file."""
FINGERPRINT_BYTES = 1024
"""Of the beginning of a file."""
MAX_SIGNATURE_BYTES = 1000
MAX_MACHINES = 1000
MAX_MARKER_BYTES = 1 << 16
MAX_HOST_CHARS = 255
LEAST_WORK = 16
"""Binary logarithm of scrypt's work that opens a passphrase, as OWASP asks for."""
TRIES = 20
"""How often age may time the work that this machine does in a second, which comes out too small while it is busy."""
HINT_BUSY = "Run it again when the machine has less to do."
_WORK = re.compile(rb"\n-> scrypt \S+ ([0-9]+)\n")
_MACHINE = re.compile(r"[0-9a-f]{16}")
_ID = re.compile(r"[0-9a-f]{32}")
_FILE = re.compile(r"([0-9]{8})\.jsonl\.gz(\.age)?")

Json = dict[str, Any]
Admit = Callable[[str, Signature, bytes], None]
"""Raises UnusableFile unless a machine, whose signature of a message is given, may be read."""


def _is_machine_list(value: object) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MAX_MACHINES
        and all(
            _MACHINE.fullmatch(name)
            and isinstance(one, list)
            and len(one) == 2  # noqa: PLR2004 - a pair
            and is_hex(one[0])
            and type(one[1]) is bool
            for name, one in value.items()
        )
    )


HEADER: Mapping[str, Callable[[Any], bool]] = {
    "host": lambda value: isinstance(value, str) and len(value) <= MAX_HOST_CHARS,
    "place": lambda value: is_hex(value, 2 * sync.DIGEST_BYTES),
    "machines": _is_machine_list,
    "at": lambda value: isinstance(value, str) and iso_utc(value) == value,
    "files": lambda value: isinstance(value, list) and all(type(one) is int for one in value),
    "forgettings": lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
}
"""Check of each field of a header that others show or follow."""


class UnusableFile(Exception):
    """A file that is incomplete, damaged, or not what its name says."""


class UntrustedFile(UnusableFile):
    """A file whose machine is not known, or was retired: a person may change that."""


class Marker(NamedTuple):
    """What a folder says of itself."""

    id: str
    is_encrypted: bool
    generation: int = 1
    """Of its key."""


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
    generation: Any = body.get("generation") if isinstance(body, dict) else None
    if not is_number(generation) or body.get("schema") != SCHEMA or not _ID.fullmatch(str(body.get("id"))):
        raise UsageFault(f"{path} is of another release, or damaged", "Update pastchats-memory on this machine.")
    return Marker(str(body["id"]), body.get("is_encrypted") is not False, generation)


def write_marker(folder: Path, marker: Marker) -> None:
    """Say what a folder is. Raises OSError."""
    body = {"schema": SCHEMA, **marker._asdict()}
    _write(folder / MARKER, orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n")


def name_key(folder: Path, generation: int) -> Path:
    """Return the file of the folder's key of a generation."""
    return folder / ("key.age" if generation == 1 else f"key-{generation}.age")


def write_new_key(path: Path, passphrase: str) -> str:
    """Put a new age identity into a file, encrypted with the passphrase, and return it. Raises UsageFault, OSError."""
    key = str(pyrage.x25519.Identity.generate())
    for _ in range(TRIES):
        content = pyrage.passphrase.encrypt(key.encode(), passphrase)
        if (work := _WORK.search(content)) and int(work[1]) >= LEAST_WORK:
            _write(path, content)
            return key
    raise UsageFault("this machine is too busy to protect a key by the passphrase", HINT_BUSY)


def read_key(path: Path, passphrase: str) -> str:
    """Return the key that lies encrypted in a file of the folder. Raises UsageFault, OSError."""
    try:
        content = _read_regular(path, MAX_MARKER_BYTES)
        for _ in range(TRIES):
            try:
                return parse_key(pyrage.passphrase.decrypt(content, passphrase).decode())
            except pyrage.DecryptError as fault:
                if not str(fault).startswith("Excessive work"):
                    raise
    except (pyrage.DecryptError, UnicodeDecodeError) as fault:
        raise UsageFault("this is not the folder's passphrase", f"Use the one that encrypted {path}.") from fault
    except UnusableFile as fault:
        raise UsageFault(f"{path} {fault}", "Wait until the folder is complete, then try again.") from fault
    raise UsageFault("this machine is too busy to try the passphrase", HINT_BUSY)


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


def build_file(known: SyncFolder, number: int, segment: Segment) -> bytes:
    """Return the bytes of a file of this machine: signed, and encrypted if the folder has a secret."""
    header = segment.header | {"schema": SCHEMA, "machine": known.machine, "number": number}
    lines = [header, *segment.records, {"end": len(segment.records)}]
    body = _compress(lines)
    message = keys.name_file(known.id, known.machine, body)
    shown = Signature(keys.find_public(known.signing_key), known.proof, keys.sign(known.signing_key, message))
    content = _compress([{name: value.hex() for name, value in shown._asdict().items()}]) + body
    if known.secret is None:
        return content
    return bytes(pyrage.encrypt(content, [pyrage.x25519.Identity.from_str(known.secret).to_public()]))


def _compress(lines: list[Json]) -> bytes:
    return gzip.compress(b"".join(orjson.dumps(line) + b"\n" for line in lines), mtime=0)


def write_file(known: SyncFolder, number: int, content: bytes) -> None:
    """Write a file, which gets its name once the disk has all of it. Raises UsageFault, OSError."""
    path = Path(known.path) / known.machine / f"{number:08}.jsonl.gz{'.age' if known.secret else ''}"
    _refuse_link(path.parent)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _write(path, content)


def _write(path: Path, content: bytes) -> None:
    """Write a file of the folder; somebody else who writes there could make a link of it that leads to any file."""
    _refuse_link(path)
    write_atomic(path, content)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise UsageFault(f"{path} is a link", "Delete it. Only `sync` writes there.")


def find_fingerprint(size: int, content: bytes) -> str:
    """Return what tells a file from another one: signature or encryption make its beginning unique."""
    return sync.digest_of([size, content[:FINGERPRINT_BYTES].hex()]).hex()


def read_fingerprint(path: Path) -> str:
    """Return the fingerprint of a file, empty if it cannot be read."""
    try:
        with open_regular(path, may_be_link=False) as file:
            return find_fingerprint(os.fstat(file.fileno()).st_size, file.read(FINGERPRINT_BYTES))
    except OSError:
        return ""


def read_stamp(path: Path) -> str:
    """Return what changes with a file on the disk, without a look into it; empty if it is gone."""
    try:
        found = path.lstat()
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def read_signature(path: Path, known: SyncFolder) -> tuple[Signature, bytes]:
    """Return what a file shows of its writer, and the bytes that it signs. Raises UnusableFile."""
    try:
        content = _read_regular(path, MAX_BYTES)
    except OSError as fault:
        raise UnusableFile(f"cannot be read ({fault.strerror})") from fault
    if known.secret is not None:
        try:
            content = pyrage.decrypt(content, [pyrage.x25519.Identity.from_str(known.secret)])
        except pyrage.DecryptError as fault:
            raise UnusableFile("is incomplete, or encrypted with another key") from fault
    stream = zlib.decompressobj(wbits=31)
    try:
        line = stream.decompress(content, MAX_SIGNATURE_BYTES)
        if not stream.eof and not stream.unconsumed_tail:
            raise UnusableFile("is incomplete")
        shown = orjson.loads(line)
        return Signature(*(bytes.fromhex(shown[name]) for name in Signature._fields)), stream.unused_data
    except (zlib.error, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as fault:
        raise UnusableFile("is not signed") from fault


def read_segment(path: Path, machine: str, number: int, known: SyncFolder, admit: Admit) -> Segment:
    """Return the content of a file.

    Raises UnusableFile: it is incomplete, damaged, of another key, not signed by its machine, or not the file of its number.
    """
    shown, content = read_signature(path, known)
    admit(machine, shown, keys.name_file(known.id, machine, content))
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
    if len(found) > MAX_BYTES or found.count(b"\n") > MAX_RECORDS + 2:
        raise UnusableFile("is too large")
    return found


def _parse_lines(content: bytes) -> Iterator[Json]:
    for line in content.split(b"\n")[:-1]:
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
