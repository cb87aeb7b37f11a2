"""Actions list the commands that worked, in order, and changed files by short unique paths."""

from __future__ import annotations

import json
from pathlib import Path

from pastchats_memory import Memory
from pastchats_memory.episodes.actions import MAX_LINE, actions_of, successful_runs
from pastchats_memory.model import Item
from pastchats_memory.views.text import render_commands

THANKS = ("user", "Works, thanks!")
Ran = tuple[str, str, bool]
"""A command, what it printed, and whether it failed."""


def commands_of(episode: list[Item]) -> list[str]:
    return [run.command for run in successful_runs(episode)]


def turn(role: str, content: str, *tools: str, kind: str = "answer", files: tuple[str, ...] = ()) -> Item:
    metadata = {"kind": kind, "tools": list(tools), "files": list(files)}
    return Item(1, "chat.jsonl", "shop", "c1", 0, role, content, None, metadata, ())


def failed(command: str, why: str = "Exit code 1\nno") -> Item:
    return turn("tool", f"$ {command}\n{why}", kind="error")


def session(folder: Path, name: str, day: int, *turns: tuple[str, str] | Ran) -> None:
    """A session of Claude Code's in the project shop."""
    records: list[tuple[str, list[dict[str, object]]]] = []
    for place, reported in enumerate(turns):
        if len(reported) == 2:
            records.append((reported[0], [{"type": "text", "text": reported[1]}]))
            continue
        command, printed, is_error = reported
        call = {"type": "tool_use", "id": f"{name}-{place}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": f"{name}-{place}", "content": printed, "is_error": is_error}
        records += [("assistant", [call]), ("user", [result])]
    lines = (
        {
            "sessionId": name, "cwd": "/home/ada/shop", "isSidechain": False, "type": role, "uuid": f"{name}-u{place}",
            "timestamp": f"2026-05-{day:02}T08:{place:02}:07.000Z", "message": {"role": role, "content": content},
        }
        for place, (role, content) in enumerate(records)
    )  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def how(folder: Path, task: str) -> list[tuple[str, int]]:
    with Memory.open(folder.parent / "memory.db") as memory:
        memory.index([folder])
        return [(one.command, one.times) for one in memory.how(task, "shop")[0]]


def test_a_failed_command_is_listed_if_it_succeeded_later() -> None:
    mended = turn("tool", "$ make seed\nseeded", kind="result")
    called = turn("assistant", "Seeded.", "Bash docker compose up -d db", "Bash make seed")
    assert commands_of([failed("make seed"), mended, called]) == ["docker compose up -d db", "make seed"]
    assert commands_of([failed("make seed"), called]) == ["docker compose up -d db"]
    assert commands_of([called, mended, failed("make seed")]) == ["docker compose up -d db"]
    assert actions_of([failed("make seed"), called]) == ("$ docker compose up -d db",)


def test_failed_commands_are_marked_if_none_succeeded() -> None:
    assert actions_of([failed("make seed"), turn("assistant", "I see the fault.", "Bash make seed")]) == (
        "$ make seed (failed)",
    )
    (long,) = actions_of([failed("make seed " * 15)])
    assert (len(long), long.endswith("… (failed)")) == (MAX_LINE, True)


def test_a_failure_is_matched_to_its_shortened_or_joined_call() -> None:
    long = "make seed " + " ".join(f"--table orders{number}" for number in range(12))
    cut = f"{long[:110]}…"
    assert commands_of([failed(long), turn("assistant", "No.", f"Bash {cut}")]) == []
    assert commands_of([failed("make seed \\\n  --all"), turn("assistant", "No.", "Bash make seed \\ --all")]) == []
    worked = turn("tool", f"$ {long}\nseeded", kind="result")
    assert commands_of([worked, turn("assistant", "Yes.", f"Bash {cut}")]) == [long]
    both = turn("assistant", "Deployed.", "Bash fly deploy", "Bash fly deploy --config prod.toml")
    assert commands_of([failed("fly deploy"), both]) == ["fly deploy --config prod.toml"]


def test_a_refused_command_is_not_listed() -> None:
    refused = turn("tool", "$ make wipe\nRefused by the user.", kind="result")
    assert commands_of([turn("assistant", "I wipe it.", "Bash make wipe"), refused]) == []


def test_files_are_listed_relative_to_the_project() -> None:
    edits = [f"Edit /home/ada/shop/{name}" for name in ("server/session.ts", "client/session.ts", "README.md")]
    patched = turn("assistant", "Done.", *edits, "apply_patch server/session.ts, docs/a.md", "Write /tmp/note.txt")
    assert actions_of([patched]) == ("server/session.ts, client/session.ts, README.md, docs/a.md and 1 more",)
    assert actions_of([turn("assistant", "Done.", r"Edit C:\work\shop\src\app.ts", "Edit src/app.ts")]) == (
        "src/app.ts",
    )


def test_long_paths_are_shortened_to_unique_ends() -> None:
    folder = "source/main/java/org/example/orchard"
    names = (f"{folder}/server/Session.java", f"{folder}/client/Session.java", f"{folder}/client/Basket.java")
    assert actions_of([turn("assistant", "Done.", files=names)]) == (
        "server/Session.java, client/Session.java, Basket.java",
    )
    many = tuple(f"{folder}/{number}/Session.java" for number in range(90))
    assert all(len(line) <= MAX_LINE for line in actions_of([turn("assistant", "Done.", files=many)]))


def test_the_command_how_lists_successful_commands_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    session(folder, "one", 1, ("user", "Deploy the shop to staging"), ("fly deploy --env staging", "deployed", False), ("assistant", "Deployed."), THANKS)  # fmt: skip
    session(
        folder, "two", 2, ("user", "Deploy the shop to staging once more"), ("fly deploy", "no config", True),
        ("fly deploy --env staging", "no secret", True), ("fly secrets import --env staging", "imported", False),
        ("fly deploy --env staging", "deployed", False), ("assistant", "The shop is deployed to staging."), THANKS,
    )  # fmt: skip
    assert how(folder, "deploy the shop to staging") == [
        ("fly secrets import --env staging", 1),
        ("fly deploy --env staging", 2),
    ]
    with Memory.open(tmp_path / "memory.db") as memory:
        found = memory.how("deploy the shop to staging", "shop")[0]
        done = memory.recall("deploy the shop to staging once more").entries[0].done
    assert done == ("$ fly secrets import --env staging", "$ fly deploy --env staging")
    assert render_commands(found).startswith(
        "## 1. shop\nWorked once:\n> $ fly secrets import --env staging\nWorked in 2 episodes:\n> $ fly deploy --env staging\nIn:\n"
    )


def test_a_question_about_tests_leaves_out_other_commands(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    passed = "144 passed in 3.1s"
    session(
        folder, "one", 1, ("user", "Sign in with a passkey."), ("npm install fido && npm test", passed, False), ("make keys", "made", False),
        ("npm test", passed, False), ("assistant", "Passkeys sign in now. I run the tests: 144 pass."), THANKS,
    )  # fmt: skip
    session(folder, "two", 2, ("user", "Run the tests"), ("pytest -q", "not found", True), ("uv run pytest -q", passed, False),
            ("ruff check .", "All checks passed!", False), ("assistant", "All 144 tests pass."), THANKS)  # fmt: skip
    assert sorted(how(folder, "run the tests")) == [("npm test", 1), ("uv run pytest -q", 1)]


def test_superseded_and_removed_things_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    session(folder, "one", 1, ("user", "Keep the sessions of the shop in Redis."), ("make redis", "up", False),
            ("npm install connect-redis@8 redis", "added", False), ("assistant", "The sessions of the shop are in Redis."), THANKS)  # fmt: skip
    added = [command for command, _ in how(folder, "keep sessions of the shop in redis")]
    assert added == ["make redis", "npm install connect-redis@8 redis"]
    session(folder, "two", 2, ("user", "Redis forgets the sessions of the shop, they go to a table."),
            ("npm uninstall connect-redis redis", "removed", False), ("assistant", "A table has the sessions of the shop."), THANKS)  # fmt: skip
    assert ("npm install connect-redis@8 redis", 1) not in how(folder, "keep sessions of the shop in redis")
    session(folder, "three", 3, ("user", "Use a table instead of Redis for the sessions of the shop."),
            ("make table", "made", False), ("assistant", "A table has the sessions of the shop now."), THANKS)  # fmt: skip
    left = [command for command, _ in how(folder, "keep sessions of the shop in redis")]
    assert "make redis" not in left
    assert "make table" in left
