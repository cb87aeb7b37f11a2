"""A value that one text shows to be a secret is removed from the other texts of the memory, too."""

import json
import os
from pathlib import Path

import pytest
from program import Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.maintenance.known_secrets import MOST_FRESH, MOST_ROWS
from pastchats_memory.redact.known_secrets import MOST_VALUES, KnownSecrets
from pastchats_memory.store.database import open_database
from pastchats_memory.store.recalled import Given, add

PASSWORD = "kf83-Qzzt-19xx"  # noqa: S105 - nobody's
SHOWN = ("user", f"The database password is {PASSWORD}.")
UNSHOWN = [
    ("user", f"Which hash does {PASSWORD} have?"),
    ("assistant", f"user / {PASSWORD}"),
    ("user", f'hash of "{PASSWORD}", please'),
    ("assistant", f"I ran `mysql -uroot -p{PASSWORD} shop`."),
    ("user", f"[{PASSWORD}]!"),
]


def is_gone(program: Program) -> bool:
    files = [file for file in program.database.parent.iterdir() if file.is_file()]
    return program.database in files and not any(PASSWORD.encode() in file.read_bytes() for file in files)


@pytest.mark.promise("secrets", "A value that one text shows to be a secret is removed from the other texts, too.")
@pytest.mark.parametrize("order", [("shown", "unshown"), ("unshown", "shown")])
def test_a_secret_is_removed_from_sessions_before_and_after_the_one_that_shows_it(
    program: Program, order: tuple[str, str]
) -> None:
    for name in order:
        write_messages(program.home / "history" / f"{name}.jsonl", *([SHOWN] if name == "shown" else UNSHOWN))
        assert program("index", "history").status == 0
    assert is_gone(program)
    assert program("search", "Which hash does it have", "--json").results[0]["content"] == (
        "Which hash does [redacted:password] have?"
    )


@pytest.mark.parametrize("secret", ["k7Wq-pZ93.xLm/Tr8+vB", "h5Nb/vC77kJq2Ws", "k3Z/cW4=kF5:gH6@iJ7"])
def test_a_known_secret_with_marks_is_removed_from_calls_and_their_results(program: Program, secret: str) -> None:
    write_messages(program.home / "history" / "a.jsonl", ("user", f"DB_PASSWORD={secret}"))
    turn = {"role": "assistant", "content": f"It says: login failed for {secret}", "conversation_id": "b", "project": "garden", "timestamp": "2026-05-01T00:00:00Z", "tools": [f"Bash ./deploy.sh {secret}", f"Bash x --pw={secret}"]}  # fmt: skip
    (program.home / "history" / "b.jsonl").write_text(json.dumps(turn) + "\n", encoding="utf-8")
    assert program("index", "history").status == 0
    assert secret.encode() not in program.database.read_bytes()
    contents = [found["content"] for found in program("search", "login failed", "--json").results]
    assert "It says: login failed for [redacted:password]" in contents


def test_no_digest_of_a_task_lets_a_secret_be_guessed_that_was_found_later(tmp_path: Path) -> None:
    def find_passage(secret: str, home: Path) -> object:
        issue = {
            "id": "k-1",
            "title": f"Fire the kiln for {secret}",
            "status": "open",
            "priority": 2,
            "issue_type": "bug",
            "updated_at": "2026-05-01T08:00:00Z",
            "created_at": "2026-05-01T08:00:00Z",
        }
        (home / ".beads").mkdir(parents=True)
        (home / ".beads" / "issues.jsonl").write_text(f"{json.dumps(issue)}\n", encoding="utf-8")
        write_messages(home / "1.jsonl", ("user", f"The database password is {secret}."))
        with Memory.open(home / "memory.db") as memory:
            memory.index([home / ".beads"])
            memory.index([home / "1.jsonl"])
        with open_database(home / "memory.db") as database:
            ((title, passage),) = database.run("SELECT title, passage FROM tasks")
        assert "[redacted:" in title
        return passage

    assert find_passage(PASSWORD, tmp_path / "one") == find_passage(PASSWORD[::-1], tmp_path / "two")


def test_no_digest_of_a_cited_line_lets_a_secret_be_guessed_that_was_found_later(tmp_path: Path) -> None:
    def find_passages(secret: str, home: Path) -> list[tuple[str, bytes]]:
        with Memory.open(home / "memory.db") as memory:
            for number, text in enumerate(("user / {}", "The database password is {}.", "Which port has the kiln?")):
                path = home / f"{number}.jsonl"
                write_messages(path, ("user", text.format(secret)))
                memory.index([path])
        with open_database(home / "memory.db") as database:
            return sorted(
                database.run("SELECT p.content, s.passage FROM sightings s JOIN prompts p ON p.id = prompt_id")
            )

    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()
    first, second = map(find_passages, (PASSWORD, PASSWORD[::-1]), homes)
    assert first == second
    assert all(passage for _, passage in first)


def test_a_secret_is_removed_from_other_files_of_the_same_run(program: Program) -> None:
    write_messages(program.home / "history" / "a.jsonl", *UNSHOWN)
    write_messages(program.home / "history" / "b.jsonl", SHOWN)
    write_messages(program.home / "history" / "c.jsonl", *UNSHOWN[:2])
    assert program("index", "history").status == 0
    assert is_gone(program)


def test_a_known_secret_is_removed_from_a_turn_that_an_agent_stores(program: Program) -> None:
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    assert program("index", "history").status == 0
    with Memory.open(program.database) as memory:
        memory.store_turn("user", f"Which hash does {PASSWORD} have?", project="kiln")
    assert is_gone(program)


def test_half_a_line_of_the_file_of_hashes_costs_no_other_secret(program: Program) -> None:
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    program("index", "history")
    hashes = program.database.with_name(f"{program.database.name}.secrets")
    hashes.write_bytes(hashes.read_bytes()[:-30])
    write_messages(program.home / "history" / "more.jsonl", ("user", "The relay password is 8rT!kiln-40A."))
    write_messages(program.home / "history" / "other.jsonl", ("user", "Try 8rT!kiln-40A there."))
    assert program("index", "history").status == 0
    assert "8rT!kiln-40A" not in program("search", "Try it there", "--json").stdout


def test_a_secret_is_removed_from_tasks(program: Program) -> None:
    assert program("task", "add", f"Rotate {PASSWORD} on the staging box").status == 0
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    assert program("index", "history").status == 0
    assert is_gone(program)


def test_a_run_that_was_killed_before_it_removed_a_secret_is_finished_by_the_next(program: Program) -> None:
    write_messages(program.home / "history" / "a.jsonl", *UNSHOWN)
    write_messages(program.home / "history" / "b.jsonl", SHOWN)
    kill = (
        "import os, pastchats_memory.maintenance.known_secrets as known\nknown.remove_known = lambda *_: os._exit(9)\n"
    )
    assert program.altered(kill)("index", "history").status == 9
    assert not is_gone(program)
    assert program("index", "history").status == 0
    assert is_gone(program)


def test_a_value_that_stands_in_many_rows_is_a_name_and_stays(program: Program) -> None:
    write_messages(
        program.home / "history" / "a.jsonl", *[("user", f"Step {n} of {PASSWORD}") for n in range(MOST_ROWS + 1)]
    )
    write_messages(program.home / "history" / "b.jsonl", SHOWN)
    assert program("index", "history").status == 0
    assert not is_gone(program)
    write_messages(program.home / "history" / "c.jsonl", UNSHOWN[0])
    program("index", "history")
    assert PASSWORD in program("search", "Which hash does it have", "--json").results[0]["content"]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "hunter",
            "dragonfly7",
            "release-candidate-2",
            "2026-01-31",
            "20:26:05.311Z",
            "k8s/x2/pg15.rs",
            "gpt-4o-2024-08",
        ),
        *("us-east-1a", "x86_64-linux-gnu", "db-17.k8s.lan", "react@18.2.0", "v1.2.3-rc.1", "3f2a9bcd", "PRJ-12345"),
        *("9c5e1a7b3d2f4e6a8b0c1d2e3f4a5b6c7d8e9f01", "3f2a9bcd-1234-4abc-9def-0123456789ab", "0x7ffd1234abcd"),
    ],
)
def test_short_values_words_and_names_stay_in_other_texts(program: Program, value: str) -> None:
    write_messages(program.home / "history" / "a.jsonl", ("user", f"Tell me about {value} again."))
    write_messages(program.home / "history" / "b.jsonl", ("user", f"export DB_PASSWORD={value}"))
    assert program("index", "history").status == 0
    assert value in program("search", "Tell me about it again", "--json").results[0]["content"]


def test_the_hashes_lie_apart_from_the_database_and_leave_with_a_purge(program: Program) -> None:
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    program("index", "history")
    hashes = program.database.with_name(f"{program.database.name}.secrets")
    assert hashes.stat().st_mode & 0o777 == 0o600
    hash_ = hashes.read_text(encoding="ascii").splitlines()[1].partition(" ")[0]
    assert bytes.fromhex(hash_) not in program.database.read_bytes()
    assert program("purge", "--yes").status == 0
    assert not hashes.exists()


@pytest.mark.parametrize("content", [b"", b"\xff\x00 broken\nline\n"])
def test_a_damaged_file_of_hashes_is_begun_anew(program: Program, content: bytes) -> None:
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    program("index", "history")
    program.database.with_name(f"{program.database.name}.secrets").write_bytes(content)
    write_messages(program.home / "history" / "more.jsonl", ("user", "The relay password is 8rT!kiln-40A."))
    write_messages(program.home / "history" / "other.jsonl", ("user", "Try 8rT!kiln-40A there."))
    assert program("index", "history").status == 0
    assert "8rT!kiln-40A" not in program("search", "Try it there", "--json").stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes")
def test_a_pipe_in_place_of_the_file_of_hashes_is_not_waited_for(program: Program) -> None:
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    program.database.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(program.database.with_name(f"{program.database.name}.secrets"))
    assert program("index", "history").status == 0


def test_a_full_file_of_hashes_takes_no_more(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    hashes = "".join(f"{number:032x} password\n" for number in range(MOST_VALUES))
    path.write_text(f"{0:064x}\n{hashes}", encoding="ascii")
    known = KnownSecrets(path)
    known.learn({PASSWORD: "password"})
    assert not known.fresh
    assert path.stat().st_size == len(hashes) + 65


def test_many_secrets_of_one_run_are_removed_like_one(program: Program) -> None:
    write_messages(program.home / "history" / "a.jsonl", *UNSHOWN)
    many = "\n".join(f"password: kf83-Qzzt-{number}xy" for number in range(2 * MOST_FRESH))
    write_messages(program.home / "history" / "b.jsonl", SHOWN, ("user", many))
    assert program("index", "history").status == 0
    assert is_gone(program)


@pytest.mark.promise("secrets", "A known secret is removed from tasks, comments and files that you add afterwards.")
def test_a_task_made_by_hand_afterwards_loses_the_secret(program: Program) -> None:
    write_messages(program.home / "history" / "shown.jsonl", SHOWN)
    assert program("index", "history").status == 0
    (program.home / "history" / "notes.txt").write_text(f"Use {PASSWORD} there.")
    assert program("task", "add", f"Rotate {PASSWORD}", "--tag", PASSWORD, "--key", "T-9").status == 0
    assert program("task", "update", "T-9", "--description", f"{PASSWORD} is old").status == 0
    assert program("task", "comment", "T-9", f"Is {PASSWORD} gone?").status == 0
    assert program("task", "attach", "T-9", "history/notes.txt").status == 0
    assert program("capture", f"Rotate {PASSWORD} on the kiln box", "--yes").status == 0
    assert is_gone(program)


def test_a_known_secret_is_removed_where_a_text_escapes_it(program: Program) -> None:
    password = "Grüße-9140-Übung"  # noqa: S105 - nobody's
    for order in (("shown", "escaped"), ("escaped", "shown")):
        for name in order:
            text = f"The relay password is {password}." if name == "shown" else f"stdout: {json.dumps(password)}"
            write_messages(program.home / order[0] / f"{name}.jsonl", ("user", text))
            assert program("index", order[0]).status == 0
    assert "9140" not in program("search", "stdout", "--json").stdout


def test_the_log_of_hooks_loses_a_secret_that_is_shown_later(program: Program) -> None:
    write_messages(program.home / "history" / "a.jsonl", ("user", f"Which hash does {PASSWORD} have?"))
    assert program("index", "history").status == 0
    with open_database(program.database) as database:
        add(database, [Given("n", "2026-01-01T00:00:00Z", "claude-code", "recall", "s", f"> user / {PASSWORD}")])
    write_messages(program.home / "history" / "b.jsonl", SHOWN)
    assert program("index", "history").status == 0
    assert is_gone(program)
