"""Every scenario of `features/`, run with the real program."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from older_builds import make_older
from program import DEMO, REPOSITORY, Program, Run, write_messages
from pytest_bdd import given, parsers, scenarios, then, when

from pastchats_memory.embed.tokenizer import LinePrices
from pastchats_memory.text.tokens import count_tokens

scenarios(str(REPOSITORY / "features"))

ENTRY = re.compile(r"^## \d+\. ", re.MULTILINE)
ROW = re.compile(
    r"^(?P<rank>\d+)\. .*score (?P<score>\d\.\d{4}), words (?P<words>[\d–]+), meaning (?P<meaning>[\d–]+)", re.MULTILINE
)


def entries(block: str) -> list[str]:
    return ENTRY.split(block)[1:]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Where the scenario's own transcripts lie."""
    folder = tmp_path / "history"
    folder.mkdir()
    return folder


@pytest.fixture
def awaited_role() -> str | None:
    """The role that a scenario adds a turn of, if it does."""
    return None


@given("a memory database exists", target_fixture="agent")
def _(own_demo: Program) -> Program:
    assert own_demo.database.exists()
    return own_demo


@given("past prompts are indexed from at least one project")
def _(demo_status: dict[str, Any]) -> None:
    assert demo_status["turns"] > 0
    assert demo_status["projects"] >= 1


@given(parsers.parse("the database file is {fault}"))
def _(agent: Program, fault: str) -> None:
    for side in ("memory.db-wal", "memory.db-shm"):
        (agent.home / side).unlink(missing_ok=True)
    match fault:
        case "a text file":
            agent.database.write_text("Dear diary,\n" * 500, encoding="utf-8")
        case "another program's database":
            agent.database.unlink()
            with closing(sqlite3.connect(agent.database)) as other:
                other.execute("CREATE TABLE bookmarks (url TEXT)")
        case "gone":
            agent.database.unlink()
        case "from a newer release":
            with closing(sqlite3.connect(agent.database)) as newer:
                newer.execute("PRAGMA user_version = 900")
        case "from an older build":
            agent.database.unlink()
            make_older(agent.database, 7)


@given("sqlite-vec fails to load", target_fixture="agent")
def _(agent: Program, tmp_path: Path) -> Program:
    return agent.without_sqlite_vec(tmp_path)


@given(parsers.parse('a parsed prompt turn with role "{role}"'), target_fixture="awaited_role")
def _(history: Path, role: str) -> str:
    other = "assistant" if role == "user" else "user"
    write_messages(history / "turns.jsonl", (role, f"The {role} plants tulips."), (other, "And when do they bloom?"))
    return role


@given(parsers.parse('a conversation that ends with "{words}"'))
def _(history: Path, words: str) -> None:
    write_messages(history / "turns.jsonl", ("user", "Is it still broken?"), ("assistant", f"No, {words}."))


@given("a file that is no conversation")
def _(history: Path) -> None:
    (history / "shopping.json").write_text('{"bread": 2, "milk": 1}', encoding="utf-8")


@when(parsers.parse('the agent runs "{line}"'), target_fixture="run")
def _(agent: Program, line: str) -> Run:
    return agent.typed(line)


@when("the agent runs semantic retrieval", target_fixture="run")
def _(agent: Program) -> Run:
    return agent("search", "--mode", "semantic", "--json", "the login sometimes fails")


@when("indexing is executed", target_fixture="run")
def _(agent: Program, history: Path) -> Run:
    return agent("index", history)


@when("the same history is indexed again", target_fixture="run")
def _(agent: Program, demo: Program) -> Run:
    return agent("index", demo.home / "demo" / "history", "--json")


@when("the history is moved to another folder and indexed there", target_fixture="run")
def _(agent: Program, history: Path) -> Run:
    shutil.copytree(DEMO / "history", history / "elsewhere")
    return agent("index", history / "elsewhere", "--json")


@then("the system returns ranked results")
def _(run: Run) -> None:
    assert run.status == 0
    ranks = [int(row["rank"]) for row in ROW.finditer(run.stdout)]
    assert ranks == list(range(1, 11))


@then("each result has a hybrid score")
def _(run: Run) -> None:
    """Each score is the sum of 1 / (10 + place) over the two lists and at most 32 / 11 for both together."""
    rows = list(ROW.finditer(run.stdout))
    for row in rows:
        places = [int(row[column]) for column in ("words", "meaning") if row[column] != "–"]
        apart = sum(1 / (10 + place) for place in places)
        assert apart < float(row["score"]) < apart + 32 / 11 + 6e-5
    assert any(row["words"] != "–" and row["meaning"] != "–" for row in rows)


@then(parsers.parse('the output contains "{text}"'))
def _(run: Run, text: str) -> None:
    assert text in run.stdout


@then(parsers.parse('each memory entry contains "{text}"'))
def _(run: Run, text: str) -> None:
    assert run.status == 0
    assert entries(run.stdout)
    assert all(any(line.startswith(text) for line in entry.splitlines()) for entry in entries(run.stdout))


@then("the system returns results using fallback cosine search")
def _(run: Run, agent: Program, demo: Program, demo_status: dict[str, Any]) -> None:
    assert run.status == 0
    assert run.results
    assert agent("status", "--json").results[0]["engine"] == "exact"
    with_extension = demo("search", "--mode", "semantic", "--json", "the login sometimes fails")
    assert demo_status["engine"] == "vec0"
    assert [(hit["id"], hit["similarity"]) for hit in run.results] == [
        (hit["id"], hit["similarity"]) for hit in with_extension.results
    ]


@then("prompt rows and embedding rows remain equal")
def _(run: Run, agent: Program, demo_status: dict[str, Any], awaited_role: str | None) -> None:
    assert run.status == 0
    (status,) = agent("status", "--json").results
    assert status["turns"] == status["embeddings"] > 0
    if awaited_role is not None:
        assert status["by_role"][awaited_role] == demo_status["by_role"][awaited_role] + 1


@then("the command found nothing")
def _(run: Run) -> None:
    assert run.status == 1


@then(parsers.parse('the command explains "{text}"'))
def _(run: Run, text: str) -> None:
    assert run.status == 2
    assert run.stdout == ""
    assert text in run.stderr


@then("nothing of the program's inside is shown")
def _(run: Run) -> None:
    assert not re.search(r"Traceback|apsw|sqlite3\.|\.py\b", run.stderr)


@then("there is no memory entry")
def _(run: Run) -> None:
    assert not entries(run.stdout)


@then(parsers.parse("the block is within {budget:d} tokens"))
def _(run: Run, budget: int) -> None:
    assert count_tokens(run.stdout, LinePrices()) <= budget


@then("no turn is added")
def _(run: Run) -> None:
    assert run.json["turns_added"] == 0


@then(parsers.parse('the first result says "{words}"'))
def _(run: Run, words: str) -> None:
    assert words in run.results[0]["content"]


@then(parsers.parse('every result has {field} "{value}"'))
def _(run: Run, field: str, value: str) -> None:
    assert run.results
    assert {hit[field] for hit in run.results} == {value}


@then(parsers.parse('every result is from "{day}"'))
def _(run: Run, day: str) -> None:
    assert run.results
    assert {hit["timestamp"][:10] for hit in run.results} == {day}
