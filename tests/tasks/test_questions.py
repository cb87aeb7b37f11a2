"""What a plain question is taken for."""

from __future__ import annotations

import csv
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.model import STATUSES, TYPES
from pastchats_memory.questions import read_question
from pastchats_memory.store.tasks import CONDITIONS, ORDERS, RELATED

SUNDAY = date(2026, 11, 22)
with (Path(__file__).parent / "questions.tsv").open(encoding="utf-8") as file:
    TABLE = [(row["question"], row["reading"]) for row in csv.DictReader(file, delimiter="\t")]
VOCABULARY = sorted({word for question, _ in TABLE for word in question.split()})


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 60


@pytest.mark.parametrize(("question", "reading"), TABLE)
def test_a_question_is_read_as_it_was_meant(question: str, reading: str) -> None:
    assert read_question(question, SUNDAY).described() == reading


@pytest.mark.parametrize(("question", "reading"), TABLE[:20])
def test_neither_case_nor_marks_change_the_reading(question: str, reading: str) -> None:
    other = read_question(f"  {question.capitalize().rstrip('?')} ?!", SUNDAY).described()
    assert other.lower() == reading.lower()


def test_a_project_that_there_is_is_known_by_its_name_alone() -> None:
    def read(question: str) -> str:
        return read_question(question, SUNDAY, ["Ledgerly", "pay.core"]).described()

    assert read("what is blocked in ledgerly?") == "tasks · status blocked · project Ledgerly"
    assert read("anything about retries in pay.core?") == "tasks · project pay.core · about 'retries'"
    assert read("what is blocked in payments?") == "tasks · status blocked · about 'payments'"


@pytest.mark.parametrize("days", ["in march 0000", "in december 9999", "before 0001-01-01", "on 2026-13-45"])
def test_days_that_no_calendar_has_do_not_stop_the_reading(days: str) -> None:
    assert read_question(f"tasks {days}", SUNDAY).described().startswith("tasks")


@given(
    st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join) | st.text(max_size=60),
    st.dates(date(1, 6, 1), date(9998, 1, 1)),
)
def test_any_words_on_any_day_have_a_reading_that_the_store_can_be_asked(question: str, today: date) -> None:
    reading = read_question(question, today)
    assert set(reading.statuses) <= set(STATUSES)
    assert set(reading.types) <= set(TYPES)
    assert set(reading.missing) <= set(CONDITIONS)
    assert reading.relation is None or (reading.relation in RELATED and reading.of is not None)
    assert reading.order is None or reading.order in {"most_urgent", *ORDERS}
    assert reading.described()


@pytest.mark.parametrize("unit", ["a", "a-", "not ", "what depends on "])
def test_a_question_of_a_million_characters_is_read_at_once(unit: str) -> None:
    began = time.process_time()
    read_question(unit * (1_000_000 // len(unit)), date(2026, 5, 1))
    assert time.process_time() - began < 1
