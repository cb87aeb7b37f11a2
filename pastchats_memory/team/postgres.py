"""Speak with PostgreSQL, by psycopg. `postgres.sql` has the tables, and the rights that the database itself enforces.

The role that is logged in is the author of a row. Row-level security lets nobody write or delete another's rows.
Its functions raise TeamUnavailable if the team's server cannot be used.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.team.server import BATCH_ROWS, LIST_ROWS, TIMEOUT, Changes, Condition, Row
from pastchats_memory.text.words import FUNCTION_WORDS, words

if TYPE_CHECKING:
    from psycopg import Connection

FIELDS = (
    "id", "author", "member", "kind", "project", "role", "outcome", "at", "model", "digest", "text", "body", "dense",
)  # fmt: skip
WRITTEN = (*(name for name in FIELDS if name != "author"), "words")
MANY_ROWS = 100_000
_READ: Mapping[str, str] = {"dense": "dense::text", "body": "body::text"}
_CAST: Mapping[str, str] = {"dense": "%s::halfvec", "words": "array_to_tsvector(%s)"}
_CONDITIONS: Mapping[str, str] = {
    "kind": "kind = %s",
    "owner": "(member = %s AND author = session_user)",
    "other_than": "NOT (member = %s AND author = session_user)",
    "projects": "project = ANY (%s)",
    "roles": "role = ANY (%s)",
    "since": "at >= %s",
    "until": "at BETWEEN 1 AND %s",
    "outcomes": "outcome = ANY (%s)",
}
_HORIZON = (
    "SELECT system_identifier || '.' || timeline_id || '.' || (SELECT changed FROM pastchats.access), "
    "pg_snapshot_xmin(pg_current_snapshot())::text FROM pg_control_system(), pg_control_checkpoint()"
)
"""Name the server's history and who reads what, and the oldest transaction that may still commit."""


class PostgresServer:
    """The team's rows in PostgreSQL."""

    def __init__(self, connection: "Connection[tuple[Any, ...]]", endpoint: str) -> None:
        """Wrap a connection in autocommit mode."""
        self._connection = connection
        self._endpoint = endpoint

    def run(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with _translate(self._endpoint):
            found = self._connection.execute(sql, values)
            return found.fetchall() if found.description else []

    @property
    def author(self) -> str:
        """Return the role that is logged in."""
        return str(self.run("SELECT session_user")[0][0])

    @property
    def exists(self) -> bool:
        """Return whether an administrator has run `postgres.sql` here."""
        return self.run("SELECT to_regclass('pastchats.rows')")[0][0] is not None

    @property
    def dim(self) -> int:
        """Return the length of the vectors."""
        ((dim,),) = self.run(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = 'pastchats.rows'::regclass AND attname = 'dense'"
        )
        return int(dim)

    def create(self, dim: int) -> None:
        """Refuse: who may write here is for an administrator to say."""
        raise TeamUnavailable(
            f"{self._endpoint} has no tables of a team yet (vectors of {dim} numbers)",
            "Give an administrator the output of `pastchats-memory team init`, or run `pastchats-memory team init --apply`.",
        )

    def initialise(self, dim: int) -> None:
        """Run the SQL of `read_schema`, all of it or nothing."""
        with _translate(self._endpoint), self._connection.transaction():
            self._connection.execute(read_schema(dim))

    def load(self) -> None:
        """Let a search by meaning go on until it has enough rows that fulfil its condition."""
        self.run("SELECT set_config('hnsw.iterative_scan', 'strict_order', false)")

    def select(self, condition: Condition, fields: Sequence[str]) -> Iterator[Row]:
        """Yield some fields of all rows that fulfil a condition."""
        where, values = _render(condition)
        sql = f"SELECT {_list_columns(fields)} FROM pastchats.rows WHERE {where}"
        with _translate(self._endpoint), self._connection.transaction(), self._connection.cursor("rows") as cursor:
            cursor.itersize = LIST_ROWS
            for found in cursor.execute(sql, values):
                yield _build_row(fields, found)

    def list_changes(self, condition: Condition, horizon: str) -> Changes:
        """Return what has changed since a horizon.

        A row has the number of the transaction that wrote it. The horizon is the oldest one that was open when the list was
        made, so that a transaction that commits late is listed the next time.
        """
        ((history, oldest),) = self.run(_HORIZON)
        extent = orjson.dumps(list(condition)).decode()
        seen_history, _, seen = horizon.partition("|")[0].rpartition(".")
        is_known = seen_history == history and horizon.partition("|")[2] == extent and int(seen) <= int(oldest)
        after = seen if is_known else "0"
        deleted = frozenset(
            id_ for (id_,) in self.run("SELECT id FROM pastchats.deleted WHERE changed >= %s::xid8", (after,))
        )
        where, values = _render(condition)
        found = dict(
            self.run(f"SELECT id, digest FROM pastchats.rows WHERE {where} AND changed >= %s::xid8", (*values, after))
        )
        return Changes(found, deleted - found.keys() if is_known else None, f"{history}.{oldest}|{extent}")

    def get(self, ids: Sequence[str]) -> list[Row]:
        """Return the rows with these ids."""
        sql = f"SELECT {_list_columns(FIELDS)} FROM pastchats.rows WHERE id = ANY (%s)"
        return [_build_row(FIELDS, found) for found in self.run(sql, (list(ids),))]

    def count_turns(self) -> int:
        """Return the number of turns; above MANY_ROWS, the number of rows that the server's planner reckons with."""
        ((rows,),) = self.run("SELECT reltuples::bigint FROM pg_class WHERE oid = 'pastchats.rows'::regclass")
        if rows < MANY_ROWS:
            ((rows,),) = self.run("SELECT count(*) FROM pastchats.rows WHERE kind = 'turn'")
        return int(rows)

    def put(self, rows: Sequence[Row]) -> None:
        """Write rows in one transaction; those with the same id are replaced."""
        places = ", ".join(_CAST.get(name, "%s") for name in WRITTEN)
        changes = ", ".join(f"{name} = excluded.{name}" for name in WRITTEN[1:])
        sql = f"INSERT INTO pastchats.rows ({', '.join(WRITTEN)}) VALUES ({places}) ON CONFLICT (id) DO UPDATE SET {changes}"
        with _translate(self._endpoint), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(sql, [_list_values(row) for row in rows])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows."""
        for start in range(0, len(ids), BATCH_ROWS):
            self.run("DELETE FROM pastchats.rows WHERE id = ANY (%s)", (list(ids[start : start + BATCH_ROWS]),))

    def erase(self) -> None:
        """Leave it to the server, whose VACUUM removes deleted rows."""

    def find_words(self, text: str, condition: Condition, limit: int) -> list[str]:
        """Return the ids of the turns that have the words of a text, by the function of `postgres.sql`."""
        typed = words(text)
        wanted = [word for word in typed if word not in FUNCTION_WORDS] or typed
        project = condition.projects[0] if condition.projects else None
        roles, outcomes = (list(one) or None for one in (condition.roles, condition.outcomes))
        values = (wanted, project, roles, condition.since, condition.until, outcomes, limit)
        found = self.run("SELECT id FROM pastchats.find_words(%s, %s, %s, %s, %s, %s, %s)", values) if wanted else []
        return [id_ for (id_,) in found]

    def find_near(self, vector: Sequence[float], model: str, condition: Condition, limit: int) -> list[str]:
        """Return the ids of the rows whose vectors of the same model are nearest."""
        where, values = _render(condition)
        sql = f"SELECT id FROM pastchats.rows WHERE {where} AND model = %s ORDER BY dense <=> %s::halfvec LIMIT %s"
        return [id_ for (id_,) in self.run(sql, (*values, model, _write_vector(vector), limit))]


def read_schema(dim: int) -> str:
    """Return the SQL that prepares a database for vectors of a length."""
    return (
        files("pastchats_memory.team").joinpath("postgres.sql").read_text(encoding="utf-8").replace("{dim}", str(dim))
    )


@contextmanager
def open_postgres(endpoint: str, token: str | None) -> Iterator[PostgresServer]:
    """Connect to a team's PostgreSQL; `token` is the password, if it does not come from where libpq looks for it."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as fault:
        hint = (
            "Install it from a clone, since it is not on PyPI yet: uv tool install '.[team]', or pip install '.[team]'."
        )
        raise TeamUnavailable(f"the library of a team's memory is missing ({fault.name})", hint) from fault
    with _translate(endpoint):
        named = conninfo_to_dict(endpoint)
    if "password" in named:
        hint = "Put it into ~/.pgpass, $PGPASSWORD or $PASTCHATS_MEMORY_TEAM_TOKEN."
        raise TeamUnavailable("the address of a team's server must not contain a password", hint)
    usual = {
        "password": token,
        "connect_timeout": int(TIMEOUT),
        "application_name": "pastchats-memory",
        **_choose_tls(named),
    }
    settings = {name: value for name, value in usual.items() if value is not None and name not in named}
    with _translate(endpoint):
        connection = psycopg.connect(endpoint, autocommit=True, **settings)  # type: ignore[arg-type]
    with connection:
        yield PostgresServer(connection, endpoint)


def _choose_tls(named: Mapping[str, object]) -> Mapping[str, object]:
    """Return the settings that verify the server, unless its address or $PGSSLMODE asks for less."""
    mode = named.get("sslmode", os.environ.get("PGSSLMODE", "verify-full"))
    may_have_roots = "service" in named or not {"PGSSLROOTCERT", "PGSERVICE"}.isdisjoint(os.environ)
    if mode != "verify-full" or may_have_roots or (Path.home() / ".postgresql" / "root.crt").exists():
        return {"sslmode": mode}
    return {"sslmode": mode, "sslrootcert": "system"}


def _render(condition: Condition) -> tuple[str, list[object]]:
    limits = condition.limits()
    values = [list(value) if isinstance(value, tuple) else value for value in limits.values()]
    return " AND ".join(_CONDITIONS[name] for name in limits) or "true", values


def _list_columns(fields: Sequence[str]) -> str:
    return ", ".join(_READ.get(name, name) for name in fields)


def _build_row(fields: Sequence[str], found: Sequence[Any]) -> Row:
    row = dict(zip(fields, found, strict=True))
    return row | {name: orjson.loads(row[name]) for name in ("body", "dense") if name in row}


def _list_values(row: Row) -> list[object]:
    """Return a row as parameters; PostgreSQL's text has no NUL."""
    written = {
        **{name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in row.items()},
        "body": orjson.dumps(row["body"]).decode(),
        "dense": _write_vector(row["dense"]),
        "words": words(row["text"]),
    }
    return [written[name] for name in WRITTEN]


def _write_vector(vector: Sequence[float]) -> str:
    return orjson.dumps(list(vector)).decode()


@contextmanager
def _translate(endpoint: str) -> Iterator[None]:
    import psycopg

    try:
        yield
    except psycopg.Error as fault:
        reason = str(fault).strip().partition("\n")[0]
        hint = "Check the address, your role and its rights: pastchats-memory team status."
        raise TeamUnavailable(f"the team's server at {endpoint} did not do what was asked: {reason}", hint) from fault
