"""The benchmarks read the official files of LoCoMo, LongMemEval and BEAM, and count sessions and turns as other tools do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import REPOSITORY

from pastchats_memory import Memory

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
BEAM_BATCHES = [
    [
        [
            {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My kiln holds nine pots. ->-> 1,1"},
            {"role": "assistant", "id": 1, "content": "Then plan nine."},
        ],
        [{"role": "user", "id": 2, "content": "The glaze is cobalt blue."}],
    ],
    [[{"role": "user", "id": 3, "time_anchor": "April-02-2024", "content": "The kiln now holds twelve pots."}]],
]
BEAM_PROBES = {
    "abstention": [{"question": "Which clay do I use?", "why_unanswerable": "no details"}],
    "information_extraction": [{"question": "Which colour has the glaze?", "source_chat_ids": [2]}],
    "knowledge_update": [
        {
            "question": "How many pots does the kiln hold?",
            "source_chat_ids": {"original_info": [0], "updated_info": [3]},
        }
    ],
}


def table_of(benchmark: str, file: Path, *options: str) -> list[list[str]]:
    """The table that a benchmark prints for a file."""
    command = [sys.executable, "session_recall.py", benchmark, str(file), *options]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        command, cwd=REPOSITORY / "benchmarks", env=environment, capture_output=True, text=True, check=True
    )
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]


def rows(benchmark: str, content: object, folder: Path, *options: str) -> list[list[str]]:
    """The table that a benchmark prints for a file with this content."""
    file = folder / "official.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return table_of(benchmark, file, *options)


@pytest.fixture(params=["repository", "hub"])
def beam(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A chat of BEAM, as its repository and as its data set on the hub have it."""
    if request.param == "hub":
        chat = [[message for exchange in batch for message in exchange] for batch in BEAM_BATCHES]
        row = {"conversation_id": "1", "chat": chat, "probing_questions": repr(BEAM_PROBES)}
        (tmp_path / "100K.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        return tmp_path / "100K.jsonl"
    probes = tmp_path / "100K" / "1" / "probing_questions" / "probing_questions.json"
    probes.parent.mkdir(parents=True)
    probes.write_text(json.dumps(BEAM_PROBES), encoding="utf-8")
    batches = [{"batch_number": number, "turns": turns} for number, turns in enumerate(BEAM_BATCHES, start=1)]
    (tmp_path / "100K" / "1" / "chat.json").write_text(json.dumps(batches), encoding="utf-8")
    return tmp_path / "100K"


def test_beam_counts_the_turns_that_answer_without_abstentions(beam: Path) -> None:
    assert table_of("beam", beam)[2:] == [
        ["all", "2", "1.000", "1.000", "1.000", "1.000", "1.000"],
        ["information_extraction", "1", "1.000", "1.000", "1.000", "1.000", "1.000"],
        ["knowledge_update", "1", "1.000", "1.000", "1.000", "1.000", "1.000"],
    ]


def test_beam_counts_a_turn_alone_and_a_whole_session(beam: Path) -> None:
    late = {"abstention": [], "information_extraction": [{"question": "cobalt blue glaze", "source_chat_ids": [1]}]}
    if beam.is_dir():
        (beam / "1" / "probing_questions" / "probing_questions.json").write_text(json.dumps(late), encoding="utf-8")
    else:
        row = json.loads(beam.read_text(encoding="utf-8"))
        beam.write_text(json.dumps({**row, "probing_questions": late}) + "\n", encoding="utf-8")
    assert table_of("beam", beam)[2][2] == "0.000"
    assert table_of("beam-sessions", beam)[2][2] == "1.000"


def test_locomo_counts_the_session_of_each_question_that_has_one(tmp_path: Path) -> None:
    assert rows("locomo", LOCOMO, tmp_path)[2:] == [
        ["all", "2", "1.000", "1.000", "1.000", "1.000", "1.000"],
        ["category 1", "1", "1.000", "1.000", "1.000", "1.000", "1.000"],
        ["category 2", "1", "1.000", "1.000", "1.000", "1.000", "1.000"],
    ]


def test_longmemeval_searches_each_question_in_its_own_haystack_without_abstentions(tmp_path: Path) -> None:
    assert rows("longmemeval", LONGMEMEVAL, tmp_path)[2:] == [
        ["all", "1", "1.000", "1.000", "1.000", "1.000", "1.000"],
        ["single-session-user", "1", "1.000", "1.000", "1.000", "1.000", "1.000"],
    ]


def test_a_question_of_longmemeval_is_put_on_its_own_day(tmp_path: Path) -> None:
    bought = [[{"role": "user", "content": f"Today I bought a kettle, a {colour} one."}] for colour in ("red", "blue")]
    question = LONGMEMEVAL[0] | {
        "question": "Which kettle did I buy two days ago?",
        "haystack_dates": ["2023/05/02 (Tue) 02:21", "2023/05/28 (Sun) 11:00"],
        "haystack_sessions": bought,
    }
    assert rows("longmemeval", [question], tmp_path)[2][2] == "1.000"
    earlier = question | {"question_date": "2023/05/04 (Thu) 23:40", "answer_session_ids": ["s1"]}
    assert rows("longmemeval", [earlier], tmp_path)[2][2] == "1.000"


def test_a_session_that_is_found_late_lowers_the_numbers(tmp_path: Path) -> None:
    content = json.loads(json.dumps(LOCOMO))
    content[0]["qa"] = [{"question": "Who learns the cello in Ghent?", "evidence": ["D1:1"], "category": 1}]
    assert rows("locomo", content, tmp_path)[2] == ["all", "1", "0.000", "1.000", "1.000", "0.500", "0.631"]


def test_sessions_of_other_questions_compete_in_one_memory(tmp_path: Path) -> None:
    asked_before = [{"role": "user", "content": "How long is my commute to the harbour?"}]
    soup = LONGMEMEVAL[0] | {
        "question_id": "q3",
        "question": "Which soup did you name?",
        "haystack_session_ids": ["s1", "s9"],
        "haystack_sessions": [LONGMEMEVAL[0]["haystack_sessions"][0], asked_before],
        "answer_session_ids": ["s1"],
    }
    content = [LONGMEMEVAL[0], soup]
    assert rows("longmemeval", content, tmp_path, "--together", "2")[2][1:3] == ["2", "1.000"]
    assert rows("longmemeval", content, tmp_path, "--together", "3")[2][1:3] == ["2", "0.500"]


def test_a_kept_memory_embeds_nothing_when_it_is_asked_again(tmp_path: Path) -> None:
    kept = ("--together", "2", "--keep", str(tmp_path))
    assert rows("longmemeval", LONGMEMEVAL, tmp_path, *kept)[2][2] == "1.000"
    before = (tmp_path / "haystack.jsonl").stat().st_mtime_ns
    assert rows("longmemeval", LONGMEMEVAL, tmp_path, *kept, "--mode", "keyword")[2][2] == "1.000"
    with Memory.open(tmp_path / "haystack.db", create=False) as memory:
        latest = memory.index([tmp_path / "haystack.jsonl"])
    assert (latest.files_unchanged, (tmp_path / "haystack.jsonl").stat().st_mtime_ns) == (1, before)


def test_only_one_memory_of_all_sessions_can_be_kept(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        rows("longmemeval", LONGMEMEVAL, tmp_path, "--keep", str(tmp_path))
    assert "--keep needs --together" in refused.value.stderr
