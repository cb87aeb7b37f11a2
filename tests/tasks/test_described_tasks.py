"""Tasks are found and compared by all of their text: title, description and tags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from program import Program

from pastchats_memory import Memory
from pastchats_memory.memory.requests import task_filters
from pastchats_memory.tasks.edit import Change

BOAT = "The pump runs dry after ten minutes because the float switch hangs in the weeds."
RAFT = (
    "Oars squeak. Grease the locks, replace two leather collars, and mark left and right. Neighbours complain at night."
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("described") / "m.db") as opened:
        for key, change in {
            "B-1": Change(title="Water in the boat", description=BOAT, status="done"),
            "R-1": Change(title="Repair the raft", description=RAFT, status="doing", tags=("woodwork",)),
            "P-1": Change(title="Fix auth bug", description="OAuth callback returns 500", priority="1"),
            "C-1": Change(title="Set up the cluster", tags=("kubernetes",)),
            "T-1": Change(title="Plant tulips"),
        }.items():
            opened.tasks.add(change, key=key)
        yield opened


@pytest.mark.parametrize(
    "query",
    [
        BOAT,
        "float switch of the pump hangs in the weeds",
        "water in the boat because the float switch hangs",
        "pump stops because weeds block the float switch",
    ],
)
def test_a_described_step_is_done_if_its_task_is(memory: Memory, query: str) -> None:
    work = memory.check_prior_work(query)
    assert (work.verdict, work.results[0].task.key) == ("done", "B-1")
    captured = memory.tasks.capture(query, "", lambda _: "nothing")
    assert (captured.outcome, captured.task.key) == ("found", "B-1")


@pytest.mark.parametrize("query", ["Talk to the neighbours", "Plant weeds", "Write down who complains"])
def test_a_task_that_only_mentions_the_subject_is_new(memory: Memory, query: str) -> None:
    assert memory.check_prior_work(query).verdict == "new"


def test_a_description_does_not_dilute_the_title(memory: Memory) -> None:
    found = memory.search("login issues", limit=1)[0]
    assert found.id == "t:P-1"
    assert found.relevance is not None
    assert found.relevance > 0.5
    assert [item.hit.id for item in memory.context("What's the status of the login work?").items] == ["t:P-1"]
    assert memory.check_prior_work("fix the raft").results[0].task.key == "R-1"


def test_a_tag_is_found_by_its_meaning(memory: Memory) -> None:
    for query in ("container orchestration", "docker and k8s"):
        assert memory.search(query, mode="semantic", limit=1)[0].id == "t:C-1"
    assert memory.check_prior_work("Set up kubernetes").verdict == "in_progress"


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_search_lists_each_task_once_and_as_many_as_there_are(tmp_path: Path, mode: str) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        keys = {
            memory.tasks.add(
                Change(title=f"Paint boat {number}", description=f"Hull {number} is grey.", tags=("paint", "boat"))
            ).key
            for number in range(60)
        }
        hits = memory.search("paint the boat", mode=mode, limit=60, type="task")
        assert sorted(hit.id for hit in hits) == sorted(f"t:{key}" for key in keys)
        recalled = memory.tasks.recall("paint the boat", task_filters(parts=True), 20)
        assert [hit.rank for hit in recalled] == list(range(1, 21))


def test_another_title_or_tag_changes_what_is_found(memory: Memory) -> None:
    key = memory.tasks.add(Change(title="Oil the bell", description="It is silent.", tags=("bronze",))).key
    memory.tasks.update(key, Change(title="Sharpen the scythe", tags=("harvest",)))
    assert memory.search("whet a blade for mowing", mode="semantic", limit=1)[0].id == f"t:{key}"
    assert memory.check_prior_work("Oil the bell").verdict == "new"
    memory.tasks.delete(key)
    assert all(hit.id != f"t:{key}" for hit in memory.search("whet a blade for mowing", mode="semantic"))


def test_a_budget_that_is_too_small_says_which_is_enough(memory: Memory) -> None:
    short = memory.context("login issues", budget=40)
    (warning,) = short.warnings
    enough = int(warning.split("; ")[1].split()[0])
    assert not short.items
    assert f"{enough} tokens are enough" in short.text
    assert memory.context("login issues", budget=enough).items
    assert not memory.context("login issues", budget=enough - 1).items


def test_a_context_shows_priority_and_attachments(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "trace.log").write_text("KeyError: state\n", encoding="utf-8")
    memory.tasks.attach("P-1", tmp_path / "trace.log")
    assert "task · pending · P1 · Fix auth bug · has attachments" in memory.context("login issues").text


@pytest.fixture
def board(tmp_path: Path) -> Program:
    program = Program(tmp_path)
    for words in (
        "add Harbour --key H-1 --type epic",
        "add 'Build the quay' --key H-2 --parent H-1 --status done --priority 0",
        "add 'Dredge the basin' --key H-3 --parent H-1 --depends H-2",
        "add 'Moor the ferry' --key H-4 --depends H-3 --priority 5",
        "add 'Paint the crane' --key H-5 --status stuck",
    ):
        program.typed(f"pastchats-memory task {words}")
    return program


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ("", ["H-5", "H-3", "H-1", "H-4"]),
        ("--all", ["H-5", "H-3", "H-1", "H-4", "H-2"]),
        ("--status done", ["H-2"]),
        ("--epic H-1", ["H-3"]),
        ("--epic harbour --all", ["H-3", "H-2"]),
        ("--no-epic", ["H-5", "H-4"]),
        ("--blocked", ["H-5", "H-4"]),
        ("--depends-on H-3", ["H-4"]),
        ("--priority 4", ["H-4"]),
    ],
)
def test_a_list_is_of_unfinished_tasks_and_can_be_narrowed(board: Program, options: str, keys: list[str]) -> None:
    assert [task["key"] for task in board.typed(f"pastchats-memory task list {options} --json").results] == keys


def test_a_list_of_the_parts_of_no_epic_is_an_error(board: Program) -> None:
    run = board.typed("pastchats-memory task list --epic H-9")
    assert (run.status, run.stdout) == (2, "")
    assert "there is no task H-9" in run.stderr


def test_status_counts_tasks(board: Program) -> None:
    assert board.typed("pastchats-memory status --json").results[0]["tasks"] == {
        "pending": 3,
        "blocked": 1,
        "completed": 1,
    }
    assert "5: 3 pending, 1 blocked, 1 completed" in board.typed("pastchats-memory status").stdout


def test_an_attachment_is_shown_with_its_text(board: Program, tmp_path: Path) -> None:
    (tmp_path / "tide.txt").write_text("high water at noon\n", encoding="utf-8")
    board.typed(f"pastchats-memory task attach H-3 {tmp_path / 'tide.txt'}")
    (task,) = board.typed("pastchats-memory show a:1 --json").results
    assert [one["content"] for one in task["attachments"]] == ["high water at noon"]
    assert all(
        "content" not in one for one in board.typed("pastchats-memory show t:H-3 --json").results[0]["attachments"]
    )


def test_names_of_other_tools_are_understood(board: Program) -> None:
    assert board.typed("pastchats-memory tasks recall ferry --json").results[0]["key"] == "H-4"
    assert board.typed("pastchats-memory semantic-search ferry --json").results[0]["key"] == "H-4"
    assert "--embeddings" in board.typed("pastchats-memory tasks maintenance reindex --help").stdout
    assert board.typed("pastchats-memory tasks maintenance reindex").status == 0


@pytest.mark.parametrize("key", ["H-99", "c:99", "a:99"])
def test_deleting_a_missing_item_asks_nothing(board: Program, key: str) -> None:
    run = board("task", "delete", key)
    assert (run.status, run.stdout) == (2, "")
    assert f"there is no {key}" in run.stderr
