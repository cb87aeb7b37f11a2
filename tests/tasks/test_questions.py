"""How plain questions about tasks are read."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.model import STATUSES, TYPES
from pastchats_memory.store.task_rows import CONDITIONS, ORDERS, RELATED
from pastchats_memory.tasks.ask import MAX_QUESTION_LENGTH, parse_question

SUNDAY = date(2026, 11, 22)
with (Path(__file__).parent / "questions.tsv").open(encoding="utf-8") as file:
    TABLE = [(row["question"], row["reading"]) for row in csv.DictReader(file, delimiter="\t")]
VOCABULARY = sorted({word for question, _ in TABLE for word in question.split()})


def test_every_question_of_the_table_is_read_as_labelled() -> None:
    assert len(TABLE) >= 500
    readings = [(question, parse_question(question, SUNDAY).described) for question, _ in TABLE]
    assert [read for read, labelled in zip(readings, TABLE, strict=True) if read != labelled] == []


def test_case_and_punctuation_do_not_change_the_reading() -> None:
    for question, reading in TABLE[:20]:
        other = parse_question(f"  {question.capitalize().rstrip('?')} ?!", SUNDAY).described
        assert other.lower() == reading.lower()


def test_a_known_project_is_recognized_by_name_alone() -> None:
    def read(question: str) -> str:
        return parse_question(question, SUNDAY, ["Ledgerly", "pay.core"]).described

    assert read("what is blocked in ledgerly?") == "tasks · status blocked · project Ledgerly"
    assert read("anything about retries in pay.core?") == "tasks · project pay.core · about 'retries'"
    assert read("what is blocked in payments?") == "tasks · status blocked · about 'payments'"


@pytest.mark.parametrize("days", ["in march 0000", "in december 9999", "before 0001-01-01", "on 2026-13-45"])
def test_impossible_dates_are_ignored(days: str) -> None:
    assert parse_question(f"tasks {days}", SUNDAY).described.startswith("tasks")


@given(
    st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join) | st.text(max_size=60),
    st.dates(date(1, 6, 1), date(9998, 1, 1)),
)
def test_any_text_gives_filters_that_the_store_knows(question: str, today: date) -> None:
    reading = parse_question(question, today)
    assert set(reading.statuses) <= set(STATUSES)
    assert set(reading.types) <= set(TYPES)
    assert set(reading.missing) <= set(CONDITIONS)
    assert reading.relation is None or (reading.relation in RELATED and reading.of is not None)
    assert reading.order is None or reading.order in {"most_urgent", *ORDERS}
    assert reading.described


@pytest.mark.parametrize("unit", ["a", "a-", "not ", "what depends on "])
def test_a_question_is_read_up_to_its_longest_length(unit: str) -> None:
    question = unit * (1_000_000 // len(unit))
    assert parse_question(question, SUNDAY) == parse_question(question[:MAX_QUESTION_LENGTH], SUNDAY)
