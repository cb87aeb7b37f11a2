"""The benchmarks read the official files of LoCoMo and LongMemEval, and count sessions as other tools do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from program import REPOSITORY

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a tortoise called Pebble."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a tortoise on a lawn"},
            ],
            "session_2_date_time": "10:05 am on 12 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I started to learn the cello in Ghent."}],
        },
        "qa": [
            {"question": "Which pet did Ada adopt?", "answer": "a tortoise", "evidence": ["D1:1; D1:2"], "category": 1},
            {"question": "Where does Bo learn the cello?", "answer": "Ghent", "evidence": ["D:2:1"], "category": 2},
            {"question": "Which boat does Bo own?", "adversarial_answer": "a canoe", "evidence": [], "category": 5},
        ],
    }
]
LONGMEMEVAL = [
    {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "How long is my commute to the harbour?",
        "answer": "40 minutes",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 11:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Name a soup."}, {"role": "assistant", "content": "Minestrone."}],
            [{"role": "user", "content": "My commute to the harbour takes 40 minutes.", "has_answer": True}],
        ],
        "answer_session_ids": ["s2"],
    }
    for name in ("q1", "q2_abs")
]


def rows(benchmark: str, content: object, folder: Path) -> list[list[str]]:
    """The table that a benchmark prints for a file."""
    file = folder / "official.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "session_recall.py", benchmark, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        command, cwd=REPOSITORY / "benchmarks", env=environment, capture_output=True, text=True, check=True
    )
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]


def test_locomo_counts_the_session_of_each_question_that_has_one(tmp_path: Path) -> None:
    assert rows("locomo", LOCOMO, tmp_path)[2:] == [
        ["all", "2", "1.000", "1.000", "1.000"],
        ["category 1", "1", "1.000", "1.000", "1.000"],
        ["category 2", "1", "1.000", "1.000", "1.000"],
    ]


def test_longmemeval_searches_each_question_in_its_own_haystack_without_abstentions(tmp_path: Path) -> None:
    assert rows("longmemeval", LONGMEMEVAL, tmp_path)[2:] == [
        ["all", "1", "1.000", "1.000", "1.000"],
        ["single-session-user", "1", "1.000", "1.000", "1.000"],
    ]


def test_a_session_that_is_found_late_lowers_the_numbers(tmp_path: Path) -> None:
    content = json.loads(json.dumps(LOCOMO))
    content[0]["qa"] = [{"question": "Who learns the cello in Ghent?", "evidence": ["D1:1"], "category": 1}]
    assert rows("locomo", content, tmp_path)[2] == ["all", "1", "0.000", "1.000", "0.500"]
