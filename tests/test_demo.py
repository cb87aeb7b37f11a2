"""`make demo`, without the installation."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from program import REPOSITORY, Program, Run
from waiting import HANG_S


def demonstrated(script: Path, program: Program) -> Run:
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=program.home,
        env=program.environment,
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_S,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def test_the_demo_shows_a_question_the_block_and_why_in_one_screen(program: Program) -> None:
    done = demonstrated(REPOSITORY / "scripts" / "demo.py", program)
    assert (done.status, done.stderr) == (0, "")
    assert "$ pastchats-memory index fixtures/demo/history\n" in done.stdout
    assert "Added 114 turns" in done.stdout
    assert "$ pastchats-memory search --query 'retry strategy' --limit 1\n" in done.stdout
    assert "$ pastchats-memory recall --query 'build webhook retries' --limit 1\n" in done.stdout
    assert "\nEnded:\n" in done.stdout
    assert "> Final settings, in `courier/schedule.py`: base 10 s, factor 2, cap 3600 s, full jitter" in done.stdout
    (failed,) = [line for line in done.stdout.splitlines() if "Retries are in: five attempts, 60 s apart" in line]
    assert failed.startswith("Before it: > ")
    assert ' — failed, the user: "Deployed to staging. I stopped the fake receiver' in failed
    assert 'worked, the user: "Great, that works in production since this morning' in done.stdout
    assert done.stdout.count("\nSource: ") == 1
    assert "`pastchats-memory setup`" in done.stdout
    assert len(done.stdout.splitlines()) <= 40
    assert list(program.home.iterdir()) == []


def test_the_demo_fails_where_a_step_fails(program: Program, tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "scripts" / "demo.py"
    script.parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / "scripts" / "demo.py", script)
    done = demonstrated(script, program)
    assert done.status == 2
    assert "no such file or folder" in done.stderr
    assert "# Memory Recall" not in done.stdout
