"""Machines of one person: each a memory of its own, with the synchronised folder between them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pastchats_memory.config import Config
from pastchats_memory.memory import Memory
from pastchats_memory.store import sync
from pastchats_memory.store.database import open_database
from pastchats_memory.store.interchange import export_tasks
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.sync import keys
from pastchats_memory.sync.keys import Signature
from pastchats_memory.sync.report import FolderAccess, SyncReport

NO_CONFIG = Config(Path())


class Machine:
    """A memory that uses the folder under the name of a computer."""

    def __init__(
        self, home: Path, folder: Path, *, access: FolderAccess | None = None, config: Config = NO_CONFIG
    ) -> None:
        self.home, self.folder = home, folder
        self.access = (access or FolderAccess(is_plain=True))._replace(host=home.name)
        home.mkdir(exist_ok=True)
        self.memory = Memory.open(home / "memory.db", config=config._replace(database=home / "memory.db"))

    def sync(self, access: FolderAccess | None = None, *, compares: bool = True) -> SyncReport:
        """Synchronise; a person has compared the codes of all machines, or `compares` none."""
        if compares and (self.folder / "pastchats-sync.json").exists() and self.access.is_plain and access is None:
            for machine in self.status().machines:
                if not machine.is_known and machine.code:
                    self.memory.trust_machine(self.folder, machine.code, self.access)
        return self.memory.sync(self.folder, (access or self.access)._replace(host=self.home.name))

    def sign(self, file: Path, lines: bytes) -> None:
        """Write a file of this machine that holds these bytes, signed."""
        with open_database(self.home / "memory.db") as database:
            (row,) = database.run("SELECT id FROM sync_folders")
            known = sync.load_folder(database, row[0])
        assert known is not None
        body = gzip.compress(lines, compresslevel=1)
        message = keys.name_file(known.id, known.machine, body)
        shown = Signature(keys.find_public(known.signing_key), known.proof, keys.sign(known.signing_key, message))
        first = json.dumps({name: value.hex() for name, value in shown._asdict().items()})
        file.write_bytes(gzip.compress(first.encode()) + body)

    def status(self) -> SyncReport:
        return self.memory.sync_status(self.folder, self.access)

    def write(self, name: str, *turns: tuple[str, str], project: str = "tern") -> Path:
        """Write a transcript of (role, text), each a minute after the one before, and index it."""
        lines = [
            {
                "role": role,
                "content": text,
                "conversation_id": name,
                "id": f"{name}-{number}",
                "timestamp": f"2026-03-01T10:{number:02}:00.000Z",
            }
            for number, (role, text) in enumerate(turns)
        ]
        path = self.home / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.memory.index([path], project)
        return path

    def write_session(self, name: str, *turns: tuple[str, str]) -> None:
        """Write a session of (role, text) whose records have ids of their own, and index it."""
        path = self.home / f"{uuid5(NAMESPACE_URL, name)}.jsonl"
        common = {"sessionId": path.stem, "cwd": "/home/ada/tern", "isSidechain": False, "version": "2.1.0"}
        records = [
            {"type": role, "uuid": str(uuid5(NAMESPACE_URL, f"{name} {number}")), "timestamp": f"2026-03-01T10:{number:02}:00.000Z",
             "message": {"role": role, "content": text}} | common
            for number, (role, text) in enumerate(turns)
        ]  # fmt: skip
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        self.memory.index([path])

    def paste(self, name: str, *turns: tuple[str, str]) -> None:
        """Write a dialogue in Markdown, whose turns have neither ids nor times, and index it."""
        path = self.home / f"{name}.md"
        path.write_text("\n\n".join(f"## {role.title()}\n\n{text}" for role, text in turns) + "\n", encoding="utf-8")
        self.memory.index([path], "tern")

    @property
    def texts(self) -> list[str]:
        with open_database(self.home / "memory.db") as database:
            return sorted(text for (text,) in database.run("SELECT content FROM prompts"))

    @property
    def state(self) -> dict[str, Any]:
        """All that machines have in common."""
        with open_database(self.home / "memory.db") as database:
            return {
                "turns": sorted((identity, digest) for identity, _, _, digest in sync.turn_versions(database)),
                "tasks": sorted(
                    (body["identity"], sync.task_digest(body))
                    for body in export_tasks(database)
                    if not Tombstones(database).has_task(  # added again by hand: it stays on its machine
                        body["identity"], body["title"], body["description"]
                    )
                ),
                "judgements": {
                    identity: {name: value for name, value in body.items() if name != "judged_at"}
                    for identity, body in sync.judgements(database).items()
                },
                "forgettings": sorted(sync.forgettings(database)),
            }


def folder_bytes(folder: Path) -> bytes:
    """Return what lies in the folder, decompressed where it can be."""
    return b"\n".join(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )
