"""Store the notes that hooks wrote of what they gave to agents."""

import json
import os
from contextlib import suppress
from pathlib import Path

from pastchats_memory.config import load
from pastchats_memory.files.folders import GIVEN_FOLDER, name_state
from pastchats_memory.redact import redact
from pastchats_memory.store.database import Database
from pastchats_memory.store.recalled import Given, add
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.timestamps import iso_utc


def store_notes(database: Database) -> None:
    """Store the notes about a memory without secrets, and remove them.

    A note that is stored and not removed is stored once all the same. Raises StoreFault.
    """
    found = {}
    state = name_state(str(database.path))
    for file in sorted(Path(state, GIVEN_FOLDER).glob("*.json")) if state else ():
        with suppress(OSError, ValueError, TypeError):  # a process was killed as it wrote, or another one took it
            at, agent, kind, session, named, text = json.loads(file.read_bytes())
            if os.path.realpath(load(named).database) == os.path.realpath(database.path):
                found[file] = Given(
                    file.stem, iso_utc(at / 1e9) or "", agent, kind, session and utf8(session), redact(utf8(text)).text
                )
    if found:
        add(database, found.values())
    for file in found:
        file.unlink(missing_ok=True)
