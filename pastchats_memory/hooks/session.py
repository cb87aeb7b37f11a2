"""Remember what a session was given, so that nothing is given twice: small files, deleted after a week.

Functions that write raise OSError.
"""

import json
import time
from _blake2 import blake2b  # hashlib would bring OpenSSL, which a hook has no use for
from contextlib import suppress
from pathlib import Path

from pastchats_memory.files.atomic import write_atomic

WEEK_S = 7 * 24 * 3600


def given(folder: Path, session: str) -> frozenset[str]:
    """Return the ids of items that the session was given: none for an unknown session."""
    try:
        ids = json.loads(_file(folder, session).read_bytes())
    except (OSError, ValueError):
        return frozenset()
    return frozenset(id_ for id_ in ids if isinstance(id_, str)) if isinstance(ids, list) else frozenset()


def remember(folder: Path, session: str, ids: frozenset[str]) -> None:
    """Add ids to those that the session was given."""
    file = _file(folder, session)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    ids |= given(folder, session)
    write_atomic(file, json.dumps(sorted(ids)).encode(), is_durable=False)  # a lost one costs a repeated block


def claim_once(folder: Path | None, session: str | None, key: str) -> bool:
    """Return whether a session gets something for the first time, as far as that can be known: better twice than never."""
    if folder is None or session is None:
        return True
    file = _file(folder, session).with_suffix(f".{key}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            file.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            return False
    return True


def note_compaction(folder: Path | None, session: str | None) -> None:
    """Remember, if that can be done, that a session no longer has in its context what it saw."""
    if folder is not None and session:
        with suppress(OSError):
            file = _file(folder, session).with_suffix(".compacted")
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.touch(mode=0o600)


def compacted_at(folder: Path, session: str) -> str:
    """Return when the context of a session was compacted last, as an ISO time; empty if it never was."""
    try:
        seconds = _file(folder, session).with_suffix(".compacted").stat().st_mtime
    except OSError:
        return ""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def forget_old(folder: Path) -> None:
    """Delete the files of sessions without activity for a week."""
    with suppress(OSError):
        for file in (folder / "sessions").iterdir():
            if time.time() - file.stat().st_mtime > WEEK_S:
                file.unlink()


def _file(folder: Path, session: str) -> Path:
    name = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return folder / "sessions" / f"{name}.json"
