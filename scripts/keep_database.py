"""Write a small database with this version, and keep it for the tests of the releases that follow.

    .venv/bin/python scripts/keep_database.py

It holds the beginning of a session of the sample history, a checklist, a turn that was stored live, a judgement and what a
`forget` left. Until its version is released, the file may be written again after a change of the schema.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from pathlib import Path

import pastchats_memory

REPOSITORY = Path(__file__).resolve().parents[1]
RELEASED = REPOSITORY / "tests" / "store" / "released"
SESSION = REPOSITORY / "fixtures/demo/history/claude/-home-mira-src-tidemark/9a64f2d8-0b3e-4f17-8c25-77e1d05b3c9e.jsonl"
LINES = 7
"""Lines of the session up to the user's second prompt; every turn costs four kilobytes of vectors."""


def main() -> int:
    """Write the file of this version. Return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder, "history")
        history.mkdir()
        lines = SESSION.read_text(encoding="utf-8").splitlines(keepends=True)
        Path(history, SESSION.name).write_text("".join(lines[:LINES]), encoding="utf-8")
        Path(history, "todo.md").write_text("# Spring\n\n- [x] Buy seeds\n", encoding="utf-8")
        path = Path(folder, "memory.db")
        with pastchats_memory.Memory.open(path) as memory:
            memory.index([history])
            for content in ("Water the roses", "Cut the hedge"):
                memory.store_turn(
                    "user", content, conversation_id="garden", project="garden", timestamp="2026-05-01T08:00:00Z"
                )
            report = memory.search("high tides are one hour late", limit=1)[0]
            memory.judge(str(report.id), "mixed", because="So which side do I fix? There are 162 million rows.")
            memory.forget(query="hedge")
        file = RELEASED / f"{pastchats_memory.__version__}.db.xz"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{file.relative_to(REPOSITORY)}: {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
