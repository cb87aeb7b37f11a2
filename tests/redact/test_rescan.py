"""What an earlier release stored is looked through again by newer rules, and nothing of a secret is left anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
import whole
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.errors import DiskFull
from pastchats_memory.maintenance.redact_stored import remove_secrets
from pastchats_memory.redact import marks
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, vectors
from pastchats_memory.store.database import open_database
from pastchats_memory.store.tasks import LONGEST_TITLE

SECRET = "glpat-q7Rw2Xc9Lm4Tz8Vb1NfK"  # noqa: S105 - nobody's
OTHER = "ghp_9fK2mQx7Tz4Vb8Nc1Rw6Ly3Hd5Js0PaGuEiO"
TWIN = f"{SECRET[:-1]}J"
TURNS = 70
"""More than one transaction takes."""


def stored_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A memory that a release made whose rules know no secret: they stand wherever a text can stand."""
    program = Program(folder)
    messages = [(("user", "assistant")[number % 2], f"Step {number}: push with {SECRET}") for number in range(TURNS)]
    history = write_messages(
        folder / SECRET / "deploy.jsonl", *messages, conversation=f"c-{SECRET}", project=f"p-{SECRET}"
    )
    parts = [("user", f"The token begins {OTHER[:20]}"), ("assistant", f"{OTHER[20:]} and ends")]
    write_messages(folder / "plain" / "parts.jsonl", *parts, ("user", "Thanks."))
    write_messages(
        folder / "plain" / "clean.jsonl", ("user", "Water the roses."), ("assistant", "Done."), conversation="roses"
    )
    (folder / "plain" / "keys.jsonl").write_bytes(
        b"".join(
            orjson.dumps({"role": role, "content": role, "conversation_id": "k", "api_key": SECRET}) + b"\n"
            for role in ("user", "assistant")
        )
    )
    issue = {
        "id": "garden-1", "title": f"Push with {SECRET}", "status": "open", "issue_type": "task", "labels": [SECRET],
        "description": f"With {SECRET}", "created_at": "2026-05-04T08:00:00Z", "updated_at": "2026-05-04T08:00:00Z",
        "comments": [{"text": f"{word} {SECRET}", "author": SECRET, "created_at": "2026-05-04T08:00:00Z"} for word in ("No", "Yes")],
    }  # fmt: skip
    (folder / ".beads").mkdir()
    named = [
        {"id": name, "title": title, "status": "open", "issue_type": "task", "created_at": "2026-05-04T08:00:00Z", "dependencies": on}
        for name, title, on in (
            (SECRET, "Dig the pond", []), (TWIN, "Fill the pond", [{"depends_on_id": SECRET, "type": "blocks"}])
        )
    ]  # fmt: skip
    (folder / ".beads" / "issues.jsonl").write_bytes(b"\n".join(map(orjson.dumps, (issue, *named))))
    (folder / "attached.txt").write_text(f"push with {SECRET}\n" * 200, encoding="utf-8")
    with monkeypatch.context() as earlier, Memory.open(program.database) as memory:
        earlier.setattr(marks, "find_secrets", lambda *_: iter(()))
        earlier.setattr(marks, "find_tokens", lambda *_: iter(()))
        memory.index([history.parent, folder / "plain", folder / ".beads"])
        memory.forget(project=f"none-{SECRET}")
        memory.tasks.attach("garden-1", folder / "attached.txt")
    with open_database(program.database) as database, database.transaction():
        database.run("UPDATE embedding_meta SET value = 'of earlier' WHERE key = ?", (redactions.RULES,))
    return program


def holds(program: Program, secret: str) -> bool:
    """Whether the file or what lies beside it has a piece of the secret that says anything."""
    content = b"".join(file.read_bytes() for file in program.database.parent.glob(program.database.name + "*"))
    pieces = (secret, secret[:16], secret[-12:], secret[8:20])
    return any(form(piece).encode() in content for piece in pieces for form in (str, str.lower))


@pytest.mark.promise(
    "secrets", "`redact --rescan` applies the current rules to stored text and leaves nothing of a secret in the file."
)
def test_a_rescan_removes_a_secret_from_the_file_and_changes_no_other_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stored_before(tmp_path, monkeypatch)
    assert holds(program, SECRET)
    assert holds(program, OTHER[:20])
    run = program("redact", "--rescan", "--yes")
    assert (run.status, run.stderr) == (0, "")
    assert SECRET not in run.stdout
    assert not holds(program, SECRET)
    assert not holds(program, OTHER[:20])
    assert not holds(program, OTHER[20:])
    with open_database(program.database) as database:
        whole.assert_whole(database)
        assert redactions.are_all_by(database, rules_version())
        assert (
            database.value(
                "SELECT count(*) FROM prompts WHERE content LIKE 'Step%[redacted:gitlab-token]' "
                "AND conversation_id = 'c-[redacted:gitlab-token]' AND source_project = 'p-[redacted:gitlab-token]' "
                "AND source_path LIKE '%[redacted:gitlab-token]/deploy.jsonl'"
            )
            == TURNS
        )
    task = program("task", "show", "garden-1", "--json").results[0]
    assert task["title"] == "Push with [redacted:gitlab-token]"
    assert [one["content"] for one in task["comments"]] == ["No [redacted:gitlab-token]", "Yes [redacted:gitlab-token]"]


@pytest.mark.parametrize("loaded", [True, False], ids=["with sqlite-vec", "without sqlite-vec"])
def test_the_vectors_follow_and_the_old_ones_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, loaded: bool
) -> None:
    program = stored_before(tmp_path, monkeypatch)
    with open_database(program.database) as database:
        sought = [
            trace
            for vector, in_vec0 in database.run(
                "SELECT e.vector_json, v.embedding FROM prompts p JOIN prompt_embeddings e ON e.prompt_id = p.id "
                "JOIN vec_prompts v ON v.prompt_id = p.id WHERE p.content LIKE 'Step%'"
            )
            for trace in (vector[300:360].encode(), in_vec0[:200])
        ]
    assert len(sought) == 2 * TURNS
    with Memory.open(program.database, vec0=loaded) as memory:
        memory.redact_stored()
        assert memory.redact_stored().turns == 0
    content = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
    assert sum(trace in content for trace in sought) == 0
    with open_database(program.database) as database:
        with database.transaction():
            vectors.catch_up(database)
        whole.assert_whole(database)


def test_a_title_stays_as_long_as_one_may_be() -> None:
    title = f"{'Dig ' * 121}password=Zx9!kQ7"  # shorter than the mark that takes its place
    row = redactions.StoredTexts((1,), {"title": title, "description": title}, 1)
    cleaned = remove_secrets(redactions.TASK_TEXTS[0], row)
    assert len(title) == len(cleaned["title"] or "") == LONGEST_TITLE < len(cleaned["description"] or "")
    assert "Zx9" not in (cleaned["title"] or "")


def test_reading_the_files_again_adds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stored_before(tmp_path, monkeypatch)
    assert program("redact", "--rescan", "--yes").status == 0
    by_title = {task["title"]: task for task in program("task", "list", "--json").results}
    pond = by_title["Dig the pond"]["key"]
    assert [link["target"] for link in by_title["Fill the pond"]["links"]] == [pond]
    assert program("task", "comment", pond, "Two metres deep").status == 0
    with open_database(program.database) as database:
        before = whole.state(database)
    again = program("index", SECRET, "plain", ".beads", "--force", "--json").json["results"][0]
    assert again["added"] == 0
    with open_database(program.database) as database:
        after = whole.state(database)
        whole.assert_whole(database)
    for name in ("prompts", "tasks", "comments", "texts", "links"):
        assert [row[:8] for row in after[name]] == [row[:8] for row in before[name]]
    assert not holds(program, SECRET)


def test_a_rescan_without_yes_lists_secrets_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stored_before(tmp_path, monkeypatch)
    for answer in ((), ("--no",)):
        run = program("redact", "--rescan", *answer)
        assert run.status == 1
        assert "gitlab-token" in run.stdout
        assert f"{TURNS + 4} turns and 3 tasks" in run.stdout
        assert SECRET not in run.stdout
    assert holds(program, SECRET)


def test_the_json_of_a_rescan_without_yes_fits_the_schema_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "redact.json").read_text(encoding="utf-8"))
    program = stored_before(tmp_path, monkeypatch)
    found = program("redact", "--rescan", "--json")
    Draft202012Validator(schema).validate(found.json)
    assert (found.status, found.json["outcome"], holds(program, SECRET)) == (1, "found", True)
    done = program("redact", "--rescan", "--yes", "--json")
    Draft202012Validator(schema).validate(done.json)
    assert (done.status, done.json["outcome"], holds(program, SECRET)) == (0, "redacted", False)
    assert done.results[0]["secrets"] == found.results[0]["secrets"]


@pytest.mark.promise("secrets", "`status` and `doctor` report stored text that was redacted by other rules.")
def test_status_and_doctor_say_when_other_rules_took_secrets_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stored_before(tmp_path, monkeypatch)
    assert "redact --rescan" in program("status").stdout
    doctor = program("doctor")
    assert (doctor.status, "redact --rescan" in doctor.stdout) == (1, True)
    assert program("redact", "--rescan", "--yes").status == 0
    assert program("doctor").status == 0
    assert program("status", "--json").results[0]["is_redacted"] is True


def test_one_new_turn_does_not_redact_all_stored_text_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stored_before(tmp_path, monkeypatch)
    more = write_messages(
        tmp_path / "more.jsonl", ("user", "Prune the apple tree."), ("assistant", "Done."), conversation="more"
    )
    assert program("index", more).status == 0
    assert program("status", "--json").results[0]["is_redacted"] is False
    again = program("redact", "--rescan", "--yes", "--json").results[0]
    assert (again["previous_rules"], again["turns"]) == (None, TURNS + 4)


def test_a_new_memory_is_by_the_rules_of_today(program: Program) -> None:
    assert program("capture", "Water the roses").status == 0
    assert program("status", "--json").results[0]["is_redacted"] is True
    run = program("redact", "--rescan")
    assert run.status == 0
    assert "no stored secret" in run.stdout


def test_a_run_that_ends_half_way_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = stored_before(tmp_path, monkeypatch)
    with Memory.open(program.database) as memory:
        found = memory.find_secrets()

        def stop(progress: object) -> None:
            raise DiskFull(str(progress))

        with pytest.raises(DiskFull):
            memory.redact_stored(found, stop)
        left = memory.find_secrets()
        assert 0 < len(left.turns) < len(found.turns)
        assert memory.status().is_redacted is False
        memory.redact_stored(left)
    assert not holds(program, SECRET)


def test_without_rescan_there_is_nothing_to_do(program: Program) -> None:
    refused = program("redact", "--json")
    assert (refused.status, refused.stdout) == (2, "")
    assert "--rescan" in json.loads(refused.stderr)["error"]["hint"]
