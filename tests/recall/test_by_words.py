"""Words alone decide that a memory has nothing for a prompt, or that one conversation answers it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from program import REPOSITORY, Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.hooks.prompt import query_for
from pastchats_memory.model.episodes import RecallBlock
from pastchats_memory.recall.by_words import recall_by_words
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.recall.word_evidence import measure_words
from pastchats_memory.search.request import Request
from pastchats_memory.store.database import Database, open_database

LABELLED = REPOSITORY / "benchmarks" / "hook" / "prompts.tsv"
QUESTION = "Which torque does the Kestrel gearbox flange need?"
ANSWER = "The Kestrel gearbox flange needs a torque of 38 newton metres, in two passes."


def labelled(kind: str) -> list[tuple[str, str]]:
    """Return queries, each with the part of a path that answers it."""
    with LABELLED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] == kind]
    return [(query, row["file"]) for row in rows if (query := query_for(row["prompt"])) is not None]


def may_answer(database: Database, query: str) -> bool:
    evidence = measure_words(database, query, None)
    return evidence is None or evidence.may_answer


def is_known(path: Path, query: str) -> bool:
    with open_database(path, vec0=False) as database:
        return may_answer(database, query)


def recall(path: Path, query: str, **options: object) -> RecallBlock | None:
    hidden = options.pop("hidden", ())
    assert isinstance(hidden, tuple)
    request = RecallRequest(Request(query, limit=3), is_unasked=True, **options)
    with open_database(path, vec0=False) as opened, opened.snapshot():
        database = opened.hide(hidden)
        evidence = measure_words(database, query, None)
        return (
            recall_by_words(database, evidence, request, lambda texts: [*map(len, texts)])
            if evidence and evidence.may_answer
            else None
        )


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with one conversation about a gearbox, one about roses, and one about an oven."""
    folder = tmp_path_factory.mktemp("workshop")
    write_messages(folder / "gearbox.jsonl", ("user", QUESTION), ("assistant", ANSWER), conversation="gearbox")
    for topic in ("roses", "oven", "ladder", "curtains"):
        write_messages(
            folder / f"{topic}.jsonl", ("user", f"Where do I store the {topic}?"), ("assistant", f"The {topic} stay dry."),
            conversation=topic,
        )  # fmt: skip
    with Memory.open(folder / "memory.db") as memory:
        memory.index([folder])
    return folder / "memory.db"


def test_a_prompt_that_names_nothing_known_is_decided_by_words(demo: Program) -> None:
    assert not is_known(demo.database, "tune a Bösendorfer piano for the Elbphilharmonie")
    assert is_known(demo.database, "why do the webhook retries pile up?")


def test_one_known_word_among_many_unknown_names_is_not_enough(demo: Program) -> None:
    names = "Zugspitze Bösendorfer Elbphilharmonie Kilimanjaro Stradivari Sagrada Matterhorn Popocatepetl"
    assert not is_known(demo.database, f"compare the invoice of {names}")


def test_words_alone_never_withhold_a_block(demo: Program) -> None:
    prompts = [query for query, _ in labelled("known")]
    assert prompts
    with Memory.open(demo.database) as memory, open_database(demo.database, vec0=False) as database:
        answered = [prompt for prompt in prompts if memory.recall(prompt, unasked=True).hits]
        assert answered
        assert [prompt for prompt in answered if not may_answer(database, prompt)] == []


def test_words_decide_many_prompts_that_nobody_worked_on(demo: Program) -> None:
    prompts = labelled("unrelated")
    with open_database(demo.database, vec0=False) as database:
        assert sum(not may_answer(database, prompt) for prompt, _ in prompts) > len(prompts) / 3


def test_a_block_by_words_comes_from_the_right_conversation(demo: Program) -> None:
    blocks = [(recall(demo.database, query), query, file) for query, file in labelled("known")]
    given = [(block, query, file) for block, query, file in blocks if block is not None and block.entries]
    assert given
    demo_files = {path.name for path in (REPOSITORY / "fixtures" / "demo").rglob("*") if path.is_file()}
    here = [(block, query, file) for block, query, file in given if any(file in name for name in demo_files)]
    assert [query for block, query, file in here if not all(file in hit.source_path for hit in block.hits)] == []


def test_an_unrelated_prompt_gets_no_block_by_words(demo: Program) -> None:
    prompts = [query for kind in ("unrelated", "nothing") for query, _ in labelled(kind)]
    blocks = [(recall(demo.database, prompt), prompt) for prompt in prompts]
    assert [prompt for block, prompt in blocks if block is not None and block.entries] == []


def test_a_clear_lead_is_answered_by_words(workshop: Path) -> None:
    block = recall(workshop, "torque of the Kestrel gearbox flange")
    assert block is not None
    assert "38 newton metres" in block.text
    assert {hit.conversation_id for hit in block.hits} == {"gearbox"}


def test_a_clear_lead_names_the_later_answer_that_replaced_it(tmp_path: Path) -> None:
    replaced = "The flange with its 38 newton metres is replaced by a welded sleeve."
    write_messages(tmp_path / "early.jsonl", ("user", QUESTION), ("assistant", ANSWER), conversation="early")
    later = write_messages(
        tmp_path / "later.jsonl", ("user", "How do we join the shafts?"), ("assistant", replaced), conversation="later"
    )
    later.write_text(later.read_text(encoding="utf-8").replace("2026-05-04", "2026-05-06"), encoding="utf-8")
    for topic in ("roses", "oven", "ladder", "curtains"):
        write_messages(tmp_path / f"{topic}.jsonl", ("user", f"Where do I store the {topic}?"), conversation=topic)
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
    block = recall(tmp_path / "memory.db", QUESTION)
    assert block is not None
    successors = [entry.superseded_by.answered for entry in block.entries if entry.superseded_by is not None]
    assert successors == [replaced]


def test_a_conversation_with_few_of_many_names_does_not_lead(tmp_path: Path) -> None:
    write_messages(tmp_path / "gearbox.jsonl", ("user", QUESTION), ("assistant", ANSWER), conversation="gearbox")
    for number in range(40):
        names = ("ESP32", "H265", "GPT4", "SHA256")
        text = f"Batch {number}: {', '.join(name for place, name in enumerate(names) if (number + place) % 4)}."
        write_messages(tmp_path / f"{number}.jsonl", ("user", text), conversation=f"batch-{number}")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
    assert recall(tmp_path / "memory.db", "torque of the Kestrel gearbox flange") is not None
    many = "torque of the Kestrel gearbox with ESP32, H265, GPT4 and SHA256"
    assert recall(tmp_path / "memory.db", many) is None


def test_two_conversations_with_the_same_words_are_left_to_the_search(tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_messages(tmp_path / f"{name}.jsonl", ("user", f"{QUESTION} Now {name}."), conversation=name)
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
    assert recall(tmp_path / "memory.db", QUESTION) is None


@pytest.mark.parametrize(
    "options",
    [
        {"exclude_conversation": "gearbox"},
        {"exclude_items": frozenset({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"})},
        {"hidden": ("garden",)},
    ],
    ids=["the conversation under way", "items that the session has", "a private project"],
)
def test_a_conversation_that_must_not_be_shown_cannot_lead(workshop: Path, options: dict[str, object]) -> None:
    block = recall(workshop, QUESTION, **options)
    assert block is None or not block.entries


def test_the_output_of_a_tool_cannot_lead(tmp_path: Path) -> None:
    write_messages(tmp_path / "a.jsonl", ("user", "Run it."), ("tool", ANSWER), ("assistant", "Done."))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
    assert recall(tmp_path / "memory.db", QUESTION) is None


def test_a_row_of_a_large_memory_needs_a_larger_share_of_the_words(demo: Program) -> None:
    with open_database(demo.database, vec0=False) as database:
        evidence = measure_words(database, "tkinter window freezes while the tide chart is drawn", None)
    assert evidence is not None
    assert evidence.may_answer
    assert 0 < evidence.least_share < 0.1
    assert not evidence._replace(least_share=1.0).may_answer


def test_a_vague_prompt_counts_the_rows_of_its_own_project_alone(tmp_path: Path) -> None:
    for project in ("orchard", "harbour"):
        write_messages(
            tmp_path / f"{project}.jsonl", ("user", f"Why is the column migration of the {project} slow?"), ("assistant", "It locks."),
            conversation=project, project=project,
        )  # fmt: skip
    write_messages(
        tmp_path / "garden.jsonl", *(("user", f"Water the roses for the {number}th time.") for number in range(60))
    )
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
    with open_database(tmp_path / "memory.db", vec0=False) as database:
        answers = {
            project: measure_words(database, "add a migration for the new column", project).may_answer
            for project in ("orchard", "garden", None)
        }
    assert answers == {"orchard": True, "garden": False, None: False}


def test_a_row_with_all_words_is_known_although_its_names_are_frequent(tmp_path: Path) -> None:
    filler = [("user", f"Sync session {number}{'' if number % 15 else ' in the cloud'} ran.") for number in range(60)]
    answer = ("user", "Run the cloud sync server locally, and sync one session to it.")
    write_messages(tmp_path / "a.jsonl", *filler, answer)
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path])
    assert is_known(tmp_path / "memory.db", "run the cloud sync server locally and sync a session to it")
    assert not is_known(tmp_path / "memory.db", "does the cloud session of the accountant need a fax machine?")


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
    assert is_known(tmp_path / "memory.db", prompt)
    assert not is_known(tmp_path / "memory.db", "restore the Antikythera mechanism")


@pytest.mark.parametrize("name", ['"', "a*b", "NEAR(x", "x OR y", "don't-Stop", "content:retry", "\0zero", "x" * 5000])
def test_nothing_in_a_prompt_is_syntax(demo: Program, name: str) -> None:
    recall(demo.database, f"the Frobnicator `{name}` of {name.upper()} breaks")
