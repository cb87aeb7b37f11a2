"""`--rerank`: a cross-encoder out of the cache puts what was found in its order; without one a sentence says how to get it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from local_servers import hub, patient, silent
from program import Program, write_messages
from served import nowhere
from tiny_cross import cross_model, laid_out

from pastchats_memory import Memory
from pastchats_memory.embed.registry import ModelSettings
from pastchats_memory.embed.reranker import NAME, PROFILE, cross_encoder
from pastchats_memory.embed.runtime import be_discreet
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.search.pipeline import RERANKED

be_discreet()

from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: E402 - after what keeps it quiet

TEXTS = ["Retry the webhook.", "", "a b c " * 80, "def add(a, b): return a + b", "Is the fence painted?", "tea"]
CLOSE = 1e-4


@pytest.fixture
def cached(program: Program, tiny_graph: onnx.ModelProto) -> Program:
    laid_out(tiny_graph, program.home / "cache" / "pastchats-memory" / "models")
    return program.with_variables(HF_ENDPOINT=nowhere())


@pytest.fixture
def history(program: Program) -> Path:
    messages = [("user", f"Is fence number {number} painted {'green ' * number}?") for number in range(40)]
    path = write_messages(program.home / "history" / "chat.jsonl", *messages)
    assert program("index", path.parent).status == 0
    return path


def test_the_files_are_those_of_fastembeds_list() -> None:
    listed = {str(model["model"]): model for model in TextCrossEncoder.list_supported_models()}
    assert listed[NAME]["sources"]["hf"] == PROFILE.repository
    assert listed[NAME]["model_file"] == PROFILE.file


@pytest.mark.parametrize("question", ["Is the fence painted?", "retry " * 100])
def test_the_numbers_are_those_that_fastembed_gives(tiny_graph: onnx.ModelProto, tmp_path: Path, question: str) -> None:
    laid_out(tiny_graph, tmp_path)
    ours = cross_encoder(ModelSettings((tmp_path,), threads=2), may_fetch=False).scores(question, TEXTS)
    theirs = TextCrossEncoder(NAME, str(tmp_path), threads=1, local_files_only=True).rerank(question, TEXTS)
    assert np.abs(ours - np.array(list(theirs))).max() < CLOSE
    assert np.unique(ours.round(3)).size > 1


@pytest.mark.usefixtures("history")
def test_hits_are_in_the_order_of_the_cross_encoder(cached: Program) -> None:
    question = "Is the fence painted green?"
    before = cached("search", question, "--json", "--limit", "40", "--explain").results
    found = cached("search", question, "--json", "--limit", "40", "--explain", "--rerank")
    assert (found.status, found.stderr) == (0, "")
    after = found.results
    read, rest = after[:RERANKED], after[RERANKED:]
    settings = ModelSettings((cached.home / "cache" / "pastchats-memory" / "models",))
    scores = cross_encoder(settings, may_fetch=False).scores(question, [hit["content"] for hit in read])
    assert (np.diff(scores) <= CLOSE).all()
    assert {hit["id"] for hit in read} == {hit["id"] for hit in before[:RERANKED]}
    assert [hit["id"] for hit in read] != [hit["id"] for hit in before[:RERANKED]]
    assert [hit["id"] for hit in rest] == [hit["id"] for hit in before[RERANKED:]]
    for hit in after:
        assert hit["score"] == pytest.approx(sum(hit["contributions"].values()))
    assert all(set(hit["contributions"]) == {"read"} for hit in read)
    assert [hit["score"] for hit in after] == sorted((hit["score"] for hit in after), reverse=True)
    assert [hit["rank"] for hit in after] == list(range(1, 41))


@pytest.mark.usefixtures("history")
def test_a_later_page_goes_on_where_the_one_before_ended(cached: Program) -> None:
    def ids(*page: str) -> list[str]:
        return [hit["id"] for hit in cached("search", "fence green", "--json", "--rerank", *page).results]

    assert ids("--limit", "20") + ids("--limit", "20", "--page", "2") == ids("--limit", "40")


@pytest.mark.usefixtures("history")
def test_the_cross_encoder_is_used_only_on_request(cached: Program) -> None:
    hit = cached("search", "fence green", "--json", "--explain").results[0]
    assert "read" not in hit["contributions"]


@pytest.mark.parametrize("kind", ["refused", "silent", "offline by a variable"])
@pytest.mark.usefixtures("history")
def test_a_missing_cross_encoder_is_explained_in_one_sentence(program: Program, kind: str) -> None:
    with silent() as address:
        variables = {
            "refused": {"HF_ENDPOINT": nowhere()},
            "silent": {"HF_ENDPOINT": address},
            "offline by a variable": {"HF_HUB_OFFLINE": "1"},
        }[kind]
        done = program.with_variables(**variables)("search", "fence", "--rerank")
    assert (done.status, done.stdout) == (2, "")
    message, hint = done.stderr.strip().splitlines()
    assert message.startswith(f"Error: the model {NAME} is not on this machine, and it cannot be fetched (")
    assert "copy the model's folder" in hint
    assert "leave --rerank out" in hint


@pytest.mark.usefixtures("history")
def test_a_cross_encoder_is_fetched_once_where_the_hub_can_be_reached(
    program: Program, tiny_graph: onnx.ModelProto
) -> None:
    asked: list[str] = []
    with hub(PROFILE.repository, cross_model(tiny_graph), asked) as address:
        done = patient(program.with_variables(HF_ENDPOINT=address))("search", "fence", "--rerank")
    assert done.status == 0, done.stderr
    assert f"Downloading {NAME}" in done.stderr
    again = program.with_variables(HF_ENDPOINT=nowhere())("search", "fence", "--rerank")
    assert (again.status, again.stderr) == (0, "")


@pytest.mark.usefixtures("history")
def test_python_downloads_it_only_on_request(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_graph: onnx.ModelProto
) -> None:
    monkeypatch.setenv("PASTCHATS_MEMORY_CACHE", str(tmp_path / "models"))
    with Memory.open(program.database) as memory:
        with pytest.raises(ModelUnavailable, match="only search --rerank fetches it"):
            memory.search("fence", rerank=True)
        laid_out(tiny_graph, tmp_path / "models")
        assert len(memory.search("fence", rerank=True)) == len(memory.search("fence"))


@pytest.mark.usefixtures("history")
def test_a_graph_that_gives_no_numbers_is_explained(program: Program, tiny_graph: onnx.ModelProto) -> None:
    laid_out(tiny_graph, program.home / "cache" / "pastchats-memory" / "models", number=float("nan"))
    done = program("search", "fence", "--rerank")
    assert (done.status, done.stdout) == (2, "")
    assert f"the model {NAME} gives no number a text" in done.stderr


@pytest.mark.usefixtures("history")
def test_a_damaged_graph_is_explained(program: Program, tiny_graph: onnx.ModelProto) -> None:
    folder = laid_out(tiny_graph, program.home / "cache" / "pastchats-memory" / "models")
    (folder / PROFILE.file).unlink()
    (folder / PROFILE.file).write_bytes(b"no graph")
    done = program("search", "fence", "--rerank")
    assert done.status == 2
    assert f"the model {NAME} cannot be used" in done.stderr
    assert "leave --rerank out" in done.stderr
    assert "Traceback" not in done.stderr
