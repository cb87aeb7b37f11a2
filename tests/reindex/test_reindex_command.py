"""The command `reindex`: killed, interrupted, without its model, and what it says of all that."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from program import IS_BARE, REPOSITORY, Program, write_messages
from self_signal import signal_after, with_checksum_vectors

from pastchats_memory.embed.profiles import Profile
from pastchats_memory.store import checks, vectors
from pastchats_memory.store.database import open_database

sys.path.insert(0, str(REPOSITORY / "tests" / "embed"))  # models and servers to change to

from local_servers import endpoint
from tiny_bert import graph, tiny_model

NEXT_VERSION = """
from pastchats_memory.store.vectors import reindex
reindex.BATCH = 8
PackagedEmbedder.version = "int8-next"
"""
"""A next version of the packaged model, whose vectors are stored in small batches."""


def test_killed_half_way_the_old_vectors_answer_and_the_next_run_ends_the_change(program: Program) -> None:
    messages = [(("user", "assistant")[place % 2], f"Sentence {place}") for place in range(300)]
    history = write_messages(program.home / "history" / "chat.jsonl", *messages).parent
    assert program("index", history).status == 0
    with closing(sqlite3.connect(program.database)) as connection:
        old = connection.execute("SELECT prompt_id, vector_json FROM prompt_embeddings").fetchall()
    kept = [0]
    for after in (20, 150):
        mortal = signal_after(program, signal.SIGKILL, after, NEXT_VERSION)
        assert mortal("reindex", "--embeddings").status == -signal.SIGKILL
        with closing(sqlite3.connect(program.database)) as connection:
            assert connection.execute("SELECT prompt_id, vector_json FROM prompt_embeddings").fetchall() == old
            kept.append(connection.execute("SELECT count(*) FROM next_vectors").fetchone()[0])
        assert program("search", "Sentence 7", "--mode", "semantic", "--limit", "1").stderr == ""
    assert kept == sorted(kept)
    assert 0 < kept[1] < kept[-1] < 300
    status = program("status", "--json").results[0]
    assert (status["next_model"], status["pending"]) == ("sentence-transformers/all-MiniLM-L6-v2", 300 - kept[-1])
    assert "pending for" in program("status").stdout
    done = with_checksum_vectors(program, NEXT_VERSION)("reindex", "--embeddings", "--json")
    assert (done.status, done.results[0]["embedded"], done.results[0]["rows"]) == (0, 300 - kept[-1], 300)
    with open_database(program.database) as database:
        assert checks.damage(database) == []
        assert checks.without_embedding(database) == 0
        assert vectors.pending(database) == {"blocks": 0, "vec0": 0}


def test_interrupted_from_the_keyboard_it_says_what_answers_and_how_to_go_on(program: Program) -> None:
    messages = [(("user", "assistant")[place % 2], f"Sentence {place}") for place in range(120)]
    history = write_messages(program.home / "history" / "chat.jsonl", *messages).parent
    assert program("index", history).status == 0
    stopped = signal_after(program, signal.SIGINT, 40, NEXT_VERSION)("reindex", "--embeddings")
    assert (stopped.status, stopped.stdout) == (130, "")
    assert "Stopped. The old vectors answer;" in stopped.stderr
    assert "Traceback" not in stopped.stderr


def test_the_command_changes_the_model_and_back_and_its_json_fits_the_schema(program: Program, tmp_path: Path) -> None:
    folder = tiny_model(Profile("", "model.onnx"), graph()).write(tmp_path / "mine")
    history = write_messages(
        program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday.")
    ).parent
    assert program("index", history).status == 0
    changed = program("reindex", "--embeddings", "--model", folder, "--json")
    assert (changed.status, changed.stderr) == (0, "")
    _fits(changed.json, "reindex")
    assert changed.results[0] | {"duration_s": 0} == {
        "model": str(folder),
        "dim": 768,
        "previous_model": "sentence-transformers/all-MiniLM-L6-v2",
        "rows": 2,
        "embedded": 2,
        "cached": 0,
        "duration_s": 0,
    }
    found = program("search", "fence", "--mode", "semantic", "--json")
    assert (found.status, found.stderr, len(found.results)) == (0, "", 2)
    ignored = program("search", "fence", "--model", "packaged")
    assert f"has vectors of {folder}, so that model is used and packaged is not" in ignored.stderr
    status = program("status", "--json").results[0]
    assert (status["model"], status["dim"], status["indexed"], status["pending"]) == (str(folder), 768, 2, 0)
    back = program("reindex", "--embeddings", "--model", "packaged")
    assert back.stdout.startswith(
        "2 rows have vectors of sentence-transformers/all-MiniLM-L6-v2 (384 dimensions, until now"
    )
    same = program("reindex", "--embeddings", "--json")
    assert (same.results[0]["embedded"], same.results[0]["cached"]) == (0, 2)


def _fits(body: Any, name: str) -> None:
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(body)


def test_reindex_without_a_flag_names_the_flags(program: Program) -> None:
    done = program("reindex")
    assert done.status == 2
    assert "--embeddings" in done.stderr


def test_a_model_that_cannot_be_had_changes_nothing(program: Program) -> None:
    history = write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?")).parent
    assert program("index", history).status == 0
    kept = program.database.read_bytes()
    missing = program.with_variables(HF_HUB_OFFLINE="1")
    done = missing("reindex", "--embeddings", "--model", "BAAI/bge-small-en-v1.5")
    assert done.status == 2
    assert "is not on this machine" in done.stderr
    assert program.database.read_bytes() == kept


@pytest.mark.skipif(IS_BARE, reason="only POSIX tells a process its priority")
def test_indexing_and_reindexing_let_other_programs_go_first(program: Program) -> None:
    messages = [("user", f"Sentence {place}") for place in range(400)]
    history = write_messages(program.home / "history" / "chat.jsonl", *messages).parent
    process = program.started("index", history)
    nice = 0
    while process.poll() is None and nice != max(10, os.nice(0)):
        nice = os.getpriority(os.PRIO_PROCESS, process.pid)
    process.communicate()
    assert nice == max(10, os.nice(0))


def test_reindex_says_before_it_begins_that_text_leaves_the_machine(program: Program) -> None:
    history = write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?")).parent
    assert program("index", history).status == 0
    with endpoint(lambda _body, _number: (401, {}, {}), []) as base:
        refused = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base)("reindex", "--embeddings", "--model", "theirs")
    first, second, _ = refused.stderr.splitlines()
    host = base.removeprefix("http://").removesuffix("/v1")
    assert first == f"Warning: text leaves this machine: it is sent to {host} for its vectors"
    assert second.startswith("Error: ")


@pytest.mark.parametrize(
    "arguments", [["index", "history"], ["reindex", "--embeddings"], ["search", "x"]], ids=" ".join
)
@pytest.mark.parametrize("name", ["", " "], ids=["empty", "blank"])
def test_the_empty_name_of_an_unset_variable_is_no_model(program: Program, arguments: list[str], name: str) -> None:
    refused = program(*arguments, "--model", name)
    assert (refused.status, refused.stdout) == (2, "")
    assert refused.stderr.startswith("Error: --model names no model\n")
    assert not program.database.exists()
