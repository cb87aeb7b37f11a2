"""A secret in a transcript never reaches a file of ours."""

from __future__ import annotations

import orjson
import pytest
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


def nothing_holds_the_secret(program: Program) -> bool:
    files = list(program.database.parent.glob(program.database.name + "*"))
    assert files
    return not any(SECRET.encode() in file.read_bytes() for file in files)


@pytest.mark.promise("secrets", "Tasks that you create by hand are redacted.")
def test_no_task_made_by_hand_holds_the_secret(program: Program) -> None:
    text = f"Push with {SECRET}"
    attached = program.home / f"{SECRET}.txt"
    attached.write_text(f"{text}\n" * 3, encoding="utf-8")
    for arguments in (
        ["task", "add", text, "--description", text, "--tag", text, "--project", text, "--key", SECRET],
        ["task", "add", "Pay by card"],
        ["task", "update", "T-2", "--title", text, "--description", text, "--tag", text, "--project", text],
        ["task", "comment", "T-2", text, "--author", text],
        ["task", "attach", "T-2", str(attached)],
        ["capture", f"{text}\n\n{text} again", "--no", "--project", text],
        ["capture", f"{text}\n\n{text} again", "--yes"],
    ):
        assert program(*arguments).status == 0, arguments
    assert nothing_holds_the_secret(program)
    assert program("task", "show", "T-2", "--json").results[0]["title"] == "Push with [redacted:gitlab-token]"


def test_no_imported_task_holds_the_secret(program: Program) -> None:
    program("task", "add", "MARK", "--description", "MARK", "--tag", "MARK", "--key", "MARK", "--project", "MARK")
    program("task", "add", "Pay by card", "--depends", "MARK")
    program("task", "comment", "MARK", "MARK", "--author", "MARK")
    (program.home / "MARK.txt").write_text("MARK", encoding="utf-8")
    program("task", "attach", "MARK", "MARK.txt")
    exported = program("task", "export").stdout
    program.database.unlink()
    (program.home / "tasks.jsonl").write_text(exported.replace("MARK", SECRET), encoding="utf-8")
    assert program("task", "import", "tasks.jsonl").status == 0
    assert nothing_holds_the_secret(program)
    assert len(program("task", "list", "--all", "--json").results) == 2


@pytest.mark.promise("secrets", "Tasks, comments and attachments from files are redacted.")
def test_no_task_of_a_file_or_of_a_list_in_a_transcript_holds_the_secret(program: Program) -> None:
    words = f"push with {SECRET}"
    issue = {
        "id": SECRET, "title": f"{'Long ' * 98}{words}", "status": SECRET, "issue_type": words, "labels": [words], "description": words,
        "assignee": words, "external_ref": words, "close_reason": words, "notes": words, "due_at": words, "closed_at": words,
        "created_at": "2026-05-04T08:00:00Z", "updated_at": "2026-05-04T08:00:00Z",
        "comments": [{"text": words, "author": words, "created_at": words}],
        "dependencies": [{"issue_id": SECRET, "depends_on_id": f"x-{SECRET}", "type": words}],
    }  # fmt: skip
    beads = program.home / "shop" / ".beads" / "issues.jsonl"
    beads.parent.mkdir(parents=True)
    beads.write_bytes(orjson.dumps(issue))
    todos = [{"content": words, "status": words, "activeForm": words, "priority": words}]
    call = {
        "type": "assistant", "uuid": "a-1", "sessionId": "s-1", "cwd": "/work", "timestamp": "2026-05-04T08:00:00.000Z",
        "message": {"role": "assistant", "id": "m-1", "content": [
            {"type": "text", "text": "A list."}, {"type": "tool_use", "id": "t-1", "name": "TodoWrite", "input": {"todos": todos}},
        ]},
    }  # fmt: skip
    (program.home / "session.jsonl").write_bytes(orjson.dumps(call))
    (program.home / "TODO.md").write_text(f"# Tasks\n\n- [ ] {words}\n- [x] pay, {words}\n", encoding="utf-8")
    assert program("index", "shop", "session.jsonl", "TODO.md").status == 0
    assert len(program("task", "list", "--all", "--json").results) == 4
    assert nothing_holds_the_secret(program)


def test_the_saved_state_of_a_growing_file_holds_no_secret(program: Program) -> None:
    messages = [("user", f"Push with {SECRET}, please."), ("assistant", f"Pushed with {SECRET}."), ("user", "Thanks.")]
    lines = [
        {
            "type": role, "uuid": f"u-{number}", "sessionId": "s-1", "cwd": "/work",
            "timestamp": f"2026-05-04T08:0{number}:00.000Z", "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(messages)
    ]  # fmt: skip
    file = program.home / "session.jsonl"
    for count in (1, 2, 3):
        file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines[:count]))
        assert program("index", file).status == 0
        assert nothing_holds_the_secret(program)
    hits = program("search", "pushed with", "--json").results
    assert sorted(hit["turn_index"] for hit in hits) == [0, 1, 2]


@pytest.mark.promise("secrets", "Names of files, projects and conversations are redacted.")
def test_no_name_of_a_file_project_or_conversation_brings_the_secret_to_the_disk(program: Program) -> None:
    named = program.home / "history" / f"{SECRET}.jsonl"
    write_messages(
        named, ("user", "Deploy the shop."), ("assistant", "Done."), conversation=SECRET, project=f"a {SECRET}"
    )
    folder = program.home / SECRET
    folder.mkdir()
    lines = [
        {
            "type": role, "uuid": f"{SECRET}-{number}", "sessionId": SECRET, "cwd": str(folder), "gitBranch": SECRET,
            "timestamp": f"2026-05-04T08:0{number}:00.000Z", "message": {"role": role, "content": text}, SECRET: 1,
        }
        for number, (role, text) in enumerate([("user", "Push it."), ("assistant", "Pushed."), ("user", "Thanks.")])
    ]  # fmt: skip
    session = folder / "session.jsonl"
    for count in (2, 3):
        session.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines[:count]))
        assert program("index", "history", folder).status == 0
        assert nothing_holds_the_secret(program)
    assert program("index", session, "--project", SECRET, "--force").status == 0
    assert nothing_holds_the_secret(program)
    hit = program("search", "deploy the shop", "--json", "--project", "a [redacted:gitlab-token]").results[0]
    assert hit["source_path"] == f"{program.home}/history/[redacted:gitlab-token].jsonl"
    assert (hit["conversation_id"], hit["turn_index"]) == ("[redacted:gitlab-token]", 0)


def test_a_secret_that_two_turns_share_is_taken_out_of_both(program: Program) -> None:
    first, rest = "sk-proj-Zq8" + "aB3dE5fG7hI9" * 3, "jK1lM3nO5pQ7" * 4
    write_messages(
        program.home / "history" / "stream.jsonl",
        ("user", "Which key?"),
        ("assistant", f"It is {first}"),
        ("assistant", f"{rest} as I said."),
    )
    program("index", "history")
    text = [hit["content"] for hit in program("search", "it is as I said", "--json").results]
    assert "It is [redacted:openai-key]" in text
    assert "[redacted:openai-key] as I said." in text


@pytest.mark.promise("secrets", "An export of an older release brings no secret back.")
def test_nothing_of_an_export_that_an_earlier_release_wrote_brings_the_secret_to_the_disk(program: Program) -> None:
    rows = [("user", "Push with MARK, please."), ("assistant", "Done.")]
    write_messages(program.home / "MARK" / "deploy.jsonl", *rows, conversation="c-MARK", project="p-MARK")
    assert program("index", "MARK").status == 0
    exported = program("export").stdout
    assert exported.count("MARK") > 8
    program.database.unlink()
    turns = [orjson.loads(line) for line in exported.replace("MARK", SECRET).splitlines()]
    for turn in turns:
        turn["metadata"] = {"format": "messages", "env": {"note": SECRET}, SECRET: ["as a key"]}
    (program.home / "export.jsonl").write_bytes(b"\n".join(map(orjson.dumps, turns)))
    assert program("index", "export.jsonl").status == 0
    assert program("status", "--json").results[0]["turns"] == 2
    assert nothing_holds_the_secret(program)
