"""The benchmark "Answer in N bytes": its questions, and what counts as an answer."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "answer"))

answer = pytest.importorskip("answer")


def test_each_question_names_a_repository_of_the_list_once() -> None:
    with (ROOT / "benchmarks" / "answer" / "sessions.tsv").open(encoding="utf-8", newline="") as file:
        known = {row["repository"] for row in csv.DictReader(file, delimiter="\t")}
    questions = answer.load_questions()
    assert len(questions) == len({one.question for one in questions}) == 100
    assert {one.repository for one in questions} == known


def test_a_block_holds_words_whatever_marks_surround_them() -> None:
    words = answer.normalise("Use **`make test`** first")
    assert words == "Use make test first"
    assert answer.holds("> Use `make\n> test` first, then push.", words, 1500)
    assert not answer.holds("> Use `make\n> test` first, then push.", words, 12)


def test_words_are_found_only_in_the_text_that_was_labelled(tmp_path: Path) -> None:
    path = tmp_path / "owner+name" / "s.jsonl"
    path.parent.mkdir()
    path.write_text(
        json.dumps({"message": {"content": [{"type": "text", "text": "Use *make test*."}]}}), encoding="utf-8"
    )
    digest = answer.hashlib.sha256(b"make test").hexdigest()[:16]
    question = answer.Question("how", "owner/name", "s.jsonl", 1, 4, 9, digest)
    assert answer.find_words(tmp_path, question) == "make test"
    assert answer.find_words(tmp_path, question._replace(start=3)) is None
    assert answer.find_words(tmp_path, question._replace(file="other.jsonl")) is None
