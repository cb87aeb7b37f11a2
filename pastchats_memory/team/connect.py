"""Choose the server of an endpoint. Its library is imported only when it is needed."""

import os
from contextlib import AbstractContextManager
from getpass import getuser
from urllib.parse import urlsplit

from pastchats_memory.team.server import TeamServer


def is_postgres(endpoint: str) -> bool:
    """Return whether an endpoint is an address of PostgreSQL."""
    return endpoint.startswith(("postgresql://", "postgres://"))


def name_author(endpoint: str, configured: str | None) -> str:
    """Return the name under which turns are shared; for PostgreSQL the role that the address asks for.

    The server says at the next connection which role it is: a service file may name another one.
    """
    if is_postgres(endpoint):
        configured = urlsplit(endpoint).username or os.environ.get("PGUSER")
    return configured or getuser()


def open_server(endpoint: str, token: str | None) -> AbstractContextManager[TeamServer]:
    """Connect to the server at an endpoint, by the library that it needs. Raises TeamUnavailable if it cannot be used."""
    if is_postgres(endpoint):
        from pastchats_memory.team.postgres import open_postgres

        return open_postgres(endpoint, token)
    from pastchats_memory.team.milvus import open_milvus

    return open_milvus(endpoint, token)
