"""A model behind an endpoint, against a real server on this machine: what is sent, and what is made of bad answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from local_servers import endpoint, silent
from program import Program, write_messages
from served import nowhere
from tenacity import RetryCallState
from waiting import HANG_S

from pastchats_memory.embed import openai as module
from pastchats_memory.embed.openai import EndpointEmbedder
from pastchats_memory.embed.profiles import Profile
from pastchats_memory.embed.registry import CustomModel, ModelSettings, embedder_of
from pastchats_memory.errors import ModelUnavailable

NAME = "text-embedding-3-small"
DIM = 6


def vector(text: str, dim: int = DIM) -> list[float]:
    """Numbers that tell texts apart."""
    return [float(1 + (len(text) * 7 + place * sum(text.encode())) % 11) for place in range(dim)]


def good(body: dict[str, Any], _number: int) -> tuple[int, Any, dict[str, str]]:
    dim = body.get("dimensions", DIM)
    rows = [{"index": place, "embedding": vector(text, dim)} for place, text in enumerate(body["input"])]
    return 200, {"data": rows[::-1], "model": body["model"]}, {}


def embedder(base: str, key: str | None = "secret-key", **rules: Any) -> EndpointEmbedder:
    return EndpointEmbedder(NAME, base, key, Profile("", **rules))


def unit(text: str, dim: int = DIM) -> np.ndarray:
    numbers = np.array(vector(text, dim))
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


def test_texts_go_in_batches_with_the_key_and_their_vectors_come_back_as_units_in_order() -> None:
    seen: list[dict[str, Any]] = []
    texts = [f"text {number}" for number in range(150)]
    with endpoint(good, seen) as base:
        ours = embedder(base)
        vectors = list(ours.embed(texts))
        assert ours.embed_query("a question").tobytes() == unit("a question").tobytes()
    assert [len(one["body"]["input"]) for one in seen] == [64, 64, 22, 1]
    assert {(one["path"], one["key"], one["body"]["model"]) for one in seen} == {
        ("/v1/embeddings", "Bearer secret-key", NAME)
    }
    assert all(np.array_equal(vector, unit(text)) for text, vector in zip(texts, vectors, strict=True))
    assert (ours.dim, ours.version) == (DIM, "endpoint/6")


def test_dimensions_and_prefixes_are_those_that_were_configured() -> None:
    seen: list[dict[str, Any]] = []
    with endpoint(good, seen) as base:
        custom = {NAME: CustomModel(None, {"dim": 4, "query": "q: ", "document": "d: "})}
        ours = embedder_of(NAME, ModelSettings(endpoint=base, custom=custom))
        (stored,) = ours.embed(["x"])
        asked = ours.embed_query("x")
    assert [one["body"]["dimensions"] for one in seen] == [4, 4]
    assert np.array_equal(stored, unit("d: x", 4))
    assert np.array_equal(asked, unit("q: x", 4))


def test_a_long_text_is_sent_by_its_start_and_its_end_within_any_usual_window() -> None:
    seen: list[dict[str, Any]] = []
    with endpoint(good, seen) as base:
        list(embedder(base, dim=DIM).embed(["début " + "é" * 50_000 + " fin", "", "\ud800"]))
    sent = seen[0]["body"]["input"]
    assert len(sent[0].encode()) <= 8_000
    assert sent[0].startswith("début é")
    assert sent[0].endswith("é fin")
    assert sent[1:] == [" ", "\ufffd"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_with_pauses(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy_twice(body: dict[str, Any], number: int) -> tuple[int, Any, dict[str, str]]:
        return good(body, number) if number > 1 else (status, {"error": "later"}, {})

    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "QUESTION_SECONDS", HANG_S)
    with endpoint(busy_twice, seen) as base:
        assert np.array_equal(embedder(base).embed_query("x"), unit("x"))
    assert len(seen) == 3


def test_a_repeated_request_waits_as_long_as_the_server_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    pause = module._pause  # noqa: SLF001 - what it comes to is the point

    def noted(state: RetryCallState) -> float:
        pauses.append(pause(state))
        return 0

    def busy_once(body: dict[str, Any], number: int) -> tuple[int, Any, dict[str, str]]:
        return good(body, number) if number else (429, {}, {"Retry_After": "1"})

    monkeypatch.setattr(module, "QUESTION_SECONDS", HANG_S)
    monkeypatch.setattr(module, "_pause", noted)
    with endpoint(busy_once, []) as base:
        embedder(base).embed_query("x")
    assert pauses == [1]


@pytest.mark.parametrize("status", [429, 500])
def test_a_question_does_not_wait_longer_for_a_busy_server_than_a_question_may_take(status: int) -> None:
    seen: list[dict[str, Any]] = []
    with (
        endpoint(lambda _body, _number: (status, {}, {"Retry_After": "600"}), seen) as base,
        pytest.raises(ModelUnavailable, match=f"HTTP {status}"),
    ):
        embedder(base).embed_query("x")
    assert len(seen) == 1


def test_a_question_gives_up_on_a_silent_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUESTION_SECONDS", 0.5)
    with silent() as address, pytest.raises(ModelUnavailable, match="timed out"):
        embedder(address).embed_query("x")


def test_an_unreachable_address_is_reported() -> None:
    with pytest.raises(ModelUnavailable, match="gives no vectors"):
        embedder(nowhere()).embed_query("x")


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_not_asked_again_and_the_key_is_in_no_message(status: int) -> None:
    seen: list[dict[str, Any]] = []
    with (
        endpoint(lambda _body, _number: (status, {"error": "no"}, {}), seen) as base,
        pytest.raises(ModelUnavailable, match=f"HTTP {status}") as refused,
    ):
        embedder(base).embed_query("x")
    assert len(seen) == 1
    assert "secret-key" not in f"{refused.value.message} {refused.value.hint} {embedder(base)!r}"


def test_a_redirection_is_not_followed_which_would_take_text_and_key_elsewhere() -> None:
    other: list[dict[str, Any]] = []
    with (
        endpoint(good, other) as elsewhere,
        endpoint(lambda _body, _number: (307, {}, {"Location": f"{elsewhere}/embeddings"}), []) as base,
        pytest.raises(ModelUnavailable, match="HTTP 307"),
    ):
        embedder(base).embed_query("x")
    assert other == []


def rows(*vectors: list[Any]) -> dict[str, Any]:
    return {"data": [{"index": place, "embedding": numbers} for place, numbers in enumerate(vectors)]}


@pytest.mark.parametrize(
    "answered",
    [
        rows([1.0, 2.0]),
        rows([1.0] * (DIM + 1)),
        rows([0.0] * DIM),
        rows([float("nan")] * DIM),
        rows(["a"] * DIM),
        rows([None] * DIM),
        rows(),
        {"data": [{"index": 1, "embedding": [1.0] * DIM}]},
        {"data": [{"embedding": [1.0] * DIM}]},
        {"data": "none"},
        {},
        [],
        b"<html>",
        b"",
    ],
    ids=range(14),
)
def test_an_answer_that_makes_no_sense_is_refused(answered: Any) -> None:
    with (
        endpoint(lambda _body, _number: (200, answered, {}), []) as base,
        pytest.raises(ModelUnavailable, match="gives no vectors") as refused,
    ):
        embedder(base, dim=DIM).embed_query("x")
    assert "\n" not in refused.value.message


def test_vectors_of_another_length_in_the_middle_are_refused() -> None:
    def changing(body: dict[str, Any], number: int) -> tuple[int, Any, dict[str, str]]:
        return good({**body, "dimensions": DIM + number}, number)

    with endpoint(changing, []) as base, pytest.raises(ModelUnavailable, match=r"\(\d+, 7\) instead of \(\d+, 6\)"):
        list(embedder(base).embed([f"text {number}" for number in range(100)]))


@pytest.mark.parametrize("base", ["", "localhost:8080/v1", "ftp://host/v1", "https://", "file:///etc/passwd"])
def test_an_invalid_address_is_refused(base: str) -> None:
    with pytest.raises(ModelUnavailable, match="no URL"):
        embedder(base)


def test_nothing_is_sent_unless_an_endpoint_is_configured_and_its_model_named(program: Program) -> None:
    history = write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?")).parent
    seen: list[dict[str, Any]] = []
    with endpoint(good, seen) as base:
        configured = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base, OPENAI_API_KEY="k")
        for arguments in (["index", history], ["search", "fence"], ["recall", "fence"]):
            assert configured(*arguments).stderr == ""
    assert seen == []
    unconfigured = program.with_variables(PASTCHATS_MEMORY_DB=str(program.home / "other.db"), OPENAI_API_KEY="k")
    refused = unconfigured("index", history, "--model", NAME)
    assert refused.status == 2
    assert "PASTCHATS_MEMORY_ENDPOINT" in refused.stderr


def test_every_command_says_that_text_leaves_the_machine_and_to_whom(program: Program) -> None:
    history = write_messages(
        program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green.")
    ).parent
    seen: list[dict[str, Any]] = []
    with endpoint(good, seen) as base:
        ours = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base, PASTCHATS_MEMORY_API_KEY="secret-key")
        indexed = ours("index", history, "--model", NAME)
        found = ours("search", "fence", "--mode", "semantic", "--json")
    host = base.removeprefix("http://").removesuffix("/v1")
    assert (indexed.status, found.status) == (0, 0), indexed.stderr + found.stderr
    for run in (indexed, found):
        assert run.stderr == f"Warning: text leaves this machine: it is sent to {host} for its vectors\n"
    assert len(found.results) == 2
    assert {one["key"] for one in seen} == {"Bearer secret-key"}
    assert ours("status", "--json").results[0]["model"] == NAME
    gone = ours.with_variables(PASTCHATS_MEMORY_ENDPOINT=base.replace("http://", "http://me:pass@"))
    without = gone("search", "fence")
    assert without.status == 0
    assert "by words alone" in without.stderr
    assert "pass" not in without.stderr.replace("painted", "")
    assert "pass" not in gone("config").stdout


def test_openais_key_goes_to_openai_alone(program: Program) -> None:
    history = write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?")).parent
    seen: list[dict[str, Any]] = []
    with endpoint(good, seen) as base:
        ours = program.with_variables(PASTCHATS_MEMORY_ENDPOINT=base, OPENAI_API_KEY="secret-key")
        assert ours("index", history, "--model", NAME).status == 0
    assert {one["key"] for one in seen} == {None}
