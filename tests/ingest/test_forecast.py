"""How many turns a run is expected to have, from a few of its files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from pastchats_memory.config import load
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.ingest.dry_run import survey_at
from pastchats_memory.memory.indexing import index_options

if TYPE_CHECKING:
    from pathlib import Path


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
