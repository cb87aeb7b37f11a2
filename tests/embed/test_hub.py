"""A model that is not on this machine: fetched by indexing where the hub is there, else one clear sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from local_servers import hub, patient, silent
from program import Program, write_messages
from served import nowhere
from tiny_bert import TinyModel, tiny_model

from pastchats_memory.embed.profiles import PROFILES

NAME = "google/embeddinggemma-300m"
PROFILE = PROFILES[NAME]


@pytest.fixture
def model(tiny_graph: onnx.ModelProto) -> TinyModel:
    return tiny_model(PROFILE, tiny_graph)


@pytest.fixture
def history(program: Program) -> Path:
    path = program.home / "history" / "chat.jsonl"
    return write_messages(path, ("user", "Is the fence painted?"), ("assistant", "Green, on Monday.")).parent


@pytest.fixture(params=["refused", "silent", "no such repository", "offline by a variable"])
def without_hub(request: pytest.FixtureRequest, program: Program, model: TinyModel) -> Iterator[Program]:
    if request.param == "refused":
        yield program.with_variables(HF_ENDPOINT=nowhere())
    elif request.param == "silent":
        with silent() as address:
            yield program.with_variables(HF_ENDPOINT=address)
    elif request.param == "no such repository":
        with hub("somebody/else", model, []) as address:
            yield program.with_variables(HF_ENDPOINT=address)
    else:
        yield program.with_variables(HF_HUB_OFFLINE="1")


def test_indexing_fetches_the_model_says_so_and_needs_no_hub_from_then_on(
    program: Program, history: Path, model: TinyModel
) -> None:
    asked: list[str] = []
    with hub(PROFILE.repository, model, asked) as address:
        done = patient(program.with_variables(HF_ENDPOINT=address))("index", history, "--model", NAME, "--json")
    assert done.status == 0, done.stderr
    assert done.json["model"] == NAME
    assert f"Downloading {NAME} (11 MB) from {address} to {program.home / 'cache'}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not any("resolve" in path and path.endswith(".md") for path in asked)
    offline = program.with_variables(HF_ENDPOINT=nowhere())
    found = offline("search", "painted", "--mode", "semantic", "--json")
    assert (found.status, found.stderr) == (0, "")
    assert {hit["semantic_rank"] for hit in found.results} == {1, 2}
    write_messages(history / "more.jsonl", ("user", "And the gate?"), conversation="c2")
    again = offline("index", history, "--json")
    assert (again.status, again.json["turns_added"], again.stderr) == (0, 1, "")


def test_indexing_without_the_model_explains_it_in_one_sentence_and_stores_nothing(
    without_hub: Program, history: Path
) -> None:
    done = without_hub("index", history, "--model", NAME)
    assert (done.status, done.stdout) == (2, "")
    message, hint = done.stderr.strip().splitlines()
    assert message.startswith(f"Error: the model {NAME} is not on this machine, and it cannot be fetched (")
    for way_out in ("copy the model's folder", "by its path", "--model packaged"):
        assert way_out in hint
    assert not without_hub.database.exists()


def test_the_same_holds_for_a_model_that_fastembed_runs(program: Program, history: Path) -> None:
    lost = program.with_variables(HF_ENDPOINT=nowhere())
    done = lost("index", history, "--model", "Qwen/Qwen3-Embedding-0.6B")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: the model Qwen/Qwen3-Embedding-0.6B is not on this machine")
    assert len(done.stderr.strip().splitlines()) == 2
    assert not lost.database.exists()


def test_a_download_that_breaks_off_is_no_model_and_goes_on_the_next_time(
    program: Program, history: Path, model: TinyModel
) -> None:
    with hub(PROFILE.repository, model, [], breaks_off=PROFILE.further[0]) as address:
        done = patient(program.with_variables(HF_ENDPOINT=address))("index", history, "--model", NAME)
    assert done.status == 2
    assert "Traceback" not in done.stderr
    assert "is not on this machine" in done.stderr
    assert not program.database.exists()
    with hub(PROFILE.repository, model, []) as address:
        done = patient(program.with_variables(HF_ENDPOINT=address))("index", history, "--model", NAME)
    assert done.status == 0, done.stderr


def test_a_database_whose_model_is_gone_answers_by_words_with_a_warning_and_never_downloads(
    program: Program, history: Path, model: TinyModel
) -> None:
    model.lay_out(program.home / "cache" / "pastchats-memory" / "models", PROFILE.repository)
    assert program("index", history, "--model", NAME).stderr == ""
    asked: list[str] = []
    with hub(PROFILE.repository, model, asked) as address:
        lost = program.with_variables(HF_ENDPOINT=address, PASTCHATS_MEMORY_CACHE=str(program.home / "elsewhere"))
        found = lost("search", "fence")
        nothing = lost("search", "kayak")
        recalled = lost("recall", "Is the fence painted?")
    assert asked == []
    assert [found.status, nothing.status, recalled.status] == [0, 1, 0]
    for answer in (found, nothing, recalled):
        assert f"Warning: the model {NAME} is not on this machine" in answer.stderr
        assert "by words alone" in answer.stderr
    write_messages(history / "more.jsonl", ("user", "And the gate?"), conversation="c2")
    added = lost.with_variables(HF_ENDPOINT=nowhere())("index", history, "--json")
    assert (added.status, added.json["turns_added"], added.json["pending_vectors"]) == (0, 1, 1)
    assert "stored without a vector" in added.stderr
    assert [row["content"] for row in lost("search", "gate", "--json").results] == ["And the gate?"]


def test_a_misspelled_model_gets_suggestions(program: Program, history: Path) -> None:
    done = program("index", history, "--model", "BAAI/bge-smal-en-v1.5")
    assert done.status == 2
    assert "there is no model BAAI/bge-smal-en-v1.5" in done.stderr
    assert "Did you mean BAAI/bge-small-en-v1.5" in done.stderr
    assert not program.database.exists()
