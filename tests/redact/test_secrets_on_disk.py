"""A secret in a transcript never reaches a file of ours."""

from __future__ import annotations

import orjson
from program import Program, write_messages

SECRET = "glpat-q7Rw2Xc9Lm4Tz8Vb1NfK"  # noqa: S105 - nobody's
PASSWORD = "kf83-Qzzt-19xx"  # noqa: S105 - nobody's


def test_no_file_of_ours_ever_holds_the_secret(program: Program) -> None:
    write_messages(
        program.home / "history" / "deploy.jsonl",
        ("user", f"Push with {SECRET}, the database password is {PASSWORD}."),
        ("assistant", f"Done: git push https://oauth2:{SECRET}@example.org/shop.git"),
    )
    assert program("index", "history").status == 0
    for file in program.database.parent.glob(program.database.name + "*"):
        held = file.read_bytes()
        assert SECRET.encode() not in held
        assert PASSWORD.encode() not in held


def test_a_redacted_turn_still_reads_and_is_found(program: Program) -> None:
    write_messages(
        program.home / "history" / "deploy.jsonl",
        ("user", f"Push the shop with {SECRET} please."),
        ("assistant", "Done."),
    )
    program("index", "history")
    found = program("search", "push the shop", "--json").results[0]
    assert found["content"] == "Push the shop with [redacted:gitlab-token] please."


def test_a_secret_in_a_key_that_nobody_understood_is_redacted_too(program: Program) -> None:
    file = program.home / "history" / "chat.jsonl"
    file.parent.mkdir()
    messages = [
        {"role": "user", "content": "Deploy the shop.", "conversation_id": "c", "api_key": SECRET},
        {"role": "assistant", "content": "Deployed.", "conversation_id": "c"},
    ]
    file.write_bytes(b"\n".join(map(orjson.dumps, messages)))
    program("index", "history")
    assert SECRET not in program("search", "deploy the shop", "--json").stdout


def test_indexing_a_redacted_file_again_adds_nothing(program: Program) -> None:
    write_messages(program.home / "history" / "deploy.jsonl", ("user", f"Push with {SECRET}."), ("assistant", "Done."))
    program("index", "history")
    again = program("index", "history", "--force", "--json").json
    assert (again["results"][0]["added"], again["results"][0]["skipped"]) == (0, 2)
