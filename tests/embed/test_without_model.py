"""Nothing is blocked without a model: reads answer by words, writes are stored, and vectors follow.

NumPy is no part of the model: ranking needs it. Without it every command explains what is broken.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import onnx
import pytest
from local_servers import endpoint, silent
from program import Program, Run, write_messages
from served import nowhere
from tiny_bert import tiny_model

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.profiles import Profile
from pastchats_memory.embed.session import UnavailableEmbedder
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.store.database import open_database

NAME = "text-embedding-3-small"
DIM = 6
ASKED = (
    ("search", "fence"),
    ("search", "fence", "--mode", "semantic"),
    ("recall", "Is the fence painted?"),
    ("context", "fence"),
    ("ask", "anything about the gate?"),
    ("how", "paint the fence"),
    ("consult-episodic-memory", "the gate squeaks"),
    ("task", "recall", "gate"),
    ("check-prior-work", "hang the gate"),
    ("find-duplicates", "hang the gate"),
    ("similar", "T-1"),
)
"""Commands that need the vector of a question."""
WRITTEN = (
    ("capture", "Oil the hinge"),
    ("task", "add", "Dig a hole", "--description", "A deep one"),
    ("task", "update", "T-1", "--title", "Hang the heavy gate"),
    ("task", "comment", "T-1", "The latch is loose"),
    ("task", "attach", "T-1", "plan.txt"),
    ("index", "more"),
)
"""Commands that need the vector of a new text."""
OTHERS = (
    ("search", "fence", "--mode", "keyword"),
    ("lessons", "--all"),
    ("duplicates", "--scan"),
    ("task", "list"),
    ("show", "1"),
    ("status",),
    ("export",),
    ("verify",),
    ("judge", "1", "unknown"),
    ("forget", "--id", "2", "--yes"),
    ("backup", "copy.db"),
    ("restore", "copy.db", "--yes"),
    ("redact", "--rescan", "--yes"),
    ("reindex", "--outcomes"),
)
"""Commands that need no vector."""


class Commands(NamedTuple):
    """Commands that run without a model."""

    asked: tuple[tuple[str, ...], ...]
    written: tuple[tuple[str, ...], ...]
    others: tuple[tuple[str, ...], ...]
    pending: int
    """Texts of the written ones, with both aspects of the task that has a description."""


ALL = Commands(ASKED, WRITTEN, OTHERS, pending=7)
FEW = Commands(ASKED[:3], WRITTEN[-1:], OTHERS[:1], pending=1)
"""One of each way to use a model: every command of `ALL` uses one of them."""


def vector(text: str, dim: int = DIM) -> list[float]:
    return [float(1 + (len(text) * 7 + place * sum(text.encode())) % 11) for place in range(dim)]


def answer(body: dict[str, Any], _number: int, dim: int = DIM) -> tuple[int, Any, dict[str, str]]:
    rows = [{"index": place, "embedding": vector(text, dim)} for place, text in enumerate(body["input"])]
    return 200, {"data": rows}, {}


def fill(program: Program, *model: object) -> None:
    """Index two turns and store a task, all with vectors."""
    home = program.home
    write_messages(
        home / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday.")
    )
    write_messages(home / "more" / "chat.jsonl", ("user", "How do I sharpen a chisel?"), conversation="c2")
    (home / "plan.txt").write_text("Bolts and oak", encoding="utf-8")
    for arguments in (("index", "history", *model), ("task", "add", "Hang the gate")):
        done = program(*arguments)
        assert done.status == 0, done.stderr


def status(program: Program) -> dict[str, Any]:
    return program("status", "--json").results[0]


def warnings_of(run: Run) -> int:
    """The number of warnings that a run gave about the model."""
    return run.stderr.count("by words alone") + run.stderr.count("stored without a vector")


def assert_pending_rows_are_whole(program: Program) -> None:
    """Each turn has one embedding row; a pending one is zeros without a model, and no engine has it."""
    with open_database(program.database) as database:
        assert database.value("SELECT count(*) FROM prompts") == database.value(
            "SELECT count(*) FROM prompt_embeddings"
        )
        pending = database.run("SELECT prompt_id, dim, vector_json FROM prompt_embeddings WHERE model = ''")
        assert pending
        for id_, dim, vector_json in pending:
            assert vector_json == f"[{','.join('0' * dim)}]"
            assert database.value("SELECT count(*) FROM vec_prompts WHERE prompt_id = ?", (id_,)) == 0


def assert_nothing_is_blocked(broken: Program, mended: Program, commands: Commands) -> None:
    """Run commands without the model, then one with it."""
    for arguments in commands.asked:
        run = broken(*arguments)
        assert (run.status in (0, 1), warnings_of(run)) == (True, 1), (arguments, run)
    assert "Is the fence painted?" in broken("search", "fence").stdout
    assert "T-1" in broken("find-duplicates", "Hang the gate").stdout
    for arguments in commands.written:
        run = broken(*arguments)
        assert (run.status, warnings_of(run)) == (0, 1), (arguments, run)
    for arguments in commands.others:
        run = broken(*arguments)
        assert (run.status in (0, 1), "Warning" in run.stderr) == (True, False), (arguments, run)
    assert "sharpen a chisel" in broken("search", "chisel").stdout
    assert status(broken)["pending_vectors"] == commands.pending
    assert_pending_rows_are_whole(broken)
    checks = {check["check"]: check["is_well"] for check in broken("doctor", "--json").results}
    assert [name for name, is_well in checks.items() if not is_well] == ["model"]
    found = mended("search", "chisel", "--mode", "semantic", "--json")
    assert found.status == 0, found.stderr
    assert status(mended)["pending_vectors"] == 0
    again = mended("search", "How do I sharpen a chisel?", "--mode", "semantic", "--json")
    assert again.results[0]["content"] == "How do I sharpen a chisel?"
    assert again.results[0]["similarity"] == pytest.approx(1, abs=0.01)
    assert mended("doctor").status == 0


@contextmanager
def _unset(ours: Program, _address: str) -> Iterator[Program]:
    yield ours


@contextmanager
def _dead(ours: Program, _address: str) -> Iterator[Program]:
    yield ours.with_variables(PASTCHATS_MEMORY_ENDPOINT=f"{nowhere()}/v1").primed(HASTY)


HASTY = "from pastchats_memory.embed import openai\nopenai.QUESTION_SECONDS = openai.BATCH_SECONDS = openai.REQUEST_SECONDS = 0.2"
"""Makes a command give up an endpoint at once, which it would else try again for seconds."""


@contextmanager
def _slow(ours: Program, _address: str) -> Iterator[Program]:
    with silent() as address:
        yield ours.with_variables(PASTCHATS_MEMORY_ENDPOINT=f"{address}/v1").primed(HASTY)


def _answering(reply: Callable[[dict[str, Any], int], tuple[int, Any, dict[str, str]]]) -> Any:
    @contextmanager
    def fault(ours: Program, _address: str) -> Iterator[Program]:
        with endpoint(reply, []) as base:
            yield ours.with_variables(PASTCHATS_MEMORY_ENDPOINT=base)

    return fault


ENDPOINT_FAULTS = {
    "unset": _unset,
    "dead": _dead,
    "slow": _slow,
    "refuses the key": _answering(lambda _body, _number: (401, {}, {})),
    "answers rubbish": _answering(lambda _body, _number: (200, b"<html>", {})),
    "answers with another dimension": _answering(lambda body, number: answer(body, number, DIM + 1)),
}


@pytest.mark.parametrize("fault", ENDPOINT_FAULTS.values(), ids=ENDPOINT_FAULTS)
def test_no_command_is_blocked_by_an_endpoint_that_gives_no_vectors(program: Program, fault: Any) -> None:
    with endpoint(answer, []) as base:
        mended = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base)
        fill(mended, "--model", NAME)
        with fault(program, base) as broken:
            assert_nothing_is_blocked(broken, mended, ALL if fault is _dead else FEW)


@pytest.mark.parametrize(("library", "commands"), [("onnxruntime", ALL), ("tokenizers", FEW)])
def test_no_command_is_blocked_by_a_library_that_cannot_be_imported(
    program: Program, library: str, commands: Commands
) -> None:
    fill(program)
    assert_nothing_is_blocked(program.without_library(library), program, commands)


def test_every_command_that_needs_numpy_explains_that_it_cannot_be_imported(program: Program) -> None:
    fill(program)
    broken = program.without_library("numpy")
    for arguments in (*ASKED[:3], *WRITTEN[-1:]):
        run = broken(*arguments)
        assert (run.status, run.stdout) == (2, ""), (arguments, run)
        assert "Error: the library numpy cannot be imported: it is broken\n" in run.stderr
    assert broken("show", "1").status == 0, "it makes no array"
    error = json.loads(broken("search", "fence", "--json").stderr)
    assert error["error"]["kind"] == "library_broken"
    assert (broken("--version").status, broken("--help").status) == (0, 0)


@pytest.mark.parametrize("fault", ["gone", "truncated"])
def test_no_command_is_blocked_by_a_folder_without_a_usable_model(
    program: Program, fault: str, tiny_graph: onnx.ModelProto
) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(program.home / "mine")
    fill(program, "--model", "./mine")
    whole = program.home / "whole"
    shutil.copytree(folder, whole)
    if fault == "gone":
        shutil.rmtree(folder)
    else:
        (folder / "model.onnx").write_bytes((whole / "model.onnx").read_bytes()[:1000])
    first = [program(*arguments) for arguments in (*ASKED, *WRITTEN)]
    assert [run.status in (0, 1) for run in first] == [True] * len(first)
    assert [warnings_of(run) for run in first] == [1] * len(first)
    assert status(program)["pending_vectors"] == ALL.pending
    shutil.rmtree(folder, ignore_errors=True)
    whole.rename(folder)
    assert program("search", "chisel").stderr == ""
    assert status(program)["pending_vectors"] == 0


def test_vectors_of_another_version_of_the_model_block_nothing_until_they_are_made_again(program: Program) -> None:
    fill(program)
    with open_database(program.database) as database:
        database.run("UPDATE embedding_meta SET value = 'int8-of-long-ago' WHERE key = 'model_version'")
    for arguments in (*ASKED, *WRITTEN):
        run = program(*arguments)
        assert (run.status in (0, 1), warnings_of(run)) == (True, 1), (arguments, run)
    assert status(program)["pending_vectors"] == ALL.pending
    assert_pending_rows_are_whole(program)
    assert program("reindex", "--embeddings").status == 0
    assert (status(program)["pending_vectors"], program("doctor").status) == (0, 0)


def test_both_engines_find_the_same_while_vectors_are_pending(program: Program, tmp_path: Path) -> None:
    lines = [("user", f"Sentence {number} about gates and fences") for number in range(20)]
    write_messages(tmp_path / "old.jsonl", *lines)
    write_messages(tmp_path / "new.jsonl", ("user", "Which chisel do the gates need?"), conversation="c2")
    model = PackagedEmbedder()
    with Memory(open_database(program.database, create=True), model) as memory:
        memory.index([tmp_path / "old.jsonl"])
    gone = UnavailableEmbedder(model.name, model.version, ModelUnavailable("it is gone"))
    with Memory(open_database(program.database), gone) as memory:
        assert memory.index([tmp_path / "new.jsonl"]).pending_vectors == 1
    found = []
    for vec0 in (True, False):
        memory = Memory(open_database(program.database, vec0=vec0), model)
        found += [[memory.search("chisel for gates", mode=mode) for mode in ("hybrid", "semantic", "keyword")]]
        memory.close()
    assert found[0] == found[1]
    best = found[0][0][0]
    assert (best.content, best.similarity) == ("Which chisel do the gates need?", None)
    assert best.relevance is not None


def test_a_first_run_without_the_packaged_model_is_stored_and_completed_later(program: Program, tmp_path: Path) -> None:
    stub = tmp_path / "stub" / "onnxruntime"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text("", encoding="utf-8")  # half removed
    broken = program.with_variables(PYTHONPATH=str(stub.parent))
    write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?"))
    done = broken("index", "history", "--json")
    assert (done.status, done.json["embedded"], done.json["pending_vectors"]) == (0, 0, 1)
    assert broken("capture", "Hang the gate").status == 0
    assert program("index", "history").status == 0
    assert (status(program)["pending_vectors"], status(program)["indexed"]) == (0, 2)
    assert program("doctor").status == 0


def test_a_first_task_at_a_dead_endpoint_is_stored_and_the_first_answer_names_the_model(program: Program) -> None:
    configured = program.with_variables(PASTCHATS_MEMORY_MODEL=NAME)
    dead = configured.with_variables(PASTCHATS_MEMORY_ENDPOINT=f"{nowhere()}/v1")
    assert dead("capture", "Hang the gate").status == 0
    assert (status(dead)["model"], status(dead)["pending_vectors"]) == (None, 1)
    with endpoint(answer, []) as base:
        alive = configured.with_variables(PASTCHATS_MEMORY_ENDPOINT=base)
        assert alive("find-duplicates", "Hang the gate").status == 0
        assert (status(alive)["model"], status(alive)["pending_vectors"]) == (NAME, 0)


@pytest.mark.parametrize("name", ["./unusable", "BAAI/no-such-model", "endpoint:some-model"])
@pytest.mark.parametrize("arguments", [("index", "history"), ("capture", "Hang the gate")], ids=lambda some: some[0])
def test_nothing_is_created_for_a_name_that_is_no_model(
    program: Program, name: str, arguments: tuple[str, ...], tiny_graph: onnx.ModelProto
) -> None:
    folder = tiny_model(Profile("", "model.onnx"), tiny_graph).write(program.home / "unusable")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?"))
    done = program.with_variables(PASTCHATS_MEMORY_MODEL=name)(*arguments)
    assert (done.status, done.stdout) == (2, "")
    assert "Delete" not in done.stderr
    assert not program.database.exists()


def test_a_search_at_an_endpoint_sends_one_request(program: Program) -> None:
    seen: list[dict[str, Any]] = []
    with endpoint(answer, seen) as base:
        ours = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base)
        fill(ours, "--model", NAME)
        for arguments in (("search", "fence"), ("recall", "fence"), ("context", "fence")):
            seen.clear()
            assert ours(*arguments).status == 0
            assert [one["body"]["input"] for one in seen] == [["fence"]]


def test_a_notice_says_that_text_leaves_only_when_it_does(program: Program) -> None:
    with endpoint(answer, []) as base:
        ours = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base)
        fill(ours, "--model", NAME)
        for arguments in (("status",), ("show", "1"), ("search", "fence", "--mode", "keyword"), ("task", "list")):
            assert ours(*arguments).stderr == ""
        back = ours("reindex", "--embeddings", "--model", "packaged")
        assert (back.status, back.stderr) == (0, "")


@pytest.mark.parametrize(
    "name",
    [
        "packaged",
        "all-MiniLM-L6-v2",
        "sentence-transformers/all-MiniLM-L6-v2",
        "Sentence-Transformers/ALL-MINILM-L6-v2",
    ],
)
def test_the_packaged_model_answers_to_its_own_name(program: Program, name: str) -> None:
    write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?"))
    named = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=f"{nowhere()}/v1", HF_ENDPOINT=nowhere())
    for run in (
        named("index", "history", "--model", name),
        named.with_variables(PASTCHATS_MEMORY_MODEL=name)("search", "fence"),
        named("reindex", "--embeddings", "--model", name),
    ):
        assert (run.status, run.stderr) == (0, "")
    assert status(program)["model_version"].startswith("int8-")


def test_an_index_run_counts_the_texts_of_tasks_that_it_embeds(program: Program) -> None:
    todo = program.home / "plans" / "TODO.md"
    todo.parent.mkdir()
    todo.write_text("- [ ] Hang the gate\n- [ ] Oil the hinge\n- [x] Paint the fence\n", encoding="utf-8")
    done = program("index", "plans", "--json")
    assert (done.json["tasks_added"], done.json["embedded"]) == (3, 3)
