"""Test the `--json` output of every command against the published schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from program import REPOSITORY, Program, Run, write_messages

from pastchats_memory import Memory, errors
from pastchats_memory.cli import COMMANDS
from pastchats_memory.views.answers.errors import SERVER_FAULT_KINDS

WITHOUT_RESULT = {"mcp", "serve", "completion", "man"}
"""Commands without JSON output."""
SCHEMAS = REPOSITORY / "contracts" / "schemas"
OF_THE_SERVER = {"semantic", "healthz"}
"""Schemas of answers of `serve` that no command prints."""


def validated(text: str, name: str) -> Any:
    """Return the one object in a text after checking its schema and the place of its lists."""
    body = json.loads(text)
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(body)
    assert text.count("\n") == 1
    assert body["schema"].startswith(f"{name}/")  # which version, the schema itself says
    lists = [key for key, value in body.items() if isinstance(value, list)]
    assert lists in ([], ["results"], ["results", "warnings"])
    return body


def answered(run: Run, name: str, status: int = 0) -> Any:
    assert (run.status, run.stderr) == (status, "")
    return validated(run.stdout, name)


def refused(run: Run, kind: str) -> None:
    assert (run.status, run.stdout) == (2, "")
    assert validated(run.stderr, "error")["error"]["kind"] == kind


def test_every_command_has_a_valid_schema() -> None:
    files = sorted(SCHEMAS.glob("*.json"))
    assert {file.stem for file in files} == {*COMMANDS, "error", *OF_THE_SERVER} - WITHOUT_RESULT
    for file in files:
        Draft202012Validator.check_schema(json.loads(file.read_text(encoding="utf-8")))


def test_every_object_except_metadata_is_closed() -> None:
    open_ones = {
        f"{file.stem} {path}"
        for file in SCHEMAS.glob("*.json")
        for path, part in objects(json.loads(file.read_text(encoding="utf-8")))
        if "additionalProperties" not in part and not path.endswith("/metadata")
    }
    assert open_ones == set()


def objects(schema: object, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield path, schema
        for key, value in schema.items():
            yield from objects(value, f"{path}/{key}")


def test_results_of_recall_have_every_key_of_results_of_search() -> None:
    def properties(name: str, view: str) -> set[str]:
        schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
        return set(schema["$defs"][view]["properties"])

    assert properties("search", "HitView") - {"contributions"} < properties("recall", "RecallView")


@pytest.mark.parametrize(
    "arguments",
    [
        ["retry strategy"],
        ["--mode", "keyword", "thundering herd", "--explain"],
        ["queue decision", "--type", "note", "--explain"],
    ],
)
def test_search_results_fit_their_schema(demo: Program, arguments: list[str]) -> None:
    body = answered(demo("search", "--json", *arguments), "search")
    assert body["results"]
    for hit in body["results"]:
        if "--explain" in arguments:
            assert sum(hit["contributions"].values()) == pytest.approx(hit["score"])


def test_recall_fits_its_schema(demo: Program) -> None:
    body = answered(demo("recall", "--json", "queue for webhooks, Redis or Postgres"), "recall")
    assert body["tokens"] <= body["budget"] == 1500
    assert {"prompt", "note"} == {memory["type"] for memory in body["results"]}


def test_timeline_digest_and_blame_fit_their_schemas(demo: Program) -> None:
    assert answered(demo("timeline", "2026", "--json", "--limit", "3"), "timeline")["more"] > 0
    assert {line["section"] for line in answered(demo("digest", "2026", "--json"), "digest")["results"]} == {
        "worked_on", "worked", "open", "decided",
    }  # fmt: skip
    assert answered(demo("blame", "--json", "src/no-such-file.ts"), "blame", status=1)["results"] == []
    made = answered(demo("blame", "--json", "/home/mira/src/courier/courier/delivery.py"), "blame")
    assert made["results"][0]["edit"]["source_line"]


def test_context_fits_its_schema(demo: Program) -> None:
    body = answered(demo("context", "--json", "queue for webhooks, Redis or Postgres"), "context")
    assert body["tokens"] <= body["budget"] == 1500


def test_tasks_and_turns_of_no_file_fit_the_schemas_of_recall_and_context(program: Program) -> None:
    with Memory.open(program.database) as memory:
        memory.store_turn("user", "The lighthouse pump valve sticks in winter.", "c9", "e1", "p", client="mcp")
        memory.store_turn("assistant", "The valve of the pump is replaced and works.", "c9", "e2", "p", client="mcp")
    program("task", "add", "Replace the lighthouse pump valve", "--key", "PUMP-1")
    for command in ("recall", "context"):
        body = answered(program(command, "--json", "lighthouse pump valve"), command)
        assert {"live:mcp (turn 0)", "task PUMP-1, made by hand"} <= {one["source"] for one in body["results"]}


@pytest.mark.parametrize("command", ["recall", "context"])
def test_a_citation_without_its_turn_does_not_fit(demo: Program, command: str) -> None:
    body = demo(command, "--json", "queue for webhooks, Redis or Postgres").json
    body["results"][0]["source"] = body["results"][0]["source"].partition(" (turn")[0]
    schema = json.loads((SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))
    with pytest.raises(ValidationError):
        Draft202012Validator(schema).validate(body)


def test_install_and_uninstall_fit_their_schemas(program: Program) -> None:
    person = program.with_variables(HOME=str(program.home), XDG_STATE_HOME=str(program.home / "state"))
    answered(person("install", "codex", "--json", "--yes"), "install")
    answered(person("uninstall", "codex", "--json", "--yes"), "uninstall")


def test_setup_fits_its_schema(own_demo: Program) -> None:
    for arguments in (["--dry-run"], ["--yes"], ["--undo", "--yes"]):
        run = own_demo.with_variables(XDG_STATE_HOME=str(own_demo.home / "state"))("setup", *arguments, "--json")
        assert run.status in {0, 1}
        validated(run.stdout, "setup")


def test_sync_fits_its_schema(own_demo: Program) -> None:
    folder = own_demo.home / "carried"
    folder.mkdir()
    for arguments in (["--plain"], ["--status"]):
        answered(own_demo("sync", folder, *arguments, "--json"), "sync")


def test_show_fits_its_schema(demo: Program) -> None:
    body = answered(demo("show", 20, "--json"), "show")
    assert [item["id"] for item in body["results"] if item["is_asked"]] == ["20"]


def test_status_and_doctor_fit_their_schemas(demo: Program) -> None:
    assert answered(demo("status", "--json"), "status")["results"][0]["turns"] == 129
    assert all(finding["is_well"] for finding in answered(demo("doctor", "--json"), "doctor")["results"])


def test_index_reports_fit_their_schema(program: Program) -> None:
    folder = program.home / "mixed"
    write_messages(folder / "good.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday."))
    with (folder / "good.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    (folder / "shopping.json").write_text('{"bread": 2}', encoding="utf-8")
    rehearsed = answered(program("index", "--dry-run", "--json", folder), "index")
    assert {file["turns"] for file in rehearsed["results"]} == {0, 2}
    assert not program.database.exists()
    (folder / "todo.md").write_text("- [ ] Oil the hinge\n- [x] Paint the gate\n", encoding="utf-8")
    first = answered(program("index", "--json", folder), "index")
    assert (first["unreadable"], first["turns_added"], first["tasks_added"]) == (1, 2, 2)
    again = answered(program("index", "--json", folder), "index")
    assert (again["unreadable"], again["tasks_added"]) == (0, 0)
    assert {file["unchanged"] for file in again["results"]} == {True}
    (program.home / "empty").mkdir()
    assert answered(program("index", "--json", program.home / "empty"), "index", status=1)["results"] == []


def test_task_commands_fit_their_schemas(program: Program) -> None:
    made = answered(program("capture", "Fix the login bug", "--json"), "capture")
    assert (made["outcome"], made["similar"]) == ("created", None)
    found = answered(program("capture", "Fix the login bug", "--json"), "capture", status=1)
    assert (found["outcome"], found["results"], found["similar"]["score"]) == ("found", [], 1.0)
    assert answered(program("capture", "Fix the login bug", "--yes", "--json"), "capture")["outcome"] == "commented"
    answered(program("capture", "Fix the login bug", "--no", "--json"), "capture")
    (program.home / "log.txt").write_text("timeout", encoding="utf-8")
    for arguments in (["add", "Pay by card", "--tag", "money"], ["update", "T-3", "--status", "done"], ["comment", "T-3", "Ok"],
                      ["attach", "T-3", "log.txt"], ["depend", "T-2", "T-1"], ["show", "T-3"], ["list"]):  # fmt: skip
        assert answered(program("task", *arguments, "--json"), "task")["results"]
    hit = answered(program("task", "recall", "timeout", "--json"), "search")["results"][0]
    assert (hit["key"], hit["status"]) == ("T-3", "completed")
    assert (
        answered(program("search", "card", "--type", "task", "--json"), "search")["results"][0]["title"]
        == "Pay by card"
    )
    assert answered(program("recall", "pay by card", "--json"), "recall")["results"][0]["id"] == "t:T-3"
    assert answered(program("similar", "T-1", "--json"), "similar")["results"]
    assert answered(program("find-duplicates", "login", "--json"), "find-duplicates")["results"]
    assert answered(program("duplicates", "--scan", "--json"), "duplicates")["results"][0]["pairs"]
    assert (
        answered(program("check-prior-work", "Fix the login bug", "--json"), "check-prior-work")["verdict"]
        == "in_progress"
    )
    assert answered(program("consult-episodic-memory", "pay by card", "--json"), "consult-episodic-memory")["results"]
    answer = answered(program("ask", "what did we finish today?", "--json"), "ask")
    assert (answer["total"], answer["reading"]["statuses"]) == (1, ["completed", "archived"])
    program("task", "export", "all.jsonl")
    assert answered(program("task", "import", "all.jsonl", "--json"), "task")["unchanged"] == 3
    assert answered(program("task", "delete", "T-1", "--yes", "--json"), "task")["deleted"] == "T-1"


def test_forget_fits_its_schema(own_demo: Program) -> None:
    found = answered(own_demo("forget", "--query", "flaky login", "--json"), "forget", status=1)
    assert (found["outcome"], found["turns"]) == ("found", len(found["results"]))
    gone = answered(own_demo("forget", "--query", "flaky login", "--yes", "--json"), "forget")
    assert (gone["outcome"], gone["turns"]) == ("forgotten", found["turns"])
    assert answered(own_demo("forget", "--list", "--json"), "forget")["results"] == gone["results"]
    assert answered(own_demo("forget", "--undo", "--json"), "forget")["results"] == gone["results"]
    assert answered(own_demo("forget", "--list", "--json"), "forget", status=1)["results"] == []
    assert answered(own_demo("forget", "--query", "zeppelin", "--json"), "forget", status=1)["results"] == []


def test_prune_and_purge_fit_their_schemas(own_demo: Program) -> None:
    found = answered(own_demo("prune", "--before", "2026-02-20", "--json"), "prune", status=1)
    gone = answered(own_demo("prune", "--before", "2026-02-20", "--json", "--yes"), "prune")
    assert 0 < gone["turns"] == found["turns"] < 129
    left = 129 - gone["turns"]
    assert answered(own_demo("purge", "--json"), "purge", status=1)["results"][0]["turns"] == left
    assert answered(own_demo("purge", "--yes", "--json"), "purge")["outcome"] == "purged"
    assert answered(own_demo("status", "--json"), "status")["results"][0]["turns"] == 0


def test_nothing_found_is_an_empty_list_and_exit_code_1(demo: Program) -> None:
    nothing = demo("search", "--json", "retry", "--project", "nowhere")
    assert (nothing.status, nothing.stderr) == (1, "Warning: nothing is stored of the project nowhere\n")
    body = validated(nothing.stdout, "search")
    assert (body["results"], body["warnings"]) == ([], ["nothing is stored of the project nowhere"])
    assert answered(demo("recall", "--json", "zoning law for beekeeping"), "recall", status=1)["results"] == []
    assert answered(demo("show", 999999, "--json"), "show", status=1)["results"] == []


def test_a_failed_check_fits_the_schema_of_doctor(own_demo: Program) -> None:
    own_demo.database.chmod(0o644)
    body = answered(own_demo("doctor", "--json"), "doctor", status=1)
    assert [finding["check"] for finding in body["results"] if not finding["is_well"]] == ["permissions"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["search", "--json"], "usage"),
        (["search", "--json", "x", "--limit", "0"], "usage"),
        (["recall", "--json", ""], "usage"),
        (["show", "--json", "twelve"], "usage"),
        (["remember", "--json"], "usage"),
        (["index", "--json", "no/such/folder"], "input_missing"),
    ],
)
def test_an_error_fits_its_schema_and_leaves_stdout_empty(demo: Program, arguments: list[str], kind: str) -> None:
    refused(demo(*arguments), kind)


@pytest.mark.parametrize("command", ["search", "recall", "show", "status", "doctor"])
def test_without_a_database_reading_commands_fail_and_create_none(program: Program, command: str) -> None:
    arguments = {"search": ["x"], "recall": ["x"], "show": ["1"]}.get(command, [])
    refused(program(command, "--json", *arguments), "database_missing")
    assert list(program.home.iterdir()) == []


def test_the_schema_lists_every_kind_of_error() -> None:
    raised = {
        kind.kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.MemoryFault)
    }
    schema = json.loads((SCHEMAS / "error.json").read_text(encoding="utf-8"))
    assert set(schema["$defs"]["ErrorView"]["properties"]["kind"]["enum"]) == {*raised, *SERVER_FAULT_KINDS}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("search", {"query": "retry strategy"}),
        ("search", {"schema": "search/2"}),
        ("recall", {"tokens": -1}),
        ("status", {"results": []}),
    ],
)
def test_a_changed_output_does_not_fit(demo: Program, name: str, change: dict[str, Any]) -> None:
    arguments = {"search": ["retry strategy"], "recall": ["zoning law for beekeeping"]}.get(name, [])
    body = demo(name, "--json", *arguments).json | change
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    with pytest.raises(ValidationError):
        Draft202012Validator(schema).validate(body)


def test_a_note_without_its_heading_does_not_fit(demo: Program) -> None:
    body = demo("search", "--json", "queue decision", "--type", "note", "--explain").json
    del body["results"][0]["heading"]
    schema = json.loads((SCHEMAS / "search.json").read_text(encoding="utf-8"))
    with pytest.raises(ValidationError):
        Draft202012Validator(schema).validate(body)
