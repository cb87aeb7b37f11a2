"""Where a team's rows lie in a test: a real PostgreSQL, or a file of Milvus Lite."""

from __future__ import annotations

import os
import socket
import socketserver
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from shutil import rmtree
from threading import Thread
from typing import Protocol
from uuid import uuid4

from pastchats_memory.team.postgres import read_schema
from pastchats_memory.team.trial import run_server

DIM = 384
"""Of the packaged model."""
PEOPLE = ("ada", "bob", "carol", "dora")


class Place(Protocol):
    """A place for the rows of a team."""

    def endpoint_for(self, name: str) -> str:
        """Return the endpoint that a person configures."""

    def stored(self) -> bytes:
        """Return everything that is stored there."""


class MilvusFile:
    """A file of Milvus Lite."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def endpoint_for(self, _name: str) -> str:
        return str(self.path)

    def stored(self) -> bytes:
        return all_bytes(self.path)


class PostgresDatabase:
    """A database of its own in a server that runs for the whole session, with a role for each person."""

    def __init__(self, server: PostgresProcess) -> None:
        self.server = server
        self.name = f"team_{uuid4().hex}"
        server.run(f"CREATE DATABASE {self.name}")
        self.run(read_schema(DIM))
        self.run(f"GRANT pastchats_team TO {', '.join(PEOPLE)}")

    def endpoint_for(self, name: str) -> str:
        return self.server.address(name, self.name)

    def run(self, sql: str, role: str = "postgres") -> list[tuple[object, ...]]:
        """Run SQL as a role, as any program of the team's could."""
        return self.server.run(sql, role, self.name)

    def stored(self) -> bytes:
        return repr(
            self.run("SELECT r::text FROM pastchats.rows r UNION ALL SELECT d::text FROM pastchats.deleted d")
        ).encode()


class PostgresProcess:
    """A PostgreSQL server with pgvector, and the roles of some people."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = run_server(folder)
        self.socket = self.process.get_uri().partition("host=")[2]
        for name in PEOPLE:
            self.run(f"CREATE ROLE {name} LOGIN")

    def address(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={self.socket}"

    def restart(self) -> None:
        """Stop the server at once, whatever it does, and start it again."""
        self.process.stop()
        self.process.ensure_postgres_running()

    def run(self, sql: str, role: str = "postgres", database: str = "postgres") -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.address(role, database), autocommit=True) as connection:
            found = connection.execute(sql)
            return found.fetchall() if found.description else []


@contextmanager
def run_postgres() -> Iterator[PostgresProcess]:
    """Run a server until the end: its socket's path must be short, and root runs it as another user."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    os.chmod(folder, 0o755)  # noqa: S103, PTH101 - the server's own user enters it
    server = PostgresProcess(folder / "data")
    try:
        yield server
    finally:
        server.process.stop()
        rmtree(folder)


@contextmanager
def listen_without_tls(server: PostgresProcess) -> Iterator[int]:
    """Pass what comes to a port of this computer on to a server's socket; return the port."""

    class Passage(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as there:
                there.connect(f"{server.socket}/.s.PGSQL.5432")
                ends = {self.request: there, there: self.request}
                while True:
                    for end in select(list(ends), [], [])[0]:
                        data = end.recv(65_536)
                        if not data:
                            return
                        ends[end].sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Passage) as listening:
        Thread(target=listening.serve_forever).start()
        try:
            yield listening.server_address[1]
        finally:
            listening.shutdown()


def all_bytes(folder: Path) -> bytes:
    """Return everything that lies in a folder."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
