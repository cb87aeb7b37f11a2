"""A run takes as much memory for a million turns as for a thousand."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.ingest.report import IndexProgress
from pastchats_memory.ingest.writer import BATCH_TURNS
from pastchats_memory.model import Prompt

FILES = 400


def history(folder: Path) -> Path:
    folder.mkdir()
    for number in range(FILES):
        messages = (("user", "continue"), ("assistant", "Done."))
        write_messages(folder / f"{number}.jsonl", *messages, conversation=f"c{number}")
    return folder


def test_a_run_forgets_files_and_turns_once_they_are_stored(tmp_path: Path) -> None:
    alive: list[tuple[int, int]] = []
    before = {
        id(o) for o in gc.get_objects() if isinstance(o, SourceFile)
    }  # what other tests of this process still hold

    def look(progress: IndexProgress) -> None:
        if progress.turns % 100 == 0:
            objects = gc.get_objects()
            alive.append(
                (
                    sum(isinstance(o, SourceFile) and id(o) not in before for o in objects),
                    sum(isinstance(o, Prompt) for o in objects),
                )
            )

    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.index([history(tmp_path / "history")], progress=look).added == 2 * FILES
    assert max(sources for sources, _ in alive) <= 3
    assert max(prompts for _, prompts in alive) <= 2 * BATCH_TURNS + 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_database_is_not_mapped_into_the_process(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    mapped: list[bool] = []

    def look(_: object = None) -> None:
        mapped.append(any(line.endswith(str(path)) for line in Path("/proc/self/maps").read_text().splitlines()))

    with Memory.open(path) as memory:
        memory.index([history(tmp_path / "history")], progress=look)
        memory.search("continue")
        look()
    assert not any(mapped)
