"""Words alone decide that a memory has nothing for a prompt, and never against a block that the search would give."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from program import REPOSITORY, Program

from pastchats_memory import Memory
from pastchats_memory.errors import DatabaseMissing
from pastchats_memory.hooks.known_names import is_any_known, may_answer
from pastchats_memory.hooks.prompt import query_for
from pastchats_memory.store.database import open_database

LABELLED = REPOSITORY / "benchmarks" / "hook" / "prompts.tsv"


def labelled(kind: str) -> list[str]:
    with LABELLED.open(encoding="utf-8", newline="") as file:
        prompts = [row["prompt"] for row in csv.DictReader(file, delimiter="\t") if row["kind"] == kind]
    return [query for prompt in prompts if (query := query_for(prompt)) is not None]


def is_known(program: Program, query: str) -> bool:
    return is_any_known(query, None, str(program.database))


def test_a_prompt_that_names_nothing_known_is_decided_by_words(demo: Program) -> None:
    assert not is_known(demo, "tune a Bösendorfer piano for the Elbphilharmonie")
    assert is_known(demo, "why do the webhook retries pile up?")


def test_one_known_word_among_many_unknown_names_is_not_enough(demo: Program) -> None:
    names = "Zugspitze Bösendorfer Elbphilharmonie Kilimanjaro Stradivari Sagrada Matterhorn Popocatepetl"
    assert not is_known(demo, f"compare the invoice of {names}")


def test_words_alone_never_withhold_a_block(demo: Program) -> None:
    prompts = labelled("known")
    assert prompts
    with Memory.open(demo.database) as memory, open_database(demo.database, vec0=False) as database:
        answered = [prompt for prompt in prompts if memory.recall(prompt, unasked=True).hits]
        assert answered
        assert [prompt for prompt in answered if not may_answer(database, prompt)] == []


def test_words_decide_many_prompts_that_nobody_worked_on(demo: Program) -> None:
    prompts = labelled("unrelated")
    with open_database(demo.database, vec0=False) as database:
        assert sum(not may_answer(database, prompt) for prompt in prompts) > len(prompts) / 3


@pytest.mark.parametrize(
    ("content", "prompt"),
    [
        ("The Kettering adapter lost its cache.", "who wrote the kettering adapters?"),
        ("See KetteringAdapter in the vendored tree.", "what does Kettering do?"),
        ("ケタリングのアダプターを直した。", "ケタリングのアダプターは何をしますか"),
    ],
)
def test_a_name_is_known_in_another_form_and_within_a_word(tmp_path: Path, content: str, prompt: str) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        for number in range(5):
            memory.store_turn("user", f"Water the roses for the {number}th time.")
        memory.store_turn("user", content)
    assert is_any_known(prompt, None, str(tmp_path / "memory.db"))
    assert not is_any_known("restore the Antikythera mechanism", None, str(tmp_path / "memory.db"))


@pytest.mark.parametrize("name", ['"', "a*b", "NEAR(x", "x OR y", "don't-Stop", "content:retry", "\0zero", "x" * 5000])
def test_nothing_in_a_prompt_is_syntax(demo: Program, name: str) -> None:
    is_known(demo, f"the Frobnicator `{name}` of {name.upper()} breaks")


def test_a_missing_memory_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseMissing):
        is_any_known("the Frobnicator breaks", None, str(tmp_path / "none.db"))
