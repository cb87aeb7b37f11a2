"""What a prompt gets that did not ask for anything: clear matches, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.model import Hit
from pastchats_memory.recall.unasked import select_unasked


def recall_unasked(memory: Memory, prompt: str, project: str | None = None) -> list[str]:
    return [hit.source_project for hit in memory.recall(prompt, current_project=project, unasked=True).hits]


@pytest.mark.parametrize(
    "prompt",
    ["add tests for this", "run the tests and fix what fails", "fix the failing test", "make the tests green again",
     "revert your last change", "remove the unused imports"],
)  # fmt: skip
@pytest.mark.parametrize("project", [None, "courier"])
def test_a_prompt_that_names_nothing_gets_nothing(demo_memory: Memory, prompt: str, project: str | None) -> None:
    assert recall_unasked(demo_memory, prompt, project) == []


@pytest.mark.parametrize(
    "prompt",
    ["the PHP session of the Magento shop is lost behind Varnish", "debug the VHDL testbench of the UART receiver",
     "our Kafka consumers lag behind after a partition rebalance"],
)  # fmt: skip
def test_an_unrelated_prompt_gets_nothing(demo_memory: Memory, prompt: str) -> None:
    assert recall_unasked(demo_memory, prompt) == []


@pytest.mark.parametrize(
    ("prompt", "project"),
    [
        ("Which unit do the gauges at Delfzijl report in?", "tidemark"),
        ("add backoff with jitter to the delivery worker", "courier"),
        ("the login tests get a 429 from the API", "ledgerly"),
    ],
)
def test_names_and_ranks_support_a_match_of_moderate_relevance(demo_memory: Memory, prompt: str, project: str) -> None:
    assert recall_unasked(demo_memory, prompt)[0] == project


def test_a_vague_prompt_gets_memories_of_its_own_project_only(demo_memory: Memory) -> None:
    prompt = "the migration hangs in production"
    assert recall_unasked(demo_memory, prompt, "garden") == []
    assert set(recall_unasked(demo_memory, prompt, "courier")) == {"courier"}


@pytest.mark.parametrize(
    ("project", "named", "is_given"), [("garden", 0.1, True), ("site", 0.1, False), ("site", 0.25, True)]
)
def test_nearness_alone_gives_no_memory_of_another_project(project: str, named: float, is_given: bool) -> None:
    hit = Hit(
        1, 1.0, 0.92, 14, 1, 0.6, "85", "prompt", "", "", "user", "x.jsonl", 3, "garden", "c", 0, None, {}, named=named
    )
    assert select_unasked([hit], 1.5, project) == ([hit] if is_given else [])


@pytest.mark.parametrize(
    ("project", "semantic_rank", "topic", "is_given"),
    [("garden", 1, 0.75, True), ("garden", 2, 0.75, False), ("garden", 1, 0.5, False), ("site", 1, 0.75, False)],
)
def test_the_nearest_row_of_the_own_project_needs_no_word_of_the_prompt(
    project: str, semantic_rank: int, topic: float, *, is_given: bool
) -> None:
    hit = Hit(
        1, 0.7, 0.92, 14, semantic_rank, 0.6, "85", "prompt", "", "", "user", "x.jsonl", 3, "garden", "c", 0, None, {}
    )
    assert select_unasked([hit], topic, project) == ([hit] if is_given else [])


@pytest.mark.parametrize(("project", "is_given"), [("garden", True), ("site", False)])
def test_a_row_of_another_project_needs_a_share_of_what_the_prompt_names(project: str, *, is_given: bool) -> None:
    hit = Hit(
        1, 1.0, 0.92, 1, 1, 0.6, "85", "prompt", "", "", "user", "x.jsonl", 3, "garden", "c", 0, None, {}, named=0.6
    )
    assert select_unasked([hit], 12.0, project) == ([hit] if is_given else [])


@pytest.mark.parametrize(("project", "is_given"), [("garden", True), ("site", False)])
def test_a_row_of_another_project_of_unknown_nearness_needs_more_names(project: str, *, is_given: bool) -> None:
    hit = Hit(
        1, None, 1.0, 1, None, None, "85", "prompt", "", "", "user", "x.jsonl", 3, "garden", "c", 0, None, {}, named=1.4
    )
    assert select_unasked([hit], 3.0, project) == ([hit] if is_given else [])


@pytest.mark.parametrize("query", ["hi", "thanks", "Good morning!", "谢谢"])
def test_small_talk_recalls_nothing(demo_memory: Memory, query: str) -> None:
    assert not demo_memory.recall(query).entries


def test_a_task_of_another_project_needs_many_names(tmp_path: Path) -> None:
    text = "Health check endpoint: it answers 200 while the database answers, within 50 ms."
    write_messages(tmp_path / "roses.jsonl", *[("user", f"Water rose {number}.") for number in range(20)])
    task = {"id": 1, "title": "Health check endpoint", "description": text, "status": "done", "dependencies": []}
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps({"master": {"tasks": [task]}}), encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "roses.jsonl"])
        memory.index([tasks], project="courier")
        assert recall_unasked(memory, "add a health check endpoint") == []
        assert recall_unasked(memory, "add a health check endpoint", "courier") == ["courier"]


def test_a_clear_match_brings_what_is_nearly_as_near_in_its_project(demo_memory: Memory) -> None:
    found = demo_memory.search("webhook retries with backoff", limit=3)
    near, second, far = (
        hit._replace(
            relevance=relevance, named=named, lexical_rank=rank, semantic_rank=rank, source_project="courier", task=None
        )
        for hit, relevance, named, rank in zip(found, (0.98, 0.9, 0.5), (1.0, 0.0, 0.0), (1, 9, 10), strict=True)
    )
    assert select_unasked([near, second, far], 2.0, "courier") == [near, second]
    assert select_unasked([second, far], 2.0, "kitchen") == []
