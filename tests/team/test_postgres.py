"""What is particular to PostgreSQL: rights that the server enforces, listings of what is new, and its own search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from people import ANSWERED, ASKED, Person, run, shell_of
from places import Place, PostgresDatabase, listen_without_tls

from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.store.copy_path import copy_path
from pastchats_memory.team.postgres import open_postgres
from pastchats_memory.team.server import Condition

ROW = (
    "INSERT INTO pastchats.rows (id, member, kind, project, role, outcome, at, model, digest, text, body, dense, words{more}) "
    "SELECT '{id}', 'ab', 'turn', 'billing', 'user', 'unknown', 0, 'ab', 'ab', '{text}', '{{}}', array_fill(1, ARRAY[384])::halfvec, ''{values}"
)


def insert(id_: str, text: str = "x", more: str = "", values: str = "") -> str:
    return ROW.format(id=id_ * 64, text=text, more=more, values=values)


@pytest.fixture
def place(postgres: PostgresDatabase) -> Place:
    return postgres


def test_the_author_is_the_role_that_is_logged_in(postgres: PostgresDatabase) -> None:
    postgres.run(insert("a"), "ada")
    assert postgres.run("SELECT author FROM pastchats.rows", "bob") == [("ada",)]


def test_status_and_share_name_the_role_and_count_its_own_rows_alone(ada: Person, postgres: PostgresDatabase) -> None:
    ada.memory.team.share("billing")
    ada.memory.team.push()
    own = ada.memory.team.status().member
    postgres.run(insert("a").replace("'ab', 'turn'", f"'{own}', 'turn'"), "bob")  # under the name of her memory
    found = Person(ada.home, postgres, team_author="somebody").memory.team
    assert (found.preview("billing").author, found.status().author) == ("ada", "ada")
    assert [(one.author, one.turns, one.is_self) for one in found.status().authors] == [
        ("ada", 3, True),
        ("bob", 1, False),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        insert("b", more=", author", values=", 'ada'"),
        insert("b", more=", author", values=", 'bob'"),
        insert("b", more=", changed", values=", '1'"),
        "UPDATE pastchats.rows SET author = 'bob'",
        "UPDATE pastchats.readers SET reader = 'bob'",
        "INSERT INTO pastchats.readers VALUES ('billing', 'bob')",
        "INSERT INTO pastchats.deleted (id) VALUES ('aa')",
        "DELETE FROM pastchats.deleted",
        "UPDATE pastchats.access SET changed = '1'",
        "TRUNCATE pastchats.rows",
        "ALTER TABLE pastchats.rows DISABLE ROW LEVEL SECURITY",
        "CREATE FUNCTION pastchats.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SET ROLE ada",
        "SET SESSION AUTHORIZATION ada",
        insert("a") + " ON CONFLICT (id) DO UPDATE SET text = 'forged'",
    ],
)
def test_a_member_who_writes_sql_cannot_act_for_another(postgres: PostgresDatabase, sql: str) -> None:
    postgres.run(insert("a", "Words of her own."), "ada")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        postgres.run(sql, "bob")
    assert postgres.run("SELECT author, text FROM pastchats.rows") == [("ada", "Words of her own.")]


@pytest.mark.parametrize("sql", ["UPDATE pastchats.rows SET text = 'forged'", "DELETE FROM pastchats.rows"])
def test_an_update_or_a_deletion_reaches_own_rows_alone(postgres: PostgresDatabase, sql: str) -> None:
    postgres.run(insert("a", "Words of her own."), "ada")
    postgres.run(sql, "bob")
    assert postgres.run("SELECT text FROM pastchats.rows") == [("Words of her own.",)]


@pytest.mark.parametrize(
    "sql", [insert("b", more=", author", values=", 'ada'"), "UPDATE pastchats.rows SET author = 'ada'"]
)
def test_the_policies_alone_let_nobody_write_for_another(postgres: PostgresDatabase, sql: str) -> None:
    """Grant the column that is not granted, so that nothing else refuses it."""
    postgres.run("GRANT INSERT (author), UPDATE (author) ON pastchats.rows TO pastchats_team")
    postgres.run(insert("a"), "bob")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        postgres.run(sql, "bob")


def test_a_role_outside_the_team_reads_nothing(postgres: PostgresDatabase) -> None:
    postgres.run("REVOKE pastchats_team FROM dora")
    try:
        for sql in (
            "SELECT * FROM pastchats.rows",
            "SELECT pastchats.find_words('{x}', NULL, NULL, NULL, NULL, NULL, 9)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                postgres.run(sql, "dora")
    finally:
        postgres.run("GRANT pastchats_team TO dora")


def test_a_project_with_readers_is_for_them_and_its_authors_alone(
    ada: Person, bob: Person, tmp_path: Path, postgres: PostgresDatabase
) -> None:
    carol = Person(tmp_path / "carol", postgres)
    ada.share("billing")
    bob.pull()
    postgres.run("INSERT INTO pastchats.readers VALUES ('billing', 'carol')")
    assert (len(ada.found()), len(bob.found()), len(carol.found())) == (3, 0, 3)
    assert bob.pull().deleted == 3
    assert carol.pull().received == 3
    postgres.run("DELETE FROM pastchats.readers")
    assert bob.pull().received == 3


READS = (
    "SELECT text FROM pastchats.rows",
    "SELECT r.text FROM pastchats.find_words('{backoff}', NULL, NULL, NULL, NULL, NULL, 9) f JOIN pastchats.rows r USING (id)",
    "SELECT id FROM pastchats.find_words('{backoff}', NULL, NULL, NULL, NULL, NULL, 9)",
    "SELECT text FROM pastchats.rows ORDER BY dense <=> array_fill(1, ARRAY[384])::halfvec LIMIT 9",
    "SELECT id FROM pastchats.rows WHERE words @@ 'backoff'",
)


@pytest.mark.parametrize("sql", READS)
def test_no_way_of_reading_shows_a_project_of_others(ada: Person, postgres: PostgresDatabase, sql: str) -> None:
    ada.share("billing")
    assert postgres.run(sql, "bob")
    postgres.run("INSERT INTO pastchats.readers VALUES ('billing', 'carol')")
    assert postgres.run(sql, "bob") == []
    assert postgres.run(sql, "carol")


def test_a_leaky_function_sees_no_row_of_others(ada: Person, postgres: PostgresDatabase) -> None:
    """PostgreSQL calls a function of a query before a policy only if it is known to keep secrets."""
    ada.share("billing")
    postgres.run("INSERT INTO pastchats.readers VALUES ('billing', 'carol')")
    leak = "CREATE FUNCTION pg_temp.leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE EXCEPTION '%', $1; END $$; "
    assert postgres.run(leak + "SELECT 1 FROM pastchats.rows WHERE pg_temp.leak(text)", "bob") == []


def test_a_listing_misses_no_transaction_that_commits_late(postgres: PostgresDatabase) -> None:
    """Begin one writer first and commit it last, so that its row is older than the listing that misses it."""
    late = psycopg.connect(postgres.endpoint_for("ada"))
    late.execute(insert("a"))
    postgres.run(insert("b"), "ada")
    with open_postgres(postgres.endpoint_for("bob"), None) as server:
        first = server.list_changes(Condition(), "")
        late.commit()
        second = server.list_changes(Condition(), first.horizon)
        third = server.list_changes(Condition(), second.horizon)
    late.close()
    assert first.digests.keys() == {"b" * 64}
    assert "a" * 64 in second.digests
    assert third.digests == {}
    assert second.deleted == frozenset()


def test_a_row_that_is_written_again_is_listed_again(postgres: PostgresDatabase) -> None:
    postgres.run(insert("a"), "ada")
    with open_postgres(postgres.endpoint_for("bob"), None) as server:
        first = server.list_changes(Condition(), "")
        postgres.run("UPDATE pastchats.rows SET digest = 'cd'", "ada")
        second = server.list_changes(Condition(), first.horizon)
    assert second.digests == {"a" * 64: "cd"}
    assert second.deleted == frozenset()


def test_a_deletion_that_commits_late_is_listed(postgres: PostgresDatabase) -> None:
    postgres.run(insert("a"), "ada")
    late = psycopg.connect(postgres.endpoint_for("ada"))
    late.execute("DELETE FROM pastchats.rows")
    postgres.run(insert("b"), "ada")
    with open_postgres(postgres.endpoint_for("bob"), None) as server:
        first = server.list_changes(Condition(), "")
        late.commit()
        second = server.list_changes(Condition(), first.horizon)
    late.close()
    assert second.deleted == frozenset({"a" * 64})


def test_a_server_with_another_history_is_listed_whole(postgres: PostgresDatabase) -> None:
    postgres.run(insert("a"), "ada")
    with open_postgres(postgres.endpoint_for("bob"), None) as server:
        horizon = server.list_changes(Condition(), "").horizon
        assert server.list_changes(Condition(), "1" + horizon).deleted is None
        assert server.list_changes(Condition(projects=("billing",)), horizon).deleted is None


def test_a_second_pull_asks_for_nothing(ada: Person, bob: Person) -> None:
    ada.share("billing")
    assert bob.pull().received == 3
    assert bob.pull().received == 0
    ada.memory.forget(query="backoff")
    ada.memory.team.push()
    assert bob.pull().deleted == 1


def test_a_copy_may_be_limited_by_projects_and_by_age(ada: Person, tmp_path: Path, postgres: PostgresDatabase) -> None:
    ada.write("redis", ("user", "Why did the store drop redis?"), project="store")
    ada.share("billing", "store")
    home = tmp_path / "bob"
    assert Person(home, postgres, team_projects=("store",)).pull().received == 1
    assert Person(home, postgres).pull().received == 3
    assert Person(home, postgres, team_days=1).pull().deleted == 4


def test_a_database_without_tables_says_what_to_do(ada: Person, postgres: PostgresDatabase) -> None:
    postgres.run("DROP SCHEMA pastchats CASCADE")
    with pytest.raises(TeamUnavailable) as caught:
        ada.share("billing")
    assert "team init" in caught.value.hint


def test_init_prints_the_sql_and_applies_it_for_an_owner_without_superuser(
    ada: Person, postgres: PostgresDatabase
) -> None:
    postgres.run("DROP SCHEMA pastchats CASCADE")
    postgres.run(f"GRANT CREATE ON DATABASE {postgres.name} TO dora")
    printed = shell_of(ada)("team", "init")
    assert "ROW LEVEL SECURITY" in printed.stdout
    assert postgres.run("SELECT to_regnamespace('pastchats')") == [(None,)]
    owner = Person(ada.home, postgres, team_endpoint=postgres.endpoint_for("dora"))
    done = shell_of(owner)("team", "init", "--apply")
    assert done.status == 0, done.stderr
    assert len(ada.share("billing").projects) == 1


def test_a_dry_run_shows_a_whole_row_and_sends_nothing(ada: Person, bob: Person) -> None:
    ada.memory.team.share("billing")
    done = shell_of(ada)("team", "push", "--dry-run")
    assert done.status == 0
    assert "5 rows" in done.stdout
    assert ASKED in done.stdout
    assert bob.found() == []


def test_a_row_names_no_path_host_or_id_of_the_authors_computer(ada: Person, postgres: PostgresDatabase) -> None:
    ada.share("billing")
    stored = postgres.stored()
    assert ANSWERED.encode() in stored
    assert not any(word in stored for word in (str(ada.home).encode(), b"webhooks.jsonl", b"webhooks-0", b'"webhooks"'))


def test_an_address_with_a_password_is_refused(ada: Person, postgres: PostgresDatabase) -> None:
    careless = Person(ada.home, postgres, team_endpoint="postgresql://ada:hunter2@db.example.com/team")
    with pytest.raises(TeamUnavailable, match="must not contain a password") as caught:
        careless.memory.team.status()
    assert "hunter2" not in str(caught.value)


@pytest.fixture
def plain_address(postgres: PostgresDatabase) -> Iterator[str]:
    """Ada's address at a server that answers on a port, without TLS."""
    with listen_without_tls(postgres.server) as port:
        yield f"postgresql://ada@127.0.0.1:{port}/{postgres.name}"


def test_a_server_without_tls_is_refused(plain_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = tmp_path / "services"
    service.write_text("[team]\napplication_name=team\n", encoding="utf-8")
    for variables in ({}, {"PGSERVICEFILE": str(service), "PGSERVICE": "team"}, {"PGSSLMODE": "require"}):
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            with (
                pytest.raises(TeamUnavailable, match="server does not support SSL"),
                open_postgres(plain_address, None),
            ):
                pass


def test_an_address_or_the_environment_may_do_without_tls(plain_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_postgres(f"{plain_address}?sslmode=disable", None) as server:
        assert server.author == "ada"
    monkeypatch.setenv("PGSSLMODE", "disable")
    with open_postgres(plain_address, None) as server:
        assert server.author == "ada"


def test_an_unreachable_server_leaves_the_copy(ada: Person, bob: Person, postgres: PostgresDatabase) -> None:
    ada.share("billing")
    bob.pull()
    postgres.server.run(f"ALTER DATABASE {postgres.name} RENAME TO {postgres.name}_gone")
    found = run(bob, "recall", "--team", "webhook retries pile up")
    assert (found.status, "by ada" in found.stdout) == (0, True)
    assert "from the last `team pull`" in found.stderr
    assert run(bob, "search", "--team", "webhook").status == 2


def test_a_project_whose_name_has_a_nul_is_shared(ada: Person, bob: Person) -> None:
    ada.write("nul", ("user", "The zanzibar report is late."), project="a\0b")
    ada.share("a\0b")
    assert bob.found("zanzibar report") == [("ada", "The zanzibar report is late.")]


def test_a_common_word_ranks_what_a_rare_word_finds(ada: Person, bob: Person) -> None:
    for number in range(30):
        ada.write(f"c{number}", ("user", f"The deploy number {number} of the service went through."))
    ada.write("rare", ("user", "The kiln of the service went cold."))
    ada.share("billing")
    assert (
        bob.memory.search("the kiln service", mode="keyword", team=True)[0].content
        == "The kiln of the service went cold."
    )


def test_a_restarted_server_is_used_again(ada: Person, bob: Person, postgres: PostgresDatabase) -> None:
    ada.share("billing")
    postgres.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'ada'"
    )
    assert bob.pull().received == 3
    assert copy_path(bob.config.database).stat().st_mode & 0o077 == 0
