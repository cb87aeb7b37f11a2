"""Tasks in the database: one row each, however often they are read, and nothing left of what was deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.model import Attachment, Comment, Filters, Task, TaskLink, TaskState
from pastchats_memory.store import fulltext, task_rows, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.filters import FIRST_TEXT
from pastchats_memory.store.ids import allowed_ids
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.tasks import CHUNK, MAX_CHUNKS, Filed, TaskWriter, chunks, delete_rows, supersede_tasks
from pastchats_memory.store.turn_context import text_beginnings

DIM = 16
FENCE = Task("yard-1", "Paint the fence", scope="yard", description="Green, two coats.", status_raw="open", priority=1)
GATE = Task(
    "yard-2",
    "Hang the gate",
    scope="yard",
    status_raw="stuck",
    tags=("iron", "heavy"),
    links=(TaskLink("parent", "yard-1"), TaskLink("depends", "yard-3")),
    comments=(Comment("The hinge is rusty", "ada", "2026-01-03T00:00:00.000Z"),),
)


def made_up(texts: Sequence[str]) -> Iterable[str]:
    """A vector for each text that depends on nothing else."""
    for text in texts:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        yield vectors.encode(np.random.default_rng(seed).normal(size=DIM).astype(np.float32))


class MadeUp:
    """A model of such vectors."""

    name, version, dim = "made up", "1", DIM

    def load(self) -> None:
        """Load nothing."""

    def embed(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        return map(near, texts)

    def embed_query(self, text: str) -> np.ndarray:
        return near(text)


def near(text: str) -> np.ndarray:
    (vector,) = made_up([text])
    return np.array(vectors.decode([vector])[0], dtype=np.float32)


def put(database: Database, *tasks: Task, path: str = "/yard/issues.jsonl", project: str = "yard") -> list[str]:
    with database.transaction():
        set_meta(database, {"embedding_dim": str(DIM), "model_name": "made up", "model_version": "1"})
        writer = TaskWriter(database, ModelSession(MadeUp()))
        done = [writer.store(Filed(task, project, path))[1] for task in tasks]
        vectors.catch_up(database)
    return done


def only(database: Database, key: str):
    (task,) = task_rows.tasks(database, task_rows.find(database, key), whole=True)
    return task


def rows(database: Database) -> dict[str, int]:
    tables = ("tasks", "task_links", "task_states", "task_comments", "task_attachments", "task_texts",
              "task_embeddings", "vec_tasks", "vec_task_parts")  # fmt: skip
    return {table: database.value(f"SELECT count(*) FROM {table}") for table in tables}


def test_a_task_is_read_back_as_it_was_written(database: Database) -> None:
    assert put(database, FENCE, GATE) == ["added", "added"]
    gate = only(database, "yard-2")
    assert (gate.key, gate.status, gate.status_raw, gate.priority) == ("yard-2", "blocked", "stuck", None)
    assert (gate.parent, gate.tags) == ("yard-1", ("iron", "heavy"))
    assert gate.links == (TaskLink("depends", "yard-3"),)
    assert [comment.content for comment in gate.comments] == ["The hinge is rusty"]
    assert rows(database)["task_texts"] == rows(database)["task_embeddings"] == 5
    assert (rows(database)["vec_tasks"], rows(database)["vec_task_parts"]) == (2, 3)


def test_reading_the_same_file_again_changes_nothing(database: Database) -> None:
    put(database, FENCE, GATE)
    before = database.run("SELECT * FROM task_texts"), rows(database)
    assert put(database, FENCE, GATE) == ["unchanged", "unchanged"]
    assert (database.run("SELECT * FROM task_texts"), rows(database)) == before


def test_a_changed_task_keeps_its_key_and_its_history(database: Database) -> None:
    put(database, FENCE)
    put(
        database,
        FENCE._replace(title="Paint the fence blue", status_raw="closed", closed_at="2026-02-01T00:00:00.000Z"),
    )
    fence = only(database, "yard-1")
    assert (fence.title, fence.status) == ("Paint the fence blue", "completed")
    assert [state.status for state in fence.states] == ["pending", "completed"]
    assert fulltext.postings(database, ["blue"], Filters())["blue"].ids.tolist() == [FIRST_TEXT + 1]
    assert vectors.nearest(database, near("Paint the fence blue\n\nGreen, two coats."), 1, Filters())[0].similarity == 1


def test_states_with_their_times_are_kept_once_in_order(database: Database) -> None:
    first, second = (
        TaskState("pending", "pending", "2026-01-01T00:00:00.000Z"),
        TaskState("completed", "completed", "2026-01-02T00:00:00.000Z"),
    )
    put(database, FENCE._replace(states=(first,)))
    put(database, FENCE._replace(states=(first, second)))
    fence = only(database, "yard-1")
    assert (fence.states, fence.status, fence.closed_at) == ((first, second), "completed", second.at)


def test_a_link_to_a_task_that_comes_later_holds_from_then_on(database: Database) -> None:
    put(database, GATE)
    assert only(database, "yard-2").parent == "yard-1"
    put(database, FENCE)
    target = database.value(
        "SELECT o.key FROM task_links l JOIN tasks o ON o.identity = l.target WHERE l.kind = 'parent'"
    )
    assert target == "yard-1"


def test_a_parent_that_would_close_a_circle_is_left_out(database: Database) -> None:
    chain = [Task(str(n), f"Step {n}", scope="c", links=(TaskLink("parent", str((n + 1) % 3)),)) for n in range(3)]
    put(database, *chain)
    assert [only(database, f"yard/{n}").parent for n in range(3)] == ["yard/1", "yard/2", None]


def test_sqlite_vecs_table_of_tasks_has_one_row_under_the_number_of_each_task(database: Database) -> None:
    put(database, FENCE, GATE._replace(attachments=(Attachment("plan.txt", 4, "00", "oak"),)))
    nearest = "SELECT task_id FROM vec_tasks WHERE embedding MATCH vec_int8(?) ORDER BY distance LIMIT 5"
    found = [id_ for (id_,) in database.run(nearest, (np.array(near("Hang the gate"), np.int8).tobytes(),))]
    keys = dict(database.run("SELECT id, key FROM tasks"))
    assert [keys[id_] for id_ in found] == ["yard-2", "yard-1"]


@pytest.mark.parametrize("vec0", [True, False])
def test_a_deleted_task_leaves_no_row_no_word_and_no_vector(tmp_path: Path, vec0: bool) -> None:
    path = tmp_path / "m.db"
    with open_database(path, create=True) as database:
        put(database, GATE._replace(attachments=(Attachment("plan.txt", 4, "00", "oak"),)), FENCE)
    with open_database(path, vec0=vec0) as database, database.transaction():
        delete_rows(database, "tasks", task_rows.find(database, "yard-2")[0])
        vectors.catch_up(database)
    with open_database(path) as database:
        vectors.catch_up_at_opening(database)
        assert rows(database) == {
            "tasks": 1, "task_links": 0, "task_states": 1, "task_comments": 0, "task_attachments": 0, "task_texts": 2,
            "task_embeddings": 2, "vec_tasks": 1, "vec_task_parts": 1,
        }  # fmt: skip
        found = fulltext.postings(database, ["hinge", "gate", "oak"], Filters())
        assert [len(rows.ids) for rows in found.values()] == [0, 0, 0]
        left = {one.id for one in vectors.nearest(database, near("Hang the gate"), 9, Filters())}
        assert left == {id_ for (id_,) in database.run("SELECT id FROM task_texts")}


def test_a_task_no_longer_in_its_rewritten_file_is_gone_and_others_stay(database: Database) -> None:
    put(database, FENCE, GATE)
    put(database, Task("shed-1", "Roof", scope="s"), path="/shed.jsonl")
    with database.transaction():
        assert supersede_tasks(database, "/yard/issues.jsonl", task_rows.find(database, "yard-1")) == 1
    assert [task_rows.find(database, key) != [] for key in ("yard-1", "yard-2", "shed-1")] == [True, False, True]


def test_manual_additions_survive_the_next_index(database: Database) -> None:
    put(database, FENCE, GATE)
    (gate,) = task_rows.find(database, "yard-2")
    with database.transaction():
        writer = TaskWriter(database, ModelSession(MadeUp()))
        writer.add_comment(gate, ("mine", Comment("Ask the smith")))
        writer.texts.refresh(gate)
    put(database, GATE._replace(comments=()))
    assert [comment.content for comment in only(database, "yard-2").comments] == ["Ask the smith"]


def test_an_older_copy_of_a_task_file_does_not_undo_a_newer_one(database: Database) -> None:
    put(database, FENCE._replace(status_raw="done", updated_at="2026-03-01T00:00:00.000Z"))
    put(database, FENCE._replace(updated_at="2026-02-01T00:00:00.000Z"), path="/backup/issues.jsonl")
    assert only(database, "yard-1").status == "completed"
    put(database, FENCE._replace(status_raw="open", updated_at="2026-04-01T00:00:00.000Z"), path="/newer/issues.jsonl")
    assert only(database, "yard-1").status == "pending"


def test_the_same_native_id_in_two_projects_is_two_tasks(database: Database) -> None:
    put(database, FENCE)
    put(database, FENCE._replace(title="Mend the fence"), path="/other.jsonl", project="other")
    assert {only(database, key).title for key in ("yard-1", "other/yard-1")} == {"Paint the fence", "Mend the fence"}


FILTERS = (
    Filters(),
    Filters(kinds=("task",)),
    Filters(kinds=("comment", "attachment")),
    Filters(statuses=("blocked",)),
    Filters(statuses=("=stuck", "pending")),
    Filters(priorities=(1,)),
    Filters(project="yard", since="2026-01-02T00:00:00.000Z"),
    Filters(project="nowhere"),
    Filters(role="user"),
)


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_both_engines_answer_alike_about_tasks(tmp_path: Path, filters: Filters) -> None:
    path = tmp_path / "m.db"
    with open_database(path, create=True) as database:
        put(database, FENCE, GATE._replace(attachments=(Attachment("plan.txt", 4, "00", "oak\n" * 1000),)))
        put(database, *(Task(f"n-{n}", f"Chore {n}", scope="n", type="epic", status_raw="done") for n in range(60)))
    answers = []
    for vec0 in (True, False):
        with open_database(path, vec0=vec0) as database:
            assert vectors.engine_of(database) == ("vec0" if vec0 else "blocks")
            answers.append(vectors.nearest(database, near("query"), 20, filters))
            assert {one.id for one in answers[-1]} <= set(allowed_ids(database, None, filters))
            assert len(answers[-1]) == min(20, len(allowed_ids(database, None, filters)))
    assert answers[0] == answers[1]


def test_ten_megabytes_of_text_are_few_chunks_that_hold_every_word(database: Database) -> None:
    text = "".join(f"line {number} of the log\n" for number in range(400_000))
    pieces = chunks(text)
    assert "".join(pieces) == text
    assert len(pieces) <= MAX_CHUNKS
    assert max(map(len, chunks("short words " * 1000))) <= CHUNK
    assert chunks("") == [""]
    put(database, FENCE._replace(attachments=(Attachment("app.log", len(text), "ff", text),)))
    assert len(fulltext.postings(database, ["399999"], Filters(kinds=("attachment",)))["399999"].ids) == 1


def test_the_start_of_a_task_is_read_like_that_of_a_turn(database: Database) -> None:
    put(database, GATE)
    assert sorted(text_beginnings(database, allowed_ids(database, None, Filters()).tolist()).values()) == [
        "Hang the gate",
        "Hang the gate\n\niron, heavy",
        "The hinge is rusty",
    ]
