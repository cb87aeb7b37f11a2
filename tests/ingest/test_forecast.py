"""How many turns a run is expected to have, from a few of its files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from pastchats_memory.config import load
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.dry_run import sample_pieces, survey_at
from pastchats_memory.ingest.forecast import Pieces, cut_pieces, estimate, measure_work
from pastchats_memory.ingest.plan import plan_run
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.memory.indexing import index_options
from pastchats_memory.model import Turn
from pastchats_memory.store.database import open_existing

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.ingest.changes import Plan


def test_a_few_long_files_among_many_short_ones_count_by_their_size(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    sizes = [1_500 if number % 20 == 8 else 2 for number in range(60)]
    for number, turns in enumerate(sizes):
        noise = "" if turns > 2 else "n" * 3_000
        records = [
            {"role": "user", "content": f"Question {number} {place}", "noise": noise} for place in range(turns - 1)
        ]
        answer = {"role": "assistant", "content": f"Answer {number}"}
        text = "".join(json.dumps(record) + "\n" for record in [*records, answer])
        file = folder / f"{number}.jsonl"
        file.write_text(text, encoding="utf-8")
        os.utime(file, (1_790_000_000 + number, 1_790_000_000 + number))
    forecast = survey_at(tmp_path / "memory.db", [folder], index_options(load(None), None), PackagedEmbedder())
    assert abs(forecast.turns / sum(sizes) - 1) < 0.3


def test_each_turn_of_few_files_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    for number in range(30):
        noise = "n" * 900 * (number % 3)
        records = [
            {"role": "user", "content": f"Question {number} {place}", "noise": noise} for place in range(number % 3 + 1)
        ]
        answer = {"role": "assistant", "content": f"Answer {number}"}
        text = "".join(json.dumps(record) + "\n" for record in [*records, answer])
        (folder / f"{number}.jsonl").write_text(text, encoding="utf-8")
    forecast = survey_at(tmp_path / "memory.db", [folder], index_options(load(None), None), PackagedEmbedder())
    assert forecast.turns == 90


def test_the_middle_of_an_answer_and_the_opening_of_a_message_are_counted() -> None:
    words = " ".join(f"word{number}" for number in range(300))
    answer, question = Turn("assistant", words, 1), Turn("user", words, 1)
    (whole, middle), (_, opening) = cut_pieces(answer, has_middle=True), cut_pieces(question, has_middle=True)
    assert middle in whole
    assert words.startswith(opening)
    assert cut_pieces(answer, has_middle=False) == (whole,)
    assert cut_pieces(Turn("assistant", "Short.", 1), has_middle=True) == ("Short.",)
    assert measure_work([(whole, middle)]) > measure_work([(whole,)])


def test_a_task_is_counted_once_and_works_by_all_its_texts(tmp_path: Path) -> None:
    file = tmp_path / "issues.jsonl"
    issue = {"id": "k-1", "title": "Flue", "description": "It smokes.", "status": "open", "priority": 1}
    comments = [{"author": "ada", "text": "Since May.", "created_at": "2026-05-01T08:00:00Z"}]
    times = {"issue_type": "bug", "created_at": "2026-05-01T08:00:00Z", "updated_at": "2026-05-01T08:00:00Z"}
    file.write_text(json.dumps(issue | times | {"comments": comments}) + "\n", encoding="utf-8")
    options = index_options(load(None), None)
    found, _ = discover_files([file], options.wanted)
    with open_existing(tmp_path / "memory.db") as database:
        (plan,) = plan_run(database, found, options, IndexReport("")).files
    ((title, *others),) = sample_pieces(plan, options, PackagedEmbedder.name)
    assert title == "Flue\n\nIt smokes."
    assert "Since May." in others


def test_a_file_without_turns_is_read_once_for_an_estimate(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}.jsonl").write_text("{}\n" * (1 if number else 20_000), encoding="utf-8")
    options = index_options(load(None), None)
    found, _ = discover_files([tmp_path], options.wanted)
    with open_existing(tmp_path / "memory.db") as database:
        plans = plan_run(database, found, options, IndexReport("")).files
    names: list[str] = []

    def read(plan: Plan) -> list[Pieces]:
        names.append(plan.candidate.name)
        return []

    estimate(ModelSession(PackagedEmbedder()), plans, read, least_bytes=1)
    assert names
    assert len(names) == len(set(names))
